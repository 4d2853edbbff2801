import { mapParts, parts } from './cpu-time.js'
import type { Figures } from './measure.js'
import { median, rangeOf } from './statistics.js'

/** One line of the report: the median over the rounds, for each figure separately. */
export interface Result extends Figures {
  scenario: string
  connections: number
  rounds: Figures[]
}

export function summarize(scenario: string, connections: number, rounds: Figures[]): Result {
  const of = (read: (figures: Figures) => number) => round(median(rounds.map(read)))
  const paces = rounds.flatMap(({ donePerSecond }) => donePerSecond ?? [])
  return {
    scenario,
    connections,
    donePerSecond: paces.length === 0 ? null : round(median(paces)),
    acceptedPerSecond: of((figures) => figures.acceptedPerSecond),
    p50Ms: of((figures) => figures.p50Ms),
    p99Ms: of((figures) => figures.p99Ms),
    cpuMicrosPerEvent: mapParts(rounds[0]?.cpuMicrosPerEvent ?? {}, (part) =>
      of(({ cpuMicrosPerEvent: cpu }) => cpu[part] ?? 0),
    ),
    rounds,
  }
}

/** All parts together, as in the aims. The medians of the parts need not add up to it. */
export function medianCpu({ rounds }: Result): number {
  return median(rounds.map(sumCpu))
}

/** An aligned table, with CPU in microseconds per event. */
export function formatTable(results: Result[]): string {
  const head = ['scenario', 'conns', 'done/s', 'accepted/s', 'rounds', 'p50 ms', 'p99 ms', 'rounds']
  const cpuHead = ['API', 'worker', 'Redis', 'Postgres', 'all', 'rounds']
  const rows = results.map((result) => [
    result.scenario,
    `${result.connections}`,
    result.donePerSecond === null ? '-' : whole(result.donePerSecond),
    whole(result.acceptedPerSecond),
    formatRange(result, ({ acceptedPerSecond }) => acceptedPerSecond),
    result.p50Ms.toFixed(1),
    result.p99Ms.toFixed(1),
    formatRange(result, ({ p99Ms }) => p99Ms),
    ...formatCpu(result),
    formatRange(result, sumCpu),
  ])
  return alignColumns([[...head, ...cpuHead], ...rows])
}

/** The lowest and the highest round. */
export function formatRange({ rounds }: Result, read: (figures: Figures) => number): string {
  const { low, high } = rangeOf(rounds.map(read))
  return `${whole(low)} to ${whole(high)}`
}

/** All parts together. */
export function sumCpu({ cpuMicrosPerEvent: cpu }: Pick<Figures, 'cpuMicrosPerEvent'>): number {
  return parts.reduce((sum, part) => sum + (cpu[part] ?? 0), 0)
}

/** The first column to the left, all others to the right. */
export function alignColumns(lines: string[][]): string {
  const widthOf = (column: number) => Math.max(...lines.map((line) => line[column]?.length ?? 0))
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widthOf(column)) : cell.padStart(widthOf(column))
  return lines.map((line) => line.map(align).join('  ')).join('\n')
}

function formatCpu(result: Result): string[] {
  const { cpuMicrosPerEvent: cpu } = result
  const all = Object.keys(cpu).length === 0 ? undefined : medianCpu(result)
  return [...parts.map((part) => cpu[part]), all].map((micros) =>
    micros === undefined ? '-' : whole(micros),
  )
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
