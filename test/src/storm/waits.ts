import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import type { NodeProcess } from '@automation/launcher'
import { Redis } from 'ioredis'
import { patiently, type RunningProduct, startRunningProduct } from '../fixtures/product.js'
import { checkDecisions, type DecisionTables, type Said } from './check-decisions.js'
import { checkWaits, type WaitTables } from './check-waits.js'
import { createRule } from './create-rule.js'
import { createRandom, type Random } from './random.js'

export interface WaitsOptions {
  seed: number
  /** Each is an event whose rule waits, and what ends that wait, or does not. */
  races: number
  faults: number
  /** What each of the three workers gets in addition when it starts. */
  workerEnvs?: Record<string, string>[]
  tell?: (line: string) => void
}

export interface WaitsReport {
  races: number
  endedByEvent: number
  endedByTime: number
  /** By a person, of all that were asked. */
  decided: number
  expired: number
  faults: number
  violations: string[]
}

/** From the event to the end of the time (ms), and around both. */
const waitMs = 3_000
const aroundMs = 100
/** From the event to the end of a person's time (ms): after a fault, executions may begin some seconds late. */
const decideMs = 8_000
const betweenMs = 20
const drainLimitMs = 90_000

const waitForEvent = {
  type: 'WAIT',
  config: {
    until: '{{until}}',
    for: { eventType: 'DEAL_WON', match: { race: '{{race}}' }, then: 'go_on' },
  },
}
/** Two people decide at the same moment: at once, around the end of the time, or never. A slow machine may miss the end, and misses neither of the others. */
const decision = {
  name: 'Decide',
  trigger: 'FORM_SUBMITTED',
  actions: [
    {
      type: 'WAIT',
      config: { decision: { options: ['approve', 'reject'], within: `${decideMs / 1_000}s` } },
    },
    { type: 'CREATE_TASK', config: { title: '{{decision.choice}}' } },
  ],
}
const rules = [
  {
    name: 'Once',
    trigger: 'LEAD_CREATED',
    actions: [
      { ...waitForEvent, name: 'first' },
      { type: 'CREATE_TASK', config: { title: '{{race}} {{actions.first.ended}} {{waited.n}}' } },
    ],
  },
  {
    name: 'Twice',
    trigger: 'LEAD_CREATED',
    actions: [waitForEvent, waitForEvent, { type: 'CREATE_TASK', config: { title: '{{race}} twice' } }],
  },
]

/**
 * Races of events with the registration of a WAIT and with its deadline, and of two people with each other and with the end of their time, while workers are killed and Redis is wiped. Afterwards what is stored is held against what
 * an oracle says that knows nothing of how waits work (check-waits.ts).
 */
export async function runWaitsStorm({
  seed,
  races,
  faults,
  workerEnvs = [],
  tell = () => {},
}: WaitsOptions): Promise<WaitsReport> {
  const random = createRandom(seed)
  const running = await startRunningProduct({ workers: 0 })
  try {
    const workers = await Promise.all([0, 1, 2].map((n) => running.product.startWorker(workerEnvs[n])))
    let ruleId = ''
    for (const rule of [...rules, decision]) ruleId = await createRule(running, rule)
    const said: Said[] = []
    const all = race(running, random, races, (startsIn, decidesIn) =>
      askTwo(running, ruleId, said, { startsIn, decidesIn }),
    )
    const lastsMs = races * betweenMs + waitMs
    const done = cause(running, workers, random, faults, lastsMs / (faults + 1), tell)
    await Promise.all([all, done])
    tell('drains')
    const isDrained = await drain(running)
    const tables = await readTables(running)
    const violations = [...checkWaits(tables), ...checkDecisions(tables, ruleId, said)]
    if (!isDrained) violations.push('Something is left to do')
    return { races, faults, ...countEnds(tables), violations }
  } finally {
    await running.stop()
  }
}

