import type { Database } from '@automation/database'
import type { DueRun, EventQueue } from '@automation/inbox'
import { openMetrics } from '@automation/telemetry'
import type { Logger } from 'pino'
import { repeat } from './repeat.js'
import { createWorkerMetrics } from './worker-metrics.js'

const pauseMs = 2_000
/** An event younger than this is not looked for: its job is most likely just being added. */
const minimumAgeSeconds = 2
const pageSize = 500
const maxPages = 20
/** Of the transaction that holds the lock: by this process's clock and, where it stands still, by Postgres's. */
const maxSweepMs = 10_000
/** Any number that nothing else in this database locks. */
const sweeperLock = 7_701_202_611n

interface UndoneEvent {
  id: string
  workspaceId: string
  ruleId: string | null
  jobId: string
}

/**
 * Puts back what the belt lost: events that are not done and executions that are due, and have no job under way, because
 * Redis forgot it, the process that was to add it died first, BullMQ gave up on it, or the worker died that had it. One
 * sweeper at a time, whichever worker comes first; each sweep goes on where the last one stopped, so a long backlog hides
 * nothing.
 */
export function startSweeper(
  database: Database,
  queue: EventQueue,
  log: Logger,
  metrics = createWorkerMetrics(openMetrics()),
) {
  const restoreEvents = createRestorer({
    find: (cursor) => database.run<UndoneEvent>('find_undone', undoneEvents, cursor),
    first: [noId],
    cursorAt: ({ id }) => [id],
    restore: (events) => restoreJobs(queue, events),
  })
  const restoreRuns = createRestorer({
    find: (cursor) => database.run<DueRun>('find_due', dueRuns, cursor),
    first: ['-infinity', noId],
    cursorAt: ({ dueAt, executionId }) => [dueAt.toISOString(), executionId],
    async restore(runs) {
      const outcomes = await Promise.all(runs.map((run) => queue.restoreDue(run)))
      return outcomes.filter(Boolean).length
    },
  })
  return repeat(sweep, pauseMs, (error) => log.warn({ err: error }, 'sweep failed; the next one goes on'))

  /** The lock ends with its transaction, and so also with a worker that is killed here, or sleeps. */
  async function sweep(isStopped: () => boolean): Promise<void> {
    const restored = await database.system.$transaction(
      async (transaction) => {
        const [lock] = await transaction.$queryRaw<{ taken: boolean }[]>`
          SELECT pg_try_advisory_xact_lock(${sweeperLock}) AS taken,
                 set_config('idle_in_transaction_session_timeout', ${`${maxSweepMs}`}, true)`
        if (!lock?.taken) return 0
        const events = await restoreEvents(isStopped)
        metrics.rescued.events.inc(events)
        const runs = await restoreRuns(isStopped)
        metrics.rescued.executions.inc(runs)
        return events + runs
      },
      { timeout: maxSweepMs },
    )
    if (restored > 0) log.info({ restored }, 'put work back on the belt')
  }
}

/** Walks through what should be on the belt, some pages a sweep. */
function createRestorer<Row>(source: {
  /** The page behind a cursor. */
  find(cursor: string[]): Promise<Row[]>
  /** Before the first page. */
  first: string[]
  cursorAt(row: Row): string[]
  /** Answers how many rows it put back. */
  restore(rows: Row[]): Promise<number>
}): (isStopped: () => boolean) => Promise<number> {
  let cursor = source.first
  return async (isStopped) => {
    let restored = 0
    for (let page = 0; page < maxPages && !isStopped(); page++) {
      const rows = await source.find(cursor)
      restored += await source.restore(rows)
      const last = rows.at(-1)
      const isLastPage = rows.length < pageSize || last === undefined
      cursor = isLastPage ? source.first : source.cursorAt(last)
      if (isLastPage) break
    }
    return restored
  }
}

/** Events that travelled together are put back together, less those that are done. */
async function restoreJobs(queue: EventQueue, events: UndoneEvent[]): Promise<number> {
  const jobs = new Map<string, UndoneEvent[]>()
  for (const event of events) {
    const company = jobs.get(event.jobId)
    if (company) company.push(event)
    else jobs.set(event.jobId, [event])
  }
  const restored = await Promise.all(
    [...jobs].map(async ([id, company]) => ((await queue.restore(id, company)) ? company.length : 0)),
  )
  return restored.reduce((sum, count) => sum + count, 0)
}

const noId = '00000000-0000-0000-0000-000000000000'

/** The oldest events that are not done, beyond a cursor, of all workspaces. */
const undoneEvents = `
  SELECT id, workspace_id AS "workspaceId", rule_id AS "ruleId", coalesce(job_id, id) AS "jobId"
  FROM events
  WHERE done_at IS NULL AND id > $1::uuid AND accepted_at < now() - make_interval(secs => ${minimumAgeSeconds})
  ORDER BY id
  LIMIT ${pageSize}`

/** The executions that are longest due, beyond a cursor. */
const dueRuns = `
  SELECT id AS "executionId", event_id AS "eventId", workspace_id AS "workspaceId", due_at AS "dueAt"
  FROM executions
  WHERE due_at <= now() AND (due_at, id) > ($1::timestamptz, $2::uuid)
  ORDER BY due_at, id
  LIMIT ${pageSize}`
