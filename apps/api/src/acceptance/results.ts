import { type Evaluation, executionStatuses } from '@automation/ledger'
import { Type } from 'typebox'
import type { ExecutionResult } from './execution-result.js'

export const EvaluationStatus = Type.Enum([...executionStatuses, 'not_matched'], {
  description:
    'running: a worker executes the actions. waiting: a WAIT has not ended. retrying: the next attempt of an action is due later. cancelled: the rule was switched off or deleted in the meantime. not_matched: the conditions did not match, so there is no execution.',
})

/** One entry for each rule that an event considered, in creation order. */
const RuleResult = Type.Object(
  {
    ruleId: Type.String({ format: 'uuid' }),
    success: Type.Boolean({ description: 'false if any action failed or the execution was cancelled' }),
    status: EvaluationStatus,
    conditionsPassed: Type.Boolean(),
    executionId: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description: 'null if the conditions did not match, because there is then no execution.',
    }),
    error: Type.Optional(Type.String({ description: 'Present when success is false.' })),
  },
  { title: 'RuleResult' },
)

export const TriggerResult = Type.Object(
  {
    triggered: Type.Integer({
      minimum: 0,
      description: 'Number of rules considered, which is the number of results.',
    }),
    results: Type.Array(RuleResult),
  },
  { title: 'TriggerResult' },
)
export type TriggerResult = Type.Static<typeof TriggerResult>

export function triggerResultOf(evaluations: Evaluation[]): TriggerResult {
  return {
    triggered: evaluations.length,
    results: evaluations.map(({ ruleId, executionId, status, error }) => ({
      ruleId,
      success: error === null,
      status,
      conditionsPassed: executionId !== null,
      executionId,
      ...(error === null ? {} : { error }),
    })),
  }
}

export function executionResultOf(evaluation: Evaluation): ExecutionResult {
  return {
    success: evaluation.error === null,
    conditionsPassed: evaluation.executionId !== null,
    actionsExecuted: evaluation.results.filter((result) => result.status === 'success').length,
    dryRun: false,
    results: evaluation.results,
  }
}
