import type { ActionResult, Outcome } from './outcome.js'
import type { Plan, PlannedAction, ReadyAction } from './run.js'

/** What performing an action came to; a failure is an expected result, not an error to throw. */
export type Effect =
  | { status: 'success'; output?: unknown }
  | { status: 'failed'; error: string; output?: unknown }

/**
 * Performs a plan's actions in order, one at a time. After a failed one the rest is skipped, unless that one says
 * `continueOnError`. `perform` gets only actions that are ready; what it throws is a surprise and goes to the caller.
 */
export async function settlePlan(
  plan: Plan,
  perform: (action: ReadyAction) => Promise<Effect>,
): Promise<Outcome> {
  const results: ActionResult[] = []
  let isStopped = false
  for (const action of plan.actions) {
    const result = isStopped ? skip(action, 'an earlier action failed') : await settleAction(action, perform)
    results.push(result)
    if (result.status === 'failed' && !action.continueOnError) isStopped = true
  }
  return conclude(plan, results)
}

/**
 * Tells what a run would do, and does nothing. Every action is shown with its rendered config, also after one that
 * would fail: a dry run is for finding all faults at once.
 */
export function simulatePlan(plan: Plan): Outcome {
  return conclude(plan, plan.actions.map(simulateAction))
}

async function settleAction(
  action: PlannedAction,
  perform: (action: ReadyAction) => Promise<Effect>,
): Promise<ActionResult> {
  if ('skipped' in action) return skip(action, action.skipped)
  if ('fault' in action) return withWarnings(action, { status: 'failed', error: action.fault })
  return withWarnings(action, await perform(action))
}

function simulateAction(action: PlannedAction): ActionResult {
  if ('skipped' in action) return skip(action, action.skipped)
  if ('fault' in action)
    return withWarnings(action, { status: 'failed', error: action.fault, config: action.config })
  return withWarnings(action, { status: 'simulated', config: action.config })
}

function skip(action: PlannedAction, reason: string): ActionResult {
  return { action: action.type, status: 'skipped', reason }
}

function withWarnings(
  action: PlannedAction,
  result: Omit<ActionResult, 'action' | 'warnings'>,
): ActionResult {
  const { warnings } = action
  return { action: action.type, ...result, ...(warnings.length > 0 && { warnings: [...warnings] }) }
}

function conclude(plan: Plan, results: ActionResult[]): Outcome {
  return {
    success: results.every((result) => result.status !== 'failed'),
    conditionsPassed: plan.conditionsPassed,
    actionsExecuted: results.filter((result) => result.status === 'success').length,
    results,
  }
}
