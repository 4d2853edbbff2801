import {
  clockSkewMs,
  firstIdOf,
  highestId,
  highestIdLike,
  lowestId,
  lowestIdLike,
  Prisma,
} from '@automation/database'
import type { Removal, Transaction } from './removal.js'

export const dayMs = 24 * 60 * 60 * 1_000

/** Where the walk is: behind an event of a workspace. */
interface Place {
  workspaceId: string
  /** What was over before then is old. */
  endedBefore: Date
  after: string
}

/**
 * Removes what has been over for as long as its workspace keeps it: events that were done before then, and their executions.
 * An event goes with all of its executions or stays with all of them, so what is told of it is always whole: one that waits,
 * is tried again, or has only just ended, keeps it, whatever its age. Tasks, counters and the audit log stay: they are what
 * came of it.
 *
 * Workspace and id are compared as one row: only their common index answers that. By id alone, the few rows of one workspace
 * would be looked for among those of all.
 *
 * @param now epoch ms @param defaultDays for workspaces that say nothing; 0: for ever
 */
export function createHistoryRemoval(now: number, defaultDays: number): Removal {
  let place: Place | undefined
  let lastWorkspaceId = lowestId
  return async (transaction, size) => {
    place ??= await findWorkspace(transaction, lastWorkspaceId, now, defaultDays)
    if (place === undefined) return { removed: 0, isOver: true }
    lastWorkspaceId = place.workspaceId
    const { ids, isLast } = await findOldEvents(transaction, place, size)
    const removed = await removeEvents(transaction, place, ids)
    place = isLast ? undefined : { ...place, after: ids.at(-1) ?? lowestId }
    return { removed, isOver: false }
  }
}

/** The next workspace with an event that is old. Ids are in the order of time, so a time is an id (ids.ts). */
async function findWorkspace(
  transaction: Transaction,
  behind: string,
  now: number,
  defaultDays: number,
): Promise<Place | undefined> {
  const [found] = await transaction.$queryRaw<Omit<Place, 'after'>[]>(Prisma.sql`
    SELECT workspaces.id AS "workspaceId", to_timestamp(age.ms / 1000.0) AS "endedBefore"
    FROM workspaces
    CROSS JOIN LATERAL (
      SELECT ${now - clockSkewMs}::bigint - coalesce(retention_days, nullif(${defaultDays}::int, 0)) * ${dayMs}::bigint AS ms
    ) AS age
    CROSS JOIN LATERAL (
      SELECT FROM events
      WHERE (events.workspace_id, events.id) > (workspaces.id, ${lowestId}::uuid)
        AND (events.workspace_id, events.id)
            < (workspaces.id, (lpad(to_hex(age.ms), 12, '0') || '70008000000000000000')::uuid)
        AND done_at < to_timestamp(age.ms / 1000.0)
      ORDER BY events.workspace_id, events.id LIMIT 1
    ) AS oldest
    WHERE workspaces.id > ${behind}::uuid
    ORDER BY workspaces.id LIMIT 1`)
  return found && { ...found, after: lowestId }
}

/** As many as have, with their executions, about `size` rows; at least one. */
async function findOldEvents(
  transaction: Transaction,
  { workspaceId, endedBefore, after }: Place,
  size: number,
): Promise<{ ids: string[]; isLast: boolean }> {
  const events = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id FROM events
    WHERE (workspace_id, id) > (${workspaceId}::uuid, ${after}::uuid)
      AND (workspace_id, id) < (${workspaceId}::uuid, ${firstIdOf(endedBefore.getTime())}::uuid)
      AND done_at < ${endedBefore}
    ORDER BY workspace_id, id LIMIT ${size}`)
  const ids = events.map(({ id }) => id)
  const [first] = ids
  if (first === undefined) return { ids, isLast: true }
  const [beyond] = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id FROM executions
    WHERE (workspace_id, id) >= (${workspaceId}::uuid, ${lowestIdLike(first)}::uuid)
      AND (workspace_id, id) < (${workspaceId}::uuid, ${highestId}::uuid)
    ORDER BY workspace_id, id OFFSET ${size} LIMIT 1`)
  const end = beyond === undefined ? -1 : ids.findIndex((id) => id > highestIdLike(beyond.id))
  return end < 0 ? { ids, isLast: ids.length < size } : { ids: ids.slice(0, end), isLast: false }
}

/**
 * Executions have no index by event, and need none: their ids begin with the time of their event's, so those of
 * neighbouring events lie side by side.
 *
 * Only a retry makes an execution unfinished that was finished, and it holds the lock of its workspace (changeWorkspace).
 * So under that lock what is finished stays so, and nobody else locks or changes these rows.
 *
 * @param ids in their order
 * @returns how many rows went
 */
async function removeEvents(
  transaction: Transaction,
  { workspaceId, endedBefore }: Place,
  ids: string[],
): Promise<number> {
  const [first, last] = [ids[0], ids.at(-1)]
  if (first === undefined || last === undefined) return 0
  await transaction.$queryRaw(Prisma.sql`SELECT 1 FROM workspaces WHERE id = ${workspaceId}::uuid FOR SHARE`)
  const ofTheirTime = Prisma.sql`
    (executions.workspace_id, executions.id)
    BETWEEN (${workspaceId}::uuid, ${lowestIdLike(first)}::uuid) AND (${workspaceId}::uuid, ${highestIdLike(last)}::uuid)`
  const [gone] = await transaction.$queryRaw<{ count: number }[]>(Prisma.sql`
    WITH kept AS (
      SELECT event_id FROM executions
      WHERE ${ofTheirTime} AND (finished_at < ${endedBefore}) IS NOT TRUE
    ),
    old AS (
      DELETE FROM events
      WHERE id = ANY (${ids}::uuid[]) AND id NOT IN (SELECT event_id FROM kept)
      RETURNING id
    ),
    theirs AS (
      DELETE FROM executions USING old WHERE ${ofTheirTime} AND executions.event_id = old.id RETURNING 1
    )
    SELECT (SELECT count(*) FROM old)::int + (SELECT count(*) FROM theirs)::int AS count`)
  return gone?.count ?? 0
}
