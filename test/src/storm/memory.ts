import { setTimeout as delay } from 'node:timers/promises'
import { type RunningProduct, startRunningProduct } from '../fixtures/product.js'
import { checkMemory, type MemoryTables } from './check-memory.js'
import { createRule } from './create-rule.js'
import { createRandom, type Random } from './random.js'
import { cause, drain } from './waits.js'

export interface MemoryOptions {
  seed: number
  events: number
  faults: number
  /** What each of the three workers gets in addition when it starts. */
  workerEnvs?: Record<string, string>[]
  tell?: (line: string) => void
}

export interface MemoryReport {
  events: number
  suppressed: number
  replaced: number
  faults: number
  violations: string[]
}

const betweenMs = 8
const keysPerEvent = 1 / 150
const type = 'LEAD_UPDATED'
const key = '{{k}}'
const task = (title: string) => ({ type: 'CREATE_TASK', config: { title } })
const wait = { type: 'WAIT', config: { duration: '1s' } }
// An execution has its key before its first task, and until its last one. A WAIT gives it to another worker.
const slow = [wait, task('begin'), wait, task('end')]

const limits = { runs: 2, perMs: 5_000, events: 3, collectMs: 3_000, collected: 8 }
const rules = [
  { name: 'atMost', perKey: { key, atMost: { runs: limits.runs, per: '5s' } }, actions: [task('done')] },
  {
    name: 'atLeast',
    perKey: { key, atLeast: { events: limits.events, within: '1h' } },
    actions: [task('done')],
  },
  // Its queue would outlast the storm if it had each event.
  {
    name: 'queue',
    perKey: { key, whileRunning: 'queue' },
    conditions: [{ field: 'queues', operator: 'is_true' }],
    actions: slow,
  },
  { name: 'skip', perKey: { key, whileRunning: 'skip' }, actions: slow },
  { name: 'replace', perKey: { key, whileRunning: 'replace' }, actions: slow },
  {
    name: 'collect',
    perKey: { key, whileRunning: 'queue', collect: { for: '3s', quiet: '2s', max: limits.collected } },
    actions: [
      {
        type: 'CREATE_TASK',
        config: { title: '{{collected.count}}', description: '{{collected.events | json}}' },
      },
      { type: 'WAIT', config: { duration: '1s' } },
      task('end'),
    ],
  },
]

/**
 * Events of a few keys, while workers are killed and Redis is wiped. Afterwards what is stored is held against what an oracle says that knows nothing of how keys are
 * claimed (check-memory.ts).
 */
export async function runMemoryStorm({
  seed,
  events,
  faults,
  workerEnvs = [],
  tell = () => {},
}: MemoryOptions): Promise<MemoryReport> {
  const random = createRandom(seed)
  const running = await startRunningProduct({ workers: 0 })
  try {
    const workers = await Promise.all([0, 1, 2].map((n) => running.product.startWorker(workerEnvs[n])))
    for (const rule of rules) await createRule(running, { trigger: type, ...rule })
    const keys = Math.ceil(events * keysPerEvent)
    const done = cause(running, workers, random, faults, (events * betweenMs) / (faults + 1), tell)
    await Promise.all([send(running, random, events, keys), done])
    tell('drains')
    const isDrained = await drain(running)
    const tables = await readTables(running)
    const violations = isDrained ? checkMemory(tables, limits) : ['Something is left to do']
    const { body } = await running.call('GET', '/api/developer/v1/ledger')
    if (body.imbalance !== 0) violations.push(`The reconciliation has an imbalance of ${body.imbalance}`)
    const countOf = (status: string) => tables.executions.filter((one) => one.status === status).length
    return { events, suppressed: countOf('suppressed'), replaced: countOf('cancelled'), faults, violations }
  } finally {
    await running.stop()
  }
}

async function send(running: RunningProduct, random: Random, events: number, keys: number): Promise<void> {
  const all: Promise<void>[] = []
  for (let n = 0; n < events; n++) {
    const data = { n, k: random.between(0, keys - 1), queues: random.between(0, 19) === 0 }
    all.push(post(running, data))
    await delay(betweenMs)
  }
  await Promise.all(all)
}

/** What is refused is not there: the oracle reads what was accepted. */
async function post({ call }: RunningProduct, data: object): Promise<void> {
  await call('POST', '/api/events', { type, data }, { prefer: 'respond-async' }).catch(() => {})
}

/** One after another: each takes seconds after a long storm, and none should have to wait for a free connection. */
async function readTables({ database: { system } }: RunningProduct): Promise<MemoryTables> {
  const rules = await system.rule.findMany()
  const events = await system.event.findMany()
  const executions = await system.execution.findMany()
  const tasks = await system.task.findMany()
  const counters = await system.ruleCounters.findMany()
  return { rules, events, executions, tasks, counters } as unknown as MemoryTables
}
