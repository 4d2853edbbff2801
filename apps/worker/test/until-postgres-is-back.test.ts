import { type Database, newId, openPatiently } from '@automation/database'
import t from 'tap'
import { untilPostgresIsBack } from '../src/executions/until-postgres-is-back.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

/** A statement that Postgres cancels. */
function takeTooLong({ system }: Database) {
  return system.$transaction(async (transaction) => {
    await transaction.$executeRaw`SET LOCAL statement_timeout = '20ms'`
    await transaction.$queryRaw`SELECT 1 AS slept FROM pg_sleep(30)`
  })
}

t.test('what has to be recorded is repeated after Postgres cancelled its statement', async (t) => {
  let attempts = 0
  await untilPostgresIsBack(async () => {
    if (++attempts === 1) await takeTooLong(database)
  })
  t.equal(attempts, 2)
})

t.test('what has to be recorded is repeated until Postgres takes writes', async (t) => {
  let attempts = 0
  await untilPostgresIsBack(() =>
    database.system.$transaction(async (transaction) => {
      if (++attempts === 1) await transaction.$executeRaw`SET TRANSACTION READ ONLY`
      await transaction.workspace.create({ data: { id: newId(), name: 'Test' } })
    }),
  )
  t.equal(attempts, 2)
})

t.test('what Postgres refuses is not repeated', async (t) => {
  let attempts = 0
  const refused = untilPostgresIsBack(async () => {
    attempts++
    await database.run('refused', 'SELECT $1::json', ['{'])
  })
  await t.rejects(refused, { code: '22P02' })
  t.equal(attempts, 1)
})
