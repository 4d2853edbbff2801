import { createWorkspace } from '@automation/access'
import { type Database, newId, openDatabase } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import type pg from 'pg'
import { listAims, type WantedAim } from '../aims.js'
import { type Benchmark, choose } from '../benchmark.js'
import { measureCpu } from '../cpu-time.js'
import { runOnProduct } from '../product.js'
import { measureRounds } from '../rounds.js'
import { insertRules } from '../stored/insert-rules.js'
import type { Figures } from '../table.js'
import { withPostgres } from '../with-postgres.js'
import { actor } from '../workspace.js'
import { type Layout, layouts, today } from './layouts.js'
import { type Owner, runEvents } from './run-events.js'

/** A database with the tables of a layout. */
interface Place {
  database: Database
  postgres: pg.Client
  owners: Owner[]
}

const sizes = [100, 1_000]
const workspaces = 10
const connections = 6
/** In place of autovacuum, which comes by chance. It would wait for about so many where a week has some hundred thousand. */
const vacuumEvery = 20_000

const scenarios = sizes.flatMap((bytes) =>
  layouts.map((layout) => ({ label: labelOf(layout, bytes), layout, bytes })),
)

/** What other tables would cost for an event and its end. */
export const layoutsOfEvents: Benchmark = {
  about: 'events and their ends in other tables than today: what Postgres computes and writes',
  seconds: 10,
  rounds: 5,
  async run(options) {
    const chosen = choose(scenarios, options.only)
    return runOnProduct(options, { apis: 0, workers: 0 }, async ({ product, postgres }) => {
      await postgres.query('ALTER SYSTEM SET autovacuum = off')
      await postgres.query('SELECT pg_reload_conf()')
      const pids = { Postgres: [product.postgres?.pid ?? 0] }
      const urls = new Map<Layout, string>()
      for (const { layout } of chosen)
        if (!urls.has(layout)) urls.set(layout, await createPrivateDatabase(product.databaseUrl))
      const prepared = new Map<Layout, Owner[]>()
      const table = await measureRounds(chosen, options.rounds, ({ layout, bytes }) =>
        withPlace(layout, urls.get(layout) as string, prepared, (place) =>
          measureLayout(place, layout, { bytes, pids, seconds: options.seconds }),
        ),
      )
      return { tables: [table], aims: listAims(table.lines, wanted()) }
    })
  },
}

function labelOf({ label }: Layout, bytes: number): string {
  return `${label}, ${bytes} B`
}

async function withPlace<Result>(
  layout: Layout,
  url: string,
  prepared: Map<Layout, Owner[]>,
  use: (place: Place) => Promise<Result>,
): Promise<Result> {
  const product = openDatabase(url, connections)
  const run: Database['run'] = (name, text, values) =>
    product.run(name, layout.rewrites[name]?.(text) ?? text, values)
  const database = { ...product, run }
  try {
    return await withPostgres(url, async (postgres) => {
      const owners = prepared.get(layout) ?? (await prepare(product, postgres, layout))
      prepared.set(layout, owners)
      return use({ database, postgres, owners })
    })
  } finally {
    await product.close()
  }
}

async function prepare(database: Database, postgres: pg.Client, { schema }: Layout): Promise<Owner[]> {
  await postgres.query(schema)
  const owners: Owner[] = []
  for (let number = 0; number < workspaces; number++) {
    const { id } = await createWorkspace(
      { database, actor },
      { name: `Workspace ${number}`, adminUserId: newId() },
    )
    await insertRules(postgres, id, 1)
    const rule = await database.forWorkspace(id).rule.findFirstOrThrow()
    owners.push({ workspaceId: id, ruleId: rule.id })
  }
  return owners
}

