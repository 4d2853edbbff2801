import { clockSkewMs, idNear } from '@automation/database'
import { copyRows, type Rows } from './copy-rows.js'
import { changesOf, type Move, type Pass } from './move.js'

/** The id of a row is no older (ms) than that before its commit: clocks differ by an hour at most, and a tick that is late has an id of the hour before. */
const idLagMs = 2 * clockSkewMs
/** A transaction that dates a row ends before that (ms), and the response to a request comes no later after its key. */
const commitLagMs = 2 * 60 * 1_000

/** Whether a row of the source was written after the snapshot of a pass: by a transaction that had not ended then. */
export function writtenSince({ since }: Pick<Pass, 'since'>): string {
  return `age(xmin) <= age('${since}'::xid)`
}

/**
 * Copies what has changed since the pass before, of the tables with many rows.
 *
 * The workspace is closed meanwhile, so this does not read its whole history. It reads the young rows, and those of the work that the target took over
 * unfinished, which may have ended. Only a retry or an erasure changes other rows: after one of these it does read the whole history. (Whether a webhook from
 * before came again is only a mark: one of this moment is left out.)
 *
 * @returns how many rows were written
 */
export async function copyLastChanges(
  snapshot: Rows,
  target: Rows,
  move: Move,
  before: Pass,
): Promise<number> {
  const { workspaceId, tables } = move
  const isWritten = writtenSince(before)
  let written = 0
  const from = idNear(before.at, -idLagMs)
  const isYoung = `id >= '${from}'::uuid`
  const isWhole = await haveOldRowsChanged(snapshot, workspaceId, isWritten, isYoung)
  const young: Record<string, string> = {
    idempotency_keys: `created_at >= '${new Date(before.at.getTime() - commitLagMs).toISOString()}'`,
    // They have no index by their workspace: each pass reads those of all.
    ...{ key_claims: 'true', event_keys: 'true' },
  }
  for (const table of tables.inPasses) {
    const scope = isWhole ? 'true' : (young[table.name] ?? isYoung)
    written += await copyRows(snapshot, target, table, workspaceId, {
      where: `${isWritten} AND ${scope} OR ${heldBack[table.name] ?? 'false'}`,
      change: changesOf(move, table, true),
    })
  }
  if (isWhole) return written
  const live = await readLive(target, workspaceId, from)
  for (const table of tables.inPasses)
    if (live.length > 0 && ['events', 'executions'].includes(table.name))
      written += await copyRows(snapshot, target, table, workspaceId, {
        where: `${isWritten} AND id = ANY (${nearSql(table.name)})`,
        values: [live],
        change: changesOf(move, table, true),
      })
  return written
}

/** Rows of which changesOf has kept something from the target until now. */
const heldBack: Record<string, string> = { key_claims: 'place IS NOT NULL', event_keys: 'is_waking' }

async function haveOldRowsChanged(
  snapshot: Rows,
  workspaceId: string,
  isWritten: string,
  isYoung: string,
): Promise<boolean> {
  const [old] = await snapshot.$queryRawUnsafe<{ isSo: boolean }[]>(
    `SELECT EXISTS (SELECT FROM audit_entries WHERE workspace_id = $1::uuid AND action = 'execution.retried' AND ${isYoung} AND ${isWritten})
         OR EXISTS (SELECT FROM erasures WHERE workspace_id = $1::uuid AND ${isWritten}) AS "isSo"`,
    workspaceId,
  )
  return old?.isSo === true
}

/** By the indexes of what is to be done: a workspace may have many rows that have failed or were suppressed. $1 workspace · $2 an id */
const liveSql = `
  SELECT id::text AS id FROM events WHERE workspace_id = $1::uuid AND parked AND id < $2::uuid
  UNION
  SELECT id::text FROM executions WHERE workspace_id = $1::uuid AND parked AND id < $2::uuid
  UNION
  SELECT id::text FROM executions WHERE workspace_id = $1::uuid AND status IN ('waiting', 'retrying') AND parked IS NULL AND id < $2::uuid
  UNION
  SELECT id::text FROM executions
  WHERE workspace_id = $1::uuid AND status = 'running' AND parked IS NULL AND due_at <= now() + interval '1 minute' AND id < $2::uuid`

/** @returns ids of events and executions of which the target has work to do, and that are older than `from` */
async function readLive(target: Rows, workspaceId: string, from: string): Promise<string[]> {
  const live = await target.$queryRawUnsafe<{ id: string }[]>(liveSql, workspaceId, from)
  return live.map(({ id }) => id)
}

/** An event and its executions have ids of one millisecond. $1 workspace · $2 ids */
function nearSql(table: string): string {
  return `ARRAY(
    SELECT near.id FROM unnest($2::uuid[]) AS live (id) CROSS JOIN LATERAL (
      SELECT id FROM ${table}
      WHERE workspace_id = $1::uuid AND id BETWEEN (left(live.id::text, 13) || '-0000-0000-000000000000')::uuid
                                               AND (left(live.id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid) AS near)`
}
