import type { ActionConfig } from '../actions/index.js'
import { findHoursFault, readHours } from '../hours/hours.js'
import { findNextInside } from '../hours/inside.js'
import { maxDays, parseDuration } from '../times/duration.js'
import { findTimeFault, lastMilliseconds, readTime } from '../times/read-time.js'

/** When a WAIT is over (epoch ms), or why it fails. `past` is its date, if that was past when the WAIT was reached. */
export type WaitEnd =
  | { readonly end: number; readonly past?: number; readonly warning?: string }
  | { readonly fault: string }

const longestMs = maxDays * 86_400_000

/**
 * The end of a WAIT that is reached at a moment (epoch ms). Never throws, on any rendered config. A date that is past ends it at that moment, so
 * that time does not run backwards for the actions after it.
 */
export function findWaitEnd({ time, ...config }: ActionConfig<'WAIT'>, at: number): WaitEnd {
  const found = findEnd(config, at)
  if ('fault' in found) return found
  const { past } = found
  if (time === undefined) return warnOfPast(past, found.end, at)
  const fault = findHoursFault(time)
  const end = fault === undefined ? findNextInside(readHours(time), found.end) : null
  return end === null
    ? { fault: `config.time: ${fault?.message ?? 'has no moment within the next two weeks'}` }
    : warnOfPast(past, end, at)
}

function warnOfPast(past: number | undefined, end: number, at: number): WaitEnd {
  if (past === undefined) return { end }
  const result = end > at ? 'config.time alone decides when the WAIT ends' : 'the next action follows at once'
  return { end, past, warning: `config.until: ${showTime(past)} is past, so ${result}` }
}

/** @returns also the date that is past already */
function findEnd(
  { duration, until, offset, decision }: Omit<ActionConfig<'WAIT'>, 'time'>,
  at: number,
): { end: number; past?: number } | { fault: string } {
  if (until === undefined) return { end: at + (parseDuration(duration ?? decision?.within ?? '') ?? 0) }
  const fault = findTimeFault(until)
  if (fault !== undefined) return { fault: `config.until: ${fault}` }
  const end = readTime(until) + readOffset(offset)
  if (end > at + longestMs)
    return { fault: `config.until: ${showTime(end)} is more than ${maxDays} days ahead` }
  return end > at ? { end } : { end: at, past: end }
}

function readOffset(offset = ''): number {
  const ms = parseDuration(offset.replace(/^[+-]/, '')) ?? 0
  return offset.startsWith('-') ? -ms : ms
}

function showTime(ms: number): string {
  return new Date(Math.max(-lastMilliseconds, Math.min(lastMilliseconds, ms))).toISOString()
}
