import { mapParts, parts } from './cpu-time.js'
import type { Figures } from './measure.js'

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

/** An aligned table, with CPU in microseconds per event. */
export function formatTable(results: Result[]): string {
  const head = ['scenario', 'conns', 'done/s', 'accepted/s', 'p50 ms', 'p99 ms']
  const cpuHead = ['API', 'worker', 'Redis', 'Postgres', 'all']
  const rows = results.map((result) => [
    result.scenario,
    `${result.connections}`,
    result.donePerSecond === null ? '-' : whole(result.donePerSecond),
    whole(result.acceptedPerSecond),
    result.p50Ms.toFixed(1),
    result.p99Ms.toFixed(1),
    ...formatCpu(result),
  ])
  return alignColumns([[...head, ...cpuHead], ...rows])
}

/** All parts together. */
export function sumCpu({ cpuMicrosPerEvent: cpu }: Figures): number {
  return parts.reduce((sum, part) => sum + (cpu[part] ?? 0), 0)
}

/** The first column to the left, all others to the right. */
export function alignColumns(lines: string[][]): string {
  const widthOf = (column: number) => Math.max(...lines.map((line) => line[column]?.length ?? 0))
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widthOf(column)) : cell.padStart(widthOf(column))
  return lines.map((line) => line.map(align).join('  ')).join('\n')
}

export function median(values: number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

function formatCpu(result: Result): string[] {
  const { cpuMicrosPerEvent: cpu } = result
  const all = Object.keys(cpu).length === 0 ? undefined : sumCpu(result)
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
