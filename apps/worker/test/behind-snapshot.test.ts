import { firstIdOf, newId, openPatiently, readClock } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { markEvents, markExecutions, walkEvents, walkExecutions } from '@automation/ledger'
import t from 'tap'

const seconds = 300
/** Index entries: those of the last thirty seconds, which the look at new executions reads twice (in turns, and the newest), and a page. All are 300,000. */
const fewReads = 62_000

// One connection, so that its statistics can be flushed and read.
const url = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const database = openPatiently(url, 1)
const backup = openPatiently(url, 1)
t.teardown(() => Promise.all([database.close(), backup.close()]))

const workspaceId = newId()
await database.system.workspace.create({ data: { id: workspaceId, name: 'Test' } })

/** How many entries of the two partial indexes some work reads, including entries of finished rows. */
async function countReads(work: () => Promise<unknown>): Promise<number> {
  const before = await readCounter()
  await work()
  return (await readCounter()) - before
}

async function readCounter(): Promise<number> {
  await database.run('flush_statistics', 'SELECT pg_stat_force_next_flush()', [])
  const [counted] = await database.run<{ read: number }>('count_reads', statement, [])
  return counted?.read ?? Number.NaN
}

const statement = `
  SELECT sum(idx_tup_read)::float8 AS read FROM pg_stat_user_indexes
  WHERE indexrelid IN (
    SELECT coalesce(leaf.relid, name) FROM unnest('{events_not_done,executions_due}'::regclass[]) AS names (name)
    LEFT JOIN LATERAL pg_partition_tree(name) AS leaf ON true)`

const columns =
  'id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at'

/** Events and executions for some seconds, counted from the first: one was due each millisecond. */
async function storeWork(from: number, to: number): Promise<void> {
  const interval = [`${startedAt + from * 1_000}`, (to - from) * 1_000, workspaceId]
  await database.run(
    'store_work',
    `WITH new AS (
       INSERT INTO events (id, workspace_id, type, data, accepted_at)
       SELECT (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, $3::uuid, 'LEAD_CREATED', '{}',
              to_timestamp(ms / 1000.0)
       FROM (SELECT n, $1::bigint + n AS ms FROM generate_series(1, $2::int) AS n) AS times
       RETURNING *
     )
     INSERT INTO executions (${columns})
     SELECT id, workspace_id, id, type, workspace_id, 1, 'waiting', '[]', accepted_at, accepted_at FROM new`,
    interval,
  )
}

async function finishWork(from: number, to: number): Promise<void> {
  const interval = [from, to].map((second) => firstIdOf(startedAt + second * 1_000))
  await database.run(
    'finish_work',
    `WITH done AS (UPDATE events SET done_at = now() WHERE id > $1::uuid AND id <= $2::uuid)
     UPDATE executions SET due_at = NULL, finished_at = now(), status = 'succeeded' WHERE id > $1::uuid AND id <= $2::uuid`,
    interval,
  )
}

const startedAt = Math.round(await readClock(database)) - seconds * 1_000
const end = startedAt + seconds * 1_000
for (let second = 0; second < seconds; second += 10) await storeWork(second, second + 10)

t.test('with an old snapshot open, a look or a page reads few rows that were finished since', (t) =>
  backup.system.$transaction(
    async (snapshot) => {
      // The snapshot stays open, as during a backup.
      await snapshot.$queryRaw`SELECT set_config('idle_in_transaction_session_timeout', '0', true)`
      await snapshot.$queryRaw`SELECT count(*)::int AS events FROM events`
      // All rows except those that were due after 100 seconds.
      for (let second = 0; second < seconds; second += 10)
        await finishWork(second === 100 ? 100.002 : second, second + 10.001)

      for (const mark of [markEvents(database), markExecutions(database)]) {
        let oldest: number | undefined
        let looks = 0
        for (; oldest !== startedAt + 100_001 && looks < 100; looks++) {
          const reads = await countReads(async () => {
            oldest = (await mark.find(end))?.dueSince
          })
          if (reads > fewReads) t.fail(`a look has read ${reads} entries`)
        }
        t.equal(oldest, startedAt + 100_001, `the oldest work is found by look ${looks}`)
        t.ok((await countReads(() => mark.find(end))) < fewReads, 'later looks start there')
      }

      for (const walk of [walkEvents(database), walkExecutions(database)]) {
        let found = 0
        for (let sweeps = 0; found === 0 && sweeps < 100; sweeps++) {
          const pages = walk.pages(end)
          for (let isOver = false; !isOver; ) {
            const reads = await countReads(async () => {
              const page = await pages.next()
              isOver = page.done === true
              found += page.value?.length ?? 0
            })
            if (reads > fewReads) t.fail(`a page has read ${reads} entries`)
          }
        }
        t.equal(found, 1, 'a sweep finds it, too')
      }
    },
    { isolationLevel: 'RepeatableRead', timeout: 170_000 },
  ),
)
