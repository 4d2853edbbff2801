import { type PerKey, parseDuration } from '@automation/engine'
import type { BacktestSubject, TestedDefinition } from './backtest-subject.js'
import { maxHeld } from './in-order.js'
import { maxRemembered } from './rule-keys.js'

const dayMs = 86_400_000
/** A warm-up of a year would take as long as a backtest of a year. */
const longestWarmUpMs = 31 * dayMs

/** How long (ms) before its range a backtest begins, so that it knows what keys remember; undefined: no definition has `perKey`. */
export function findWarmUpMs(subject: BacktestSubject): number | undefined {
  const windows = listKeyed(subject).map(findWindowMs)
  return windows.length === 0 ? undefined : Math.min(Math.max(...windows), longestWarmUpMs)
}

/** What a report assumes about `perKey`, and what it lacks. */
export function noteKeys(
  subject: BacktestSubject,
  warmUpMs: number,
  found: { forgotten: number; late: number; historyFrom: number | null },
): string[] {
  const keyed = listKeyed(subject)
  const perKeys = keyed.map(({ perKey }) => perKey)
  const since = Math.max(subject.from - warmUpMs, found.historyFrom ?? 0)
  const isCut = keyed.some((one) => findWindowMs(one) > longestWarmUpMs)
  return [
    `\`perKey\` is simulated for the events since ${new Date(since).toISOString()}, in the order of their acceptance, as if the definition had been active all the time. What an event met may differ if others of its key were in progress.`,
    ...when(isCut, 'A window of `perKey` is longer than the 31 days before the range that are looked at.'),
    ...when(
      perKeys.some(({ whileRunning }) => whileRunning !== undefined),
      'With `whileRunning`, an execution holds its key until the recorded end of the execution for its event. If there is none, its actions take no time and its WAITs the longest that they may.',
    ),
    ...when(
      perKeys.some(({ collect }) => collect !== undefined),
      'With `collect`, a batch is one match, that of its first event, and its actions are filled from that event. What reads `collected` is not known.',
    ),
    ...when(
      found.forgotten > 0,
      `More than ${maxRemembered.toLocaleString('en-US')} keys, events and executions were to be remembered: ${found.forgotten.toLocaleString('en-US')} times the key that was asked for longest ago was forgotten, and began again.`,
    ),
    ...when(
      found.late > 0,
      `${found.late.toLocaleString('en-US')} events were accepted long after their ids were made, so that more than ${maxHeld} others came between: \`perKey\` took them up later than in their order.`,
    ),
  ]
}

function when(isSo: boolean, note: string): string[] {
  return isSo ? [note] : []
}

type Keyed = TestedDefinition & { perKey: PerKey }

function listKeyed({ active, draft }: BacktestSubject): Keyed[] {
  return [active?.definition, draft].filter((one): one is Keyed => (one?.perKey ?? null) !== null)
}

/** How far back matters, at least: nobody knows how long an execution takes, or how far apart the ends of batches are. */
function findWindowMs({ perKey: { atMost, atLeast, collect, whileRunning }, actions }: Keyed): number {
  const isOpenEnded = collect?.at !== undefined || whileRunning !== undefined
  const waits = actions.flatMap(({ type, config }) =>
    type === 'WAIT' ? (parseDuration(config.duration ?? '') ?? dayMs) : [],
  )
  const held = whileRunning === undefined ? 0 : waits.reduce((sum, ms) => sum + ms, 0)
  return Math.max(
    parseDuration(atMost?.per ?? '') ?? 0,
    parseDuration(atLeast?.within ?? '') ?? 0,
    (parseDuration(collect?.for ?? '') ?? 0) + held,
    isOpenEnded ? dayMs + held : 0,
  )
}
