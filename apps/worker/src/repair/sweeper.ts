import { readSweepStart } from '@automation/access'
import type { Database } from '@automation/database'
import type { BacklogWalk } from '@automation/ledger'
import { parkEvents, parkExecutions, type Unfinished, walkEvents, walkExecutions } from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import { openMetrics } from '@automation/process/telemetry'
import type { Logger } from 'pino'
import { createWorkerMetrics } from '../worker-metrics.js'
import { startWaitEnders } from './end-waits.js'
import { OutageGrace } from './outage-grace.js'
import {
  addUp,
  eventJobs,
  executionJobs,
  type MissingJob,
  type Restoration,
  type RestoringQueue,
  restoreJobs,
} from './restore-jobs.js'
import { createTicker } from './tick-schedules.js'

const pauseMs = 2_000
/** The longest transaction that holds the lock. Postgres ends it too, in case this process stands still. */
const maxSweepMs = 10_000
/** A sweep begins no page after this time (ms), so that it ends before its lock does. */
const lastPageMs = 5_000
/** Any number that nothing else in this database locks. */
const sweeperLock = 7_701_202_611n

/** What becomes of the rows of a page. */
interface Treatment<Row> {
  jobsOf(rows: Row[]): MissingJob[]
  /** Of those whose workspace is suspended. */
  park(rows: Row[]): Promise<unknown>
}

interface SweeperOptions {
  grace?: OutageGrace | undefined
  onRestore?(): void
}

/**
 * Makes the ticks of schedules, and restores the jobs that the queue lost: those of events that are not done, and of executions that are due. A job is lost where
 * Redis forgot it, its producer died before adding it, BullMQ gave it up, or its worker died. What is of a suspended workspace is parked instead. One worker sweeps at a time: the
 * first one to take the lock.
 *
 * @param options.onRestore is called where the database was restored under this worker, which then sweeps no more
 */
export function startSweeper(
  database: Database,
  queue: RestoringQueue,
  log: Logger,
  metrics = createWorkerMetrics(openMetrics()),
  { grace = new OutageGrace(), onRestore = () => {} }: SweeperOptions = {},
) {
  const events = walkEvents(database)
  const executions = walkExecutions(database)
  const sweeping = repeat(sweep, pauseMs, (error) =>
    log.warn({ err: error }, 'sweep failed; the next sweep continues'),
  )
  const ending = startWaitEnders(database, log, metrics, pauseMs)
  // Without the sweeper's lock: a worker that stands still holds it for up to 10 s, and a tick is made once in any case.
  const ticking = repeat(createTicker(database, queue, log, metrics), pauseMs, (error) =>
    log.warn({ err: error }, 'ticks could not be made; the next attempt continues'),
  )
  return { stop: () => Promise.all([sweeping.stop(), ending.stop(), ticking.stop()]) }

  /** The lock ends with its transaction, and so also where the worker is killed or suspended. */
  async function sweep(isStopped: () => boolean): Promise<void> {
    const endAt = performance.now() + lastPageMs
    const isOver = () => isStopped() || performance.now() > endAt
    const { now, isPaused } = await readSweepStart(database)
    if (isPaused) return onRestore()
    const dueBefore = grace.hear(now)
    const { restored, failed, example } = await database.system.$transaction(
      async (transaction) => {
        const [lock] = await transaction.$queryRaw<{ taken: boolean }[]>`
          SELECT pg_try_advisory_xact_lock(${sweeperLock}) AS taken,
                 set_config('idle_in_transaction_session_timeout', ${`${maxSweepMs}`}, true)`
        if (!lock?.taken) return { restored: 0, failed: 0 }
        const restoredEvents = await restorePages(events, now, isOver, {
          jobsOf: (page) => eventJobs(queue, page),
          park: (rows) => parkEvents(database, rows),
        })
        metrics.rescued.events.inc(restoredEvents.restored)
        const restoredExecutions = await restorePages(executions, now, isOver, {
          jobsOf: (page) =>
            executionJobs(
              queue,
              page.filter(({ dueAt }) => dueAt < dueBefore),
            ),
          park: (rows) => parkExecutions(database, rows),
        })
        metrics.rescued.executions.inc(restoredExecutions.restored)
        return addUp(restoredEvents, restoredExecutions)
      },
      { timeout: maxSweepMs },
    )
    if (restored > 0) log.info({ restored }, 'restored jobs')
    if (failed > 0) log.warn({ failed, ...example }, 'jobs could not be restored; the next sweep tries again')
  }

  async function restorePages<Row extends Unfinished>(
    walk: BacklogWalk<Row>,
    now: number,
    isOver: () => boolean,
    { jobsOf, park }: Treatment<Row>,
  ): Promise<Restoration> {
    let sum: Restoration = { restored: 0, failed: 0 }
    for await (const page of walk.pages(now)) {
      const suspended = page.filter(({ isSuspended }) => isSuspended)
      if (suspended.length > 0) await park(suspended)
      const jobs = jobsOf(page.filter(({ isSuspended }) => !isSuspended))
      sum = addUp(sum, await restoreJobs(jobs))
      if (isOver()) break
    }
    return sum
  }
}
