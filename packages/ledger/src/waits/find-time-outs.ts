import type { Database } from '@automation/database'

/** A wait whose time may be over. */
export interface TimeOut {
  workspaceId: string
  eventType: string
  /** Epoch ms. */
  until: number
}

/** More events than these that are not done, of all workspaces, are not looked through: time ends no wait until they are fewer. */
const maxUndone = 20_000
/** A transaction that accepts events ends before this time: the pools see to it. */
const longestTransactionMs = 15_000

interface Row {
  now: number
  /** No event that is accepted up to this moment can still be committed. */
  settled: number
  isFull: boolean
  hasBacklog: boolean
}

/**
 * Finds the waits that time ends: their moment is over, and all events of their type that were accepted up to it are done. So a backlog does not turn an
 * event into the end of the time. Each of those events has left its keys by then; the caller looks for them afterwards.
 */
export async function findTimeOuts(database: Pick<Database, 'run'>, waits: TimeOut[]): Promise<boolean[]> {
  const rows = await database.run<Row>('find_time_outs', findTimeOutsSql, [
    JSON.stringify(
      waits.map(({ workspaceId, eventType, until }) => {
        return { workspace_id: workspaceId, type: eventType, until_ms: until }
      }),
    ),
    maxUndone,
  ])
  return waits.map(({ until }, index) => {
    const { now, settled, isFull, hasBacklog } = rows[index] as Row
    const isSettled = settled > until || now > until + longestTransactionMs
    return now >= until && isSettled && !isFull && !hasBacklog
  })
}

/**
 * `accepted_at` is the start of its transaction. One that has written has an id of its own; one that waits for keys may be about to emit events; one that
 * has just begun may be about to write.
 *
 * $1 waits · $2 how many events are looked through
 */
const findTimeOutsSql = `
  WITH undone_events AS MATERIALIZED (
    SELECT workspace_id, type, accepted_at FROM events WHERE done_at IS NULL AND rule_id IS NULL ORDER BY id LIMIT $2::int
  ),
  writing AS MATERIALIZED (
    SELECT min(xact_start) AS since FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND (backend_xid IS NOT NULL OR query LIKE '%pg_advisory_xact_lock%'
           OR xact_start > clock_timestamp() - interval '1 second')
  )
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
         (extract(epoch FROM coalesce(writing.since, statement_timestamp()) - interval '200 milliseconds') * 1000)::float8
           AS settled,
         (SELECT count(*) FROM undone_events) >= $2::int AS "isFull",
         EXISTS (
           SELECT FROM undone_events AS undone
           WHERE undone.workspace_id = waits.workspace_id AND undone.type = waits.type
             AND undone.accepted_at <= to_timestamp(waits.until_ms / 1000)::timestamptz(3)) AS "hasBacklog"
  FROM writing
  CROSS JOIN ROWS FROM (json_to_recordset($1::json) AS (workspace_id uuid, type text, until_ms float8))
    WITH ORDINALITY AS waits (workspace_id, type, until_ms, place)
  ORDER BY waits.place`
