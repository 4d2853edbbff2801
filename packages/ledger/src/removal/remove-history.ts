import { highestId, highestIdLike, lowestId, lowestIdLike, Prisma } from '@automation/database'
import { ownerSql } from '../turns/in-turns.js'
import { rowsBehind } from '../turns/rows-behind.js'
import { keepingExecutionsSql, oldBeforeSql } from './keeping-executions.js'
import type { Removal, Transaction } from './removal.js'

/** After so many turns in a row in which a workspace was being changed, the next round removes its history. */
const mostLostTurns = 5

/** The position of the walk, behind an event of a workspace. */
interface Cursor {
  workspaceId: string
  /** Events and executions that ended earlier are old. */
  endedBefore: Date
  /** Events before this id. */
  before: string
  after: string
  /** How often in a row the workspace was being changed when its turn came. */
  lostTurns: number
}

/**
 * Removes history that is older than its workspace keeps: events that were done before that time, and their executions.
 *
 * - An event is removed with all of its executions or stays with all of them, so its history is always complete. It stays, whatever
 *   its age, while one of its executions is unfinished or has ended recently, and so does one in a batch with
 *   such an execution: a retry acts for it.
 * - Owners take turns, batch by batch, and so do the workspaces of one: a month of one workspace keeps nobody's day from being removed.
 *   A workspace that is being changed loses its turn: nobody waits for the end of the change.
 * - A workspace that moves is left alone where it is closed: half of it may have arrived.
 * - Tasks have their own time (remove-tasks.ts), and counters stay: they are the results.
 * - Workspace and id are compared as one row, so that Postgres uses their common index. By the id alone, it would search the rows of
 *   all workspaces for the few rows of one.
 *
 * @param now epoch ms
 * @param defaultDays for workspaces without a setting; 0: for ever
 * @param wholeFrom the rest of what is not kept for fewer days goes with its leaf (leaves/exchange.ts)
 */
export function createHistoryRemoval(now: number, defaultDays: number, wholeFrom = highestId): Removal {
  let lines: Cursor[][] | undefined
  return async (transaction, size) => {
    lines ??= await findLines(transaction, now, defaultDays, wholeFrom)
    const line = lines.shift() ?? []
    const cursor = line.shift()
    if (cursor === undefined) return { removed: 0, isOver: true }
    const { removed, next } = await takeTurn(transaction, cursor, size)
    if (next !== undefined) line.push(next)
    if (line.length > 0) lines.push(line)
    return { removed, isOver: false }
  }
}

/** @returns where the next turn of the workspace begins; undefined where it has none in this round */
async function takeTurn(
  transaction: Transaction,
  cursor: Cursor,
  size: number,
): Promise<{ removed: number; next: Cursor | undefined }> {
  if (!(await lockWorkspace(transaction, cursor))) {
    const lostTurns = cursor.lostTurns + 1
    return { removed: 0, next: lostTurns < mostLostTurns ? { ...cursor, lostTurns } : undefined }
  }
  const { ids, isLast } = await findOldEvents(transaction, cursor, size)
  const removed = await removeEvents(transaction, cursor, ids)
  return { removed, next: isLast ? undefined : { ...cursor, after: ids.at(-1) ?? lowestId, lostTurns: 0 } }
}

/**
 * Only a retry reopens a finished execution, and it holds the lock of its workspace (changeWorkspace). So under this lock a finished
 * execution stays finished, and nobody else locks or changes what is removed.
 *
 * @returns false where somebody changes the workspace
 */
async function lockWorkspace(transaction: Transaction, { workspaceId }: Cursor): Promise<boolean> {
  const locked = await transaction.$queryRaw<object[]>(
    Prisma.sql`SELECT 1 FROM workspaces WHERE id = ${workspaceId}::uuid FOR SHARE SKIP LOCKED`,
  )
  return locked.length > 0
}

