import type { ActionConfig } from './actions/index.js'
import { maxDays, parseDuration } from './duration.js'
import { findHoursFault, readHours } from './hours/hours.js'
import { findNextInside } from './hours/inside.js'
import { findTimeFault, lastMilliseconds, readTime } from './read-time.js'

/** When a WAIT is over (epoch ms), or why it fails. */
export type WaitEnd = { readonly end: number; readonly warning?: string } | { readonly fault: string }

const longestMs = maxDays * 86_400_000

/**
 * The end of a WAIT that is reached at a moment (epoch ms). Never throws, on any rendered config. A date that is past ends it at that moment, so
 * that time does not run backwards for the actions after it.
 */
export function findWaitEnd({ time, ...config }: ActionConfig<'WAIT'>, at: number): WaitEnd {
  const found = findEnd(config, at)
  if (time === undefined || 'fault' in found) return found
  const fault = findHoursFault(time)
  const end = fault === undefined ? findNextInside(readHours(time), found.end) : null
  return end === null
    ? { fault: `config.time: ${fault?.message ?? 'has no moment within the next two weeks'}` }
    : { ...found, end }
}

function findEnd(
  { duration, until, offset, decision }: Omit<ActionConfig<'WAIT'>, 'time'>,
  at: number,
): WaitEnd {
  if (until === undefined) return { end: at + (parseDuration(duration ?? decision?.within ?? '') ?? 0) }
  const fault = findTimeFault(until)
  if (fault !== undefined) return { fault: `config.until: ${fault}` }
  const end = readTime(until) + readOffset(offset)
  if (end > at + longestMs)
    return { fault: `config.until: ${showTime(end)} is more than ${maxDays} days ahead` }
  return end > at
    ? { end }
    : { end: at, warning: `config.until: ${showTime(end)} is past, so the next action follows at once` }
}

function readOffset(offset = ''): number {
  const ms = parseDuration(offset.replace(/^[+-]/, '')) ?? 0
  return offset.startsWith('-') ? -ms : ms
}

function showTime(ms: number): string {
  return new Date(Math.max(-lastMilliseconds, Math.min(lastMilliseconds, ms))).toISOString()
}
