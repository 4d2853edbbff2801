import type { Database } from '@automation/database'
import { isSuspendedSql } from '../parking/is-suspended.js'

/** A wait whose time may be over. */
export interface TimeOut {
  workspaceId: string
  eventType: string
  /** Epoch ms. */
  until: number
}

/** A transaction that accepts events ends before this time: the pools see to it. */
const longestTransactionMs = 15_000
/** A look at the backlog of all workspaces serves for so many times as long as it took. */
const rest = 20

interface Row {
  now: number
  /** No event that is accepted up to this moment can still be committed. */
  settled: number
  /** null: no event of any workspace is to be done. */
  workspaceId: string | null
  /** null: of any type, since the workspace is suspended. */
  type: string | null
  /** Of the oldest event of the type that is not done (epoch ms). */
  oldest: number
}

interface Backlog {
  now: number
  settled: number
  /** By workspace and type. */
  oldest: ReadonlyMap<string, number>
}

/**
 * Tells the waits that time ends: their moment is over, and all events of their type that were accepted up to it are done. So a backlog does not turn an
 * event into the end of the time, and that of another type or workspace delays nothing. Each of those events has left its keys by then; the caller looks for
 * them afterwards.
 *
 * A long backlog takes long to be read. What was read stays true of the time before it, so it is kept for a while.
 */
export class TimeOuts {
  readonly #database: Pick<Database, 'run'>
  #backlog: Promise<Backlog> | undefined

  constructor(database: Pick<Database, 'run'>) {
    this.#database = database
  }

  async isOver({ workspaceId, eventType, until }: TimeOut): Promise<boolean> {
    this.#backlog ??= this.#read()
    const { now, settled, oldest } = await this.#backlog
    const isSettled = settled > until || now > until + longestTransactionMs
    const isUndone = [eventType, null].some(
      (type) => (oldest.get(`${workspaceId} ${type}`) ?? Infinity) <= until,
    )
    return now >= until && isSettled && !isUndone
  }

  async #read(): Promise<Backlog> {
    const beganAt = performance.now()
    try {
      const rows = await this.#database.run<Row>('read_backlog', readBacklogSql, [])
      const { now, settled } = rows[0] as Row
      const oldest = new Map<string, number>()
      for (const row of rows) {
        const key = `${row.workspaceId} ${row.type}`
        oldest.set(key, Math.min(row.oldest, oldest.get(key) ?? Infinity))
      }
      return { now, settled, oldest }
    } finally {
      setTimeout(
        () => {
          this.#backlog = undefined
        },
        (performance.now() - beganAt) * rest,
      ).unref()
    }
  }
}

/**
 * `accepted_at` is the start of its transaction. One that has written has an id of its own; one that waits for keys may be about to emit events; one that
 * has just begun may be about to write. What is parked is read once its workspace is resumed. Until then no time of it ends: what is read now serves for a
 * while, and it may be resumed meanwhile.
 */
const readBacklogSql = `
  WITH undone_events AS MATERIALIZED (
    SELECT workspace_id, type, min(accepted_at) AS accepted_at FROM events
    WHERE done_at IS NULL AND parked IS NULL AND addressee_kind IS NULL GROUP BY workspace_id, type
    UNION ALL
    SELECT events.workspace_id, type, min(accepted_at) FROM workspaces JOIN events ON events.workspace_id = workspaces.id AND parked
    WHERE has_parked AND NOT ${isSuspendedSql} AND addressee_kind IS NULL GROUP BY events.workspace_id, type
    UNION ALL
    SELECT id, NULL, 'epoch' FROM workspaces WHERE has_parked AND ${isSuspendedSql}
  ),
  writing AS MATERIALIZED (
    SELECT min(xact_start) AS since FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND (backend_xid IS NOT NULL OR query LIKE '%pg_advisory_xact_lock%'
           OR xact_start > clock_timestamp() - interval '1 second')
  )
  SELECT (extract(epoch FROM statement_timestamp()) * 1000)::float8 AS now,
         (extract(epoch FROM coalesce(writing.since, statement_timestamp()) - interval '200 milliseconds') * 1000)::float8
           AS settled,
         workspace_id AS "workspaceId", type, (extract(epoch FROM undone_events.accepted_at) * 1000)::float8 AS oldest
  FROM writing LEFT JOIN undone_events ON true`
