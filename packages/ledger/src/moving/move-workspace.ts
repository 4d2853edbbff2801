import { type Database, Prisma } from '@automation/database'
import { holdLeaves } from '../reconciliation/hold-leaves.js'
import type { Transaction } from '../removal/removal.js'
import { copyRows, copyTable, type Rows } from './copy-rows.js'
import type { MovedTable, MovedTables } from './moved-tables.js'

/**
 * The move of a workspace from one installation to another:
 *
 *   source   open ──────────────────────────▶ closed ──▶ its work ends, the rest is parked ──────────────▶ closed ──▶ removed
 *   target          arriving: closed, filled in passes          └──▶ the last pass ──▶ open, in one commit
 *
 * It is open in one installation at most: the target opens it under the lock of the source's row, and only if the source is closed since the moment that the
 * last pass belongs to; under the same lock a move is undone, and then the target has no workspace to open. Each step may be killed, and begun again.
 */
export interface Move {
  source: Pick<Database, 'system'>
  target: Pick<Database, 'system'>
  workspaceId: string
  tables: MovedTables
}

/** null: it is open. undefined: it is not there. */
type ClosedAt = Date | null | undefined

const closedAtSql = `SELECT closed_at AS "closedAt" FROM workspaces WHERE id = $1::uuid AND deleted_at IS NULL`

export async function readClosedAt(rows: Rows, workspaceId: string, lock = ''): Promise<ClosedAt> {
  const [found] = await rows.$queryRawUnsafe<{ closedAt: Date | null }[]>(
    `${closedAtSql} ${lock}`,
    workspaceId,
  )
  return found?.closedAt
}

/** The lock of a change of the workspace (changeWorkspace). */
const lock = 'FOR NO KEY UPDATE'

/** A pass: what the source had at its beginning is in the target. */
export interface Pass {
  /** What has changed since then is left to the next pass. */
  since: string
  written: number
  removed: number
  ms: number
}

/** Copies the many rows while the workspace works. @param before undefined: nothing was copied by this process */
export async function copyPass(move: Move, before: Pass | undefined): Promise<Pass> {
  const { target, workspaceId, tables } = move
  const from = performance.now()
  return inSnapshot(move, async (snapshot, since) => {
    await copyRows(snapshot, target.system, tables.workspaces, workspaceId, {
      ...{ change: arriving, isOnlyNew: true },
    })
    if ((await readClosedAt(target.system, workspaceId)) === null)
      throw new Error('The workspace is open in the target')
    const pass: Pass = { since, written: 0, removed: 0, ms: 0 }
    for (const table of tables.inPasses) {
      const copied = await copyTable(snapshot, target.system, table, workspaceId, before?.since)
      pass.written += copied.written
      pass.removed += copied.removed
    }
    return { ...pass, ms: performance.now() - from }
  })
}

const arriving = { closed_at: 'now()', has_parked: 'true' }
const opened = { closed_at: 'NULL', has_parked: 'true' }

/**
 * What may be in progress of a workspace that is closed. A worker sees within two seconds that it is, and a process of the API within one: what they accept
 * until then is not lost. $1 workspace · $2 since when it is closed
 */
const isQuietSql = `
  SELECT $2::timestamptz + interval '1500 milliseconds' < clock_timestamp() AND NOT EXISTS (
    SELECT FROM executions WHERE workspace_id = $1::uuid AND status = 'running' AND due_at > now()) AS "isQuiet"`

export async function isQuiet({ source, workspaceId }: Move, closedAt: Date): Promise<boolean> {
  const [found] = await source.system.$queryRawUnsafe<{ isQuiet: boolean }[]>(
    isQuietSql,
    workspaceId,
    closedAt,
  )
  return found?.isQuiet === true
}

/** From now on no worker that stood still can finish what it holds of the workspace: not an event, and under no old lease an execution. */
export async function parkAll({ source, workspaceId }: Move): Promise<void> {
  await source.system.$executeRawUnsafe(
    `UPDATE events SET parked = true WHERE workspace_id = $1::uuid AND done_at IS NULL AND parked IS NULL`,
    workspaceId,
  )
  await source.system.$executeRawUnsafe(
    `UPDATE executions SET parked = true, lease = CASE WHEN lease IS NOT NULL THEN gen_random_uuid() END
     WHERE workspace_id = $1::uuid AND due_at <= now() AND finished_at IS NULL`,
    workspaceId,
  )
}

/** Rows of a workspace, by their tables. */
export type Counts = Record<string, number>

/**
 * The last pass, and the opening, in one transaction of the target.
 *
 * @param closedAt since when the source is closed
 * @param note writes the entry of the audit log
 * @throws Error where it is not, or the target is open, or lacks rows
 */
