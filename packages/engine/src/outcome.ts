import { Type } from 'typebox'

/** What became of one action. */
export const ActionResult = Type.Object({
  action: Type.String({ description: 'Type of the action' }),
  status: Type.Enum(['success', 'failed', 'skipped', 'simulated']),
  error: Type.Optional(Type.String({ description: 'Why it failed' })),
  reason: Type.Optional(Type.String({ description: 'Why it was skipped' })),
  config: Type.Optional(Type.Unknown({ description: 'The rendered config, in a dry run' })),
  output: Type.Optional(Type.Unknown()),
  warnings: Type.Optional(Type.Array(Type.String())),
})
export type ActionResult = Type.Static<typeof ActionResult>

/** What a run of one rule returned; `actionsExecuted` counts the actions with status `success`. */
export const Outcome = Type.Object({
  success: Type.Boolean(),
  conditionsPassed: Type.Boolean(),
  actionsExecuted: Type.Integer({ minimum: 0 }),
  results: Type.Array(ActionResult),
})
export type Outcome = Type.Static<typeof Outcome>

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
