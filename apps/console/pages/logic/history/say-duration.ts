import type { ExecutionSummary } from '@automation/client'
import { formatDuration } from '../format-time.js'

/** What an execution waits for where no time ends that. */
export const waitWords: Readonly<Record<string, string>> = { key: 'waits for its key' }

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
  if (waitsFor !== null) return ''
  const waitsMs = dueAt ? Date.parse(dueAt) - nowMs : 0
  return waitsMs > 0 ? `continues in ${formatDuration(waitsMs)}` : '…'
}
