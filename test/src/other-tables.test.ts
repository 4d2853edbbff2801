import { createPrivateDatabase } from '@automation/launcher'
import pg from 'pg'
import t from 'tap'
import { startOwnProcess } from './fixtures/own-process.js'

t.test('API and worker end at once over the tables of a version from before the first release', async (t) => {
  const { DATABASE_URL: serverUrl = '', REDIS_URL = '' } = process.env
  const databaseUrl = await createPrivateDatabase(serverUrl)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query("UPDATE _prisma_migrations SET migration_name = '20261121000000_init'")
  await client.end()
  const settings = {
    DATABASE_URL: databaseUrl,
    REDIS_URL,
    JWT_SECRET: 'a secret of tests with more than 32 characters',
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  }
  for (const name of ['api', 'worker'] as const) {
    const one = await startOwnProcess(t, name, settings)
    t.match(await one.exited, { code: 1 }, name)
    const lines = one.log().match(/.*"level":60.*/g)
    t.match(lines, [
      /"msg":"the database has tables of a development version [^"]*: create an empty database/,
    ])
    t.equal(lines?.length, 1)
    t.notMatch(one.log(), /waiting: the database/, 'it does not wait')
  }
})