/** Finds the workspaces of each owner that have an old event. Ids are in the order of time, so a time is compared as an id (ids.ts). */
async function findLines(
  transaction: Transaction,
  now: number,
  defaultDays: number,
  wholeFrom: string,
): Promise<Cursor[][]> {
  const found = await transaction.$queryRaw<
    (Pick<Cursor, 'workspaceId' | 'endedBefore' | 'before'> & { owner: string })[]
  >(Prisma.sql`
    SELECT workspaces.id AS "workspaceId", ${Prisma.raw(ownerSql)} AS owner, to_timestamp(age.ms / 1000.0) AS "endedBefore",
           age.before::text AS before
    FROM workspaces
    CROSS JOIN LATERAL (SELECT ${oldBeforeSql(now, defaultDays)} AS ms) AS old
    CROSS JOIN LATERAL (
      SELECT old.ms, least((lpad(to_hex(old.ms), 12, '0') || '70008000000000000000')::uuid,
        CASE WHEN retention_days < ${defaultDays}::int OR ${defaultDays}::int = 0 THEN ${highestId}::uuid ELSE ${wholeFrom}::uuid END) AS before
    ) AS age
    CROSS JOIN LATERAL (
      SELECT FROM events
      WHERE (events.workspace_id, events.id) > (workspaces.id, ${lowestId}::uuid)
        AND (events.workspace_id, events.id)
            < (workspaces.id, age.before)
        AND done_at < to_timestamp(age.ms / 1000.0)
      ORDER BY events.workspace_id, events.id LIMIT 1
    ) AS oldest
    WHERE closed_at IS NULL`)
  const lines = new Map<string, Cursor[]>()
  for (const { owner, ...workspace } of found) {
    const line = lines.get(owner)
    const cursor = { ...workspace, after: lowestId, lostTurns: 0 }
    if (line) line.push(cursor)
    else lines.set(owner, [cursor])
  }
  return [...lines.values()]
}

/** Finds old events that have, with their executions, about `size` rows; at least one event. */
async function findOldEvents(
  transaction: Transaction,
  { workspaceId, endedBefore, before, after }: Cursor,
  size: number,
): Promise<{ ids: string[]; isLast: boolean }> {
  const events = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id FROM events
    WHERE ${rowsBehind(workspaceId, after, before)} AND done_at < ${endedBefore}
    ORDER BY workspace_id, id LIMIT ${size}`)
  const ids = events.map(({ id }) => id)
  const [first] = ids
  if (first === undefined) return { ids, isLast: true }
  const [beyond] = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id FROM executions
    WHERE ${rowsBehind(workspaceId, lowestIdLike(first))}
    ORDER BY workspace_id, id OFFSET ${size} LIMIT 1`)
  const end = beyond === undefined ? -1 : ids.findIndex((id) => id > highestIdLike(beyond.id))
  return end < 0 ? { ids, isLast: ids.length < size } : { ids: ids.slice(0, end), isLast: false }
}

/**
 * Executions have no index by event, and need none: the id of an execution begins with the time of its event's id, so executions of
 * neighbouring events are adjacent. It needs the lock of the workspace.
 *
 * @param ids in their order
 * @returns how many rows were removed
 */
async function removeEvents(
  transaction: Transaction,
  { workspaceId, endedBefore }: Cursor,
  ids: string[],
): Promise<number> {
  const [first, last] = [ids[0], ids.at(-1)]
  if (first === undefined || last === undefined) return 0
  // The ids say which leaves have them; compared as one row, Postgres uses the index of workspace and id also where the workspace has most rows.
  const isInRange = Prisma.sql`
    executions.workspace_id = ${workspaceId}::uuid
    AND executions.id BETWEEN ${lowestIdLike(first)}::uuid AND ${highestIdLike(last)}::uuid
    AND (executions.workspace_id, executions.id)
        BETWEEN (${workspaceId}::uuid, ${lowestIdLike(first)}::uuid) AND (${workspaceId}::uuid, ${highestIdLike(last)}::uuid)`
  const [removed] = await transaction.$queryRaw<{ count: number }[]>(Prisma.sql`
    WITH ages AS (SELECT ${workspaceId}::uuid AS workspace_id, ${endedBefore}::timestamptz AS ended_before),
    kept_executions AS (${keepingExecutionsSql(isInRange)}),
    removed_events AS (
      DELETE FROM events
      WHERE id = ANY (${ids}::uuid[]) AND id NOT IN (SELECT event_id FROM kept_executions)
      RETURNING id
    ),
    removed_keys AS (
      DELETE FROM event_keys USING removed_events WHERE event_keys.event_id = removed_events.id
    ),
    removed_executions AS (
      DELETE FROM executions USING removed_events
      WHERE ${isInRange} AND executions.event_id = removed_events.id
      RETURNING executions.id
    ),
    released_claims AS (
      UPDATE key_claims SET is_exclusive = false, batch_id = NULL FROM removed_executions
      WHERE execution_id = removed_executions.id AND (is_exclusive OR batch_id IS NOT NULL)
    )
    SELECT (SELECT count(*) FROM removed_events)::int + (SELECT count(*) FROM removed_executions)::int AS count`)
  return removed?.count ?? 0
}
