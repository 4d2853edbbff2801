import { type Aim, createAim } from '../aims.js'
import { alignColumns, whole } from '../report.js'

/** One rule that was switched off. */
export interface BrakeFigures {
  /** How many executions waited for it. */
  waiting: number
  /** Milliseconds of the call, and how many executions it cancelled itself. */
  callMs: number
  cancelledByCall: number
  /** Seconds from the response until the worker had cancelled the rest. */
  restSeconds: number
}

export function aimsOf(results: BrakeFigures[]): Aim[] {
  return [
    createAim({
      title: 'switching a rule off, ms',
      rounds: results.map(({ callMs }) => callMs),
      atMost: 200,
      digits: 0,
    }),
  ]
}

export function formatBrake(results: BrakeFigures[]): string {
  const rows = results.map(({ waiting, callMs, cancelledByCall, restSeconds }) => [
    whole(waiting),
    whole(callMs),
    whole(cancelledByCall),
    restSeconds.toFixed(1),
    whole((waiting - cancelledByCall) / restSeconds),
  ])
  const head = ['waiting executions', 'call ms', 'cancelled by it', 'seconds for the rest', 'cancelled/s']
  return alignColumns([head, ...rows])
}
