import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { createBatcher } from '../src/batcher.js'
import { openConnections, openReads } from '../src/connections.js'
import { databaseLimitsOf } from '../src/database-limits.js'
import { Prisma } from '../src/generated/client.js'
import { newId } from '../src/ids.js'
import { openDatabase } from '../src/open.js'

const url = process.env.DATABASE_URL ?? ''

/** A pool of one connection: the next statement gets the returned connection, if it was returned. */
function openOne(t: Test): pg.Pool {
  const pool = openConnections(url, 1, databaseLimitsOf(1))
  t.teardown(() => pool.end())
  return pool
}

async function pidOf(connection: pg.Pool | pg.PoolClient): Promise<number> {
  return (await connection.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
}

t.test('a connection that is clean goes back into the pool', async (t) => {
  const pool = openOne(t)
  const client = await pool.connect()
  const pid = await pidOf(client)
  await client.query('BEGIN')
  await client.query('SELECT 1')
  await client.query('COMMIT')
  client.release()
  t.equal(await pidOf(pool), pid)
})

t.test(
  'a connection with an open transaction does not return to the pool, so no caller works inside the transaction of another',
  async (t) => {
    const pool = openOne(t)
    for (const last of ['SELECT 1', 'SELECT 1 / 0']) {
      const client = await pool.connect()
      const pid = await pidOf(client)
      await client.query('BEGIN')
      await client.query(last).catch(() => {})
      client.release()
      t.not(await pidOf(pool), pid, `after ${last}`)
    }
  },
)

t.test(
  'a connection with a statement under way does not return to the pool, and the statement is ended',
  async (t) => {
    const pool = openOne(t)
    const client = await pool.connect()
    const pid = await pidOf(client)
    const open = client.query('SELECT pg_sleep(30)').catch((error) => error)
    client.release()
    t.not(await pidOf(pool), pid)
    t.match(await open, { message: /Connection terminated/ })
  },
)

t.test(
  'a connection that the server closes while it is in use fails its next statement, not the process',
  async (t) => {
    const pool = openOne(t)
    const client = await pool.connect()
    const other = openOne(t)
    await other.query('SELECT pg_terminate_backend($1)', [await pidOf(client)])
    await t.rejects(async () => {
      for (;;) await client.query('SELECT pg_sleep(0.01)')
    })
    client.release()
    const silent = await other.connect()
    await pool.query('SELECT pg_terminate_backend($1)', [await pidOf(silent)])
    await delay(200)
    await t.rejects(silent.query('SELECT 1'))
    silent.release()
  },
)

t.test('a statement without a response in time closes its connection', async (t) => {
  const pool = openOne(t)
  const client = await pool.connect()
  client.on('error', () => {})
  const late = { text: 'SELECT pg_sleep(30)', query_timeout: 50 }
  const behind = client.query(late).catch((error) => error)
  const waiting = client.query('SELECT 1').catch((error) => error)
  t.match(await behind, { message: 'Query read timeout' })
  t.match(
    await waiting,
    { message: /Query read timeout|Connection terminated/ },
    'the statement behind it fails at once',
  )
  client.release()
  t.ok(await pidOf(pool), 'the pool goes on with another one')
})

t.test(
  'what waits for a server that is given up fails at once, and the next statement has another connection',
  async (t) => {
    const database = openDatabase(url, 3)
    t.teardown(() => database.close())
    const sleep = 'SELECT pg_sleep(30)::text'
    let begun = 0
    const waiting = [
      database.run('sleep', sleep, []),
      database.runUrgent('sleep', sleep, []),
      database.system.$transaction(async (rows) => {
        await rows.$queryRaw`SELECT 1`
        begun++
        await rows.$queryRawUnsafe(sleep)
      }),
    ].map((one) =>
      one.then(
        () => 'done',
        (error: Error) => error.message,
      ),
    )
    const other = openOne(t)
    const countSql = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE query = $1 AND state = 'active'`
    while ((await other.query(countSql, [sleep])).rows[0].count < waiting.length);
    t.equal(begun, 1)
    database.breakOff(new Error('given up'))
    for (const said of await Promise.all(waiting)) t.match(said, /given up/)
    t.match(await database.run('next', 'SELECT 1 AS one', []), [{ one: 1 }])
  },
)

t.test('a statement has one plan for all values, and a query of a tenant has one for its own', async (t) => {
  const reads = openReads(url, databaseLimitsOf(1))
  t.teardown(() => reads.end())
  const modes = [openOne(t), reads].map(async (pool) => (await pool.query('SHOW plan_cache_mode')).rows[0])
  t.strictSame(await Promise.all(modes), [
    { plan_cache_mode: 'force_generic_plan' },
    { plan_cache_mode: 'auto' },
  ])
})

t.test('the server cancels a statement before this process gives it up', async (t) => {
  const pool = openOne(t)
  t.equal((await pool.query('SHOW statement_timeout')).rows[0].statement_timeout, '9s')
  t.equal(pool.options.query_timeout, 10_000)
})

t.test(
  'the items of a batch that the server cancels follow one by one, and only the one that takes too long fails',
  async (t) => {
    const pool = openOne(t)
    // Sooner than this process gives one up, but late enough for a busy machine.
    await pool.query("SET statement_timeout = '2s'")
    const sleep = createBatcher(
      async (seconds: number[]) =>
        (await pool.query('SELECT pg_sleep(s), s FROM unnest($1::float8[]) AS s', [seconds])).rows,
    )
    const settled = await Promise.allSettled([0, 0, 30, 0].map(sleep))
    t.strictSame(
      settled.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    )
    t.match(settled[2], { reason: { code: '57014' } })
  },
)

t.test('a COMMIT that Postgres answers with a rollback is an error', async (t) => {
  const database = openDatabase(url, 1)
  t.teardown(() => database.close())
  const id = newId()
  const work = database.system.$transaction(async (transaction) => {
    await transaction.workspace.create({ data: { id, name: 'Never' } })
    await transaction.$queryRaw(Prisma.sql`SELECT 1 / 0`).catch(() => {})
  })
  await t.rejects(work, { message: /rolled back/ })
  t.equal(await database.system.workspace.count({ where: { id } }), 0)
})

t.test(
  'while every connection for transactions is taken, single statements still have connections',
  async (t) => {
    const database = openDatabase(url, 2)
    t.teardown(() => database.close())
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    let begun = () => {}
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const transaction = database.system.$transaction(async (own) => {
      await own.$queryRaw`SELECT 1`
      begun()
      await finished
    })
    await hasBegun
    await database.run('one', 'SELECT 1 AS one', [])
    await database.runUrgent('one', 'SELECT 1 AS one', [])
    t.equal(await database.system.workspace.count({ where: { id: newId() } }), 0, "Prisma's too")
    t.equal(database.poolUse().busy, 1, 'the transaction alone has a connection')
    finish()
    await transaction
  },
)

t.test('a transaction and a single statement never share a connection', async (t) => {
  const database = openDatabase(url, 3)
  t.teardown(() => database.close())
  const pids = { statements: new Set<number>(), transactions: new Set<number>() }
  const ask = Prisma.sql`SELECT pg_backend_pid() AS pid`
  for (let turn = 0; turn < 10; turn++) {
    const [single, inside] = await Promise.all([
      database.run<{ pid: number }>('pid', 'SELECT pg_backend_pid() AS pid', []),
      database.system.$transaction((own) => own.$queryRaw<{ pid: number }[]>(ask)),
    ])
    for (const { pid } of single) pids.statements.add(pid)
    for (const { pid } of inside) pids.transactions.add(pid)
    for (const { pid } of await database.system.$queryRaw<{ pid: number }[]>(ask)) pids.statements.add(pid)
  }
  t.ok(pids.transactions.size > 0)
  t.strictSame(
    [...pids.statements].filter((pid) => pids.transactions.has(pid)),
    [],
  )
})

t.test('the server ends a transaction that its client has abandoned', async (t) => {
  const pool = openOne(t)
  const client = await pool.connect()
  client.on('error', () => {})
  t.equal(
    (await client.query('SHOW idle_in_transaction_session_timeout')).rows[0]
      .idle_in_transaction_session_timeout,
    '10s',
  )
  await client.query("SET idle_in_transaction_session_timeout = '50ms'")
  await client.query('BEGIN')
  await new Promise<void>((ended) => client.once('end', ended))
  await t.rejects(client.query('COMMIT'), 'its end is no success')
  client.release()
})

t.test(
  'the renewal of a lease times out so soon that it can be repeated before the lease ends',
  async (t) => {
    const database = openDatabase(url, 1)
    t.teardown(() => database.close())
    const show = () => database.runUrgent('show', 'SHOW statement_timeout', [])
    t.strictSame(await show(), [{ statement_timeout: '2250ms' }], 'the server cancels it')
    await t.rejects(database.runUrgent('sleep', 'SELECT pg_sleep(3000)', []))
    t.strictSame(await show(), [{ statement_timeout: '2250ms' }])
  },
)
