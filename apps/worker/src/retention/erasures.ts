import { setTimeout } from 'node:timers/promises'
import {
  type ClaimedErasure,
  claimErasure,
  createSealer,
  failErasure,
  noteErasureFailure,
  noteErasureStep,
  openErasedValue,
  type Sealer,
} from '@automation/access'
import { type Database, isDatabaseAway, type UnscopedRows } from '@automation/database'
import type { ErasedValue } from '@automation/engine'
import { findSettled, type ScannedEvent, scanEvents } from '@automation/history'
import { eraseEvents, eraseReaders, eraseRows, type Transaction } from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import type { Logger } from 'pino'

/** While none is to be made. */
const idleMs = 1_000
const maxPauseMs = 10_000
/** Of a step. One takes far less, unless a chain has a thousand large events. */
const timeoutMs = 60_000
/** How many events of one step are erased, with their chains. */
const maxMatched = 100
const firstReaders = { readers: null, events: 0, left: 0 }

/**
 * Makes erasures (docs/internals/lifecycle.md), step by step in turns: each step is one transaction, with a pause after it as long as it took.
 * Every worker does, and a step holds the lock of its workspace.
 */
export function startErasures(database: Database, encryptionKey: string, log: Logger, pauseMs = idleMs) {
  const sealer = createSealer(encryptionKey)
  const stopping = new AbortController()
  const work = async () => {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      if (!(await takeErasureStep(database, sealer, log))) return
      const tookMs = Math.min(performance.now() - startedAt, maxPauseMs)
      await setTimeout(tookMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  // Its message may be of a statement, with the value.
  const running = repeat(work, pauseMs, (error) =>
    log[isDatabaseAway(error) ? 'debug' : 'warn']('erasures could not be continued'),
  )
  return {
    stop(): Promise<void> {
      stopping.abort()
      return running.stop()
    },
  }
}

/** @returns whether there was one to take: false where none is running, or somebody else holds what is */
export async function takeErasureStep(database: Database, sealer: Sealer, log: Logger): Promise<boolean> {
  let claimed: ClaimedErasure | undefined
  try {
    await database.system.$transaction(
      async (transaction) => {
        claimed = await claimErasure(transaction)
        if (claimed !== undefined) await eraseStep(database, transaction, claimed, sealer, log)
      },
      { timeout: timeoutMs },
    )
  } catch (error) {
    if (claimed === undefined || isDatabaseAway(error)) throw error
    const { id, workspaceId } = claimed
    const { name, code } = error as { name?: string; code?: string }
    log.warn({ erasureId: id, workspaceId, name, code }, 'a step of an erasure failed')
    await noteErasureFailure(database, id)
  }
  return claimed !== undefined
}

async function eraseStep(
  { system }: Database,
  transaction: Transaction,
  claimed: ClaimedErasure,
  sealer: Sealer,
  log: Logger,
): Promise<void> {
  const { id, workspaceId, position } = claimed
  let value: ErasedValue
  try {
    value = openErasedValue(sealer, claimed)
  } catch {
    log.error({ erasureId: id, workspaceId }, 'no key of ENCRYPTION_KEY opens the value of an erasure')
    return failErasure(transaction, claimed)
  }
  // Statistics of a table that fills may be missing; each statement has an index.
  await transaction.$executeRaw`SET LOCAL enable_seqscan = off`
  if ('rows' in position) {
    const { erased, next } = await eraseRows(transaction, workspaceId, value, position.rows)
    return noteErasureStep(transaction, claimed, { erased, unfinished: 0, next: next && { rows: next } })
  }
  if ('readers' in position) {
    const { next, ...step } = await eraseReaders(transaction, workspaceId, value, position.readers)
    const events = position.events + (step.erased.events ?? 0)
    const left = position.left + step.unfinished
    if (next !== undefined)
      return noteErasureStep(transaction, claimed, { ...step, next: { readers: next, events, left } })
    if (events === 0)
      return noteErasureStep(transaction, claimed, { ...step, next: { rows: { table: 0, after: null } } })
    // The next pass finds again what this one has left.
    return noteErasureStep(transaction, claimed, {
      ...step,
      unfinished: step.unfinished - left,
      next: firstReaders,
    })
  }
  // An event that was accepted before may be committed after the last slice. Another connection looks: a transaction sees the activity of its first look.
  const { createdAt } = claimed
  if ((await findSettled(system, createdAt)) < createdAt)
    return noteErasureStep(transaction, claimed, { erased: {}, unfinished: 0, next: position })
  const { ids, end } = await findMatches(transaction, claimed, value, position.after)
  const { erased, unfinished } = await eraseEvents(transaction, workspaceId, value, ids)
  const next = end === undefined ? firstReaders : { after: end }
  return noteErasureStep(transaction, claimed, { erased, unfinished, next })
}

/** One slice of the scan: at most 1,000 events or a mebibyte, and at most a hundred that match. */
async function findMatches(
  transaction: Transaction,
  { workspaceId, createdAt }: ClaimedErasure,
  value: ErasedValue,
  after: string | undefined,
): Promise<{ ids: string[]; end: string | undefined }> {
  const ids: string[] = []
  const visit = async (events: ScannedEvent[]): Promise<string | undefined> => {
    for (const { id, json } of events) {
      if (!value.mayBeIn(json) || !value.isAt(JSON.parse(json))) continue
      ids.push(id)
      if (ids.length === maxMatched) return id
    }
    return undefined
  }
  const rows: UnscopedRows = { $queryRows: (sql) => transaction.$queryRaw(sql as never) }
  const range = { workspaceId, order: 'oldest first' as const, to: createdAt }
  const { end } = await scanEvents(rows, range, after, { events: 1_000, ms: 0 }, visit)
  return { ids, end }
}
