import { firstIdOf, Prisma } from '@automation/database'
import { keyHours, type Removal } from '@automation/ledger'

const hourMs = 60 * 60 * 1_000
const dayMs = 24 * hourMs
/** For how long a webhook is known, and a replay of it answered as one. */
const receiptDays = 30
const rejectionDays = 7
/** Nobody asks for what was counted before (ledger.ts in the API). */
const tallyDays = 32

interface OldRows {
  table: Prisma.Sql
  key: Prisma.Sql
  /** What tells their age, and the least of it that is not old. */
  age: Prisma.Sql
  before: Prisma.Sql
}

/** Remove webhooks and requests that are no longer told apart from new ones, as of now (epoch ms), of all workspaces. */
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

/** Rows that somebody else has locked, such as a key that is just taken anew, are left to the next round. */
function removalOf({ table, key, age, before }: OldRows): Removal {
  return async (transaction, size) => {
    const removed = await transaction.$executeRaw(Prisma.sql`
      DELETE FROM ${table} WHERE (${key}) IN (
        SELECT ${key} FROM ${table} WHERE ${age} < ${before} ORDER BY ${age} LIMIT ${size} FOR UPDATE SKIP LOCKED)`)
    return { removed, isOver: removed < size }
  }
}
