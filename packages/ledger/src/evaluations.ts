import type { ActionResult } from '@automation/engine'
import type { ExecutionStatus } from './statuses.js'

export type EvaluationStatus = ExecutionStatus | 'not_matched'

/** What one rule made of one event, whether it has just run (worker) or is read back (API). */
export interface RuleEvaluation {
  ruleId: string
  /** null where the conditions did not match: then there is no execution. */
  executionId: string | null
  status: EvaluationStatus
  /** What has failed so far, or why the execution was cancelled; null otherwise. */
  error: string | null
  results: ActionResult[]
}

/** The evaluation of a rule that matched; omitted fields are null or empty. */
export interface MatchedEvaluation
  extends Pick<RuleEvaluation, 'executionId' | 'status'>,
    Partial<Pick<RuleEvaluation, 'error' | 'results'>> {
  /** Of its rule among the rules that the event considered. */
  index: number
}

/**
 * Lists the evaluations of all rules that an event considered, in their order.
 *
 * @param matched in ascending order of `index`; rules without an entry did not match
 */
export function listEvaluations(ruleIds: string[], matched: MatchedEvaluation[]): RuleEvaluation[] {
  let next = 0
  return ruleIds.map((ruleId, index): RuleEvaluation => {
    const evaluation = matched[next]
    if (evaluation?.index !== index)
      return { ruleId, executionId: null, status: 'not_matched', error: null, results: [] }
    next++
    const { executionId, status, error = null, results = [] } = evaluation
    return { ruleId, executionId, status, error, results }
  })
}
