import { describeNoise } from '../machine/noise.js'
import type { BenchmarkName } from '../options.js'
import { medianCpu, type Result, sumCpu, whole } from '../report.js'
import type { SustainedFigures } from '../sustained/report.js'
import type { Performance } from './performance.js'
import { resultsOf } from './results-of.js'
import { writeTable } from './write-tables.js'

const head = ['', 'events/s', 'p50 / p99 ms', 'CPU µs per event, all processes']
const event = '10 rules, 1 matches, 1 task'
const bursts: [scenario: string, title: string][] = [
  [event, 'burst: 128 callers, each waits for its outcome, 1 of 10 rules matches'],
  [`inline: ${event}`, 'burst: the same in one process without a queue, which loses work in a crash'],
]

/** The table of the README, which is short. A burst is the first seconds of empty tables, in a closed loop. */
export function writeHeadlines(performance: Performance): string {
  const rows = [
    ...sustainedRows(performance),
    ...bursts.flatMap(([scenario, title]) => rowOf(performance, 'events', scenario, title)),
    ...rowOf(
      performance,
      'compare',
      'product',
      'burst: one rule in the background, 64 callers that wait for the 202',
    ),
    ...rowOfN8n(performance),
  ]
  return `${writeTable(head, rows)}${busyNote(performance)}`
}

function sustainedRows(performance: Performance): string[][] {
  const results = (performance.sustained?.results ?? []) as SustainedFigures[]
  return results
    .filter(({ line, isSustained }) => line === 'sustained' && isSustained)
    .map((figures) => {
      const { mode, share, seconds, donePerSecond, waits } = figures
      return [
        `sustained: ${mode}${mode === 'async' ? ', until the 202' : ''}, ${whole(figures.workspaces)} workspaces, ${whole(share * 100)} % of capacity for ${whole(seconds)} s`,
        whole(donePerSecond),
        `${waits?.p50Ms.toFixed(0)} / ${waits?.p99Ms.toFixed(0)}`,
        whole(sumCpu(figures)),
      ]
    })
}

function rowOf(
  performance: Performance,
  benchmark: BenchmarkName,
  scenario: string,
  title: string,
): string[][] {
  return resultsOf(performance, benchmark)
    .filter((result) => result.scenario === scenario && result.connections >= 64)
    .map((result) => resultRow(result, title))
}

/** Its fastest setup. */
function rowOfN8n(performance: Performance): string[][] {
  const rates = resultsOf(performance, 'compare').filter(({ scenario }) => scenario.startsWith('n8n'))
  const [fastest] = rates.toSorted((a, b) => (b.donePerSecond ?? 0) - (a.donePerSecond ?? 0))
  return fastest === undefined
    ? []
    : [resultRow(fastest, `burst: one harmless node in ${fastest.scenario}, 64 callers`)]
}

function resultRow(result: Result, title: string): string[] {
  return [
    title,
    whole(result.donePerSecond ?? Number.NaN),
    `${result.p50Ms.toFixed(1)} / ${result.p99Ms.toFixed(1)}`,
    whole(medianCpu(result)),
  ]
}

function busyNote(performance: Performance): string {
  const isBusy = Object.values(performance).some(({ noise }) => noise && describeNoise(noise) !== undefined)
  return isBusy ? '\n\n**Taken on a busy machine: do not quote these figures.**' : ''
}
