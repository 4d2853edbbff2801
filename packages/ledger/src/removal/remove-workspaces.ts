import { highestId, lowestId, Prisma } from '@automation/database'
import type { Removal, Transaction } from './removal.js'
import { tablesOfAccess, type WorkspaceTable, workspaceTables } from './workspace-tables.js'

/** How often in a round the rows of a workspace are looked for again, where something has written some meanwhile. */
const maxPasses = 3

/** Where the removal of a workspace stands. It is not stored: after a crash the first step begins anew, and finds what is left. */
interface Place {
  workspaceId: string
  /** The index of a table; after the last one, all of them are empty. */
  table: number
  /** The row that was seen last. */
  after: string
  passes: number
}

/**
 * Deletes the workspaces whose time to undo that is over, by Postgres' clock:
 *
 *   leaving ──endWorkspace, one transaction──▶ deleted: nobody enters it ──some rows at a time──▶ only its row is left ──▶ gone
 *                └▶ the entry in deleted_workspaces                                                     └▶ finished_at of the entry
 *
 * Each step is a transaction that does nothing where it is not committed, so a worker may be killed at any of them. Workspaces take turns, step by step; then
 * the claims that outlived their executions are walked through, once for all of them. No step waits for a lock: nobody changes a workspace that is deleted.
 */
export function createWorkspaceRemoval(): Removal {
  let places: Place[] | undefined
  /** Those whose tables are empty. */
  const emptied: Place[] = []
  /** The claim that was seen last; undefined: all were seen, and `emptied` are finished. */
  let claim: string | undefined = lowestId
  return async (transaction, size) => {
    if (places === undefined) {
      const ended = await endWorkspace(transaction)
      if (ended > 0) return { removed: ended, isOver: false }
      places = (await findDeleted(transaction)).map((id) => startOf(id, 1))
    }
    const done = claim === undefined ? emptied.shift() : undefined
    if (done !== undefined) {
      const isGone = await finish(transaction, done.workspaceId)
      if (!isGone && done.passes < maxPasses) places.push(startOf(done.workspaceId, done.passes + 1))
      if (emptied.length === 0) claim = lowestId
      return { removed: Number(isGone), isOver: emptied.length === 0 && places.length === 0 }
    }
    const place = places.shift()
    if (place !== undefined) {
      const { removed, next } = await takeStep(transaction, place, size)
      if (next.table < workspaceTables.length) places.push(next)
      else emptied.push(next)
      return { removed, isOver: false }
    }
    if (emptied.length === 0) return { removed: 0, isOver: true }
    const ids = emptied.map(({ workspaceId }) => workspaceId)
    const walked = await removeClaims(transaction, ids, claim ?? lowestId, size)
    claim = walked.seen < size || walked.last === null ? undefined : walked.last
    return { removed: walked.removed, isOver: false }
  }
}

function startOf(workspaceId: string, passes: number): Place {
  return { workspaceId, table: 0, after: lowestId, passes }
}

const removedAccess = tablesOfAccess.map(
  (table) => `
  removed_${table} AS (DELETE FROM ${table} USING ended WHERE ${table}.workspace_id = ended.id RETURNING 1)`,
)
const counts = tablesOfAccess.map(
  (table) =>
    `'${table.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())}', (SELECT count(*) FROM removed_${table})`,
)

/**
 * One that is being changed at this moment, such as kept, is left to the next round. `has_parked` stays: what comes due before its rows are gone is parked, too.
 *
 * @returns how many rows went
 */
async function endWorkspace(transaction: Transaction): Promise<number> {
  const [ended] = await transaction.$queryRaw<{ removed: number }[]>(
    Prisma.raw(`
    WITH ended AS MATERIALIZED (
      SELECT id, name, deletion_asked_by, deletion_asked_at FROM workspaces
      WHERE deletes_at <= now() AND deleted_at IS NULL ORDER BY deletes_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ),${removedAccess.join(',')},
    counted AS (
      SELECT json_build_object(${counts.join(', ')}, 'rules', (SELECT count(*) FROM rules WHERE workspace_id IN (SELECT id FROM ended))) AS counts
    ),
    logged AS (
      INSERT INTO deleted_workspaces (id, name, asked_by, asked_at, counts)
      SELECT id, name, deletion_asked_by, deletion_asked_at, counts FROM ended, counted
      RETURNING id
    )
    UPDATE workspaces SET deleted_at = now() FROM logged WHERE workspaces.id = logged.id
    RETURNING 1 AS removed`),
  )
  return ended?.removed ?? 0
}

async function findDeleted(transaction: Transaction): Promise<string[]> {
  const rows = await transaction.$queryRaw<{ id: string }[]>(
    Prisma.sql`SELECT id FROM workspaces WHERE deletes_at IS NOT NULL AND deleted_at IS NOT NULL ORDER BY deleted_at`,
  )
  return rows.map(({ id }) => id)
}

