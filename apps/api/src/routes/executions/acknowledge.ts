import { actorForms, changeWorkspace } from '@automation/access'
import { isUuid } from '@automation/database'
import { acknowledge, unacknowledge } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { Id, refusalResponses, Timestamp } from '../../responses.js'
import { findExecution, presentUnstarted } from './read.js'

export const Acknowledgement = Type.Object(
  {
    by: Type.String({ description: `Who acknowledged it: ${actorForms}` }),
    at: Timestamp,
  },
  { title: 'Acknowledgement' },
)

const AcknowledgedFailures = Type.Object(
  {
    ruleId: Id,
    error: Type.String({ description: 'The first 200 characters of the error' }),
    until: { ...Timestamp, description: 'When the execution failed: what failed until then is acknowledged' },
    ...Acknowledgement.properties,
  },
  { title: 'AcknowledgedFailures' },
)

const params = Type.Object({ id: Id })

/** Somebody has seen a failure: it needs no attention until it happens again. */
export const acknowledgeRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.put('/:id/acknowledgement', {
    config: { role: 'operator' },
    schema: {
      operationId: 'acknowledgeFailures',
      summary: 'Acknowledge a failed execution, and all that failed before it in the same way',
      description:
        'The same way is the same rule and the same error (its first 200 characters). The overview shows the group as acknowledged, and a rule whose last failure is acknowledged needs no attention, until an execution fails again, with this error or another one. That a rule was switched off, rolled back or is silent stays. If the execution did not fail, the request is 409 with `execution_not_failed`.',
      params,
      response: { 200: AcknowledgedFailures, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request) => {
      const id = readId(request.params)
      const { id: workspaceId, actor } = request.workspace
      const acknowledged = await changeWorkspace(administratorOf(request), async (transaction) => {
        const result = await acknowledge(transaction, { workspaceId, executionId: id, actor })
        if (result === undefined) {
          const { event, execution } = await findExecution(transaction, id)
          throw refusals.notFailed((execution ?? presentUnstarted(event)).status)
        }
        const details = { error: result.error, executionId: id }
        return { result, entry: { action: 'failures.acknowledged', subject: result.handlerId, details } }
      })
      const { handlerId: ruleId, error, until, at } = acknowledged
      return { ruleId, error, until: until.toISOString(), by: actor, at: at.toISOString() }
    },
  })

  app.delete('/:id/acknowledgement', {
    config: { role: 'operator' },
    schema: {
      operationId: 'unacknowledgeFailures',
      summary: 'Take an acknowledgement back',
      description:
        'That of the rule and the error of the execution. If nothing is acknowledged, nothing is changed.',
      params,
      response: { 204: Type.Null(), ...refusalResponses(404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const id = readId(request.params)
      const { id: workspaceId } = request.workspace
      await changeWorkspace(administratorOf(request), async (transaction) => {
        const removed = await unacknowledge(transaction, { workspaceId, executionId: id })
        if (removed === undefined && (await findExecution(transaction, id)).execution === null)
          throw refusals.executionNotFound()
        if (removed === undefined) return { result: undefined, entry: undefined }
        const details = { error: removed.error, executionId: id }
        return {
          result: undefined,
          entry: { action: 'failures.unacknowledged', subject: removed.handlerId, details },
        }
      })
      return reply.status(204).send(null)
    },
  })
}

function readId({ id }: { id: string }): string {
  if (!isUuid(id)) throw refusals.executionNotFound()
  return id.toLowerCase()
}
