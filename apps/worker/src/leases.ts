import type { Database } from '@automation/database'
import type { Logger } from 'pino'
import { leaseSeconds } from './record-outcomes.js'
import { repeat } from './repeat.js'
import type { Run } from './run.js'

const renewMs = 2_000

export type Leases = ReturnType<typeof createLeases>

/**
 * The sign of life for the runs that this worker has: one statement for all of them, every two seconds. When it stays away,
 * they are due (sweeper.ts), and another worker goes on with them.
 */
export function createLeases(database: Database, log: Logger) {
  const held = new Map<string, Run>()
  const renewal = repeat(renew, renewMs, (error) => log.warn({ err: error }, 'leases could not be renewed'))

  async function renew(): Promise<void> {
    if (held.size > 0) await database.run('renew_leases', statement, [toRows()])
  }

  return {
    hold(run: Run, lease: string): void {
      held.set(lease, run)
    },
    release(lease: string): void {
      held.delete(lease)
    },
    stop: () => renewal.stop(),
    /** Lets go of what is still held: it is due at once, for another worker, and what this one would yet record is refused. */
    async giveBack(): Promise<void> {
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

// A row that is locked is just being recorded, which renews its lease as well.
const statement = `
  UPDATE executions SET due_at = now() + make_interval(secs => ${leaseSeconds})
  WHERE id IN (
    SELECT executions.id
    FROM executions
    JOIN json_to_recordset($1::json) AS held (id uuid, lease uuid)
      ON executions.id = held.id AND executions.lease = held.lease
    FOR UPDATE OF executions SKIP LOCKED)`

const giveBackStatement = `
  UPDATE executions SET due_at = now(), lease = NULL
  FROM json_to_recordset($1::json) AS held (id uuid, lease uuid)
  WHERE executions.id = held.id AND executions.lease = held.lease`
