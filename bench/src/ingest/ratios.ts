import { type Aim, createAim, ratiosOf } from '../aims.js'
import type { Figures } from '../measure.js'
import { alignColumns, type Result, sumCpu } from '../report.js'
import { median } from '../statistics.js'
import { names } from './scenarios.js'

const accepted = ({ acceptedPerSecond }: Figures) => acceptedPerSecond
const p99 = ({ p99Ms }: Figures) => p99Ms

/** The product divided by each plain service; empty unless both were measured. */
export function formatRatios(results: Result[]): string {
  const rows = results.flatMap((ours) => {
    if (!ours.scenario.startsWith('product')) return []
    const suffix = ours.scenario.endsWith(', replays') ? ', replays' : ''
    return [names.plain, names.grouping].flatMap((name) => {
      const theirs = results.find(
        ({ scenario, connections }) => scenario === name + suffix && connections === ours.connections,
      )
      if (theirs === undefined) return []
      const ratios = [accepted, p99, sumCpu].map((read) => median(compare(ours, theirs, read)).toFixed(2))
      return [[`${ours.scenario} / ${theirs.scenario}`, `${ours.connections}`, ...ratios]]
    })
  })
  return rows.length === 0 ? '' : alignColumns([['ratio', 'conns', 'accepted/s', 'p99', 'CPU'], ...rows])
}

/** Without a worker neither side runs the events; with one, only the product does. */
export function listAims(results: Result[]): Aim[] {
  const find = (name: string) =>
    results.find(({ scenario, connections }) => scenario === name && connections === 64)
  return [
    ...share('webhooks, worker running: accepted/s of a plain service', names.working, names.plain, 1.2),
    ...share(
      'webhooks, worker running: accepted/s of one with group commit',
      names.working,
      names.grouping,
      0.9,
    ),
    ...share('webhooks, no worker: accepted/s of a plain service', names.product, names.plain, 1),
    ...slowness('webhooks, no worker: p99 of a plain service', names.product, names.plain),
  ]

  function share(title: string, our: string, their: string, atLeast: number): Aim[] {
    const [ours, theirs] = [find(our), find(their)]
    if (ours === undefined || theirs === undefined) return []
    return [createAim({ title, rounds: compare(ours, theirs, accepted), atLeast, digits: 2 })]
  }

  function slowness(title: string, our: string, their: string): Aim[] {
    const [ours, theirs] = [find(our), find(their)]
    if (ours === undefined || theirs === undefined) return []
    return [createAim({ title, rounds: compare(ours, theirs, p99), atMost: 1.5, digits: 2 })]
  }
}

function compare(ours: Result, theirs: Result, read: (figures: Figures) => number): number[] {
  return ratiosOf(ours.rounds.map(read), theirs.rounds.map(read))
}
