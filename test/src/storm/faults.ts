import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Random } from './random.js'
import type { Site, Slot } from './site.js'
import type { TcpProxy } from './tcp-proxy.js'

/** One of the things that go wrong. */
export interface FaultKind {
  name: string
  /** How often it comes, beside the others. */
  weight: number
  /** A call may have been made and not be known of: a worker ended, slept or was cut off for longer than a lease. */
  losesCalls?: true
  /** What it needs for itself: one of these things that has no other fault at the time. */
  targets: readonly string[]
  /** Does it and mends it; the promise is kept when that is over. */
  run(site: Site, target: string, random: Random): Promise<void>
}

const processes = ['API 1', 'API 2', 'worker 1', 'worker 2']
const [workers, apis] = [processes.slice(2), processes.slice(0, 2)]
/** Each process has one to each server. */
const lines = processes.flatMap((name) => [`${name} to Postgres`, `${name} to Redis`])
const linesToPostgres = processes.map((name) => `${name} to Postgres`)
/** Longer than a job's lock (stallOptions), and a run's lease (leaseSeconds), by far. */
const sleepMs = [12_000, 16_000] as const
/** From less than a lease to more than a statement, its transaction and what waits behind them; mostly between the last two. */
const muteMs = [
  [5_000, 40_000],
  [14_000, 26_000],
  [14_000, 26_000],
] as const
const unreachedMs = 3_000
const dyingMs = [0, 20_000] as const

export const faultKinds: readonly FaultKind[] = [
  {
    name: 'worker killed',
    weight: 20,
    losesCalls: true,
    targets: workers,
    run: (site, name) => findSlot(site, name).replace(),
  },
  { name: 'API killed', weight: 16, targets: apis, run: (site, name) => findSlot(site, name).replace() },
  { name: 'process asleep', weight: 5, losesCalls: true, targets: processes, run: putToSleep },
  { name: 'Redis flushed', weight: 14, targets: ['Redis'], run: flushRedis },
  { name: 'Redis killed', weight: 10, targets: ['Redis'], run: killRedis },
  { name: 'Postgres killed', weight: 8, losesCalls: true, targets: ['Postgres'], run: killPostgres },
  { name: 'backends terminated', weight: 12, targets: ['Postgres'], run: terminateBackends },
  { name: 'slow line', weight: 10, targets: lines, run: slowDown },
  { name: 'black hole', weight: 8, losesCalls: true, targets: lines, run: swallow },
  { name: 'mute line', weight: 10, losesCalls: true, targets: lines, run: muteAndKill },
  { name: 'connections reset', weight: 14, targets: lines, run: reset },
  { name: 'response lost', weight: 14, targets: linesToPostgres, run: loseResponses },
]

async function putToSleep(site: Site, name: string, random: Random): Promise<void> {
  const { process } = findSlot(site, name)
  process.kill('SIGSTOP')
  await delay(random.between(...sleepMs))
  process.kill('SIGCONT')
}

async function flushRedis({ running }: Site): Promise<void> {
  const redis = new Redis(running.product.redisUrl)
  redis.on('error', () => {})
  await redis.flushall()
  redis.disconnect()
}

async function killRedis({ running: { product } }: Site, _target: string, random: Random): Promise<void> {
  product.redis?.kill('SIGKILL')
  await product.redis?.exited
  await delay(random.between(0, 1_000))
  await product.restartRedis()
}

/** At once, without its last words (SIGKILL), or after telling its sessions (SIGQUIT). */
async function killPostgres({ running: { product } }: Site, _target: string, random: Random): Promise<void> {
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

/** Nothing passes for longer than any limit of the product, from a chosen statement on. Soon after it has healed, the process dies. */
async function muteAndKill(site: Site, target: string, random: Random): Promise<void> {
  const line = findLine(site, target)
  const [name = '', server] = target.split(' to ')
  const moment = random.pick(['before', 'after'] as const)
  const direction = random.pick([moment === 'before' ? 'there' : 'back', 'both'] as const)
  const text = random.pick(textsOf(name, server))
  const isReached = line.muteAt({ text, moment, direction }).then(() => true)
  if (!(await Promise.race([isReached, delay(unreachedMs, false)]))) line.mute(direction)
  const [least, most] = random.pick(muteMs)
  await delay(random.between(least, most))
  line.heal()
  await delay(random.between(...dyingMs))
  await findSlot(site, name).replace()
}

/** What the product says in the middle of its promises. */
function textsOf(name: string, server: string | undefined): readonly string[] {
  if (server !== 'Postgres') return ['evalsha', 'EVALSHA', 'hmget', 'publish']
  const ofTransactions = ['BEGIN', 'FOR NO KEY UPDATE', 'COMMIT']
  return apis.includes(name)
    ? [...ofTransactions, 'accept_events', 'accept_webhooks', 'accept_once', 'keep_responses']
    : [
        ...ofTransactions,
        'load_events',
        'finish_events',
        'finish_successes',
        'record_steps',
        'claim_executions',
        'renew_leases',
        'lock_keys',
        'write_claims',
        'note_event_keys',
        'close_batch',
      ]
}

/** Postgres does what it was asked for, and the process does not hear of it: for each of its statements once. */
async function loseResponses(site: Site, target: string): Promise<void> {
  const line = findLine(site, target)
  const [name = '', server] = target.split(' to ')
  for (const text of textsOf(name, server)) {
    const isReached = line.loseResponseTo(text).then(() => true)
    if (!(await Promise.race([isReached, delay(unreachedMs, false)]))) line.heal()
  }
}

async function reset(site: Site, target: string): Promise<void> {
  findLine(site, target).reset()
}

function findSlot({ apis, workers }: Site, name: string): Slot {
  const slot = [...apis, ...workers].find((known) => known.name === name)
  if (slot === undefined) throw new Error(`There is no process ${name}`)
  return slot
}

function findLine(site: Site, target: string): TcpProxy {
  const [name = '', server] = target.split(' to ')
  return findSlot(site, name).lines[server === 'Postgres' ? 'Postgres' : 'Redis']
}
