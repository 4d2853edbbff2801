import { maxSubscriptions } from '@automation/access'
import type { Execution } from './execution.js'

/** What a unit of work takes of the event loop (ms), by the engine's measure and not by a clock: a machine that stands still makes nothing long. */
export const msPerUnit = 25e-6
/** To read or write a byte of a task or an event takes as much of it. */
export const msPerByte = 2.5e-6

/** An outcome or a step of more rows is heavy: it holds no slot while it waits for its commit. */
export const heavyRows = 1_000
/** So many bytes of tasks and emitted events count as a row. */
const bytesPerRow = 1_000

/** How many rows executions write, at most. A failure is published to each subscription that hears of it, but not that of a delivery. */
export function countRows(executions: Execution[]): number {
  let rows = 0
  for (const { record, event, tasks, emitted, effectBytes } of executions) {
    rows += 1 + tasks.length + emitted.length + effectBytes / bytesPerRow
    if (record.status === 'failed' && event.addressee?.kind !== 'subscription') rows += maxSubscriptions
  }
  return rows
}
