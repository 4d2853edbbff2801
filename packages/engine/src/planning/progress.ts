import { type ActionResult, isOpen } from '../results/outcome.js'
import { Evaluation } from '../work/evaluation.js'
import type { CompiledAction, CompiledRule } from './compile-rule.js'
import type { PlannedAction, ReadyAction, RulePlan } from './run.js'
import { isDeclaring, isReady, planAction, readEnd, scopeOf } from './run.js'

/** The effect of an action. A failure is an expected result, not an error to throw. */
export type Effect =
  | { status: 'success'; output?: unknown; captured?: Record<string, unknown>; warnings?: string[] }
  | {
      status: 'failed'
      error: string
      output?: unknown
      captured?: Record<string, unknown>
      warnings?: string[]
      /** True if another attempt cannot help, whatever `retry` allows. */
      isFinal?: boolean
      /** True if the destination did not respond. */
      isUnanswered?: boolean
      /** True if the fault lies before the call, so that it says nothing of the destination. */
      isUncalled?: boolean
      /** The pause (ms) that the destination requests. */
      retryAfterMs?: number
    }

/** Marks an action that was skipped after a failure. A retry of the failed action may still perform it. */
export const skippedAfterFailure = 'an earlier action failed'
const skippedAfterEvent = 'an event ended the WAIT before it'

/**
 * The next action to perform, in order, one at a time. Undefined when none is left. Actions that need no effect get their
 * result here: those whose `when` does not hold, those with a faulty rendered config, and all that follow a failed action
 * without `continueOnError`.
 *
 * Rule, data, start and results are the whole state of an execution: any process that has them continues it in the same way.
 *
 * @param startedAt epoch ms
 * @param results of the actions so far, by index; those that are settled here are added
 * @param evaluation to it the work of each `when` is charged
 */
export function findNextAction(
  rule: CompiledRule,
  data: unknown,
  startedAt: number,
  results: ActionResult[],
  evaluation = new Evaluation(startedAt),
): ReadyAction | undefined {
  let at = startedAt
  let stopped: string | undefined
  if (isDeclaring(rule)) reopenSkipped(rule, results)
  for (const action of rule.actions) {
    let result = results[action.index]
    if (result === undefined || isOpen(result)) {
      if (stopped !== undefined) result = skip(action, stopped)
      else {
        const planned = planAction(action, scopeOf(rule, action, data, results, evaluation), at, evaluation)
        if (isReady(planned)) return planned
        result = settleUnready(planned)
      }
      results[action.index] = result
    }
    if (action.type === 'WAIT') at = readEnd(result) ?? at
    if (isFailure(result) && !action.continueOnError) stopped ??= skippedAfterFailure
    if (action.waitFor?.then === 'stop' && result.ended === 'event') stopped ??= skippedAfterEvent
  }
  return undefined
}

/**
 * After a retry by hand, an action that its own `when` skipped starts again if that `when` reads what a repeated action recorded. Without a
 * retry there is none: what it reads was settled before it.
 */
function reopenSkipped({ actions }: CompiledRule, results: ActionResult[]): void {
  for (const { index, whenSources } of actions) {
    const result = results[index]
    if (whenSources.length === 0 || result?.status !== 'skipped' || result.reason === skippedAfterFailure)
      continue
    const isRepeated = (source: number) => results[source] === undefined || isOpen(results[source])
    if (whenSources.some(isRepeated)) results[index] = { action: result.action, status: 'pending' }
  }
}

/** The result of an action that was performed. */
export function settleAction(action: ReadyAction, effect: Effect): ActionResult {
  const result: ActionResult = { action: action.type, status: effect.status }
  if (effect.status === 'failed') result.error = effect.error
  if (effect.output !== undefined) result.output = effect.output
  if (effect.captured !== undefined) result.captured = effect.captured
  return withWarnings(result, action.warnings, effect.warnings)
}

export function isFailure({ status }: ActionResult): boolean {
  return status === 'failed' || status === 'unknown'
}

/** Why an execution failed: the error of its first failed action. Null if none failed. */
export function findError(results: ActionResult[]): string | null {
  const failed = results.find(isFailure)
  return failed ? (failed.error ?? 'The action failed') : null
}

/**
 * Shows what an execution would do, without effects. It includes every action with its rendered config, also after one
 * that would fail: a dry run finds all faults at once.
 */
export function simulatePlan(plan: RulePlan) {
  const results = plan.actions.map(simulateAction)
  return {
    success: plan.fault === undefined && !results.some(isFailure),
    conditionsPassed: plan.conditionsPassed,
    actionsExecuted: 0,
    results,
    ...(plan.fault !== undefined && { error: plan.fault }),
  }
}

function simulateAction(action: PlannedAction): ActionResult {
  if (isReady(action))
    return withWarnings(
      { action: action.type, status: 'simulated', config: showConfig(action), ...showDate(action) },
      action.warnings,
    )
  const result = settleUnready(action)
  if ('config' in action) result.config = action.config
  return result
}

/** Of a WAIT until a date. The end of another one depends on when it is reached. */
function showDate(action: ReadyAction): { until?: string } {
  return action.type === 'WAIT' && action.config.until !== undefined && action.end !== undefined
    ? { until: new Date(action.end).toISOString() }
    : {}
}

/** With the events of forEach, whose data is not in the config. */
export function showConfig({ config, events }: ReadyAction): object {
  return events === undefined ? config : { ...config, events }
}

function settleUnready(action: Exclude<PlannedAction, ReadyAction>): ActionResult {
  if ('skipped' in action) return skip(action.of, action.skipped)
  return withWarnings({ action: action.of.type, status: 'failed', error: action.fault }, action.warnings)
}

function skip(action: CompiledAction, reason: string): ActionResult {
  return { action: action.type, status: 'skipped', reason }
}

function withWarnings(
  result: ActionResult,
  planned: readonly string[],
  performed: readonly string[] = [],
): ActionResult {
  if (planned.length + performed.length > 0) result.warnings = [...planned, ...performed]
  return result
}
