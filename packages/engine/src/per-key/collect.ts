import { nextTick } from '../schedule/next-tick.js'
import { durationMs } from './duration-ms.js'
import type { KeyEvent } from './key-event.js'
import { maxCollected, type PerKey } from './per-key.js'

/** `collect` of a rule. Durations are ms. */
export interface CompiledCollect {
  /** When a batch ends at the latest whose first event was accepted at this moment. */
  readonly lastEnd: (openedAt: number) => number
  readonly quiet: number
  readonly max: number
}

/** Events of a key that have one execution: that of the event that opened the batch, which begins at its end. */
export interface Batch {
  readonly openedBy: KeyEvent
  /** How many events it has. */
  size: number
  /** When the newest of them was accepted (epoch ms). */
  lastAt: number
  /** Epoch ms. */
  endsAt: number
}

/** No batch is open for longer, however rarely its cron expression matches. */
const longestMs = 366 * 24 * 3_600_000

/** Compiles a part without faults. */
export function compileCollect({
  for: duration,
  at,
  quiet,
  max = maxCollected,
}: NonNullable<PerKey['collect']>): CompiledCollect {
  const ms = duration === undefined ? longestMs : durationMs(duration)
  return {
    lastEnd: (openedAt) => {
      const end = openedAt + ms
      return at === undefined ? end : Math.min(nextTick(at, openedAt) ?? end, end)
    },
    quiet: quiet === undefined ? Number.POSITIVE_INFINITY : durationMs(quiet),
    max,
  }
}

/**
 * Puts an event into the first open batch that ends after it, or opens one. A batch of older events may be open still, while nobody has begun it.
 *
 * @param batches that have not begun, in the order of their ends; the one that takes the event is changed
 */
export function collectEvent(
  collect: CompiledCollect,
  batches: readonly Batch[],
  event: KeyEvent,
): { batch: Batch; isOpened: boolean } {
  const { at } = event
  const open = batches.find(({ endsAt, size }) => size < collect.max && at < endsAt)
  const batch = open ?? { openedBy: event, size: 0, lastAt: at, endsAt: collect.lastEnd(at) }
  batch.size += 1
  batch.lastAt = Math.max(batch.lastAt, at)
  batch.endsAt =
    batch.size >= collect.max
      ? batch.lastAt
      : Math.min(collect.lastEnd(batch.openedBy.at), batch.lastAt + collect.quiet)
  return { batch, isOpened: open === undefined }
}
