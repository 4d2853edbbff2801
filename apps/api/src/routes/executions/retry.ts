import { type Administrator, changeWorkspace } from '@automation/access'
import { isUuid, type WorkspaceTransaction } from '@automation/database'
import type { PerKey } from '@automation/engine'
import { narrowExecutions, narrowToExecution } from '@automation/history'
import {
  addresseeOf,
  countRetryable,
  reopenExecutions,
  retryableStatuses,
  type VersionToRun,
  waitsForKey,
} from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { Accepted, presentAccepted } from '../../acceptance/run-event.js'
import { refusals } from '../../errors.js'
import { ChosenIds, checkFilter, checkTypeInFilter, readRange } from '../../lists/history-filter.js'
import { Matches, matchCounts } from '../../lists/matches.js'
import { fillMissingBody } from '../../plugins/bodies.js'
import { Id, refusalResponses } from '../../responses.js'
import { executionFilter } from './execution-filter.js'
import { findExecution, presentUnstarted } from './read.js'

const Version = Type.Optional(
  Type.Enum(['same', 'latest'], {
    description:
      'same: the definition that the execution started with. latest: the current rule. Default: same.',
  }),
)
const RetryBody = Type.Object(
  { version: Version },
  { additionalProperties: false, title: 'ExecutionToRetry' },
)

const RetryFilter = Type.Object(
  {
    ...executionFilter,
    ids: ChosenIds,
    status: Type.Optional(
      Type.Array(Type.Enum([...retryableStatuses]), { minItems: 1, description: 'Default: both' }),
    ),
  },
  { additionalProperties: false, title: 'ExecutionFilter' },
)
const BulkRetryBody = Type.Object(
  {
    filter: RetryFilter,
    version: Version,
    dryRun: Type.Optional(Type.Boolean({ description: 'Only count the matches. Default: true.' })),
  },
  { additionalProperties: false, title: 'ExecutionsToRetry' },
)

const maxRetried = 1_000
const refused = {
  refused: Type.Integer({
    description:
      'Number of other executions that match the filter and cannot be retried now. The retry of one of them says why: its key is in use, for example, or its rule is switched off.',
  }),
}

