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
    const rows = [...held].map(([lease, run]) => ({ lease, id: run.executionId }))
    if (rows.length > 0) await database.run('renew_leases', statement, [JSON.stringify(rows)])
  }

  return {
    hold(run: Run, lease: string): void {
      held.set(lease, run)
    },
    release(lease: string): void {
      held.delete(lease)
    },
    stop: () => renewal.stop(),
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
