import { migrate } from '@automation/database'
import t from 'tap'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { startPostgres } from '../../src/servers/postgres.js'
import { query } from '../fixtures/empty-database.js'
import { runStart } from '../fixtures/start-demo.js'

t.test(
  'npm start names the directory whose tables are older than the first release, and keeps it',
  async (t) => {
    const { path, remove } = await makeTemporaryDirectory()
    t.teardown(remove)
    const startOwn = () => startPostgres({ directory: `${path}/postgres`, durable: false })
    const before = await startOwn()
    await migrate(before.url)
    await query(before.url, "UPDATE _prisma_migrations SET migration_name = '20261121000000_init'")
    await before.stop()

    t.strictSame(await runStart(path, { DATABASE_URL: '', REDIS_URL: '' }), {
      code: 1,
      errors: `${path} has the tables of a development version from before the first release: remove ${path}, and start again\n`,
    })
    const after = await startOwn()
    t.teardown(() => after.stop())
    t.same(await query(after.url, 'SELECT migration_name AS name FROM _prisma_migrations'), [
      { name: '20261121000000_init' },
    ])
  },
)
