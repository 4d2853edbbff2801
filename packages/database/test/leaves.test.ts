import { execFile } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import t from 'tap'
import { clockAheadMs } from '../src/clock.js'
import { readNewest } from '../src/leaves/leaf-tables.js'
import { leavesLock, turnLeaves } from '../src/leaves/turn-leaves.js'
import { withLock } from '../src/leaves/with-lock.js'
import { readClock } from '../src/read-clock.js'
import {
  connect,
  createHistory,
  idAt,
  leavesOf,
  leftovers,
  monday,
  store,
  weekMs,
} from './fixtures/leaf-rows.js'
import { createDatabase, query } from './fixtures/scratch-databases.js'

const days = { events: 30, tasks: 400 }
const dayMs = weekMs / 7

t.test('in a transaction that began long ago, the clock of Postgres is that of the moment', async (t) => {
  const client = await connect(t, await createHistory('leaves_clock'))
  await client.query('BEGIN')
  await client.query('SELECT pg_sleep(0.2)')
  await readClock({ run: async (_name, sql) => (await client.query(sql)).rows })
  await client.query('COMMIT')
  t.ok((clockAheadMs() ?? 0) < 200, `${clockAheadMs()} ms`)
})

t.test('leaves are made ahead of their ids, once, and are like those of a new database', async (t) => {
  const url = await createHistory('leaves_ahead')
  const all = await Promise.all([1, 2, 3].map(() => turnLeaves(url, days, { now: monday })))
  t.strictSame(
    all.flatMap(({ undone }) => undone),
    [],
  )
  t.strictSame(
    all.flatMap(({ made }) => made).sort(),
    ['events_20260105', 'executions_20260105', 'tasks_20260105'],
    'what was before is one leaf',
  )
  t.strictSame(await turnLeaves(url, days, { now: monday + 1 }), {
    made: ['events_20260615', 'executions_20260615'],
    gone: [],
    undone: [],
  })
  t.strictSame(await leavesOf(url, 'events'), ['low', '20260105', '20260615', 'high'])
  const shapes = await query<{ shape: string }>(
    url,
    `SELECT DISTINCT concat_ws(' ', array(SELECT unnest(leaf.reloptions) ORDER BY 1), (SELECT reloptions FROM pg_class AS toast WHERE toast.oid = leaf.reltoastrelid),
       (SELECT string_agg(shape, ';' ORDER BY shape) FROM (
          SELECT regexp_replace(pg_get_indexdef(indexrelid), 'INDEX .* USING', '') || indisvalid AS shape FROM pg_index WHERE indrelid = leaf.oid) AS indexes),
       (SELECT count(*) FROM pg_inherits JOIN pg_index ON indexrelid = pg_inherits.inhrelid WHERE indrelid = leaf.oid),
       (SELECT count(*) FROM pg_attribute WHERE attrelid = leaf.oid AND attnotnull)) AS shape
     FROM pg_inherits JOIN pg_class AS leaf ON leaf.oid = inhrelid WHERE inhparent = 'executions'::regclass`,
  )
  t.equal(shapes.length, 1, 'they have the same indexes and parameters')
  t.match(shapes[0]?.shape, /analyze_scale_factor=0.02.*vacuum_scale_factor=0.05/)
  t.strictSame(await leftovers(url), [])
})

t.test('the migration makes the first ones', async (t) => {
  const url = await createDatabase('leaves_first')
  const command = fileURLToPath(new URL('../src/migrate-command.js', import.meta.url))
  const env = { ...process.env, DATABASE_URL: url }
  const migrating = await promisify(execFile)(process.execPath, [command], { env })
  t.notMatch(migrating.stdout, /leaves/)
  for (const table of ['events', 'executions', 'tasks'])
    t.strictSame(await leavesOf(url, table), ['low', '20260105', 'high'])
})

t.test('the high edge with its rows becomes a leaf, without a copy', async (t) => {
  const url = await createHistory('leaves_high')
  const client = await connect(t, url)
  const ids: string[] = []
  for (const age of [-3, -40, 0, 1, 9]) ids.push(await store(client, monday - age * dayMs))
  const [before] = await query(url, `SELECT pg_relation_filenode('history.events_high') AS file`)
  t.strictSame((await turnLeaves(url, days, { now: monday })).undone, [])
  t.strictSame(await leavesOf(url, 'events'), ['low', '20260105', 'high'])
  const [after] = await query(url, `SELECT pg_relation_filenode('history.events_20260105') AS file`)
  t.strictSame(after, before)
  const late = idAt(monday + 53 * dayMs)
  t.strictSame(
    await query(
      url,
      `SELECT count(*)::int, bool_and(id < '${late}') AS "isBefore" FROM history.executions_20260105`,
    ),
    [{ count: 5, isBefore: true }],
    'it ends after the newest of them',
  )
  t.strictSame(await leftovers(url), [])
})

