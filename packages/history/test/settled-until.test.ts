import { newId, openPatiently } from '@automation/database'
import t from 'tap'
import { findSettled } from '../src/settled-until.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 3)
const other = openPatiently(process.env.DATABASE_URL ?? '', 3)
t.teardown(() => Promise.all([database.close(), other.close()]))
const { system } = database

// Both clocks are cut to milliseconds.
t.test('a transaction that Postgres does not show yet has a fifth of a second', async (t) => {
  const settled = await findSettled(system)
  t.ok(Date.now() - Number(settled) > 198)
})

t.test('no event is accepted before the oldest transaction under way', async (t) => {
  await system.$transaction(async (transaction) => {
    const [row] = await transaction.$queryRaw<[{ at: Date }]>`SELECT now() AS at`
    const settled = await findSettled(system)
    t.ok(settled <= row.at)
  })
})

t.test(
  'where the transactions of another role are hidden, the longest transaction is waited for',
  async (t) => {
    const role = `reader_${newId().replaceAll('-', '')}`
    await system.$executeRawUnsafe(`CREATE ROLE ${role}`)
    const readAs = () =>
      other.system.$transaction(async (transaction) => {
        await transaction.$executeRawUnsafe(`SET LOCAL ROLE ${role}`)
        return findSettled(transaction)
      })
    await system.$transaction(async (transaction) => {
      await transaction.$queryRaw`SELECT 1`
      const settled = await readAs()
      const ms = Date.now() - settled.getTime()
      t.ok(ms > 14_998, `it is ${ms} ms ago`)
    })
  },
)
