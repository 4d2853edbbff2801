import { type Batch, collectEvent, compileCollect } from './collect.js'
import { type CompiledPerKey, showKey } from './compile-key.js'
import { isBefore, type KeyEvent } from './key-event.js'
import { maxQueued } from './per-key.js'
import type { Suppression } from './suppression.js'

/** What is known of a key when the next event of it is recorded. */
export interface KeyState {
  /** The events that were granted an execution, in any order; those further away than a window need not be there. */
  granted: readonly KeyEvent[]
  /** The matching events that no execution has used up. */
  counted: readonly KeyEvent[]
  /** The execution that is in progress or waits after it has begun. */
  holder?: (KeyEvent & { readonly isWaiting: boolean }) | undefined
  /** Those that have not begun, in the order of their events. */
  queue: readonly KeyEvent[]
  /** Those that have not begun, of the version of the rule that matched the event, in the order of their ends. */
  batches?: readonly Batch[]
  /** How many batches have not begun, of all versions. Those beyond maxQueued need not be counted. */
  collecting?: number
}

export interface Decision {
  /** `run`: it begins. `wait`: it begins after the others of its key, or at the end of the batch that it opens. */
  readonly kind: 'run' | 'wait' | 'suppressed'
  readonly suppression?: Suppression
  /** The executions that it takes the place of. The one in progress is cancelled after its present action. */
  readonly replaced: readonly KeyEvent[]
  /** Events that are used up by this one, which may be one of them. */
  readonly consumed: readonly KeyEvent[]
  /** Whether this event is counted from now on. */
  readonly isCounted: boolean
  /** The batch that has the event now. */
  readonly batch?: Batch
}

const nothing = { replaced: [], consumed: [], isCounted: false } as const

/**
 * Decides what becomes of a rule that matched an event: atLeast is asked first, then atMost, then whileRunning. A refused event claims nothing
 * but its place in atLeast, whose count stays used up.
 */
export function decide(perKey: CompiledPerKey, key: string, state: KeyState, event: KeyEvent): Decision {
  const shown = showKey(key)
  // It stands alone, but for `queue`: the batch waits for its key from its end on, and counts in the queue from its first event on.
  if (perKey.collect !== undefined) {
    const { batch, isOpened } = collectEvent(compileCollect(perKey.collect), state.batches ?? [], event)
    const waiting = state.queue.length + (state.collecting ?? 0)
    if (isOpened && perKey.whileRunning === 'queue' && waiting >= maxQueued)
      return { ...nothing, kind: 'suppressed', suppression: { reason: 'queue_full', key: shown } }
    if (isOpened) return { ...nothing, kind: 'wait', batch }
    const { executionId } = batch.openedBy
    return {
      ...nothing,
      kind: 'suppressed',
      suppression: { reason: 'collected', key: shown, executionId },
      batch,
    }
  }
  const counting = count(perKey, state, event)
  if ('missing' in counting) {
    const { events } = perKey.atLeast as { events: number }
    const suppression = { reason: 'at_least', key: shown, count: events - counting.missing, events } as const
    return { ...nothing, kind: 'suppressed', suppression, isCounted: true }
  }
  const { consumed } = counting
  // Of more events than it takes, the oldest are used up: it may be left itself, if some were recorded late.
  const isCounted = perKey.atLeast !== undefined && !consumed.includes(event)
  const claimed = { ...nothing, consumed, isCounted }
  const refuse = (suppression: Suppression): Decision => ({ ...claimed, kind: 'suppressed', suppression })
  const limit = findLimit(perKey, state.granted, event)
  if (limit !== undefined) {
    const until = new Date(limit.until).toISOString()
    return refuse({ reason: 'at_most', key: shown, until, executionId: limit.by.executionId })
  }
  const others = [...(state.holder ? [state.holder] : []), ...state.queue]
  const [first] = others
  if (first === undefined || perKey.whileRunning === undefined) return { ...claimed, kind: 'run' }
  if (perKey.whileRunning === 'skip')
    return refuse({ reason: 'while_running', key: shown, executionId: first.executionId })
  if (perKey.whileRunning === 'queue')
    return state.queue.length >= maxQueued
      ? refuse({ reason: 'queue_full', key: shown })
      : { ...claimed, kind: 'wait' }
  const newer = others.find((other) => isBefore(event, other))
  if (newer !== undefined)
    return refuse({ reason: 'while_running', key: shown, executionId: newer.executionId })
  const isBusy = state.holder !== undefined && !state.holder.isWaiting
  return { ...claimed, kind: isBusy ? 'wait' : 'run', replaced: others }
}

/**
 * The events that this one completes, or how many are missing. It counts in every interval of length `within` with its moment, before or after it: in
 * whatever order events are recorded, no interval keeps as many as it takes.
 */
function count(
  { atLeast }: CompiledPerKey,
  { counted }: KeyState,
  event: KeyEvent,
): { consumed: readonly KeyEvent[] } | { missing: number } {
  if (atLeast === undefined) return { consumed: [] }
  const { events, within } = atLeast
  const near = counted.filter(({ at }) => Math.abs(at - event.at) < within)
  const ordered = [...near, event].sort((one, other) => (isBefore(one, other) ? -1 : 1))
  const intervals = ordered
    .filter(({ at }) => at <= event.at)
    .map((first) => ordered.filter(({ at }) => at >= first.at && at < first.at + within))
  const full = intervals.find(({ length }) => length >= events)
  if (full !== undefined) return { consumed: full.slice(0, events) }
  return { missing: events - Math.max(...intervals.map(({ length }) => length)) }
}

/**
 * Finds what keeps an event from being granted: an interval of length `per` with its moment and more than `runs` granted ones, before or after
 * it. An interval is half open, so that an event exactly `per` later is granted.
 *
 * @returns the earliest later moment that would be granted, and the run whose window ends then
 */
function findLimit(
  { atMost }: CompiledPerKey,
  granted: readonly KeyEvent[],
  { at }: KeyEvent,
): { until: number; by: KeyEvent } | undefined {
  if (atMost === undefined) return undefined
  const { runs, per } = atMost
  const runsInOrder = granted.toSorted((one, other) => (isBefore(one, other) ? -1 : 1))
  const times = runsInOrder.map((run) => run.at)
  if (isGranted(times, at, runs, per)) return undefined
  const by = runsInOrder.find((run) => run.at + per > at && isGranted(times, run.at + per, runs, per))
  return by && { until: by.at + per, by }
}

/** @param times ascending */
function isGranted(times: readonly number[], at: number, runs: number, per: number): boolean {
  const near = times.filter((time) => time > at - per && time < at + per)
  const all = [...near, at].sort((one, other) => one - other)
  return all.every((time, index) => {
    const last = all[index + runs]
    return last === undefined || last - time >= per
  })
}
