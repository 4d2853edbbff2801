import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type ConsoleProcess, findFreePort } from '@automation/launcher'
import pg from 'pg'
import { until } from '../../fixtures/product.js'
import type { Site } from '../../storm/site.js'
import type { Disaster, Outcome, Stage } from '../disaster.js'
import { runUnderLoad, seconds, untilReady } from '../run-under-load.js'
import { LoadBalancer } from '../servers/load-balancer.js'
import { type Clients, startClients } from './clients.js'
import { drillMigrations } from './drill-migrations.js'
import { Installation } from './installation.js'

/** Longer than HAProxy takes to see that an API is not ready. */
const drainSeconds = '2'
/** How long a backup holds the table that a migration changes, once it has begun. */
const backupMs = 5_000

export const upgrade: Disaster = {
  name: 'upgrade',
  about: 'A new version with migrations replaces the old one under load, and then the old one comes back.',
  needs: ['haproxy'],
  async run(stage) {
    const next = await Installation.copy(`${stage.directory}/next`, drillMigrations)
    const violations: string[] = []
    let clients: Clients | undefined
    const outcome = await runUnderLoad(stage, {
      lastsMs: stage.seconds * 1_000,
      servers: { env: { DRAIN_SECONDS: drainSeconds } },
      async happen(site) {
        const ports = site.apis.map(({ process }) => process.port ?? 0)
        const balancer = await LoadBalancer.open(stage.programs.haproxy, stage.directory, ports)
        clients = startClients(site, balancer.url)
        try {
          return await upgradeAndBack(stage, site, next, clients, balancer.url, violations)
        } finally {
          await clients.stop()
          await balancer.close()
        }
      },
      async excuse({ load }) {
        // From here on they are events like all others: each is stored once, and has its effects once.
        load.sent.push(...(clients?.sent ?? []))
      },
    })
    return { ...outcome, violations: [...violations, ...outcome.violations] }
  },
}

async function upgradeAndBack(
  { tell }: Stage,
  site: Site,
  next: Installation,
  clients: Clients,
  address: string,
  violations: string[],
): Promise<Outcome['figures']> {
  const consoles = await openConsole(site, address)
  const { databaseUrl } = site.running.product
  tell('migrating')
  const migration = await migrateUnderLoad(site, next, databaseUrl, violations)
  const roll = async (version: Installation) => {
    const from = performance.now()
    for (const slot of [...site.workers, ...site.apis]) {
      await slot.exchange(slot.baseUrl === '' ? version.worker : version.api)
      await untilReady(site)
    }
    const away = await consoles.exchange(version.console)
    return { took: seconds(performance.now() - from), away: seconds(away) }
  }
  tell('the new version replaces the old one')
  const forward = await roll(next)
  tell('the old version comes back')
  const back = await roll(Installation.current)
  const old = await Installation.current.migrate(databaseUrl)
  if (old.code !== 0) violations.push(`the old version's migrate ended with ${old.code}: ${old.output}`)
  await consoles.stop()
  violations.push(...clients.failures.map((failure) => `a client with its retries saw a failure: ${failure}`))
  const { calls, repeats, slowestMs } = clients.count()
  return {
    ...migration,
    'new version in place after': forward.took,
    'old version back after': back.took,
    'the one console was away for': `${forward.away}, ${back.away}`,
    'npm run migrate of the old version says': old.output,
    'calls of clients with retries': calls,
    'of them repeated by the client': repeats,
    'of them failed for the caller': clients.failures.length,
    'slowest of them, all attempts': seconds(slowestMs),
  }
}

/** `npm run migrate` meets a backup, is killed while it builds the index, and goes on when it is run again. */
async function migrateUnderLoad(
  { query }: Site,
  next: Installation,
  databaseUrl: string,
  violations: string[],
): Promise<Outcome['figures']> {
  const from = performance.now()
  const backup = await begin(databaseUrl, 'LOCK TABLE events IN ACCESS SHARE MODE')
  // An index waits for everybody who may see rows without it.
  const reader = await begin(databaseUrl, 'SELECT count(*) FROM pg_class')
  const findBuilder = async () => (await query<{ pid: number }>(findBuilderSql))[0]?.pid
  let leftOver: number | undefined
  const isBuilding = async () => {
    leftOver = await findBuilder()
    return leftOver !== undefined
  }
  const [killed] = await Promise.all([
    next.migrate(databaseUrl, isBuilding),
    delay(backupMs).then(() => backup.end()),
  ])
  if (killed.code !== 'SIGKILL' || !/tries again/.test(killed.output))
    violations.push(`beside a backup, migrate ended with ${killed.code}: ${killed.output}`)
  const goingOn = next.migrate(databaseUrl)
  await until(async () => ![undefined, leftOver].includes(await findBuilder()))
  await reader.end()
  const done = await goingOn
  const invalid = await query(`SELECT FROM pg_index WHERE NOT indisvalid`)
  if (done.code !== 0 || invalid.length > 0)
    violations.push(`migrate ended with ${done.code} and ${invalid.length} invalid indexes: ${done.output}`)
  return {
    'migrate beside a backup tried again': `${killed.output.match(/tries again/g)?.length ?? 0} times`,
    'migrate killed at the index, and run again': done.output,
    'both runs took': seconds(performance.now() - from),
  }
}

const findBuilderSql = `
  SELECT pid FROM pg_stat_activity
  WHERE query LIKE '%CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`

/** A transaction that keeps what it has seen and locked until it is ended. */
async function begin(databaseUrl: string, statement: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query(statement)
  return client
}

/** @param address of the API, for the console */
async function openConsole({ running: { product } }: Site, address: string) {
  const port = `${await findFreePort()}`
  const url = `http://127.0.0.1:${port}`
  const settings = {
    ...{ CONSOLE_SECRET: randomBytes(32).toString('base64url'), CONSOLE_URL: url },
    ...{ CONSOLE_PORT: port, CONSOLE_API_URL: address },
  }
  let current: ConsoleProcess = await product.startConsole(settings)
  const isServed = async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.status === 200
  return {
    /** @returns how long (ms) nobody could use it */
    async exchange(entry: string): Promise<number> {
      const from = performance.now()
      await current.stop()
      current = await product.startConsole(settings, entry)
      await until(isServed)
      return performance.now() - from
    },
    stop: () => current.stop(),
  }
}