t.test('whoever is killed at a step leaves the others to the next one, and events go on', async (t) => {
  const url = await createHistory('leaves_killed')
  const client = await connect(t, url)
  const ids = [await store(client, monday)]
  let turns = 0
  for (; (await leavesOf(url, 'events')).length < 3; turns++) {
    await turnLeaves(url, days, { now: monday + turns, mostSteps: 1 })
    for (const age of [0, -6, 30, 300]) ids.push(await store(client, monday - age * dayMs))
  }
  t.equal(turns, 5, 'a constraint, and its check, for each of two tables, and the swap')
  t.strictSame((await turnLeaves(url, days, { now: monday })).undone, [])
  const found = await query(url, 'SELECT id FROM events JOIN executions USING (id)')
  t.equal(found.length, ids.length)
  t.strictSame(await leftovers(url), [])
})

t.test(
  'a leaf in the making refuses nothing for its time: it is given up a week before its end',
  async (t) => {
    const url = await createHistory('leaves_overtaken')
    const client = await connect(t, url)
    await store(client, monday)
    await turnLeaves(url, days, { now: monday, mostSteps: 1 })
    t.strictSame(await leftovers(url), ['leaf_range'])
    await store(client, monday + weekMs)
    const overtaken = await turnLeaves(url, days, { now: monday + weekMs + 1 })
    t.match(overtaken, { made: { length: 0 }, undone: [/^events: ids come close/] })
    t.strictSame(await leftovers(url), [])
    await store(client, monday + 5 * weekMs)
    t.match(await turnLeaves(url, days, { now: monday + weekMs + 2 }), {
      made: ['events_20260105', 'executions_20260105'],
      undone: { length: 0 },
    })
    t.strictSame(await query(url, 'SELECT count(*)::int FROM history.events_20260105'), [{ count: 3 }])
  },
)

t.test('a row beyond the end of a leaf in the making ends it, and the next one ends later', async (t) => {
  const url = await createHistory('leaves_beyond')
  const client = await connect(t, url)
  await store(client, monday)
  await turnLeaves(url, days, { now: monday, mostSteps: 2 })
  // Executions have no constraint yet.
  const id = idAt(monday + 4 * weekMs)
  await client.query(
    `INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at)
     VALUES ($1, $1, $1, 'A', $1, 1, 'succeeded', '[]', now())`,
    [id],
  )
  t.match(await turnLeaves(url, days, { now: monday }), { undone: [/^events: .* beyond/] })
  t.strictSame(await leftovers(url), [])
  await store(client, monday + 4 * weekMs)
  t.strictSame((await turnLeaves(url, days, { now: monday })).undone, [])
  t.strictSame(await query(url, 'SELECT count(*)::int FROM history.events_high'), [{ count: 0 }])
})

t.test('who holds the tables holds up a leaf alone, and nobody else', async (t) => {
  const url = await createHistory('leaves_held')
  const [holder, writer] = [await connect(t, url), await connect(t, url)]
  await holder.query('BEGIN')
  await store(holder, monday)
  const turning = turnLeaves(url, days, { now: monday })
  let longest = 0
  let isTurning = true
  const written = (async () => {
    while (isTurning) {
      const startedAt = performance.now()
      await store(writer, monday)
      longest = Math.max(longest, performance.now() - startedAt)
      await setTimeout(1)
    }
  })()
  t.match(await turning, { made: ['tasks_20260105'], undone: ['events: others hold locks'] })
  isTurning = false
  await written
  // A machine that is three times slower included: without an end of the wait it is the ten seconds of the holder.
  t.ok(longest < 5_000, `${longest} ms`)
  await holder.query('COMMIT')
  t.strictSame((await turnLeaves(url, days, { now: monday })).undone, [])
  t.strictSame(await leavesOf(url, 'events'), ['low', '20260105', 'high'])
})