/** @returns where the next step begins */
async function takeStep(
  transaction: Transaction,
  place: Place,
  size: number,
): Promise<{ removed: number; next: Place }> {
  const { seen, removed, last } = await removeRows(transaction, place, size)
  if (removed > 0)
    await transaction.$executeRaw(Prisma.sql`
      UPDATE deleted_workspaces SET rows_removed = rows_removed + ${removed} WHERE id = ${place.workspaceId}::uuid`)
  const isOver = seen < size || last === null
  const next = isOver ? { ...place, table: place.table + 1, after: lowestId } : { ...place, after: last }
  return { removed, next }
}

interface RemovedRows {
  seen: number
  /** With their children. */
  removed: number
  last: string | null
}

async function removeRows(
  transaction: Transaction,
  { workspaceId, after, table: index }: Place,
  size: number,
): Promise<RemovedRows> {
  const table = workspaceTables[index] as WorkspaceTable
  const statement = table.isWalked ? walk(table) : removeSome(table.name)
  const [removed] = await transaction.$queryRawUnsafe<RemovedRows[]>(statement, workspaceId, after, size)
  return removed ?? { seen: 0, removed: 0, last: null }
}

/** Workspace and id are compared as one row, and the workspace is a SELECT, as in rows-behind.ts. $1 workspace · $2 the last id · $3 how many */
function walk({ name, child }: WorkspaceTable): string {
  const children =
    child === undefined
      ? ''
      : `removed_children AS (
      DELETE FROM ${child.name} WHERE ${child.column} = ANY (ARRAY(SELECT id FROM page)) RETURNING 1
    ),`
  return `
    WITH page AS MATERIALIZED (
      SELECT id FROM ${name}
      WHERE (workspace_id, id) > ((SELECT $1::uuid), $2::uuid) AND (workspace_id, id) <= ((SELECT $1::uuid), '${highestId}'::uuid)
      ORDER BY workspace_id, id LIMIT $3::int
    ),
    ${children}
    removed AS (DELETE FROM ${name} WHERE id = ANY (ARRAY(SELECT id FROM page)) RETURNING 1)
    SELECT (SELECT count(*)::int FROM page) AS seen,
           (SELECT count(*)::int FROM removed)${child ? ' + (SELECT count(*)::int FROM removed_children)' : ''} AS removed,
           (SELECT id FROM page ORDER BY id DESC LIMIT 1)::text AS last`
}

/** Of a table with few rows. */
function removeSome(name: string): string {
  return `
    WITH removed AS (
      DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${name} WHERE workspace_id = $1::uuid AND $2::uuid IS NOT NULL LIMIT $3::int))
      RETURNING 1
    )
    SELECT count(*)::int AS seen, count(*)::int AS removed, $2::text AS last FROM removed`
}

/** $1 workspaces · $2 the last claim · $3 how many. Claims may outlive their executions, and have no index by workspace: those of others stay. */
const walkClaims = `
  WITH page AS MATERIALIZED (
    SELECT execution_id FROM key_claims WHERE execution_id > $2::uuid ORDER BY execution_id LIMIT $3::int
  ),
  removed AS (
    DELETE FROM key_claims WHERE execution_id = ANY (ARRAY(SELECT execution_id FROM page)) AND workspace_id = ANY ($1::uuid[])
    RETURNING workspace_id
  ),
  counted AS (
    UPDATE deleted_workspaces SET rows_removed = rows_removed + of_one.count
    FROM (SELECT workspace_id, count(*) AS count FROM removed GROUP BY workspace_id) AS of_one
    WHERE deleted_workspaces.id = of_one.workspace_id
  )
  SELECT (SELECT count(*)::int FROM page) AS seen, (SELECT count(*)::int FROM removed) AS removed,
         (SELECT execution_id FROM page ORDER BY execution_id DESC LIMIT 1)::text AS last`

async function removeClaims(
  transaction: Transaction,
  workspaceIds: string[],
  after: string,
  size: number,
): Promise<RemovedRows> {
  const [removed] = await transaction.$queryRawUnsafe<RemovedRows[]>(walkClaims, workspaceIds, after, size)
  return removed ?? { seen: 0, removed: 0, last: null }
}

const hasRows = workspaceTables
  .map(({ name }) => `EXISTS (SELECT FROM ${name} WHERE workspace_id = $1::uuid)`)
  .join(' OR ')

/** @returns false where it has rows again */
async function finish(transaction: Transaction, workspaceId: string): Promise<boolean> {
  const [found] = await transaction.$queryRawUnsafe<{ isLeft: boolean }[]>(
    `SELECT ${hasRows} AS "isLeft"`,
    workspaceId,
  )
  if (found?.isLeft !== false) return false
  await transaction.$executeRaw(
    Prisma.sql`DELETE FROM workspaces WHERE id = ${workspaceId}::uuid AND deleted_at IS NOT NULL`,
  )
  await transaction.$executeRaw(
    Prisma.sql`UPDATE deleted_workspaces SET finished_at = now() WHERE id = ${workspaceId}::uuid`,
  )
  return true
}
