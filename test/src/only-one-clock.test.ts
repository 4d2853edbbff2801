import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listSources, root } from './fixtures/list-sources.js'

const ownClock = /\bDate\.now\(\)|\bnew Date\(\)/

/** Everything else asks postgresNow: processes whose own clocks differ would date and decide differently. */
const exceptions = {
  'what measures the difference': ['packages/database/src/clock.ts', 'packages/database/src/read-clock.ts'],
  'the process judges tokens, sessions and signatures, which others have made by the true time': [
    'apps/api/src/access/tokens.ts',
    'apps/api/src/routes/incoming-webhooks/receive-delivery.ts',
    'apps/worker/src/effects/read-response.ts',
    'apps/worker/src/effects/send-webhook.ts',
    'packages/access/src/tokens.ts',
    'packages/process/src/sign-in/link.ts',
  ],
  'a duration within one process': [
    'apps/api/src/rate-limit/rate-limit.ts',
    'apps/api/src/routes/incoming-webhooks/rejections.ts',
    'apps/api/src/routes/incoming-webhooks/unopened-secrets.ts',
    'apps/worker/src/executions/until-postgres-is-back.ts',
    'apps/worker/src/running/rule-set.ts',
    'packages/queue/src/redis-queue.ts',
  ],
  'BullMQ dates its jobs by the clocks of the processes': ['apps/worker/src/running/job-runner.ts'],
  'a thread that simulates, with an hour to spare': [
    'apps/worker/src/backtests/backtest-notes.ts',
    'apps/worker/src/backtests/compute-slice.ts',
  ],
  'logs and traces': [
    'packages/process/src/telemetry/log-writer.ts',
    'packages/process/src/telemetry/tracing.ts',
  ],
  'the name of a new migration': ['packages/database/src/new-migration.ts'],
}
/** The machines of users. */
const elsewhere = /^(apps\/(cli|console|board)|packages\/(client|launcher))\//

t.test('what is stored and what is due follow the clock of Postgres', async (t) => {
  const found: string[] = []
  for (const name of await listSources()) {
    if (elsewhere.test(name)) continue
    if (ownClock.test(await readFile(join(root, name), 'utf8'))) found.push(name)
  }
  t.strictSame(found, Object.values(exceptions).flat().sort())
})
