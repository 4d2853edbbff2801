import type { Part } from './cpu-time.js'
import type { Figures } from './measure.js'

/** One line of the report: medians over the rounds, each figure by itself. */
export interface Result extends Figures {
  scenario: string
  connections: number
  rounds: Figures[]
}

const parts: Part[] = ['api', 'worker', 'redis', 'postgres']

export function summarize(scenario: string, connections: number, rounds: Figures[]): Result {
  const of = (read: (figures: Figures) => number) => round(median(rounds.map(read)))
  const cpuOf = (part: Part) => of((figures) => figures.cpuMicrosPerEvent?.[part] ?? Number.NaN)
  const hasCpu = rounds.every((figures) => figures.cpuMicrosPerEvent !== null)
  return {
    scenario,
    connections,
    eventsPerSecond: of((figures) => figures.eventsPerSecond),
    requestsPerSecond: of((figures) => figures.requestsPerSecond),
    p50Ms: of((figures) => figures.p50Ms),
    p99Ms: of((figures) => figures.p99Ms),
    cpuMicrosPerEvent: hasCpu
      ? { api: cpuOf('api'), worker: cpuOf('worker'), redis: cpuOf('redis'), postgres: cpuOf('postgres') }
      : null,
    rounds,
  }
}

/** An aligned table; CPU in microseconds an event. */
export function formatTable(results: Result[]): string {
  const head = ['scenario', 'conns', 'events/s', 'requests/s', 'p50 ms', 'p99 ms']
  const cpuHead = ['API', 'worker', 'Redis', 'Postgres', 'all']
  const rows = results.map((result) => [
    result.scenario,
    `${result.connections}`,
    whole(result.eventsPerSecond),
    whole(result.requestsPerSecond),
    result.p50Ms.toFixed(1),
    result.p99Ms.toFixed(1),
    ...formatCpu(result),
  ])
  const lines = [[...head, ...cpuHead], ...rows]
  const widthOf = (column: number) => Math.max(...lines.map((line) => line[column]?.length ?? 0))
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widthOf(column)) : cell.padStart(widthOf(column))
  return lines.map((line) => line.map(align).join('  ')).join('\n')
}

function formatCpu({ cpuMicrosPerEvent: cpu }: Result): string[] {
  if (cpu === null) return [...parts, 'all'].map(() => '-')
  return [...parts.map((part) => whole(cpu[part])), whole(parts.reduce((sum, part) => sum + cpu[part], 0))]
}

function median(values: number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
