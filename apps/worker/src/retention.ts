import { type Database, firstIdOf, Prisma } from '@automation/database'
import type { Logger } from 'pino'
import { repeat } from './repeat.js'

const pauseMs = 10 * 60 * 1_000
const dayMs = 24 * 60 * 60 * 1_000
/** For how long a webhook is known, and a replay of it answered as one. */
const receiptDays = 30
const rejectionDays = 7
const batchSize = 1_000

/** Removes webhooks that are no longer told apart from new ones: every ten minutes, some at a time, whichever workers do it. */
export function startRetention(database: Database, log: Logger) {
  return repeat(
    async (isStopped) => {
      const removed = await removeOldWebhooks(database, Date.now(), isStopped)
      if (removed > 0) log.info({ removed }, 'removed old webhooks')
    },
    pauseMs,
    (error) => log.warn({ err: error }, 'old webhooks could not be removed; the next round tries again'),
  )
}

/** @returns how many receipts and rejections are gone, as of now (epoch ms) */
export async function removeOldWebhooks(
  database: Database,
  now: number,
  isStopped = () => false,
): Promise<number> {
  let removed = 0
  for (const [table, days] of tables) {
    for (let last = batchSize; last === batchSize && !isStopped(); removed += last) {
      last = await removeBatch(database, table, firstIdOf(now - days * dayMs))
    }
  }
  return removed
}

const tables = [
  [Prisma.sql`webhook_receipts`, receiptDays],
  [Prisma.sql`webhook_rejections`, rejectionDays],
] as const

/** Ids are in the order of time. Rows that another worker is just removing are left to it. */
function removeBatch(database: Database, table: Prisma.Sql, before: string): Promise<number> {
  return database.system.$executeRaw(Prisma.sql`
    DELETE FROM ${table} WHERE id IN (
      SELECT id FROM ${table} WHERE id < ${before}::uuid ORDER BY id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)`)
}