export function openAtTarget(
  move: Move,
  last: Pass,
  closedAt: Date,
  note: (rows: Transaction) => Promise<unknown>,
): Promise<Counts> {
  const { target, workspaceId, tables } = move
  return inSnapshot(move, async (snapshot) => {
    const still = await readClosedAt(snapshot, workspaceId, lock)
    if (still?.getTime() !== closedAt.getTime()) throw new Error('The move was undone meanwhile')
    return target.system.$transaction(async (rows) => {
      const isArriving = await readClosedAt(rows, workspaceId, lock)
      if (!(isArriving instanceof Date)) throw new Error('The target does not expect the workspace any more')
      for (const table of tables.inPasses)
        await (table.isGrowing
          ? copyRows(snapshot, rows, table, workspaceId, { since: last.since })
          : copyTable(snapshot, rows, table, workspaceId, last.since))
      for (const { name } of [tables.numbered, ...tables.atOnce.toReversed()])
        await rows.$executeRawUnsafe(`DELETE FROM ${name} WHERE workspace_id = $1::uuid`, workspaceId)
      for (const table of tables.atOnce) await copyRows(snapshot, rows, table, workspaceId)
      await copyNumbered(snapshot, rows, tables.numbered, workspaceId)
      const counts = await compareCounts(snapshot, rows, move)
      await copyRows(snapshot, rows, tables.workspaces, workspaceId, { change: opened })
      await note(rows)
      return counts
    })
  })
}

/**
 * The ids are the order of commits: here they begin behind all that the target has given, in the same order, and so do the places to which executions have
 * looked (open-wait.ts).
 */
async function copyNumbered(
  snapshot: Rows,
  rows: Rows,
  table: MovedTable,
  workspaceId: string,
): Promise<void> {
  const [used] = await snapshot.$queryRawUnsafe<{ first: bigint | null; count: bigint | null }[]>(
    `SELECT min(id) AS first, max(id) - min(id) + 1 AS count FROM (
       SELECT id FROM event_keys WHERE workspace_id = $1::uuid
       UNION ALL
       SELECT wait_seen FROM executions WHERE workspace_id = $1::uuid AND finished_at IS NULL AND wait_seen > 0
     ) AS used`,
    workspaceId,
  )
  if (!used || used.first === null || used.count === null) return
  const sequence = `pg_get_serial_sequence('event_keys', 'id')`
  // Others take numbers at the same time, but not so many.
  const [next] = await rows.$queryRawUnsafe<{ next: bigint }[]>(
    `SELECT nextval(${sequence}) + 1000000 AS next`,
  )
  const shift = (next?.next ?? 0n) - used.first
  await rows.$executeRawUnsafe(`SELECT setval(${sequence}, ${used.first + used.count + shift})`)
  await copyRows(snapshot, rows, table, workspaceId, { change: { id: `id + (${shift})` } })
  await rows.$executeRawUnsafe(
    `UPDATE executions SET wait_seen = wait_seen + (${shift}) WHERE workspace_id = $1::uuid AND finished_at IS NULL AND wait_seen > 0`,
    workspaceId,
  )
}

/** What retention removes at the source meanwhile it removes at the target, too. @throws Error where the target has fewer rows of a table */
async function compareCounts(snapshot: Rows, rows: Rows, { tables, workspaceId }: Move): Promise<Counts> {
  const counts: Counts = {}
  for (const { name } of [...tables.inPasses, ...tables.atOnce, tables.numbered]) {
    const [there, here] = [
      await countRows(snapshot, name, workspaceId),
      await countRows(rows, name, workspaceId),
    ]
    if (here < there) throw new Error(`The target has ${here} of ${there} rows of ${name}`)
    counts[name] = here
  }
  return counts
}

async function countRows(rows: Rows, name: string, workspaceId: string): Promise<number> {
  const [found] = await rows.$queryRawUnsafe<{ count: number }[]>(
    `SELECT count(*)::float8 AS count FROM ${name} WHERE workspace_id = $1::uuid`,
    workspaceId,
  )
  return found?.count ?? 0
}

/**
 * Takes the workspace from the target, which does not open it any more.
 *
 * @throws Error where it is open there
 */
export async function refuseOpening({ target, workspaceId }: Move): Promise<void> {
  await target.system.$transaction(async (rows) => {
    if ((await readClosedAt(rows, workspaceId, lock)) === null)
      throw new Error('The workspace is open in the target')
    await rows.$executeRawUnsafe('DELETE FROM workspaces WHERE id = $1::uuid', workspaceId)
  })
}

