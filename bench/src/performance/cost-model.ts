import type { PerPart } from '../cpu-time.js'
import { sumCpu, whole } from '../report.js'
import type { SustainedFigures } from '../sustained/report.js'
import type { Performance } from './performance.js'

/** The maximum planned utilization: above it, waits grow faster than throughput. */
const busyShare = 0.7
const microsPerCore = 1_000_000 * busyShare
/** No further than four times what was measured. */
const multiples = [1, 2, 4]

export const modelHead = [
  'each event',
  'times measured',
  'events/s',
  'cells',
  'workers',
  'API processes',
  'Postgres cores',
  'cores in all',
]

/** The needs of the rates that were sustained, and of two and four times as much. */
export function modelCosts(performance: Performance): string[][] {
  const results = (performance.sustained?.results ?? []) as SustainedFigures[]
  return results
    .filter(({ line, isSustained }) => line === 'sustained' && isSustained)
    .flatMap((figures) => multiples.map((times) => modelRow(figures, times)))
}

function modelRow(figures: SustainedFigures, times: number): string[] {
  const pace = figures.donePerSecond * times
  const { cells, workers, apis, postgresCores } = needsOf(figures.cpuMicrosPerEvent, pace)
  const all = Math.ceil((pace * sumCpu(figures)) / microsPerCore)
  return [
    figures.mode,
    `${times}`,
    whole(twoDigits(pace)),
    ...[cells, workers, apis, postgresCores, all].map((need) => whole(need)),
  ]
}

/**
 * A process of API, worker or Redis has one core, Postgres has all cores of its machine. A cell is a whole product with one Redis, which
 * cannot be extended, so Redis decides how many there are.
 */
export function needsOf({ api = 0, worker = 0, redis = 0, postgres = 0 }: PerPart, pace: number) {
  const coresOf = (micros: number) => Math.max(1, Math.ceil((pace * micros) / microsPerCore))
  const cells = coresOf(redis)
  const inEachCell = (micros: number) => Math.max(cells, coresOf(micros))
  return { cells, workers: inEachCell(worker), apis: inEachCell(api), postgresCores: inEachCell(postgres) }
}

/** Two significant digits: a model is no more exact than that. */
export function twoDigits(value: number): number {
  return Number(value.toPrecision(2))
}
