import { type Database, firstIdOf, Prisma } from '@automation/database'
import { keyHours } from '@automation/inbox'
import type { Logger } from 'pino'
import { repeat } from './repeat.js'

const pauseMs = 10 * 60 * 1_000
const hourMs = 60 * 60 * 1_000
const dayMs = 24 * hourMs
/** For how long a webhook is known, and a replay of it answered as one. */
const receiptDays = 30
const rejectionDays = 7
const batchSize = 1_000

/**
 * Removes webhooks and requests that are no longer told apart from new ones: every ten minutes, some at a time,
 * whichever workers do it.
 */
export function startRetention(database: Database, log: Logger) {
  return repeat(
    async (isStopped) => {
      const removed = await removeOld(database, Date.now(), isStopped)
      if (removed > 0) log.info({ removed }, 'removed old webhooks and idempotency keys')
    },
    pauseMs,
    (error) =>
      log.warn(
        { err: error },
        'old webhooks and idempotency keys could not be removed; the next round tries again',
      ),
  )
}

/** @returns how many receipts, rejections and keys are gone, as of now (epoch ms) */
export async function removeOld(database: Database, now: number, isStopped = () => false): Promise<number> {
  let removed = 0
  for (const old of oldRows(now)) {
    for (let last = batchSize; last === batchSize && !isStopped(); removed += last) {
      last = await removeBatch(database, old)
    }
  }
  return removed
}

interface OldRows {
  table: Prisma.Sql
  key: Prisma.Sql
  /** What tells their age, and the least of it that is not old. */
  age: Prisma.Sql
  before: Prisma.Sql
}

/** Ids are in the order of time. */
function oldRows(now: number): OldRows[] {
  const id = Prisma.sql`id`
  const idBefore = (days: number) => Prisma.sql`${firstIdOf(now - days * dayMs)}::uuid`
  return [
    { table: Prisma.sql`webhook_receipts`, key: id, age: id, before: idBefore(receiptDays) },
    { table: Prisma.sql`webhook_rejections`, key: id, age: id, before: idBefore(rejectionDays) },
    {
      table: Prisma.sql`idempotency_keys`,
      key: Prisma.sql`workspace_id, key`,
      age: Prisma.sql`created_at`,
      before: Prisma.sql`${new Date(now - keyHours * hourMs)}`,
    },
  ]
}

/** Rows that another worker is just removing are left to it. */
function removeBatch(database: Database, { table, key, age, before }: OldRows): Promise<number> {
  return database.system.$executeRaw(Prisma.sql`
    DELETE FROM ${table} WHERE (${key}) IN (
      SELECT ${key} FROM ${table} WHERE ${age} < ${before} ORDER BY ${age} LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)`)
}
