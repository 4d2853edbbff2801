import {
  type ActionResult,
  type Attempt,
  type Effect,
  findRetryDelay,
  settleAction,
} from '@automation/engine'
import type { OutsideAction } from './effects/effect.js'
import { endRun, type Run, suspendRun } from './run.js'

/** Of one action, in its result. */
const maxAttemptsKept = 20
/** With so many workers dead, in a row, a run is not gone on with. */
const maxInterruptions = 5
const interrupted = 'The worker ended during the call'

/** Notes that a call is about to be made: once this is committed, it may have been. */
export function openAttempt(run: Run, action: OutsideAction): void {
  const known = run.results[action.of.index]
  const attempts = [...(known?.attempts ?? []), { startedAt: new Date().toISOString() }]
  run.results[action.of.index] = {
    action: action.type,
    status: 'running',
    attempts: attempts.slice(-maxAttemptsKept),
    ...(known?.failures !== undefined && { failures: known.failures }),
  }
}

/** Notes how the call ended. Where it failed and may be tried again, the run is suspended until then. */
export function settleAttempt(run: Run, action: OutsideAction, effect: Effect): void {
  const { attempts = [], failures = 0 } = run.results[action.of.index] ?? {}
  closeAttempt(attempts, effect)
  const result: ActionResult = { ...settleAction(action, effect), attempts }
  run.results[action.of.index] = result
  if (effect.status === 'success') return
  result.failures = failures + 1
  if (effect.isFinal) return
  const delayMs = findRetryDelay(action.of.retry, result.failures, Math.random(), effect.retryAfterMs)
  if (delayMs === undefined) return
  const dueAt = new Date(Date.now() + delayMs)
  result.status = 'retrying'
  result.until = dueAt.toISOString()
  suspendRun(run, 'retrying', dueAt)
}

/**
 * For a run whose worker died: a call that had begun may have been made or not. It is made again under its key, unless the
 * action says `onUncertain: "stop"`, or too many workers have ended with it, or the run does not go on: then it is unknown
 * for good.
 */
export function settleInterrupted(run: Run): void {
  const { compiled } = run.rule
  const isGivenUp = run.interruptions >= maxInterruptions
  const goesOn = run.finishedAt === null && !('fault' in compiled)
  const index = run.results.findIndex((result) => result?.status === 'running')
  const result = run.results[index]
  if (result === undefined) {
    if (isGivenUp && run.finishedAt === null) giveUp(run)
    return
  }
  const attempt = result.attempts?.at(-1)
  if (attempt && attempt.finishedAt === undefined) attempt.error = interrupted
  if (goesOn && !isGivenUp && compiled.actions[index]?.onUncertain !== 'stop') return
  result.status = 'unknown'
  result.error = `${interrupted}: nobody knows whether it was made`
  run.attention = 'unknown_outcome'
}

/** No call was under way: it must be the run itself that ends workers. */
function giveUp(run: Run): void {
  endRun(run, 'failed')
  run.error = `${run.interruptions} workers ended while they had this run`
  run.attention = 'unknown_outcome'
}

function closeAttempt(attempts: Attempt[], effect: Effect): void {
  const attempt = attempts.at(-1)
  if (attempt === undefined) return
  attempt.finishedAt = new Date().toISOString()
  if (effect.status === 'failed') attempt.error = effect.error
  if (effect.output !== undefined) attempt.output = effect.output
}
