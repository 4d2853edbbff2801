import { firstIdOf, Prisma } from '@automation/database'
import { keyHours, type Removal } from '@automation/ledger'

const hourMs = 60 * 60 * 1_000
const dayMs = 24 * hourMs
/** How long a receipt is kept: within this time, a repeated webhook is recognized as a replay. */
const receiptDays = 30
const rejectionDays = 7
/** A session lives for 12 hours at most: those of the last days are still found by their id. */
const sessionDays = 7
const backtestDays = 30
/** Longer than the span of a reconciliation (routes/developer/ledger.ts of the API), which reads the tallies. */
const tallyDays = 32
/** Longer than the range of an overview, which reads them. */
const acknowledgementDays = 32

interface OldRows {
  table: Prisma.Sql
  key: Prisma.Sql
  /** The column that dates a row. */
  age: Prisma.Sql
  /** The first value of `age` that is kept. */
  before: Prisma.Sql
  /** Which of these are removed; without it, all. */
  condition?: Prisma.Sql
}

/**
 * Creates the removals of expired receipts, backtests, embed sessions, rejections, idempotency keys, tallies, acknowledgements, ended support access and audit entries, for all workspaces, and of
 * credentials that ended. After the removal of its receipt or key, a repeated webhook or request counts as a new one.
 *
 * @param now epoch ms
 * @param auditDays how many days the audit log is kept; 0: for ever
 */
export function createExpiredRemovals(now: number, auditDays: number) {
  const id = Prisma.sql`id`
  const byId = (table: Prisma.Sql, days: number) => {
    return { table, key: id, age: id, before: Prisma.sql`${firstIdOf(now - days * dayMs)}::uuid` }
  }
  return {
    receipts: removalOf(byId(Prisma.sql`webhook_receipts`, receiptDays)),
    // A difference lives as long as its draft or shadow.
    backtests: removalOf({
      ...byId(Prisma.sql`backtests`, backtestDays),
      condition: Prisma.sql`kind IS NULL`,
    }),
    embedSessions: removalOf(byId(Prisma.sql`embed_sessions`, sessionDays)),
    rejections: removalOf(byId(Prisma.sql`webhook_rejections`, rejectionDays)),
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
    acknowledgements: removalOf({
      table: Prisma.sql`acknowledgements`,
      key: Prisma.sql`workspace_id, handler_id, error`,
      age: Prisma.sql`at`,
      before: Prisma.sql`${new Date(now - acknowledgementDays * dayMs)}`,
    }),
    // Since their end they are no members.
    members: removalOf({
      table: Prisma.sql`members`,
      key: Prisma.sql`workspace_id, user_id`,
      age: Prisma.sql`ends_at`,
      before: Prisma.sql`clock_timestamp()`,
    }),
    ...createAuditRemovals(now, auditDays, byId),
  }
}

/** API keys and signing secrets that ended are kept as long as the audit log, which names them. */
function createAuditRemovals(
  now: number,
  days: number,
  byId: (table: Prisma.Sql, days: number) => OldRows,
): Record<'audit' | 'apiKeys' | 'secrets', Removal> {
  if (days === 0) return { audit: removeNothing, apiKeys: removeNothing, secrets: removeNothing }
  const border = Prisma.sql`${new Date(now - days * dayMs)}`
  return {
    audit: removalOf(byId(Prisma.sql`audit_entries`, days)),
    apiKeys: removalOf({
      ...byId(Prisma.sql`api_keys`, days),
      condition: Prisma.sql`least(revoked_at, expires_at) < ${border}`,
    }),
    secrets: removalOf({
      ...byId(Prisma.sql`signing_secrets`, days),
      condition: Prisma.sql`least(revoked_at, retires_at) < ${border}`,
    }),
  }
}

const removeNothing: Removal = async () => ({ removed: 0, isOver: true })

/** Skips locked rows, such as a key that a request claims again at present: the next round removes them. */
function removalOf({ table, key, age, before, condition = Prisma.sql`true` }: OldRows): Removal {
  return async (transaction, size) => {
    const removed = await transaction.$executeRaw(Prisma.sql`
      DELETE FROM ${table} WHERE (${key}) IN (
        SELECT ${key} FROM ${table} WHERE ${age} < ${before} AND ${condition} ORDER BY ${age} LIMIT ${size} FOR UPDATE SKIP LOCKED)`)
    return { removed, isOver: removed < size }
  }
}
