import type { Figures } from '../measure.js'
import { alignColumns, median, type Result, sumCpu } from '../report.js'

/** The product by the yardstick; empty where not both were measured. */
export function formatRatios(results: Result[]): string {
  const rows = results
    .filter(({ scenario }) => scenario.startsWith('product'))
    .flatMap((ours) => {
      const name = ours.scenario.replace('product', 'yardstick')
      const plain = results.find((it) => it.scenario === name && it.connections === ours.connections)
      return plain === undefined ? [] : [formatRow(ours, plain)]
    })
  const head = ['product / yardstick', 'conns', 'requests/s', 'p99', 'CPU']
  return rows.length === 0 ? '' : alignColumns([head, ...rows])
}

function formatRow(ours: Result, plain: Result): string[] {
  const ratioOf = (read: (figures: Figures) => number) =>
    medianRatio(ours.rounds.map(read), plain.rounds.map(read))
  const ratios = [ratioOf((it) => it.requestsPerSecond), ratioOf((it) => it.p99Ms), ratioOf(sumCpu)]
  return [ours.scenario, `${ours.connections}`, ...ratios.map((ratio) => ratio.toFixed(2))]
}

/** Round by round: what slows down a whole round is then in both of its figures, and leaves their ratio alone. */
function medianRatio(ours: number[], plain: number[]): number {
  return median(ours.map((figure, round) => figure / (plain[round] ?? Number.NaN)))
}
