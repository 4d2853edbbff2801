import { postgresNow } from '@automation/database'
import {
  type ActionResult,
  type Attempt,
  type Effect,
  findRetryDelay,
  settleAction,
} from '@automation/engine'
import { type ExecutionRecord, maxCrashes } from '@automation/ledger'
import type { OutsideAction } from '../effects/effect.js'
import { type Execution, end, suspend } from '../executions/execution.js'

/** Of one action, in its result. */
const maxAttemptsKept = 20
const interrupted = 'A worker crashed during this call'

/** Notes that a call is about to be made. Once this is committed, the call may have been made. */
export function openAttempt({ results }: ExecutionRecord, action: OutsideAction): void {
  const known = results[action.of.index]
  const attempts = [...(known?.attempts ?? []), { startedAt: new Date(postgresNow()).toISOString() }]
  results[action.of.index] = {
    action: action.type,
    status: 'running',
    to: findTargets(action),
    attempts: attempts.slice(-maxAttemptsKept),
    ...(known?.failures !== undefined && { failures: known.failures }),
  }
}

/**
 * Notes how a call ended. These are all ends:
 *
 *   success                       the execution continues
 *   failed, final                 the action has failed
 *   failed, no attempt left       the action has failed
 *   failed, an attempt left       the execution is suspended until then
 */
export function settleAttempt(record: ExecutionRecord, action: OutsideAction, effect: Effect): void {
  const { attempts = [], failures = 0, to = findTargets(action) } = record.results[action.of.index] ?? {}
  closeAttempt(attempts, effect)
  const result: ActionResult = { ...settleAction(action, effect), to, attempts }
  record.results[action.of.index] = result
  record.interruptions = 0
  if (effect.status === 'success') return
  result.failures = failures + 1
  if (effect.isFinal) return
  const delayMs = findRetryDelay(action.of.retry, result.failures, Math.random(), effect.retryAfterMs)
  if (delayMs === undefined) return
  const dueAt = new Date(postgresNow() + delayMs)
  result.status = 'retrying'
  result.until = dueAt.toISOString()
  // What is captured is what the last response had.
  delete result.captured
  suspend(record, 'retrying', dueAt)
}

/**
 * Settles the call that was under way when a worker ended, which may have been made or not. It is repeated under its key, unless the
 * action says `onUncertain: "stop"`, or too many workers have ended with it, or the execution does not continue: then its outcome is
 * unknown for good.
 */
export function settleInterrupted({ record, rule: { compiled } }: Execution): void {
  const isGivenUp = record.interruptions >= maxCrashes
  const isContinued = record.finishedAt === null && !('fault' in compiled)
  const index = record.results.findIndex((result) => result?.status === 'running')
  const result = record.results[index]
  if (result === undefined) {
    if (isGivenUp && record.finishedAt === null) giveUp(record)
    return
  }
  const attempt = result.attempts?.at(-1)
  if (attempt && attempt.finishedAt === undefined) attempt.error = interrupted
  if (isContinued && !isGivenUp && compiled.actions[index]?.onUncertain !== 'stop') return
  result.status = 'unknown'
  result.error = `${interrupted}, so it is unknown whether it arrived`
  record.interruptions = 0
}

/** No call was under way, so the execution itself must end workers. */
function giveUp(record: ExecutionRecord): void {
  end(record, 'failed', `Gave up after ${record.interruptions} workers crashed on this execution`)
  record.attention = 'unknown_outcome'
}

/** Whom the call reaches: by this executions are found. Of a URL the host alone: a path may be a secret. */
function findTargets({ type, config }: OutsideAction): string[] {
  if (type === 'SEND_EMAIL') return [config.to, config.cc ?? [], config.bcc ?? []].flat(2)
  return URL.canParse(config.url) ? [new URL(config.url).hostname] : []
}

function closeAttempt(attempts: Attempt[], effect: Effect): void {
  const attempt = attempts.at(-1)
  if (attempt === undefined) return
  attempt.finishedAt = new Date(postgresNow()).toISOString()
  if (effect.status === 'failed') attempt.error = effect.error
  if (effect.output !== undefined) attempt.output = effect.output
}
