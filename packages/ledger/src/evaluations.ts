import type { ActionResult, Suppression } from '@automation/engine'
import type { ExecutionStatus } from './statuses.js'

export type EvaluationStatus = ExecutionStatus | 'not_matched' | 'outranked' | 'left_out'

/** What one rule made of one event, whether it has just run (worker) or is read back (API). */
export interface RuleEvaluation {
  ruleId: string
  /** null where there is no execution: the conditions did not match, another rule of its group ran, or a person left the rule out. */
  executionId: string | null
  status: EvaluationStatus
  /** What has failed so far, or why the execution was cancelled; null otherwise. */
  error: string | null
  results: ActionResult[]
  /** The rule of its group that ran instead, where the status is `outranked`. */
  outrankedBy?: string
  /** Why it did nothing, where the status is `suppressed`. */
  suppression?: Suppression
}

/** The evaluation of a rule that matched; omitted fields are null or empty. */
export interface MatchedEvaluation
  extends Pick<RuleEvaluation, 'executionId' | 'status'>,
    Partial<Pick<RuleEvaluation, 'error' | 'results'>> {
  /** null: it is not suppressed. */
  suppression?: Suppression | null
  /** Of its rule among the rules that the event considered. */
  index: number
}

/** Of a rule that matched while another one of its group ran: the places of the two among the rules that the event considered. */
export type Outranked = [index: number, by: number]

export function writeOutranked(outranked: ReadonlyMap<number, number>): Outranked[] {
  return [...outranked]
}

/** Whether a person has left a rule out of a replay. @param chosen null, or from Prisma an empty list: none is */
export function isLeftOut(ruleId: string, chosen: readonly string[] | null | undefined): boolean {
  return Boolean(chosen?.length) && !chosen?.includes(ruleId)
}

/**
 * Lists the evaluations of all rules that an event considered, in their order.
 *
 * @param matched in ascending order of `index`; rules without an entry did not match, or
 * @param outranked ran in no execution; null: none
 * @param chosen the rules of a replay: the others are left out; null: all
 */
export function listEvaluations(
  ruleIds: string[],
  matched: MatchedEvaluation[],
  outranked: Outranked[] | null = null,
  chosen: readonly string[] | null = null,
): RuleEvaluation[] {
  const winners = outranked && new Map(outranked)
  let next = 0
  // For each rule of each event that somebody waits for: plain literals, since a spread takes a microsecond.
  return ruleIds.map((ruleId, index): RuleEvaluation => {
    const evaluation = matched[next]
    if (evaluation?.index === index) {
      next++
      const { executionId, status, error = null, results = [], suppression } = evaluation
      const evaluated: RuleEvaluation = { ruleId, executionId, status, error, results }
      if (suppression) evaluated.suppression = suppression
      return evaluated
    }
    if (isLeftOut(ruleId, chosen))
      return { ruleId, executionId: null, status: 'left_out', error: null, results: [] }
    const winner = winners?.get(index)
    const outrankedBy = winner === undefined ? undefined : ruleIds[winner]
    return outrankedBy === undefined
      ? { ruleId, executionId: null, status: 'not_matched', error: null, results: [] }
      : { ruleId, executionId: null, status: 'outranked', error: null, results: [], outrankedBy }
  })
}