async function race(
  running: RunningProduct,
  random: Random,
  races: number,
  ask: (startsIn: number, decidesIn: number | undefined) => Promise<void>,
): Promise<void> {
  const all: Promise<void>[] = []
  for (let n = 0; n < races; n++) {
    const kind = random.pick([
      'registration',
      'registration',
      'deadline',
      'deadline',
      'none',
      'both',
    ] as const)
    const around = random.between(-aroundMs, aroundMs)
    const startsIn = aroundMs
    const endsIn = decideMs + random.between(-aroundMs, aroundMs)
    const until = new Date(Date.now() + startsIn + waitMs).toISOString()
    all.push(post(running, 'LEAD_CREATED', { race: n, until }, startsIn))
    all.push(ask(startsIn, random.pick([undefined, 0, 0, endsIn, endsIn])))
    if (kind === 'registration' || kind === 'both')
      all.push(post(running, 'DEAL_WON', { race: n, n: 1 }, startsIn + around))
    if (kind === 'deadline' || kind === 'both')
      all.push(post(running, 'DEAL_WON', { race: n, n: 2 }, startsIn + waitMs + around))
    await delay(betweenMs)
  }
  await Promise.all(all)
}

/** What is refused is not there: the oracle reads what was accepted. */
async function post({ call }: RunningProduct, type: string, data: object, inMs: number): Promise<void> {
  await delay(inMs)
  await call('POST', '/api/events', { type, data }, { prefer: 'respond-async' }).catch(() => {})
}

async function askTwo(
  { call }: RunningProduct,
  ruleId: string,
  said: Said[],
  { startsIn, decidesIn }: { startsIn: number; decidesIn: number | undefined },
): Promise<void> {
  await delay(startsIn)
  const sentAt = performance.now()
  const body = { type: 'FORM_SUBMITTED', data: {} }
  const headers = { prefer: 'respond-async' }
  const accepted = await call('POST', '/api/events', body, headers).catch(() => undefined)
  if (accepted?.status !== 202 || decidesIn === undefined) return
  const executionId = executionIdOf({ id: accepted.body.id, addressee: null }, ruleId)
  const decide = (choice: string) =>
    call('POST', `/api/decisions/${executionId}`, { choice }).catch(() => undefined)
  await delay(sentAt + decidesIn - performance.now())
  await Promise.all(
    ['approve', 'reject'].map(async (choice) => {
      let answer = await decide(choice)
      // Workers that are killed or late have not begun it.
      while (answer?.status === 404 && performance.now() < sentAt + drainLimitMs) {
        await delay(100)
        answer = await decide(choice)
      }
      said.push({ executionId, choice, status: answer?.status ?? 0 })
    }),
  )
}

/** Kills workers and wipes Redis. */
export async function cause(
  { product }: RunningProduct,
  workers: NodeProcess[],
  random: Random,
  faults: number,
  everyMs: number,
  tell: (line: string) => void,
): Promise<void> {
  for (let n = 0; n < faults; n++) {
    await delay(everyMs)
    if (n % 2 === 1) {
      tell('Redis is wiped')
      const redis = new Redis(product.redisUrl)
      await redis.flushall()
      redis.disconnect()
      continue
    }
    const place = random.between(0, workers.length - 1)
    tell(`worker ${place} is killed`)
    workers[place]?.kill('SIGKILL')
    await workers[place]?.exited
    workers[place] = await product.startWorker()
  }
}

/** Waits until nothing is left to do. @returns whether that was so in time */
export async function drain({ database }: RunningProduct): Promise<boolean> {
  const endAt = performance.now() + drainLimitMs
  while (performance.now() < endAt) {
    const [events, executions] = await patiently(() =>
      Promise.all([
        database.system.event.count({ where: { doneAt: null } }),
        database.system.execution.count({ where: { finishedAt: null } }),
      ]),
    )
    if (events + executions === 0) return true
    await delay(200)
  }
  return false
}

async function readTables({ database: { system } }: RunningProduct): Promise<WaitTables & DecisionTables> {
  const [events, executions, tasks] = await Promise.all([
    system.event.findMany(),
    system.execution.findMany(),
    system.task.findMany(),
  ])
  return { events, executions, tasks } as unknown as WaitTables & DecisionTables
}

function countEnds(tables: WaitTables & DecisionTables) {
  const ends = (tables as WaitTables).executions.flatMap(({ results }) =>
    results.flatMap(({ ended = [], ...result }) => ('decision' in result ? [] : ended)),
  )
  const countOf = (wanted: string) => ends.filter((end) => end === wanted).length
  const choices = (tables as DecisionTables).executions.flatMap(({ results }) =>
    results.flatMap(({ decision }) => decision?.choice ?? []),
  )
  const expired = choices.filter((choice) => choice === 'expired').length
  return {
    endedByEvent: countOf('event'),
    endedByTime: countOf('time'),
    decided: choices.length - expired,
    expired,
  }
}
