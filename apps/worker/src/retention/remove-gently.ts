import { setTimeout } from 'node:timers/promises'
import type { Database } from '@automation/database'
import type { Removal, Transaction } from '@automation/ledger'

/** The share of time in which the worker removes: after each batch it pauses four times as long as the batch took. */
const busyShare = 1 / 5
/** So short that others hardly wait for a row, the disk or a core. */
const shortBatchMs = 20
/** On a busy machine, most of a batch's duration is the wait for each step, so a smaller batch would not be shorter. */
const usualLeast = 500
const maxSize = 20_000
const maxPauseMs = 10_000
/** How long one kind is removed at a time: what is left of it has its next turn after all others. */
const turnMs = 60_000
/** Of a transaction, its pause included. */
const timeoutMs = 30_000
/** Any number that nothing else in this database locks. */
const retentionLock = 7_701_202_612n

interface Pace {
  /** How long (ms) one kind is removed at a time. */
  kindMs?: number
  /** Of all rounds with this lock, one goes on at a time. */
  lock?: bigint
  /** The intended duration of a batch. Its size follows from the duration of the one before. */
  batchMs?: number
  leastSize?: number
}

/**
 * Removes all old rows, one kind after another and in small batches, so that nobody else has to wait.
 *
 *   lock ─▶ pause ─▶ remove ─▶ commit ─▶ lock ─▶ …
 *
 * - Of all workers, one removes at a time. It holds the lock while it pauses, too: each transaction begins with its pause.
 * - A transaction that pauses has no snapshot, so it does not hold back vacuum.
 * - Where a worker dies or is suspended, Postgres releases its lock.
 * - A worker that finds the lock taken stops, in the middle of its round too: the holder begins, or began, with the first kind.
 * - A kind that fails, or has millions of rows, keeps no other from being removed.
 *
 * @returns how many rows of each kind this worker has removed
 * @throws AggregateError at the end of the round, which names the kinds that failed
 */
export async function removeGently<Kind extends string>(
  database: Database,
  removals: Record<Kind, Removal>,
  signal: AbortSignal,
  { kindMs = turnMs, lock = retentionLock, batchMs = shortBatchMs, leastSize = usualLeast }: Pace = {},
): Promise<Record<Kind, number>> {
  const kinds = Object.keys(removals) as Kind[]
  const removed = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>
  const failures: Error[] = []
  let pauseMs = 0
  for (const kind of kinds) {
    const endsAt = performance.now() + kindMs
    try {
      for (let size = leastSize, isOver = false; !isOver; ) {
        const batch = await removeBatch(database, removals[kind], { size, pauseMs, signal, lock })
        if (batch === undefined) return removed
        removed[kind] += batch.removed
        isOver = batch.isOver
        pauseMs = Math.min(batch.tookMs * (1 / busyShare - 1), maxPauseMs)
        const fitting = Math.round((size * batchMs) / batch.tookMs)
        size = Math.max(leastSize, Math.min(fitting, 2 * size, maxSize))
        if (isOver || performance.now() < endsAt) continue
        kinds.push(kind)
        break
      }
    } catch (error) {
      failures.push(new Error(`${kind} could not be removed`, { cause: error }))
    }
  }
  if (failures.length > 0)
    throw new AggregateError(failures, failures.map(({ message }) => message).join('; '))
  return removed
}

/** Undefined where the round is stopped, or another worker holds the lock. */
async function removeBatch(
  database: Database,
  removal: Removal,
  { size, pauseMs, signal, lock }: { size: number; pauseMs: number; signal: AbortSignal; lock: bigint },
) {
  let startedAt = 0
  const batch = await database.system.$transaction(
    async (transaction) => {
      if (!(await takeLock(transaction, lock))) return undefined
      await setTimeout(pauseMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return undefined
      startedAt = performance.now()
      return removal(transaction, size)
    },
    { timeout: timeoutMs },
  )
  return batch && { ...batch, tookMs: performance.now() - startedAt }
}

/**
 * Takes the lock until the transaction ends, and turns sequential scans off: missing or stale statistics of a table that fills and
 * empties must not make Postgres read all of its rows. There is an index for each removal.
 */
async function takeLock(transaction: Transaction, number: bigint): Promise<boolean> {
  const [lock] = await transaction.$queryRaw<{ taken: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(${number}) AS taken,
           set_config('idle_in_transaction_session_timeout', ${`${timeoutMs}`}, true),
           set_config('enable_seqscan', 'off', true)`
  return lock?.taken === true
}
