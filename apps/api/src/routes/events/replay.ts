import { isTick, isUuid, newId, newTickId, type WorkspaceDatabase } from '@automation/database'
import { addresseeOf, type ReplayableEvent } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readRequestKey } from '../../acceptance/idempotency/request-key.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { PreferHeader } from '../../acceptance/prefer.js'
import { TriggerResult, triggerResultOf } from '../../acceptance/results.js'
import { Accepted, findEventResponse, type Presentation, runEvent } from '../../acceptance/run-event.js'
import { refusals } from '../../errors.js'
import { Id, refusalResponses } from '../../responses.js'
import { noteReplay } from './note-replay.js'

export const replayRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/:id/replay', {
    config: { role: 'operator', key: 'event' },
    schema: {
      operationId: 'replayEvent',
      summary: 'Replay an event: the same data, with the current rules',
      description:
        'An event that was addressed to one rule or one subscription goes to the same rule or subscription.',
      params: Type.Object({ id: Id }),
      headers: PreferHeader,
      response: { 200: TriggerResult, 202: Accepted, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const key = readRequestKey(request)
      const known = await findEventResponse(request, key, replayed)
      if (known !== undefined) return sendStored(reply, known)
      const { params, workspace } = request
      const { id: replayOf, ...event } = await findEventToReplay(workspace.database, params.id)
      const replay = {
        ...event,
        id: isTick({ ...event, id: replayOf }) ? newTickId() : newId(),
        workspaceId: workspace.id,
        createdBy: workspace.createdBy,
        replayOf,
      }
      await noteReplay(request, replayOf, { eventId: replay.id })
      return sendStored(reply, await runEvent(replay, key, request, replayed))
    },
  })
}

const replayed: Presentation = {
  locationOf: (eventId) => `/api/events/${eventId}`,
  present: triggerResultOf,
}

const fieldsToReplay = { id: true, type: true, data: true, ruleId: true, isDelivery: true } as const

/** @throws a 404 refusal where it is not there, or its addressee is not */
async function findEventToReplay(database: WorkspaceDatabase, id: string): Promise<ReplayableEvent> {
  const row = isUuid(id) ? await database.event.findUnique({ where: { id }, select: fieldsToReplay }) : null
  if (row === null) throw refusals.eventNotFound()
  const addressee = addresseeOf(row)
  const data = row.data as object
  const event = { id: row.id, type: row.type, data, bytes: JSON.stringify(data).length, addressee }
  if (addressee === null) return event
  const one = { where: { id: addressee.id }, select: { id: true } } as const
  if (addressee.kind === 'subscription') {
    if ((await database.subscription.findUnique(one)) === null) throw refusals.subscriptionNotFound()
  } else if ((await database.rule.findUnique(one)) === null) throw refusals.ruleNotFound()
  return event
}