/** Removes what a move that was undone has left in the target. */
export async function removeCopy({ target, workspaceId, tables }: Move): Promise<void> {
  for (const { name } of tables.inPasses)
    await target.system.$executeRawUnsafe(
      `DELETE FROM ${name} WHERE workspace_id = $1::uuid AND NOT EXISTS (SELECT FROM workspaces WHERE id = $1::uuid)`,
      workspaceId,
    )
}

/**
 * Takes the lock of a move, until the work is over: a second move of the workspace would write over what the first one has opened.
 *
 * @returns undefined where another process has it
 */
export function inTurn<Result>(
  { target, workspaceId }: Pick<Move, 'target' | 'workspaceId'>,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  return target.system.$transaction(async (transaction) => {
    const [lock] = await transaction.$queryRawUnsafe<{ isTaken: boolean }[]>(
      `SELECT pg_try_advisory_xact_lock(hashtextextended('move of ' || $1, 0)) AS "isTaken"`,
      workspaceId,
    )
    return lock?.isTaken ? work() : undefined
  })
}

/** An event may have been accepted just before the workspace was closed, and committed later. */
const marginMs = 60_000

/**
 * Copies what a process of the API of the source has accepted that did not know yet that the workspace is closed, or stood still. What its sender has repeated
 * at the target is there already. No tick: the target makes them.
 *
 * @returns how many events
 */
export async function copyLate(move: Move, closedAt: Date): Promise<number> {
  const { target, workspaceId } = move
  const since = new Date(closedAt.getTime() - marginMs)
  return inSnapshot(move, (snapshot) =>
    target.system.$transaction(async (rows) => {
      const late = (name: string, time: string) =>
        snapshot.$queryRawUnsafe<{ row: string }[]>(
          `SELECT ${name}::text AS row FROM ${name} WHERE workspace_id = $1::uuid AND ${time} >= $2::timestamptz`,
          workspaceId,
          since,
        )
      const receipts = await late('webhook_receipts', 'received_at')
      const keys = await late('idempotency_keys', 'created_at')
      const events = await snapshot.$queryRawUnsafe<{ row: string }[]>(
        `SELECT events::text AS row FROM events
         WHERE workspace_id = $1::uuid AND accepted_at >= $2::timestamptz AND done_at IS NULL AND addressee_kind IS DISTINCT FROM 'tick'`,
        workspaceId,
        since,
      )
      const [inserted] = await rows.$queryRawUnsafe<{ count: number }[]>(
        copyLateSql,
        ...[receipts, keys, events].map((found) => found.map(({ row }) => row)),
      )
      return inserted?.count ?? 0
    }),
  )
}

/** An event whose webhook, or whose key, the target knows by another event is not copied. $1 receipts · $2 keys · $3 events */
const copyLateSql = `
  WITH late_receipts AS (SELECT * FROM unnest($1::text[]::webhook_receipts[])),
  late_keys AS (SELECT * FROM unnest($2::text[]::idempotency_keys[])),
  late_events AS (
    SELECT * FROM unnest($3::text[]::events[]) AS late
    WHERE NOT EXISTS (SELECT FROM events WHERE events.id = late.id)
  ),
  inserted_receipts AS (
    INSERT INTO webhook_receipts SELECT * FROM late_receipts ON CONFLICT DO NOTHING RETURNING event_ids
  ),
  inserted_keys AS (
    INSERT INTO idempotency_keys SELECT * FROM late_keys ON CONFLICT DO NOTHING RETURNING event_id
  ),
  inserted_events AS (
    INSERT INTO events SELECT * FROM late_events
    WHERE (NOT EXISTS (SELECT FROM late_receipts WHERE late_events.id = ANY (event_ids))
        OR EXISTS (SELECT FROM inserted_receipts WHERE late_events.id = ANY (event_ids)))
      AND (NOT EXISTS (SELECT FROM late_keys WHERE event_id = late_events.id)
        OR EXISTS (SELECT FROM inserted_keys WHERE event_id = late_events.id))
    ON CONFLICT (id) DO NOTHING RETURNING id
  ),
  unparked AS (
    UPDATE workspaces SET has_parked = true WHERE id IN (SELECT workspace_id FROM late_events)
  )
  SELECT count(*)::int AS count FROM inserted_events`

/** @param work gets the number of the oldest transaction that had not ended */
function inSnapshot<Result>(
  { source }: Move,
  work: (snapshot: Transaction, since: string) => Promise<Result>,
): Promise<Result> {
  return source.system.$transaction(
    async (snapshot) => {
      await holdLeaves(snapshot)
      const [found] = await snapshot.$queryRawUnsafe<{ since: string }[]>(
        'SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text AS since',
      )
      return work(snapshot, found?.since ?? '0')
    },
    { isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead },
  )
}
