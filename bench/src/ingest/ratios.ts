import { type Aim, medianRatio } from '../aims.js'
import type { Figures } from '../measure.js'
import { alignColumns, type Result, sumCpu } from '../report.js'

/** The product divided by the yardstick; empty unless both were measured. */
export function formatRatios(results: Result[]): string {
  const rows = results
    .filter(({ scenario }) => scenario.startsWith('product'))
    .flatMap((ours) => {
      const name = ours.scenario.replace('product', 'yardstick')
      const plain = results.find((it) => it.scenario === name && it.connections === ours.connections)
      return plain === undefined ? [] : [formatRow(ours, plain)]
    })
  const head = ['product / yardstick', 'conns', 'accepted/s', 'p99', 'CPU']
  return rows.length === 0 ? '' : alignColumns([head, ...rows])
}

function formatRow(ours: Result, plain: Result): string[] {
  const ratioOf = (read: (figures: Figures) => number) =>
    medianRatio(ours.rounds.map(read), plain.rounds.map(read))
  const ratios = [ratioOf((it) => it.acceptedPerSecond), ratioOf((it) => it.p99Ms), ratioOf(sumCpu)]
  return [ours.scenario, `${ours.connections}`, ...ratios.map((ratio) => ratio.toFixed(2))]
}

/** A fair comparison: neither runs the events. */
export function listAims(results: Result[]): Aim[] {
  const find = (name: string) =>
    results.find(({ scenario, connections }) => scenario === name && connections === 64)
  const [ours, plain] = [find('product'), find('yardstick')]
  if (ours === undefined || plain === undefined) return []
  const ratioOf = (read: (figures: Figures) => number) =>
    medianRatio(ours.rounds.map(read), plain.rounds.map(read))
  return [
    {
      title: 'webhooks: accepted/s of a plain service',
      reached: ratioOf((it) => it.acceptedPerSecond),
      atLeast: 1,
      digits: 2,
    },
    {
      title: 'webhooks: p99 of a plain service',
      reached: ratioOf((it) => it.p99Ms),
      atMost: 1.5,
      digits: 2,
    },
  ]
}
