import { orNull } from '@automation/access'
import { decisionType, Suppression } from '@automation/engine'
import type { ListedExecutionRow } from '@automation/history'
import { waitsForKey } from '@automation/ledger'
import { Type } from 'typebox'
import { ExecutionResult } from '../../acceptance/execution-result.js'
import { EvaluationStatus } from '../../acceptance/results.js'
import { Excerpt } from '../../lists/excerpt.js'
import { Id, Timestamp } from '../../responses.js'

const { results, ...outcome } = ExecutionResult.properties

/** An execution without the results of its actions. */
export const ListedExecution = Type.Object(
  {
    id: Id,
    workspaceId: Id,
    eventId: Id,
    eventType: Type.String(),
    ruleId: {
      ...Id,
      description: 'Id of the rule. For a delivery it is the id of the subscription, as in subscriptionId.',
    },
    subscriptionId: orNull({ ...Id, description: 'Set if the execution is a delivery to a subscription' }),
    ruleVersion: orNull(Type.Integer()),
    status: Type.Enum(['pending', ...EvaluationStatus.enum], {
      description:
        'pending: accepted but not started. running: a worker is processing it. waiting: it continues later, after a WAIT, at the end of its batch, or when the worker has a free slot for its call. retrying: the next attempt of an action is due later, or the execution was retried. not_matched: the rule was executed manually, and its conditions did not match. cancelled: the rule was switched off or deleted in the meantime, a person cancelled it, or a newer event of its key replaced it. suppressed: `perKey` of the rule did not grant it, and `suppressed` says why.',
    }),
    ...outcome,
    error: orNull(Type.String()),
    suppressed: orNull(Suppression),
    cancelRequested: Type.Boolean({
      description:
        'Somebody cancelled it, or a newer event of its key replaced it. It ends at its next step, and cannot be retried.',
    }),
    startedAt: orNull(Timestamp),
    dueAt: orNull(
      Type.String({
        format: 'date-time',
        description:
          'When the execution continues. null if it is finished or not started, and while it waits for its key.',
      }),
    ),
    waitsFor: orNull(
      Type.Enum(['key', 'decision', 'event', 'until'], {
        description:
          'What it waits for. key: until the executions of its key that come before it have ended (`perKey.whileRunning` of the rule); no time ends that. decision, event: a decision or an event, until `dueAt` at the latest. until: the end of a WAIT. null for other waits, such as for the end of its batch or a free slot.',
      }),
    ),
    finishedAt: orNull(Timestamp),
    excerpt: Excerpt,
  },
  { title: 'ExecutionSummary' },
)
export type ListedExecution = Type.Static<typeof ListedExecution>

const { excerpt: _excerpt, ...execution } = ListedExecution.properties

export const Execution = Type.Object({ ...execution, results })
export type Execution = Type.Static<typeof Execution>

export type ExecutionRow = Omit<ListedExecutionRow, 'actionsExecuted'>

/** Presents a stored execution, listed or by itself. */
export function presentExecutionRow(row: ExecutionRow) {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    eventId: row.eventId,
    eventType: row.eventType,
    ruleId: row.handlerId,
    subscriptionId: row.isDelivery ? row.handlerId : null,
    ruleVersion: row.ruleVersion,
    status: row.status,
    error: row.error,
    suppressed: row.suppression as Suppression | null,
    cancelRequested: row.cancelRequested === true,
    startedAt: row.startedAt.toISOString(),
    dueAt: waitsForKey(row) ? null : (row.dueAt?.toISOString() ?? null),
    waitsFor: findWait(row),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}

function findWait(row: ExecutionRow): Execution['waitsFor'] {
  if (waitsForKey(row)) return 'key'
  if (row.awaitedType === null) return null
  if (row.awaitedType === decisionType) return 'decision'
  return row.awaitedType === '' ? 'until' : 'event'
}
