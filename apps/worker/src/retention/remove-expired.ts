import { firstIdOf, Prisma } from '@automation/database'
import { keyHours, type Removal } from '@automation/ledger'

const hourMs = 60 * 60 * 1_000
const dayMs = 24 * hourMs
/** How long a receipt is kept: within this time, a repeated webhook is recognized as a replay. */
const receiptDays = 30
const rejectionDays = 7
/** Longer than the span of a reconciliation (routes/developer/ledger.ts of the API), which reads the tallies. */
const tallyDays = 32

interface OldRows {
  table: Prisma.Sql
  key: Prisma.Sql
  /** The column that dates a row. */
  age: Prisma.Sql
  /** The first value of `age` that is kept. */
  before: Prisma.Sql
}

/**
 * Creates the removals of expired receipts, rejections, idempotency keys and tallies, for all workspaces. After its removal, a
 * repeated webhook or request counts as a new one.
 *
 * @param now epoch ms
 */
export function createExpiredRemovals(now: number): {
  receipts: Removal
  rejections: Removal
  keys: Removal
  tallies: Removal
} {
  const id = Prisma.sql`id`
  const idBefore = (days: number) => Prisma.sql`${firstIdOf(now - days * dayMs)}::uuid`
  return {
    receipts: removalOf({
      table: Prisma.sql`webhook_receipts`,
      key: id,
      age: id,
      before: idBefore(receiptDays),
    }),
    rejections: removalOf({
      table: Prisma.sql`webhook_rejections`,
      key: id,
      age: id,
      before: idBefore(rejectionDays),
    }),
    keys: removalOf({
      table: Prisma.sql`idempotency_keys`,
      key: Prisma.sql`workspace_id, key`,
      age: Prisma.sql`created_at`,
      before: Prisma.sql`${new Date(now - keyHours * hourMs)}`,
    }),
    tallies: removalOf({
      table: Prisma.sql`webhook_tallies`,
      key: Prisma.sql`workspace_id, hour`,
      age: Prisma.sql`hour`,
      before: Prisma.sql`${new Date(now - tallyDays * dayMs)}`,
    }),
  }
}

/** Skips locked rows, such as a key that a request claims again at present: the next round removes them. */
function removalOf({ table, key, age, before }: OldRows): Removal {
  return async (transaction, size) => {
    const removed = await transaction.$executeRaw(Prisma.sql`
      DELETE FROM ${table} WHERE (${key}) IN (
        SELECT ${key} FROM ${table} WHERE ${age} < ${before} ORDER BY ${age} LIMIT ${size} FOR UPDATE SKIP LOCKED)`)
    return { removed, isOver: removed < size }
  }
}