t.test('the newest row of a leaf is found without a look at the others', async (t) => {
  const client = await connect(t, await createHistory('leaves_newest'))
  await client.query(`
    INSERT INTO events (id, workspace_id, type, data)
    SELECT id, id, 'A', '{}' FROM (
      SELECT (lpad(to_hex(${monday} + n), 12, '0') || '70008000000000000000')::uuid AS id FROM generate_series(1, 2000) AS n) AS ids`)
  const countReads = async () => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT sum(pg_stat_get_xact_tuples_returned(oid))::int AS count FROM pg_class WHERE relname ~ '^events_high'`,
    )
    return rows[0]?.count ?? Number.NaN
  }
  await client.query('BEGIN')
  const before = await countReads()
  t.equal(await readNewest(client, 'history.events_high'), monday + 2_000)
  t.ok((await countReads()) - before < 10)
  await client.query('COMMIT')
})

t.test('an exchange, which holds the lock in each of its steps, keeps no leaf from being made', async (t) => {
  const url = await createHistory('leaves_exchanged')
  const exchange = await connect(t, url)
  const hold = () => exchange.query(`BEGIN; SELECT pg_advisory_xact_lock(${leavesLock})`)
  await hold()
  let isTurning = true
  const turning = turnLeaves(url, days, { now: monday }).finally(() => {
    isTurning = false
  })
  const waiting = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`
  while (isTurning && (await query(url, waiting)).length === 0) await setTimeout(5)
  await exchange.query('COMMIT')
  await hold()
  t.match(await query(url, 'SELECT 1 FROM pg_class WHERE relname = $$events_20260105$$'), { length: 1 })
  await exchange.query('COMMIT')
  t.strictSame((await turning).undone, [])
})

t.test('a process that is frozen while it has the locks holds up nobody for long', async (t) => {
  const url = await createHistory('leaves_frozen')
  const [frozen, writer] = [await connect(t, url), await connect(t, url)]
  frozen.on('error', () => {})
  await frozen.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0')
  await new Promise<void>((resolve) => {
    void withLock(frozen, ['ONLY events'], () => {
      resolve()
      return new Promise<void>(() => {})
    })
  })
  await store(writer, monday)
  t.strictSame(await query(url, 'SELECT count(*)::int FROM events'), [{ count: 1 }])
})

t.test(
  'a leaf is made in few messages under the locks: a busy process is slow to send the next one',
  async (t) => {
    const url = await createHistory('leaves_messages')
    await turnLeaves(url, days, { now: monday })
    const sent: string[] = []
    const own = pg.Client.prototype.query
    t.intercept(pg.Client.prototype, 'query', {
      value(this: pg.Client, ...args: Parameters<typeof own>) {
        sent.push(String(args[0]))
        return own.apply(this, args)
      },
    })
    t.match(await turnLeaves(url, days, { now: monday + weekMs, mostSteps: 1 }), { made: { length: 2 } })
    const begun = sent.findIndex((text) => text.includes('ACCESS EXCLUSIVE'))
    t.strictSame(sent.slice(begun).indexOf('COMMIT'), 2, sent.slice(begun).join('\n'))
  },
)

t.test('an old leaf without rows goes, and the one before it has its range', async (t) => {
  const url = await createHistory('leaves_old')
  const client = await connect(t, url)
  const kept = await store(client, Date.parse('2025-12-01T00:00:00Z'))
  await turnLeaves(url, days, { now: monday })
  await turnLeaves(url, days, { now: monday + weekMs })
  const stays = await store(client, monday + 2.5 * weekMs)
  const later = monday + 9 * weekMs
  t.match(await turnLeaves(url, days, { now: later, mostSteps: 3 }), { undone: { length: 0 } })
  const turned = await turnLeaves(url, days, { now: later })
  t.strictSame(turned.undone, [])
  t.strictSame(await leavesOf(url, 'executions'), ['low', '20260615', '20260622', 'high'])
  await client.query('DELETE FROM executions WHERE id = $1', [stays])
  t.strictSame((await turnLeaves(url, days, { now: later })).gone, [], 'its event is there')
  await client.query('DELETE FROM events WHERE id = $1', [stays])
  t.match(
    await turnLeaves(url, { ...days, events: 0 }, { now: later }),
    { gone: { length: 0 } },
    'kept for ever',
  )
  t.match((await turnLeaves(url, days, { now: later })).gone, ['events_20260615', 'executions_20260615'])
  t.strictSame(await leavesOf(url, 'events'), ['low', '20260622', 'high'])
  await store(client, monday - 20 * weekMs)
  t.strictSame(await query(url, `SELECT count(*)::int FROM history.events_low`), [{ count: 2 }])
  t.strictSame(await query(url, `SELECT id FROM executions ORDER BY id LIMIT 1`), [{ id: kept }])
  t.strictSame(await leftovers(url), [])
})

