import { findMigrationFaults } from '@automation/database/find-migration-faults'
import t from 'tap'
import { drillMigrations } from './drill-migrations.js'

t.test('the migrations of the drill follow the rules of docs/operate/upgrade.md', async (t) => {
  for (const [name, sql] of Object.entries(drillMigrations))
    t.strictSame(await findMigrationFaults(sql), [], name)
})
