import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { RunningProduct } from '../../fixtures/product.js'
import type { Random } from '../random.js'

type Fault = (running: RunningProduct, random: Random) => Promise<void>

/** Longer than the transaction of a sweep may last. */
const sleepMs = [8_000, 13_000] as const

const kinds: Record<string, Fault> = {
  'worker killed': killWorker,
  'worker asleep': putToSleep,
  'Redis wiped': wipeRedis,
  'Redis killed': killRedis,
  'Postgres killed': killPostgres,
  'backends terminated': terminateBackends,
}

/** One fault after another, and in the middle an outage of all workers. @returns how often each happened */
export async function runFaults(
  running: RunningProduct,
  random: Random,
  { seconds, outageMs }: { seconds: number; outageMs: number },
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const startedAt = performance.now()
  const passedMs = () => performance.now() - startedAt
  const names = Object.keys(kinds)
  let hasHadOutage = false
  for (let index = 0; passedMs() < seconds * 1_000 || index < names.length; index++) {
    if (!hasHadOutage && passedMs() > seconds * 500) {
      hasHadOutage = true
      await stopAllWorkers(running, outageMs)
      count('all workers away')
    }
    // Each kind once, then any.
    const name = index < names.length ? (names[index] as string) : random.pick(names)
    await kinds[name]?.(running, random)
    count(name)
    await delay(random.between(200, 2_000))
  }
  return counts
}

async function killWorker({ product }: RunningProduct, random: Random): Promise<void> {
  const [worker] = product.workers.splice(random.between(0, product.workers.length - 1), 1)
  worker?.kill('SIGKILL')
  await worker?.exited
  await startPatiently(product)
}

async function stopAllWorkers({ product }: RunningProduct, outageMs: number): Promise<void> {
  const workers = product.workers.splice(0)
  for (const worker of workers) worker.kill('SIGKILL')
  await Promise.all(workers.map(({ exited }) => exited))
  await delay(outageMs)
  await Promise.all(workers.map(() => startPatiently(product)))
}

async function startPatiently(product: RunningProduct['product']): Promise<void> {
  while (
    !(await product.startWorker().then(
      () => true,
      () => false,
    ))
  )
    await delay(500)
}

async function putToSleep({ product }: RunningProduct, random: Random): Promise<void> {
  const worker = random.pick(product.workers)
  worker.kill('SIGSTOP')
  await delay(random.between(...sleepMs))
  worker.kill('SIGCONT')
}

async function wipeRedis({ product }: RunningProduct): Promise<void> {
  const redis = new Redis(product.redisUrl)
  redis.on('error', () => {})
  await redis.flushall()
  redis.disconnect()
}

async function killRedis({ product }: RunningProduct): Promise<void> {
  product.redis?.kill('SIGKILL')
  await product.redis?.exited
  await product.restartRedis()
}

async function killPostgres({ product }: RunningProduct): Promise<void> {
  product.postgres?.kill('SIGKILL')
  await product.postgres?.exited
  await product.restartPostgres()
}

async function terminateBackends({ database }: RunningProduct): Promise<void> {
  await database.system.$executeRaw`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`
}
