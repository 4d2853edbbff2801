import { type Aim, createAim } from '../aims.js'
import { alignColumns } from '../report.js'
import { median } from '../statistics.js'

/** One start of a process, with nothing to do. */
export interface Started {
  label: 'API' | 'worker'
  /** From its start until it is ready. */
  readyMs: number
  /** CPU of the process until then. */
  readyCpuMs: number
  /** CPU of the process until the end of the rest. */
  restCpuMs: number
  /** Resident memory at the end of the rest. */
  mebibytes: number
}

/** What we require of each process. */
export function aimsOf(started: Started[]): Aim[] {
  return labelsOf(started).flatMap((label) => {
    const rounds = started.filter((one) => one.label === label)
    return [
      createAim({
        title: `${label}: ms until it is ready`,
        rounds: rounds.map(({ readyMs }) => readyMs),
        atMost: 1_000,
        digits: 0,
      }),
      createAim({
        title: `${label}: MiB at rest`,
        rounds: rounds.map(({ mebibytes }) => mebibytes),
        atMost: 100,
        digits: 0,
      }),
    ]
  })
}

export function formatStarted(started: Started[]): string {
  if (started.length === 0) return ''
  const rows = labelsOf(started).map((label) => {
    const rounds = started.filter((one) => one.label === label)
    const of = (read: (one: Started) => number) => median(rounds.map(read)).toFixed(0)
    return [
      label,
      of(({ readyMs }) => readyMs),
      of(({ readyCpuMs }) => readyCpuMs),
      of(({ restCpuMs }) => restCpuMs),
      of(({ mebibytes }) => mebibytes),
      `${rounds.length}`,
    ]
  })
  return alignColumns([head, ...rows])
}

const head = ['process', 'ms until ready', 'CPU ms until ready', 'CPU ms with rest', 'MiB at rest', 'starts']

function labelsOf(started: Started[]): Started['label'][] {
  return [...new Set(started.map(({ label }) => label))]
}
