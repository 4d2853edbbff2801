import { type Database, Prisma, writeJson } from '@automation/database'
import { ErasedValue } from '@automation/engine'
import {
  addCounts,
  type ErasedCounts,
  ownerSql,
  type RowsPosition,
  type Transaction,
} from '@automation/ledger'
import { erasureContext } from './erasures.js'
import type { Sealer } from './sealing.js'

/**
 * Where a step begins: behind an event, then behind an execution (eraseReaders), then in the other rows. {} is the beginning.
 *
 * Executions are passed again as long as a pass erases events. Of the pass so far: how many, and what was left.
 */
export type ErasurePosition =
  | { after?: string }
  | { readers: string | null; events: number; left: number }
  | { rows: RowsPosition }

/** An erasure in the transaction of one step. */
export interface ClaimedErasure {
  id: string
  workspaceId: string
  path: string
  sealed: Uint8Array
  position: ErasurePosition
  erased: ErasedCounts
  unfinished: number
  createdAt: Date
}

/** After so many steps in a row that failed, it is given up. */
const maxFailures = 5

/**
 * Takes the erasure whose turn it is, of the owner whose last step was longest ago, and the lock of its workspace: until the transaction ends nobody else changes the workspace, so finished
 * executions stay finished. What somebody else holds is passed.
 */
export async function claimErasure(transaction: Transaction): Promise<ClaimedErasure | undefined> {
  const [claimed] = await transaction.$queryRaw<ClaimedErasure[]>(Prisma.sql`
    SELECT erasures.id, erasures.workspace_id AS "workspaceId", path, sealed, position, erased, unfinished, erasures.created_at AS "createdAt"
    FROM erasures
    JOIN workspaces ON workspaces.id = erasures.workspace_id
    JOIN (
      SELECT erasures.id, max(turn_at) OVER (PARTITION BY ${Prisma.raw(ownerSql)}) AS owner_turn_at
      FROM erasures JOIN workspaces ON workspaces.id = erasures.workspace_id WHERE status = 'running'
    ) AS turns ON turns.id = erasures.id
    WHERE status = 'running' AND deleted_at IS NULL ORDER BY owner_turn_at NULLS FIRST, turn_at NULLS FIRST, erasures.id LIMIT 1
    FOR NO KEY UPDATE OF erasures, workspaces SKIP LOCKED`)
  return claimed
}

/** @throws Error where no key opens it. No message has the value. */
export function openErasedValue(
  sealer: Sealer,
  { id, workspaceId, path, sealed }: ClaimedErasure,
): ErasedValue {
  const value = JSON.parse(sealer.open(sealed, erasureContext({ id, workspaceId })).toString()) as string
  return new ErasedValue(path, value)
}

/** Stores what a step has done, in its transaction. @param next undefined: it was the last */
export async function noteErasureStep(
  transaction: Transaction,
  claimed: ClaimedErasure,
  step: { erased: ErasedCounts; unfinished: number; next: ErasurePosition | undefined },
): Promise<void> {
  const erased = addCounts(claimed.erased, step.erased)
  const unfinished = claimed.unfinished + step.unfinished
  const isOver = step.next === undefined
  const status = !isOver ? 'running' : unfinished > 0 ? 'incomplete' : 'done'
  await transaction.$executeRaw(Prisma.sql`
    UPDATE erasures
    SET status = ${status}, position = ${writeJson(step.next ?? {})}::json, erased = ${writeJson(erased)}::json, unfinished = ${unfinished},
        failures = 0, turn_at = clock_timestamp(), finished_at = CASE WHEN ${isOver} THEN now() END
    WHERE id = ${claimed.id}::uuid`)
}

/** Gives an erasure up, in the transaction of its step. */
export async function failErasure(transaction: Transaction, { id }: ClaimedErasure): Promise<void> {
  await transaction.$executeRaw(
    Prisma.sql`UPDATE erasures SET status = 'failed', finished_at = now() WHERE id = ${id}::uuid`,
  )
}

/** Counts a step that failed, after its transaction: the others come first then, and after five in a row it is given up. */
export async function noteErasureFailure({ system }: Database, id: string): Promise<void> {
  await system.$executeRaw(Prisma.sql`
    UPDATE erasures
    SET failures = failures + 1, turn_at = clock_timestamp(),
        status = CASE WHEN failures + 1 >= ${maxFailures} THEN 'failed' ELSE status END,
        finished_at = CASE WHEN failures + 1 >= ${maxFailures} THEN now() END
    WHERE id = ${id}::uuid AND status = 'running'`)
}
