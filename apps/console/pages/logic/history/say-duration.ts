import type { ExecutionSummary } from '@automation/client'
import { formatDuration } from '../format-time.js'

/** What an execution waits for beside time. */
export const waitWords: Readonly<Record<string, string>> = {
  key: 'waits for its key',
  decision: 'waits for a decision',
  event: 'waits for an event',
}

/** From the beginning of an execution to its end, its waits among it; of one that waits, how long it still does. */
export function sayDuration(
  {
    startedAt,
    finishedAt,
    dueAt,
    waitsFor,
  }: Pick<ExecutionSummary, 'startedAt' | 'finishedAt' | 'dueAt' | 'waitsFor'>,
  nowMs: number,
): string {
  if (startedAt && finishedAt) return formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))
  if (waitsFor === 'key') return ''
  const waitsMs = dueAt ? Date.parse(dueAt) - nowMs : 0
  if (waitsMs <= 0) return '…'
  return `${waitsFor === 'decision' || waitsFor === 'event' ? 'at most' : 'continues in'} ${formatDuration(waitsMs)}`
}