async function measureLayout(
  { database, postgres, owners }: Place,
  { vacuumed }: Layout,
  { bytes, pids, seconds }: { bytes: number; pids: { Postgres: number[] }; seconds: number },
): Promise<Figures> {
  const tables = await listTables(postgres)
  await postgres.query(`TRUNCATE ${tables.join(', ')}`)
  const data = dataOf(bytes)
  await runEvents(database, { owners, data, seconds: 1 }, async () => {})
  await postgres.query(`VACUUM (ANALYZE) ${tables.join(', ')}`)
  await postgres.query('CHECKPOINT')
  const costs = measureCpu(pids)
  const [logBefore, startedAt] = [await readLog(postgres), performance.now()]
  let vacuums = 0
  const events = await runEvents(database, { owners, data, seconds }, async (done) => {
    if (Math.floor(done / vacuumEvery) <= vacuums) return
    vacuums++
    await postgres.query(`VACUUM ${vacuumed.join(', ')}`)
  })
  const elapsed = (performance.now() - startedAt) / 1_000
  const { Postgres = Number.NaN } = costs(events)
  const log = await readLog(postgres)
  return {
    'events/s': events / elapsed,
    Postgres,
    'log B an event': (log.bytes - logBefore.bytes) / events,
    'full pages of 1,000': ((log.pages - logBefore.pages) / events) * 1_000,
    'HOT %': await readHotShare(postgres),
    'stored B an event': (await readStored(postgres, tables)) / (await countEvents(postgres)),
  }
}

/** JSON of so many bytes, with texts that do not repeat. */
function dataOf(bytes: number): object {
  const data: Record<string, unknown> = { name: 'Ada Lovelace', email: 'ada@example.com', score: 95 }
  for (let n = 0; JSON.stringify(data).length < bytes - 20; n++) {
    const room = bytes - JSON.stringify(data).length - 14
    data[`field${n}`] = newId().slice(9, 9 + Math.max(1, Math.min(27, room)))
  }
  return data
}

/** Events, their executions and tasks, in whatever tables. */
async function listTables(postgres: pg.Client): Promise<string[]> {
  const { rows } = await postgres.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
      AND relname IN ('events', 'event_ends', 'pending_events', 'executions', 'tasks')`)
  return rows.map(({ name }) => name)
}

async function readLog(postgres: pg.Client): Promise<{ bytes: number; pages: number }> {
  const { rows } = await postgres.query(`
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes, wal_fpi::float8 AS pages FROM pg_stat_wal`)
  return rows[0]
}

async function readHotShare(postgres: pg.Client): Promise<number> {
  const { rows } = await postgres.query<{ share: number }>(`
    SELECT 100 * sum(n_tup_hot_upd)::float8 / greatest(sum(n_tup_upd), 1) AS share FROM pg_stat_user_tables WHERE relname = 'events_high'`)
  return rows[0]?.share ?? Number.NaN
}

async function readStored(postgres: pg.Client, tables: string[]): Promise<number> {
  const { rows } = await postgres.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(leaf.relid))::float8 AS bytes
     FROM unnest($1::text[]) AS tables (name) CROSS JOIN LATERAL (
       SELECT relid FROM pg_partition_tree(name::regclass) WHERE isleaf
       UNION SELECT name::regclass) AS leaf`,
    [tables],
  )
  return rows[0]?.bytes ?? Number.NaN
}

async function countEvents(postgres: pg.Client): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>('SELECT count(*)::float8 AS count FROM events')
  return rows[0]?.count ?? Number.NaN
}

function wanted(): WantedAim[] {
  return sizes.flatMap((bytes) =>
    layouts
      .filter((layout) => layout !== today)
      .flatMap((layout) =>
        (
          [
            ['Postgres', 1],
            ['log B an event', 0.8],
          ] as const
        ).map(([column, atMost]) => ({
          title: `${labelOf(layout, bytes)}: ${column}, of today`,
          of: [labelOf(layout, bytes), column] as [string, string],
          dividedBy: [labelOf(today, bytes), column] as [string, string],
          atMost,
        })),
      ),
  )
}
