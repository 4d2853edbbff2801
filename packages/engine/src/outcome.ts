import { Type } from 'typebox'

/** One call of an action that reaches out of the service. */
export const Attempt = Type.Object({
  startedAt: Type.String({ format: 'date-time' }),
  finishedAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Absent while it is under way, or where nobody knows how it ended',
    }),
  ),
  error: Type.Optional(Type.String()),
  output: Type.Optional(Type.Unknown()),
})
export type Attempt = Type.Static<typeof Attempt>

/** What became of one action, so far. */
export const ActionResult = Type.Object({
  action: Type.String({ description: 'Type of the action' }),
  status: Type.Enum(
    ['success', 'failed', 'skipped', 'simulated', 'scheduled', 'running', 'retrying', 'pending', 'unknown'],
    {
      description:
        'scheduled: a WAIT that has not ended. running: a call is under way. retrying: the next attempt is due at `until`. pending: not begun. unknown: a worker died during the call, and `onUncertain` is stop.',
    },
  ),
  error: Type.Optional(Type.String({ description: 'Why it failed' })),
  reason: Type.Optional(Type.String({ description: 'Why it was skipped' })),
  config: Type.Optional(Type.Unknown({ description: 'The rendered config, in a dry run' })),
  output: Type.Optional(Type.Unknown()),
  warnings: Type.Optional(Type.Array(Type.String())),
  attempts: Type.Optional(
    Type.Array(Attempt, { description: 'The calls that were made, the last 20 at most' }),
  ),
  failures: Type.Optional(
    Type.Integer({ description: 'How many attempts have failed since it was begun, or retried by hand' }),
  ),
  until: Type.Optional(
    Type.String({ format: 'date-time', description: 'The end of a WAIT, or the time of the next attempt' }),
  ),
})
export type ActionResult = Type.Static<typeof ActionResult>

export interface ClauseTrace {
  field: string
  operator: string
  expected?: unknown
  /** Absent when the data has no such field. */
  actual?: unknown
  verdict: boolean
}

// Written beside its schema for its recursion, as Condition is.
export type ConditionTrace =
  | ClauseTrace
  | { group: 'all' | 'any' | 'not'; children: ConditionTrace[]; verdict: boolean }

const ConditionTraceRef = Type.Unsafe<ConditionTrace>({ $ref: 'ConditionTrace#' })

/** Why a condition held or not: a clause has `field`, a group has `group` and `children`. */
export const ConditionTrace = Type.Unsafe<ConditionTrace>({
  $id: 'ConditionTrace',
  type: 'object',
  required: ['verdict'],
  properties: {
    field: { type: 'string' },
    operator: { type: 'string' },
    expected: {},
    actual: {},
    group: { enum: ['all', 'any', 'not'] },
    children: { type: 'array', items: ConditionTraceRef },
    verdict: { type: 'boolean' },
  },
})

/** Why a rule would run or not, and which of its actions. */
export const Trace = Type.Object({
  conditionsPassed: Type.Boolean(),
  conditions: Type.Array(ConditionTraceRef),
  actions: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0 }),
      type: Type.String(),
      when: Type.Optional(ConditionTraceRef),
    }),
  ),
})
export type Trace = Type.Static<typeof Trace>
