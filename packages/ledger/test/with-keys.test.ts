import { setTimeout as delay } from 'node:timers/promises'
import { keyedTransactions, newId, openPatiently, type Statements } from '@automation/database'
import t from 'tap'
import { lockKeys, withKeys } from '../src/keys/with-keys.js'

/** As two processes. */
const databases = [6, 6].map((size) => openPatiently(process.env.DATABASE_URL ?? '', size))
const [one, other] = databases as [(typeof databases)[0], (typeof databases)[0]]
t.teardown(() => Promise.all(databases.map((database) => database.close())))

const read = 'SELECT rules_version AS count FROM workspaces WHERE id = $1'
const write = 'UPDATE workspaces SET rules_version = $2 WHERE id = $1'

async function createCount() {
  const id = newId()
  await one.system.workspace.create({ data: { id, name: 'Tests' } })
  /** Reads and writes in two statements: two that overlap count once. */
  const increment = async (statements: Statements) => {
    const [row] = await statements.run<{ count: number }>('read_test_count', read, [id])
    await statements.run('write_test_count', write, [id, (row?.count ?? 0) + 1])
  }
  const count = async () => (await one.run<{ count: number }>('read_test_count', read, [id]))[0]?.count
  return { id, increment, count }
}

t.test('of commits that share a key, each reads what the one before it has left', async (t) => {
  const { id, increment, count } = await createCount()
  const race = Array.from({ length: 40 }, (_, index) =>
    withKeys(index % 2 ? one : other, [`a ${id}`], increment),
  )
  await Promise.all(race)
  t.equal(await count(), 40)
})

t.test('commits that name their keys in different orders do not wait for each other for ever', async (t) => {
  const { id, increment, count } = await createCount()
  const keys = Array.from({ length: 20 }, (_, index) => `${index} ${id}`)
  const race = Array.from({ length: 30 }, (_, index) =>
    withKeys(index % 2 ? one : other, index % 3 ? keys : keys.toReversed(), increment),
  )
  await Promise.all(race)
  t.equal(await count(), 30)
})

t.test('commits without a common key do not wait for each other', async (t) => {
  // Of 4,096 buckets, these have two.
  await t.resolves(withKeys(one, ['a'], () => withKeys(other, ['b'], async () => {})))
})

t.test('work that fails leaves nothing, and its keys are free', async (t) => {
  const { id, increment, count } = await createCount()
  const failing = withKeys(one, [`a ${id}`], async (statements) => {
    await increment(statements)
    throw new Error('On the way')
  })
  await t.rejects(failing, { message: 'On the way' })
  t.equal(await count(), 0)
  await withKeys(other, [`a ${id}`], increment)
  t.equal(await count(), 1)
})

t.test('the keys of a process that ends are free, and what it did not commit is gone', async (t) => {
  const { id, increment, count } = await createCount()
  const killed = withKeys(one, [`a ${id}`], async (statements) => {
    await increment(statements)
    const [self] = await statements.run<{ pid: number }>(
      'read_test_pid',
      'SELECT pg_backend_pid() AS pid',
      [],
    )
    await other.run('kill_test_pid', 'SELECT pg_terminate_backend($1)', [self?.pid])
    await increment(statements)
  })
  await t.rejects(killed)
  await withKeys(other, [`a ${id}`], increment)
  t.equal(await count(), 1)
})

t.test('a transaction of Prisma takes the same keys', async (t) => {
  const { id, increment, count } = await createCount()
  let isOver = false
  let waiting: Promise<void> | undefined
  await one.system.$transaction(async (transaction) => {
    await lockKeys(transaction, [`b ${id}`, `a ${id}`])
    waiting = withKeys(other, [`a ${id}`], async (statements) => {
      t.ok(isOver)
      await increment(statements)
    })
    await transaction.workspace.update({ where: { id }, data: { rulesVersion: 10 } })
    isOver = true
  })
  await waiting
  t.equal(await count(), 11)
})

t.test('commits with any number of keys leave room in the locks of Postgres', async (t) => {
  const countSql = `SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory' AND granted`
  const keys = Array.from({ length: 20_000 }, (_, index) => `${index}`)
  const count = async (statements: Statements) =>
    (await statements.run<{ locks: number }>('count_test_locks', countSql, []))[0]?.locks ?? 0
  const race = [one, other].map((database, index) =>
    withKeys(database, index ? keys : keys.toReversed(), count),
  )
  for (const locks of await Promise.all(race)) t.ok(locks < 4_200, `${locks}`)
})

t.test('commits with keys and other transactions do not take connections from each other', async (t) => {
  const database = openPatiently(process.env.DATABASE_URL ?? '', 4)
  t.teardown(() => database.close())
  let free = () => {}
  const isFree = new Promise<void>((resolve) => {
    free = resolve
  })
  const held = [1, 2].map(() =>
    database.system.$transaction(async (transaction) => {
      await transaction.$queryRaw`SELECT 1`
      await isFree
    }),
  )
  const keyed = Array.from({ length: keyedTransactions }, (_, index) =>
    withKeys(database, [`${index}`], () => isFree),
  )
  await withKeys(other, ['a'], async () => {})
  free()
  await t.resolves(Promise.all([...held, ...keyed]))
})

const sleep = (statements: Statements, seconds: number) =>
  statements.run('test_sleep', 'SELECT pg_sleep($1)', [seconds])

t.test('a commit that stands still, waits or lasts too long is given up', { jobs: 3 }, async (t) => {
  void t.test('the keys of one that stands still are free after 3 s', async (t) => {
    const { increment, count } = await createCount()
    const still = withKeys(one, ['a'], async (statements) => {
      await increment(statements)
      await delay(3_800)
    })
    await Promise.all([t.rejects(still), delay(100).then(() => withKeys(other, ['a'], increment))])
    t.equal(await count(), 1)
  })
  void t.test('one waits 4 s for a key', async (t) => {
    const { increment, count } = await createCount()
    let begin = () => {}
    const hasBegun = new Promise<void>((resolve) => {
      begin = resolve
    })
    let isRefused = false
    const slow = withKeys(one, ['b'], async (statements) => {
      begin()
      while (!isRefused) await sleep(statements, 0.2)
    })
    await hasBegun
    await t.rejects(withKeys(other, ['b'], increment), { message: 'A transaction took longer than it may' })
    isRefused = true
    await slow
    t.equal(await count(), 0)
  })
  void t.test('one that lasts 11 s is rolled back, so that time may end a WAIT after 15 s', async (t) => {
    const { increment, count } = await createCount()
    const long = withKeys(one, ['0'], async (statements) => {
      await increment(statements)
      await sleep(statements, 6)
      await sleep(statements, 6)
    })
    await t.rejects(long, { message: 'A transaction took longer than it may' })
    t.equal(await count(), 0)
  })
})
