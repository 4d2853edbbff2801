import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Random } from './random.js'
import type { Site, Slot } from './site.js'

/** One of the things that go wrong. */
export interface FaultKind {
  name: string
  /** How often it comes, beside the others. */
  weight: number
  /** What it needs for itself: one of these things that has no other fault at the time. */
  targets: readonly string[]
  /** Does it and mends it; the promise is kept when that is over. */
  run(site: Site, target: string, random: Random): Promise<void>
}

const processes = ['API 1', 'API 2', 'worker 1', 'worker 2']
const [workers, apis] = [processes.slice(2), processes.slice(0, 2)]
/** Longer than a job's lock (stallOptions), and a run's lease (leaseSeconds), by far. */
const sleepMs = [12_000, 16_000] as const

export const faultKinds: readonly FaultKind[] = [
  {
    name: 'worker killed',
    weight: 20,
    targets: workers,
    run: (site, name) => findSlot(site, name).replace(),
  },
  { name: 'API killed', weight: 16, targets: apis, run: (site, name) => findSlot(site, name).replace() },
  { name: 'process asleep', weight: 5, targets: processes, run: putToSleep },
  { name: 'Redis flushed', weight: 14, targets: ['Redis'], run: flushRedis },
  { name: 'Redis killed', weight: 10, targets: ['Redis'], run: killRedis },
  { name: 'Postgres killed', weight: 8, targets: ['Postgres'], run: killPostgres },
  { name: 'backends terminated', weight: 12, targets: ['Postgres'], run: terminateBackends },
  { name: 'slow line', weight: 10, targets: ['line to Postgres', 'line to Redis'], run: slowDown },
  { name: 'black hole', weight: 8, targets: ['line to Postgres', 'line to Redis'], run: swallow },
  { name: 'connections reset', weight: 14, targets: ['line to Postgres', 'line to Redis'], run: reset },
]

async function putToSleep(site: Site, name: string, random: Random): Promise<void> {
  const { process } = findSlot(site, name)
  process.kill('SIGSTOP')
  await delay(random.between(...sleepMs))
  process.kill('SIGCONT')
}

async function flushRedis({ house }: Site): Promise<void> {
  const redis = new Redis(house.product.redisUrl)
  redis.on('error', () => {})
  await redis.flushall()
  redis.disconnect()
}

async function killRedis({ house: { product } }: Site, _target: string, random: Random): Promise<void> {
  product.redis?.kill('SIGKILL')
  await product.redis?.exited
  await delay(random.between(0, 1_000))
  await product.restartRedis()
}

/** At once, without its last words (SIGKILL), or after telling its sessions (SIGQUIT). */
async function killPostgres({ house: { product } }: Site, _target: string, random: Random): Promise<void> {
  product.postgres?.kill(random.pick(['SIGKILL', 'SIGQUIT']))
  await product.postgres?.exited
  await delay(random.between(0, 1_000))
  await product.restartPostgres()
}

async function terminateBackends({ query }: Site): Promise<void> {
  await query(`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
}

async function slowDown(site: Site, target: string, random: Random): Promise<void> {
  const line = findLine(site, target)
  line.setLatency(random.between(50, 500))
  await delay(random.between(1_000, 4_000))
  line.setLatency(0)
}

async function swallow(site: Site, target: string, random: Random): Promise<void> {
  const line = findLine(site, target)
  line.setBlackHole(true)
  await delay(random.between(1_000, 5_000))
  line.setBlackHole(false)
}

async function reset(site: Site, target: string): Promise<void> {
  findLine(site, target).reset()
}

function findSlot({ apis, workers }: Site, name: string): Slot {
  const slot = [...apis, ...workers].find((known) => known.name === name)
  if (slot === undefined) throw new Error(`There is no process ${name}`)
  return slot
}

function findLine({ lines }: Site, target: string) {
  return target === 'line to Postgres' ? lines.postgres : lines.redis
}