export const retryRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/:id/retry', {
    config: { role: 'operator', key: 'change' },
    preValidation: fillMissingBody,
    schema: {
      operationId: 'retryExecution',
      summary: 'Retry a failed or cancelled execution from its first unfinished action',
      description:
        'Actions that succeeded are not repeated, and calls keep their idempotency keys. One that the switch-off of its rule cancelled can be retried when the rule is on. One that a person cancelled, or that a newer event of its key replaced, is 409 with `execution_cancelled`: it can only be replayed, with its event. With `version: "latest"` the rest uses the current definition. An execution in another status is 409 with `execution_not_retryable`, as is one that failed before `perKey` of its rule was asked, a batch if the version does not collect, and one that holds no key if the version has `whileRunning`, and one whose key another execution has 409 with `key_in_use`, unless `perKey` of its rule queues: then it waits for its key, before later events.',
      params: Type.Object({ id: Id }),
      body: RetryBody,
      response: { 202: Accepted, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { params, body, workspace } = request
      if (!isUuid(params.id)) throw refusals.executionNotFound()
      const id = params.id.toLowerCase()
      const { version = 'same' } = body
      const retry = async (administrator: Administrator) => {
        const reopened = await changeWorkspace(administrator, async (transaction) => {
          const narrowing = narrowToExecution(workspace.id, id)
          const [result] = await reopenExecutions(transaction, narrowing, version, 1)
          if (result === undefined) throw await findObstacle(transaction, id, version)
          return { result, entry: { action: 'execution.retried', subject: id, details: { version } } }
        })
        const { eventId, dueAt } = reopened
        const { id: workspaceId, createdBy } = workspace
        if (!waitsForKey(reopened))
          app.inbox.resume({ executionId: id, eventId, workspaceId, createdBy, dueAt })
        return reopened
      }
      const present = () => presentAccepted(`/api/executions/${id}`, id)
      return sendStored(reply, await changeOnce(request, retry, present))
    },
  })

  app.post('/retry', {
    config: { role: 'operator', key: 'change' },
    schema: {
      operationId: 'retryExecutions',
      summary: `Retry the executions that match a filter, oldest first, at most ${maxRetried.toLocaleString('en-US')} per call`,
      description:
        'A dry run, which only counts the matches, unless `dryRun` is false. 50 executions cost one token of the rate limit.',
      body: BulkRetryBody,
      response: {
        200: Type.Object(
          { ...Matches.properties, ...refused },
          { title: 'ExecutionsToRetryMatched', 'x-response-description': 'A dry run. Nothing was changed.' },
        ),
        202: Type.Object(
          { ...matchCounts, ...refused, retried: Type.Integer() },
          {
            title: 'ExecutionsRetried',
            'x-response-description': 'Reopened. The executions continue in the background within a minute.',
          },
        ),
        ...refusalResponses(409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { filter, version = 'same', dryRun = true } = request.body
      const { workspace } = request
      checkFilter(RetryFilter, filter)
      await checkTypeInFilter(request, filter)
      const { status: statuses = retryableStatuses, from: _from, to: _to, ...others } = filter
      const narrowing = narrowExecutions(workspace.id, { ...others, ...readRange(filter), statuses })
      const counted = await countRetryable(workspace.reads, narrowing, version)
      if (dryRun) return { ...counted, dryRun: true as const }
      await app.payForMany(request, reply, Math.min(counted.matched, maxRetried))
      const retry = (administrator: Administrator) =>
        changeWorkspace(administrator, async (transaction) => {
          const { length } = await reopenExecutions(transaction, narrowing, version, maxRetried)
          const details = { filter, version, ...counted, retried: length }
          return {
            result: length,
            entry: length > 0 ? { action: 'execution.retried', subject: workspace.id, details } : undefined,
          }
        })
      const present = (retried: number) => ({ status: 202, headers: {}, body: { ...counted, retried } })
      return sendStored(reply, await changeOnce(request, retry, present))
    },
  })
}

async function isErased({ event }: WorkspaceTransaction, id: string): Promise<boolean> {
  return (await event.findFirst({ where: { id, NOT: { erasedAt: null } }, select: { id: true } })) !== null
}

/** Why it was not opened again. */
async function findObstacle(
  transaction: WorkspaceTransaction,
  id: string,
  version: VersionToRun,
): Promise<Error> {
  const { event, execution } = await findExecution(transaction, id)
  if (execution !== null && execution.id !== id) return refusals.executionNotFound()
  if (execution === null && event?.quarantined) return refusals.quarantined()
  const { status, ruleId } = execution
    ? { ...execution, ruleId: execution.handlerId }
    : presentUnstarted(event)
  if (status !== 'failed' && status !== 'cancelled') return refusals.notRetryable(status)
  if (execution?.cancelRequested) return refusals.cancelledByHand()
  if (await isErased(transaction, execution?.eventId ?? id)) return refusals.eventErased()
  // A delivery has the id of its event.
  if (event !== null && addresseeOf(event)?.kind === 'subscription') return refusals.subscriptionGone()
  const rule = await transaction.rule.findUnique({
    where: { id: ruleId },
    select: { isActive: true, perKey: true },
  })
  if (rule?.isActive === false) return refusals.ruleSwitchedOff()
  const perKey = rule?.perKey as PerKey | null | undefined
  if (rule && version === 'latest' && !perKey?.collect) {
    const member = await transaction.keyClaim.findFirst({
      where: { batchId: id },
      select: { executionId: true },
    })
    if (member) return refusals.batchNotCollected()
  }
  const claim = await transaction.keyClaim.findUnique({ where: { executionId: id } })
  if (rule && claim?.isExclusive) return refusals.keyInUse()
  if (version === 'latest' && perKey?.whileRunning) return refusals.keyNotClaimed()
  return perKey && claim === null ? refusals.keyNotAsked() : refusals.ruleGone()
}
