import { ActionResult } from '@automation/engine'
import { Type } from 'typebox'

/** How far a run of a rule is. The first three have a worker's attention, or will have it at their time; the others are final. */
export const RunStatus = Type.Enum(
  ['running', 'waiting', 'retrying', 'succeeded', 'failed', 'cancelled', 'not_matched'],
  {
    description:
      'running: under way. waiting: until a WAIT ends. retrying: until the next attempt of an action. cancelled: the rule was switched off or deleted meanwhile. not_matched: the conditions did not pass, so it is no execution.',
  },
)
export type RunStatus = Type.Static<typeof RunStatus>

/** One entry for each rule that an event considered, in creation order. */
export const TriggerResult = Type.Object({
  triggered: Type.Integer({
    minimum: 0,
    description: 'Number of rules run, which is the number of results.',
  }),
  results: Type.Array(
    Type.Object({
      ruleId: Type.String({ format: 'uuid' }),
      success: Type.Boolean({ description: 'false when any action failed, or the run was cancelled' }),
      status: RunStatus,
      conditionsPassed: Type.Boolean(),
      executionId: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
        description: 'null where the conditions did not pass: such a run is no execution.',
      }),
      error: Type.Optional(Type.String({ description: 'Present when success is false.' })),
    }),
  ),
})
export type TriggerResult = Type.Static<typeof TriggerResult>

export const ExecutionResult = Type.Object({
  success: Type.Boolean({ description: 'false when any action failed.' }),
  conditionsPassed: Type.Boolean(),
  actionsExecuted: Type.Integer({ minimum: 0 }),
  dryRun: Type.Boolean(),
  results: Type.Array(ActionResult),
})
export type ExecutionResult = Type.Static<typeof ExecutionResult>

/** What is known of one rule's run, be it just run (worker) or read back (API): both tell the caller the same. */
export interface Run {
  ruleId: string
  /** null where the conditions did not pass. */
  executionId: string | null
  status: RunStatus
  /** What failed so far, or why it was cancelled; null as long as all is well. */
  error: string | null
  results: ActionResult[]
}

export function triggerResultOf(runs: Run[]): TriggerResult {
  return {
    triggered: runs.length,
    results: runs.map(({ ruleId, executionId, status, error }) => ({
      ruleId,
      success: error === null,
      status,
      conditionsPassed: executionId !== null,
      executionId,
      ...(error === null ? {} : { error }),
    })),
  }
}

export function executionResultOf(run: Run): ExecutionResult {
  return {
    success: run.error === null,
    conditionsPassed: run.executionId !== null,
    actionsExecuted: run.results.filter((result) => result.status === 'success').length,
    dryRun: false,
    results: run.results,
  }
}
