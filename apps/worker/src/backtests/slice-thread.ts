import { type Database, type DatabaseLimits, openDatabase } from '@automation/database'
import { lowerPriority } from '@automation/process/lower-priority'
import type { ClaimedBacktest } from '@automation/rules'
import { type BacktestLimits, computeSlice, type FailedSlice, type StoredSlice } from './compute-slice.js'

// What the thread of slices-in-thread.ts does.

export interface SliceOrder {
  claimed: ClaimedBacktest
  limits: BacktestLimits
  databaseUrl: string
  databaseLimits: DatabaseLimits
  /** One Int32, shared with the worker: 1 once it shuts down. */
  stopping: SharedArrayBuffer
}

/** One connection for what it stores, and one to read events (reads). */
const poolSize = 1

let database: Database | undefined

export async function compute(order: SliceOrder): Promise<StoredSlice | FailedSlice | undefined> {
  const { claimed, limits, databaseUrl, databaseLimits, stopping } = order
  if (database === undefined) lowerPriority()
  database ??= openDatabase(databaseUrl, poolSize, {
    ...databaseLimits,
    reads: { ...databaseLimits.reads, pool: poolSize },
  })
  const flag = new Int32Array(stopping)
  return computeSlice(database, claimed, limits, { isStopping: () => Atomics.load(flag, 0) === 1 })
}
