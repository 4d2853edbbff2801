import { names } from '../ingest/scenarios.js'
import { describeNoise } from '../machine/noise.js'
import type { BenchmarkName } from '../options.js'
import { medianCpu, type Result, sumCpu, whole } from '../report.js'
import type { SustainedFigures } from '../sustained/report.js'
import type { Performance } from './performance.js'
import { resultsOf } from './results-of.js'
import { writeTable } from './write-tables.js'

const head = ['', 'events/s', 'p50 / p99 ms', 'CPU µs per event, all processes']
const bursts: [scenario: string, connections: number, title: string][] = [
  [
    '10 rules, 1 matches, 1 task',
    128,
    'burst: 128 callers, each waits for its outcome, 1 of 10 rules matches',
  ],
  ['10 matching rules', 128, 'burst: the same, all 10 rules match'],
  ['inline: 10 rules, 1 matches, 1 task', 128, 'burst: one process without a queue, 1 of 10 rules matches'],
  ['10 rules, 1 matches, 1 task', 1, 'burst: a single caller'],
]

const done = ({ donePerSecond }: Result) => donePerSecond
const accepted = ({ acceptedPerSecond }: Result) => acceptedPerSecond

/** The table of the README. A burst is the first seconds of empty tables, in a closed loop. */
export function writeHeadlines(performance: Performance): string {
  const rows = [
    ...sustainedRows(performance),
    ...bursts.flatMap(([scenario, connections, title]) =>
      rowOf(performance, 'events', scenario, connections, title, done),
    ),
    ...[names.working, names.plain, names.grouping].flatMap((name) =>
      rowOf(performance, 'ingest', name, 64, `burst: signed webhooks accepted, ${name}`, accepted),
    ),
    ...resultsOf(performance, 'compare').map((result) =>
      resultRow(result, `burst: one rule in the background, ${result.scenario}`, done),
    ),
  ]
  return `${writeTable(head, rows)}${busyNote(performance)}`
}

function sustainedRows(performance: Performance): string[][] {
  const results = (performance.sustained?.results ?? []) as SustainedFigures[]
  return results
    .filter(({ line, share, isSustained }) =>
      line === 'sustained' ? isSustained : line === 'waits' && share === 0.5,
    )
    .map((figures) => {
      const { mode, line, share, seconds, donePerSecond, waits } = figures
      const what = line === 'sustained' ? 'sustained' : 'waits'
      return [
        `${what}: ${mode}, ${whole(figures.workspaces)} workspaces, ${whole(share * 100)} % of capacity for ${whole(seconds)} s`,
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
  connections: number,
  title: string,
  read: (result: Result) => number | null,
): string[][] {
  return resultsOf(performance, benchmark)
    .filter((result) => result.scenario === scenario && result.connections === connections)
    .map((result) => resultRow(result, title, read))
}

function resultRow(result: Result, title: string, read: (result: Result) => number | null): string[] {
  return [
    title,
    whole(read(result) ?? Number.NaN),
    `${result.p50Ms.toFixed(1)} / ${result.p99Ms.toFixed(1)}`,
    whole(medianCpu(result)),
  ]
}

function busyNote(performance: Performance): string {
  const isBusy = Object.values(performance).some(({ noise }) => noise && describeNoise(noise) !== undefined)
  return isBusy ? '\n\n**Taken on a busy machine: do not quote these figures.**' : ''
}
