import type { Disaster } from './disaster.js'
import { failOver } from './postgres-sync.js'
import { runUnderLoad } from './run-under-load.js'
import { startPgBouncer } from './servers/pg-bouncer.js'
import { PostgresPair, query } from './servers/postgres-pair.js'
import { postgresPrograms } from './servers/programs.js'

export const pgbouncer: Disaster = {
  name: 'pgbouncer',
  about: 'The same as postgres-sync, with PgBouncer in transaction mode between all processes and Postgres.',
  needs: [...postgresPrograms, 'pgBouncer'],
  async run(stage) {
    const pair = await PostgresPair.open(stage, 'synchronous')
    try {
      // As sizing.md says: the pooler ignores these two of each connection.
      const { username } = new URL(pair.url)
      await query(pair.url, `ALTER ROLE ${username} SET statement_timeout = '9s'`)
      await query(pair.url, `ALTER ROLE ${username} SET idle_in_transaction_session_timeout = '10s'`)
      const pooler = await startPgBouncer(stage, pair.url)
      try {
        const outcome = await runUnderLoad(stage, {
          servers: { databaseUrl: pooler.url, directories: pair.directories },
          happen: (site) => failOver(stage, pair, site),
        })
        return { ...outcome, figures: { PgBouncer: pooler.version, ...outcome.figures } }
      } finally {
        await pooler.stop()
      }
    } finally {
      await pair.stop()
    }
  },
}
