import { type Aim, createAim } from '../aims.js'
import { alignColumns, whole } from '../report.js'
import { median, type Waits } from '../statistics.js'

/** One backtest at full pace, over events of which every n-th is of its trigger. */
export interface Pace {
  name: 'considered' | 'scanned'
  scanned: number
  considered: number
  /** From the moment at which a worker had it until its end. */
  seconds: number
  /** From the request until a report can be read. */
  firstFiguresMs: number
  workerMicros: number
  postgresMicros: number
}

/** One timed stretch of a round: the waits of callers, and the CPU of the worker. */
export interface Stretch {
  seconds: number
  waits: Waits
  workerMicros: number
}

const besideTitles = {
  alone: 'without',
  gentle: 'beside a gentle backtest',
  busyLoop: 'beside a busy loop, a fifth of a core at the lowest priority',
}
export const kinds = Object.keys(besideTitles) as (keyof typeof besideTitles)[]

/** What is beside live events in a round. */
export type Beside = Record<keyof typeof besideTitles, Stretch>

/** What we require of a backtest: the worker has one core, and Postgres another one. */
export function aimsOf(paces: Pace[], beside: Beside[]): Aim[] {
  const named = (name: Pace['name']) => paces.filter((pace) => pace.name === name)
  const [considered, scanned] = [named('considered'), named('scanned')]
  return [
    ...rated('considered events/s, full pace', considered, (pace) => pace.considered / pace.seconds, 50_000),
    ...rated('scanned events/s, full pace', scanned, (pace) => pace.scanned / pace.seconds, 200_000),
    ...firstFigures('first figures, considered, ms', considered),
    ...firstFigures('first figures, scanned, ms', scanned),
    ...(beside.length === 0 ? [] : listBesideAims(beside)),
  ]
}

function rated(title: string, paces: Pace[], read: (pace: Pace) => number, atLeast: number): Aim[] {
  return paces.length === 0 ? [] : [createAim({ title, rounds: paces.map(read), atLeast, digits: 0 })]
}

function firstFigures(title: string, paces: Pace[]): Aim[] {
  const rounds = paces.map(({ firstFiguresMs }) => firstFiguresMs)
  return rounds.length === 0 ? [] : [createAim({ title, rounds, atMost: 1_000, digits: 0 })]
}

function listBesideAims(beside: Beside[]): Aim[] {
  const ratioTo = (kind: 'alone' | 'busyLoop') =>
    beside.map((round) => round.gentle.waits.p95Ms / round[kind].waits.p95Ms)
  const cores = beside.map(({ alone, gentle }) => 100 * (coreOf(gentle) - coreOf(alone)))
  return [
    createAim({
      title: 'p95 of live triggers: beside a gentle backtest, divided by without',
      rounds: ratioTo('alone'),
      atMost: 1.1,
      digits: 2,
    }),
    createAim({
      title: 'p95 of live triggers: beside a gentle backtest, divided by beside a busy loop',
      rounds: ratioTo('busyLoop'),
      atMost: 1.1,
      digits: 2,
    }),
    createAim({ title: 'core of the worker, gentle backtest, %', rounds: cores, atMost: 20, digits: 1 }),
  ]
}

export function formatBacktests(paces: Pace[], beside: Beside[]): string {
  const paceRows = [...new Set(paces.map(({ name }) => name))].map((name) => {
    const ofName = paces.filter((pace) => pace.name === name)
    const of = (read: (pace: Pace) => number) => whole(median(ofName.map(read)))
    return [
      name,
      of(({ scanned }) => scanned),
      of(({ considered }) => considered),
      of(({ scanned, seconds }) => scanned / seconds),
      of(({ considered, seconds }) => considered / seconds),
      of(({ firstFiguresMs }) => firstFiguresMs),
      of(({ workerMicros, scanned }) => (workerMicros / scanned) * 1_000),
      of(({ postgresMicros, scanned }) => (postgresMicros / scanned) * 1_000),
    ]
  })
  const besideRows = kinds.map((name) => {
    const of = (read: (stretch: Stretch) => number) => median(beside.map((round) => read(round[name])))
    const waits = [
      of(({ waits }) => waits.p50Ms),
      of(({ waits }) => waits.p95Ms),
      of(({ waits }) => waits.p99Ms),
    ]
    return [besideTitles[name], ...waits.map((wait) => wait.toFixed(1)), `${(100 * of(coreOf)).toFixed(0)} %`]
  })
  return [
    ...(paces.length === 0 ? [] : [alignColumns([paceHead, ...paceRows])]),
    ...(beside.length === 0 ? [] : [alignColumns([besideHead, ...besideRows])]),
  ].join('\n\n')
}

const paceHead = [
  'full pace',
  'scanned',
  'considered',
  'scanned/s',
  'considered/s',
  'first figures ms',
  'worker CPU ns a scanned event',
  'Postgres',
]
const besideHead = ['live triggers', 'p50 ms', 'p95 ms', 'p99 ms', 'core of the worker']

function coreOf({ workerMicros, seconds }: Stretch): number {
  return workerMicros / 1e6 / seconds
}
