import { type Administrator, changeWorkspace } from '@automation/access'
import { isUuid, type WorkspaceTransaction } from '@automation/database'
import { narrowExecutions } from '@automation/history'
import { cancelExecution, cancelMany, countCancellable, type ExecutionStatus } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { refusals } from '../../errors.js'
import { ChosenIds, checkFilter, checkTypeInFilter, readRange } from '../../lists/history-filter.js'
import { Matches, matchCounts } from '../../lists/matches.js'
import { Id, refusalResponses } from '../../responses.js'
import { executionFilter } from './execution-filter.js'
import { findExecution, presentUnstarted } from './read.js'

const cancellableStatuses = ['waiting', 'retrying'] as const

const CancelledExecution = Type.Object(
  {
    id: Id,
    status: Type.Enum(['cancelled', 'running'], {
      description:
        'running: an attempt is in progress. It ends and is recorded, nothing begins after it, and then the execution is cancelled.',
    }),
  },
  { title: 'CancelledExecution' },
)

const CancelFilter = Type.Object(
  {
    ...executionFilter,
    ids: ChosenIds,
    status: Type.Optional(
      Type.Array(Type.Enum([...cancellableStatuses]), { minItems: 1, description: 'Default: both' }),
    ),
  },
  { additionalProperties: false, title: 'WaitingExecutionFilter' },
)
const BulkCancelBody = Type.Object(
  {
    filter: CancelFilter,
    dryRun: Type.Optional(Type.Boolean({ description: 'Only count the matches. Default: true.' })),
  },
  { additionalProperties: false, title: 'ExecutionsToCancel' },
)

const maxCancelled = 1_000

export const cancelRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/:id/cancel', {
    config: { role: 'operator', key: 'change' },
    schema: {
      operationId: 'cancelExecution',
      summary: 'Cancel an execution that has not ended',
      description:
        'A cancelled execution is neither a success nor a failure. What a person cancels cannot be retried, unlike what the switch-off of its rule cancelled: a replay of its event begins a new execution. One that has ended, or has not begun, is 409 with `execution_not_cancellable`.',
      params: Type.Object({ id: Id }),
      response: {
        200: { ...CancelledExecution, 'x-response-description': 'Cancelled' },
        202: {
          ...CancelledExecution,
          'x-response-description':
            'An attempt is in progress. The execution is cancelled when it has ended.',
        },
        ...refusalResponses(404, 409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { params, workspace } = request
      if (!isUuid(params.id)) throw refusals.executionNotFound()
      const id = params.id.toLowerCase()
      const cancel = (administrator: Administrator) =>
        changeWorkspace(administrator, async (transaction) => {
          const status = await cancelExecution(transaction, workspace.id, id)
          return {
            result: status ?? (await findRequested(transaction, id)),
            entry: status && { action: 'execution.cancelled', subject: id },
          }
        })
      const present = (status: ExecutionStatus) => {
        const location = `/api/executions/${id}`
        return { status: status === 'cancelled' ? 200 : 202, headers: { location }, body: { id, status } }
      }
      return sendStored(reply, await changeOnce(request, cancel, present))
    },
  })

  app.post('/cancel', {
    config: { role: 'operator', key: 'change' },
    schema: {
      operationId: 'cancelExecutions',
      summary: `Cancel the executions that wait or retry and match a filter, oldest first, at most ${maxCancelled.toLocaleString('en-US')} per call`,
      description:
        'A dry run, which only counts the matches, unless `dryRun` is false. An execution that a worker takes up at this moment is left out: the next call finds it, or it is running. 50 executions cost one token of the rate limit.',
      body: BulkCancelBody,
      response: {
        200: Matches,
        202: Type.Object(
          { ...matchCounts, cancelled: Type.Integer() },
          { title: 'ExecutionsCancelled', 'x-response-description': 'Cancelled' },
        ),
        ...refusalResponses(409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { filter, dryRun = true } = request.body
      const { workspace } = request
      checkFilter(CancelFilter, filter)
      await checkTypeInFilter(request, filter)
      const { status: statuses = cancellableStatuses, from: _from, to: _to, ...others } = filter
      const narrowing = narrowExecutions(workspace.id, { ...others, ...readRange(filter), statuses })
      const counted = await countCancellable(workspace.reads, narrowing)
      if (dryRun) return { ...counted, dryRun: true as const }
      await app.payForMany(request, reply, Math.min(counted.matched, maxCancelled))
      const cancel = (administrator: Administrator) =>
        changeWorkspace(administrator, async (transaction) => {
          const cancelled = await cancelMany(transaction, workspace.id, narrowing, maxCancelled)
          const details = { filter, ...counted, cancelled }
          return {
            result: cancelled,
            entry:
              cancelled > 0 ? { action: 'execution.cancelled', subject: workspace.id, details } : undefined,
          }
        })
      const present = (cancelled: number) => ({ status: 202, headers: {}, body: { ...counted, cancelled } })
      return sendStored(reply, await changeOnce(request, cancel, present))
    },
  })
}

/**
 * An execution that was cancelled before, and whose attempt is still in progress, gets the same response again.
 *
 * @throws a refusal where there is nothing to cancel
 */
async function findRequested(transaction: WorkspaceTransaction, id: string): Promise<ExecutionStatus> {
  const { event, execution } = await findExecution(transaction, id)
  if (execution !== null && execution.id !== id) throw refusals.executionNotFound()
  if (execution !== null && execution.dueAt !== null) return execution.status
  if (execution !== null) throw refusals.notCancellable(execution.status)
  throw refusals.notCancellable(presentUnstarted(event).status)
}
