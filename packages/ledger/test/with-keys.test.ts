import { newId, openDatabase, type Statements } from '@automation/database'
import t from 'tap'
import { lockKeys, withKeys } from '../src/keys/with-keys.js'

/** As two processes. */
const databases = [6, 6].map((size) => openDatabase(process.env.DATABASE_URL ?? '', size))
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
  const { id } = await createCount()
  await t.resolves(withKeys(one, [`a ${id}`], () => withKeys(other, [`b ${id}`], async () => {})))
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
