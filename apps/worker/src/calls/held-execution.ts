import type { Step } from '@automation/ledger'
import type { OutsideAction } from '../effects/effect.js'
import type { Execution } from '../executions/execution.js'
import type { GateEntry } from './gate.js'

/** An execution that this worker holds under a lease. */
export interface HeldExecution extends Step<Execution> {
  /** The next call; undefined where the execution is finished or suspended. */
  action: OutsideAction | undefined
  settled: number
  /** Its entry into the gate; undefined where it has none. */
  entry: GateEntry | undefined
}

export function hold({ execution, lease }: Step<Execution>, action?: OutsideAction): HeldExecution {
  return { execution, lease, action, settled: execution.record.results.length, entry: undefined }
}

/** Notes that all its results are settled, and it goes on. */
export function noteSettled(held: HeldExecution): void {
  held.settled = held.execution.record.results.length
}

/** Leaves the gate without a call. Where there is no entry, or it was left already, nothing happens. */
export function abandon({ execution, entry }: HeldExecution): void {
  if (entry?.kind === 'entered') entry.leave()
  execution.span?.end(true)
}