t.test('a leaf has the owner of its table, who migrates them, whoever makes it', async (t) => {
  const url = await createHistory('leaves_owner')
  await query(
    url,
    `CREATE ROLE leaf_owner; ALTER SCHEMA history OWNER TO leaf_owner; ALTER TABLE events OWNER TO leaf_owner;
     ALTER TABLE history.events_low OWNER TO leaf_owner; ALTER TABLE history.events_high OWNER TO leaf_owner`,
  )
  await turnLeaves(url, days, { now: monday })
  t.strictSame(
    await query(
      url,
      `SELECT DISTINCT relowner::regrole::text AS owner FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
       WHERE inhparent = 'events'::regclass`,
    ),
    [{ owner: 'leaf_owner' }],
  )
  await query(url, 'SET ROLE leaf_owner; ALTER TABLE events ADD COLUMN later TEXT')
})

t.test('a leaf that VACUUM has seen empty is found by its indexes when it fills', async (t) => {
  const url = await createHistory('leaves_vacuumed')
  await turnLeaves(url, days, { now: monday })
  const client = await connect(t, url)
  const [{ knows }] = (await query(
    url,
    `SELECT current_setting('server_version_num')::int < 180000 AS knows`,
  )) as [{ knows: boolean }]
  const readScans = async () => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (GENERIC_PLAN) UPDATE events SET done_at = now() WHERE id = ANY ($1::uuid[]) AND id >= $2 AND id <= $3`,
    )
    return rows.some((row) => row['QUERY PLAN'].includes('Seq Scan on events_2'))
  }
  if (knows) return t.end()
  await client.query('VACUUM ANALYZE history.events_20260105')
  t.ok(await readScans(), 'it is empty')
  await turnLeaves(url, days, { now: monday })
  t.notOk(await readScans(), 'it may fill')
})

t.test('a role that does not own the tables, and a wrong clock, make none', async (t) => {
  const url = await createHistory('leaves_strange')
  await query(
    url,
    `CREATE ROLE leaf_reader LOGIN PASSWORD 'leaf'; GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO leaf_reader`,
  )
  const other = new URL(url)
  other.username = 'leaf_reader'
  other.password = 'leaf'
  t.match(await turnLeaves(other.href, days), { made: { length: 0 }, undone: [/does not own/] })
  const ownClock = Date.now
  Date.now = () => ownClock() + 2 * 60_000
  t.match(await turnLeaves(url, days), { made: { length: 0 }, undone: [/clocks .* differ/] })
  Date.now = ownClock
  t.match(await turnLeaves(url, days), { made: [/events/, /executions/, /tasks/], undone: { length: 0 } })
})

t.test('while weeks pass, each event finds a leaf, and prepared statements go on', async (t) => {
  const url = await createHistory('leaves_passing')
  const clients = await Promise.all([1, 2, 3].map(() => connect(t, url)))
  let now = monday
  let isOver = false
  const ids: string[] = []
  const writing = clients.map(async (client) => {
    await client.query('SET plan_cache_mode = force_generic_plan')
    while (!isOver) {
      const id = await store(client, now - Math.trunc(Math.random() * weekMs))
      ids.push(id)
      const { rowCount } = await client.query({
        name: 'end',
        text: 'UPDATE events SET done_at = now() WHERE id = ANY ($1::uuid[]) AND id >= $2 AND id <= $3',
        values: [[id], id, id],
      })
      if (rowCount !== 1) t.fail(`${id} is not found`)
    }
  })
  const seen = new Set<string>()
  while (seen.size < 25) {
    const { made } = await turnLeaves(url, days, { now })
    for (const leaf of made) seen.add(leaf)
    now += 2 * dayMs
  }
  isOver = true
  await Promise.all(writing)
  const [{ count }] = (await query(url, 'SELECT count(*)::int FROM events JOIN executions USING (id)')) as [
    { count: number },
  ]
  t.equal(count, ids.length)
  t.strictSame(await leftovers(url), [])
})

t.test(
  'what takes too long under a lock is undone, and is not tried again as if the lock was taken',
  async (t) => {
    const client = await connect(t, await createHistory('leaves_slow'))
    await client.query('BEGIN')
    const work = () => client.query('SELECT pg_sleep(600)')
    await t.rejects(withLock(client, ['history.events_high'], work), {
      message: /too long/,
      cause: { code: '57014' },
    })
    await client.query('ROLLBACK')
  },
)
