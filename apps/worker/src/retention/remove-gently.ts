import { setTimeout } from 'node:timers/promises'
import type { Database } from '@automation/database'
import type { Removal, Transaction } from '@automation/ledger'

/** Of one worker's time in Postgres: after each batch it waits four times as long as the batch has taken. */
const busyShare = 1 / 5
/** So short that whoever waits for a row, the disk or a core hardly notices: a batch's size follows from the last one's time. */
const batchMs = 20
/** On a machine so busy that each step waits for its turn, the steps are what takes the time, and not the rows. */
const leastSize = 500
const maxSize = 20_000
const maxPauseMs = 10_000
/** Of one transaction, its pause included. */
const timeoutMs = 30_000
/** Any number that nothing else in this database locks. */
const retentionLock = 7_701_202_612n

/**
 * Removes all that there is to remove, one kind after another and a little at a time, so that nobody else is kept waiting.
 * However many workers try, one is at it: it holds the lock also while it pauses, with which each transaction begins. Such a
 * transaction has no snapshot, so it holds back no vacuum. Whoever dies lets go of the lock, and so does who sleeps.
 *
 *   lock ─▶ pause ─▶ remove ─▶ commit ─▶ lock ─▶ …
 *
 * Who finds the lock taken, be it on the way, leaves all the rest to whoever has it: that one begins, or began, with the first.
 *
 * @returns how many rows of each kind this worker has removed
 */
export async function removeGently<Kind extends string>(
  database: Database,
  removals: Record<Kind, Removal>,
  signal: AbortSignal,
): Promise<Record<Kind, number>> {
  const kinds = Object.keys(removals) as Kind[]
  const removed = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>
  let pauseMs = 0
  for (const kind of kinds) {
    for (let size = leastSize, isOver = false; !isOver; ) {
      const batch = await removeBatch(database, removals[kind], { size, pauseMs, signal })
      if (batch === undefined) return removed
      removed[kind] += batch.removed
      isOver = batch.isOver
      pauseMs = Math.min(batch.tookMs * (1 / busyShare - 1), maxPauseMs)
      size = fitSize(size, batch.tookMs)
    }
  }
  return removed
}

function fitSize(size: number, tookMs: number): number {
  const fitting = Math.round((size * batchMs) / tookMs)
  return Math.max(leastSize, Math.min(fitting, 2 * size, maxSize))
}

/** Undefined where it was stopped, or another one has the lock. */
async function removeBatch(
  database: Database,
  removal: Removal,
  { size, pauseMs, signal }: { size: number; pauseMs: number; signal: AbortSignal },
) {
  let startedAt = 0
  const batch = await database.system.$transaction(
    async (transaction) => {
      if (!(await takeLock(transaction))) return undefined
      await setTimeout(pauseMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return undefined
      startedAt = performance.now()
      return removal(transaction, size)
    },
    { timeout: timeoutMs },
  )
  return batch && { ...batch, tookMs: performance.now() - startedAt }
}

/** Fresh or stale statistics of tables that fill and empty must not lead to a walk through all of their rows: there is an index. */
async function takeLock(transaction: Transaction): Promise<boolean> {
  const [lock] = await transaction.$queryRaw<{ taken: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(${retentionLock}) AS taken,
           set_config('idle_in_transaction_session_timeout', ${`${timeoutMs}`}, true),
           set_config('enable_seqscan', 'off', true)`
  return lock?.taken === true
}
