import { isDeepStrictEqual } from 'node:util'
import { type Database, newId, Prisma } from '@automation/database'
import { holdLeaves } from '../leaves/hold-leaves.js'
import type { Transaction } from '../removal/removal.js'
import type { Changes, Rows } from './copy-rows.js'
import { type MovedTable, type MovedTables, readMovedTables } from './moved-tables.js'

/**
 * The move of a workspace from one installation to another:
 *
 *   source   open ─────────────────────────────▶ closed: `to <id>` ──▶ its work ends, the rest is parked ──────────▶ closed ──▶ removed
 *   target          closed: `from <id>`, filled in passes                     └──▶ the last pass ──▶ open, in one commit
 *
 *   undone   source   closed: `to <id>` ──────────────────▶ open
 *            target   closed: `from <id>` ──▶ `undone <id>` ──▶ removed
 *
 * It is open in one installation at most. A closed row names its move, and on which side it is: a target opens what has come with the move that has closed the
 * source, under the lock of that row, and under the same lock a move is undone. Each step may be killed, and begun again.
 */
export interface Move {
  source: Pick<Database, 'system'>
  target: Pick<Database, 'system'>
  workspaceId: string
  /** A new one, unless the source is closed for a move that has begun. */
  id: string
  isBegun: boolean
  tables: MovedTables
  /** What the target adds to the ids of event_keys: there they lie behind all that it has given, in the same order. */
  shift: bigint
}

/** @throws Error if the source is another move's, or its target, or a table would be left out */
export async function prepareMove({
  source,
  target,
  workspaceId,
}: Pick<Move, 'source' | 'target' | 'workspaceId'>): Promise<Move> {
  const tables = await readMovedTables(source)
  if (!isDeepStrictEqual(tables, await readMovedTables(target)))
    throw new Error('The tables of the two databases differ')
  const here = await readState(source.system, workspaceId)
  if (here?.side === 'from' || here?.side === 'undone')
    throw new Error('The workspace moves to this database: are the two the other way round?')
  const isBegun = here?.side === 'to'
  const move = { source, target, workspaceId, id: here?.moveId ?? newId(), isBegun, tables, shift: 0n }
  const there = await readState(target.system, workspaceId)
  if (isBegun && there?.closedAt !== null && !hasArrived(move, there))
    throw new Error('The workspace is closed for a move to another database than the target')
  return move
}

/** A pass: what the source had at its beginning is in the target. */
export interface Pass {
  /** What was written since then is left to the next pass: the oldest transaction that had not ended. */
  since: string
  at: Date
  written: number
  removed: number
  ms: number
}

/**
 * What a row holds in the target instead. Until the workspace is open there, no worker is to find work in what has arrived: events are parked, and keys are
 * held by nobody.
 */
export function changesOf({ shift }: Pick<Move, 'shift'>, { name }: MovedTable, isLast: boolean): Changes {
  if (name === 'events') return { parked: 'CASE WHEN done_at IS NULL THEN true END' }
  if (name === 'executions')
    return {
      wait_seen: `CASE WHEN finished_at IS NULL AND wait_seen > 0 THEN greatest(1, wait_seen + ${shift}) ELSE wait_seen END`,
    }
  if (name === 'event_keys') return { id: `id + ${shift}`, ...(!isLast && { is_waking: 'false' }) }
  if (name === 'key_claims' && !isLast) return { place: 'NULL' }
  return {}
}

/** Of a workspace; undefined: it is not there. */
export interface MovedState {
  /** null: it is open, and the others are null, too. */
  closedAt: Date | null
  side: 'to' | 'from' | 'undone' | null
  moveId: string | null
}

/** The lock of a change of the workspace (changeWorkspace). */
export const changeLock = 'FOR NO KEY UPDATE'

export async function readState(rows: Rows, workspaceId: string, lock = ''): Promise<MovedState | undefined> {
  const [found] = await rows.$queryRawUnsafe<MovedState[]>(
    `SELECT closed_at AS "closedAt", split_part(moving, ' ', 1) AS side, split_part(moving, ' ', 2) AS "moveId"
     FROM workspaces WHERE id = $1::uuid AND deleted_at IS NULL ${lock}`,
    workspaceId,
  )
  return found
}

/** Whether this move has brought the workspace, or may take over what an earlier one has left: one of a source that is not closed for it. */
export function hasArrived(
  { id, isBegun }: Pick<Move, 'id' | 'isBegun'>,
  there: MovedState | undefined,
): boolean {
  const isCopy = there?.side === 'from' || there?.side === 'undone'
  return isCopy && (there.moveId === id || !isBegun)
}

/** @param work gets the number of the oldest transaction that had not ended, and the time of the source */
export function inSnapshot<Result>(
  { source }: Pick<Move, 'source'>,
  work: (snapshot: Transaction, of: Pick<Pass, 'since' | 'at'>) => Promise<Result>,
  limits: { timeout?: number } = {},
): Promise<Result> {
  return source.system.$transaction(
    async (snapshot) => {
      await holdLeaves(snapshot)
      const [found] = await snapshot.$queryRawUnsafe<Pick<Pass, 'since' | 'at'>[]>(
        'SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text AS since, now() AS at',
      )
      if (found === undefined) throw new Error('Postgres has no snapshot')
      return work(snapshot, found)
    },
    { isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead, ...limits },
  )
}
