import type { Database } from '@automation/database'
import type { Logger } from 'pino'
import { leaseSeconds } from './record-outcomes.js'
import type { Step } from './record-steps.js'
import { repeat } from './repeat.js'
import type { Run } from './run.js'

const renewMs = 2_000

export type Leases = ReturnType<typeof createLeases>

/**
 * The sign of life for the runs that this worker has: one statement for all of them, every two seconds, on a connection that
 * nobody else uses. When it stays away, they are due (sweeper.ts), and another worker goes on with them.
 *
 * That worker counts an interruption (claim-runs.ts), as if this one had ended. If it is alive, it takes the count back when
 * it sees the loss: it slept, or Postgres was slow, and the run is not to blame.
 *
 *   held ──renewed──▶ held ──released──▶ forgotten
 *     └──another worker's now──▶ lost ──count taken back──▶ forgotten
 */
export function createLeases(database: Database, log: Logger, pauseMs = renewMs) {
  const held = new Map<string, Run>()
  const lost = new Map<string, Run>()
  const renewal = repeat(renew, pauseMs, (error) => log.warn({ err: error }, 'leases could not be renewed'))
  // By itself, since it waits for locks, and the renewal must not.
  const correction = repeat(takeBack, pauseMs, (error) =>
    log.warn({ err: error }, 'interruptions could not be taken back; the next attempt follows'),
  )

  async function renew(): Promise<void> {
    if (held.size === 0) return
    const rows = await database.runUrgent<{ lease: string }>('renew_leases', renewStatement, [toRows()])
    for (const { lease } of rows) {
      const run = held.get(lease)
      if (run) lost.set(lease, run)
      held.delete(lease)
    }
  }

  async function takeBack(): Promise<void> {
    if (lost.size === 0) return
    const ids = Array.from(lost.values(), ({ executionId }) => executionId)
    const leases = [...lost.keys()]
    await database.run('take_back_interruptions', takeBackStatement, [ids, leases])
    for (const lease of leases) lost.delete(lease)
  }

  return {
    hold(run: Run, lease: string): void {
      held.set(lease, run)
    },
    release(lease: string): void {
      held.delete(lease)
    },
    /** For a run whose record was refused. */
    noteLost({ run, lease }: Step): void {
      lost.set(lease, run)
    },
    async stop(): Promise<void> {
      await Promise.all([renewal.stop(), correction.stop()])
    },
    /** Lets go of what is still held: it is due at once, for another worker, and what this one would yet record is refused. */
    async giveBack(): Promise<void> {
      await takeBack().catch((error) => log.warn({ err: error }, 'interruptions could not be taken back'))
      if (held.size === 0) return
      log.info({ runs: held.size }, 'giving back runs whose calls take too long')
      await database
        .run('give_back_leases', giveBackStatement, [toRows()])
        .catch((error) => log.warn({ err: error }, 'runs could not be given back; their leases run out'))
    },
  }

  function toRows(): string {
    return JSON.stringify([...held].map(([lease, run]) => ({ lease, id: run.executionId })))
  }
}

// A row that is locked is just being recorded, which renews its lease as well. Returns the leases that are lost.
const renewStatement = `
  WITH held AS (
    SELECT * FROM json_to_recordset($1::json) AS held (id uuid, lease uuid)
  ),
  renewed AS (
    UPDATE executions SET due_at = now() + make_interval(secs => ${leaseSeconds})
    WHERE id IN (
      SELECT executions.id
      FROM executions
      JOIN held ON executions.id = held.id AND executions.lease = held.lease
      FOR UPDATE OF executions SKIP LOCKED)
  )
  SELECT held.lease
  FROM held
  LEFT JOIN executions ON executions.id = held.id
  WHERE executions.lease IS DISTINCT FROM held.lease`

// Only a count that stands for one of these leases is taken back: one that stands for a worker that ended stays.
const takeBackStatement = `
  UPDATE executions SET
    interruptions = greatest(0, interruptions - (
      SELECT count(*) FROM unnest(lost_leases) AS counted (lease) WHERE lease = ANY ($2::uuid[]))),
    lost_leases = ARRAY(
      SELECT lease FROM unnest(lost_leases) AS counted (lease) WHERE lease <> ALL ($2::uuid[]))
  WHERE id = ANY ($1::uuid[]) AND lost_leases && $2::uuid[]`

const giveBackStatement = `
  UPDATE executions SET due_at = now(), lease = NULL
  FROM json_to_recordset($1::json) AS held (id uuid, lease uuid)
  WHERE executions.id = held.id AND executions.lease = held.lease`
