import { isDiskFull, isStatementTimeout, type Kept, Prisma, withLock } from '@automation/database'
import { dayMs } from '../removal/keeping-executions.js'
import type { Removal, Transaction } from '../removal/removal.js'
import { boundOf } from './bound-of.js'
import { catchUp, findOldSnapshot, hasChanged } from './catch-up.js'
import {
  type Done,
  type Exchange,
  endExchange,
  goesOn,
  goOn,
  goTo,
  isOver,
  isResting,
  keepWorkspaces,
  mayUndo,
  noteWrite,
  readExchange,
  rest,
  storeExchange,
  undo,
  waitFor,
} from './exchange-row.js'
import {
  areNewLeavesAlike,
  clientOf,
  createNewLeaves,
  dropOne,
  newLeafOf,
  oldLeaves,
  planSwap,
  unwatch,
  watch,
} from './exchanged-leaves.js'
import { copyRows, countDifferences } from './exchanged-rows.js'
import type { History } from './histories.js'
import { leavesToExchange } from './leaves-to-exchange.js'
import { endOfSlice, nextSlice } from './slices.js'

/** So often in a round a change that comes at the last moment puts off the swap. Old rows change seldom. */
const patience = 5
/** After a fault, which may last. */
const restMs = 10 * 60 * 1_000
/** A full disk refuses the rows of others, too, and who holds up an exchange for a day does so for longer. Meanwhile old rows go one by one. */
const longRestMs = dayMs

const steps = { watching, copying, comparing, swapping, releasing, dropping, undoing }

export interface KeptLeaves extends Kept {
  /** Whether the clock of this process is that of Postgres: either may be wrong, and what it removes or makes for the wrong time is not mended. */
  clocksAgree: boolean
  /** Is told what nobody expected. */
  onFault(fault: string): void
}

interface Round extends KeptLeaves {
  size: number
  /** How often changes have put off the swap. */
  late: number
}

/**
 * Removes the old leaves of a history whole: they are exchanged for one leaf of the same range, which has the rows that stay.
 *
 *   begun ─▶ watching ─▶ copying ─▶ comparing ─▶ swapping ─▶ releasing ─▶ dropping ─▶ none
 *     new leaves,   └──────────┬────────┴───────────┘ one transaction: old ones detached, new ones attached
 *     not attached             └▶ undoing ─▶ none: the new leaves are dropped
 *
 * - A trigger on the old leaves (watching) notes each row that changes, so no write is lost: such rows are copied again until the swap, in which nobody
 *   writes. Before that trigger, all who wrote have committed.
 * - Each step is one short transaction, with what it has done: a worker may be killed at any of them, and the next one goes on.
 * - A lock that holds up writers is waited for 50 ms, and tried again in the next round. The swap copies nothing under it: if a row has changed since, the next
 *   round tries it again.
 * - The swap waits for the end of snapshots that are older than the copies: these would see neither the old rows nor the new ones.
 *
 * The caller sees to it that one step runs at a time.
 */
export function createLeafExchange(history: History, kept: KeptLeaves): Removal {
  const round: Round = { ...kept, size: 0, late: 0 }
  return async (transaction, size) => {
    const exchange = await readExchange(transaction, history)
    if (exchange === undefined) return begin(transaction, history, kept)
    if (mayUndo(exchange) && exchange.step !== 'undoing') {
      if (exchange.waitedFor !== null) return giveUp(transaction, exchange, kept)
      if (!isPlannedFor(exchange, kept)) return goTo(transaction, exchange, 'undoing')
    }
    round.size = size
    return steps[exchange.step](transaction, exchange, round)
  }
}

function giveUp(transaction: Transaction, exchange: Exchange, { now, onFault }: KeptLeaves): Promise<Done> {
  const { history, waitedFor } = exchange
  onFault(
    `an exchange of leaves of ${history.name} has waited for ${waitedFor} for a day, so old rows go one by one`,
  )
  return undo(transaction, exchange, now + longRestMs)
}

/** Not if the clock was ahead when it was begun. A round of another worker, which knows the time of its beginning alone, may take hours. */
function isPlannedFor({ keptDays, removesAt }: Exchange, { now, days }: Kept): boolean {
  return keptDays === days && removesAt <= now + dayMs
}

/** Undoes an exchange after a fault at once: what it has written may be what fills a disk. Later it begins anew. */
export function createExchangeUndo(history: History, { now }: Kept, fault: unknown): Removal {
  return async (transaction) => {
    const exchange = await readExchange(transaction, history)
    const restsUntil = now + (isDiskFull(fault) ? longRestMs : restMs)
    if (exchange === undefined) await rest(transaction, history, restsUntil)
    if (exchange === undefined || !mayUndo(exchange)) return isOver
    if (exchange.step === 'undoing') return undoing(transaction, exchange)
    return undo(transaction, exchange, restsUntil)
  }
}

/** A statement took too long: that counts as a wait, and the next round tries it again. */
export function createExchangeWait(history: History): Removal {
  return async (transaction) => {
    const exchange = await readExchange(transaction, history)
    return exchange ? waitFor(transaction, exchange, 'a statement that takes too long') : isOver
  }
}

async function begin(transaction: Transaction, history: History, kept: KeptLeaves): Promise<Done> {
  if (!kept.clocksAgree || (await isResting(transaction, history, kept))) return isOver
  const old = await leavesToExchange(transaction, history, kept)
  if (old.length === 0) return isOver
  const range = {
    from: Math.min(...old.map(({ from }) => from)),
    to: Math.max(...old.map(({ to }) => to)),
  }
  // What somebody has left by hand must not be in the way for good.
  const left = await dropOne(transaction, history, 'new')
  if (left !== 'none') return left === 'dropped' ? goesOn : isOver
  await createNewLeaves(transaction, history, range)
  await storeExchange(transaction, { ...range, history, removesAt: kept.now, keptDays: kept.days })
  await keepWorkspaces(transaction, { ...range, history, keptDays: kept.days })
  return goesOn
}

async function watching(transaction: Transaction, exchange: Exchange): Promise<Done> {
  const { history } = exchange
  for (const table of history.tables)
    for (const leaf of await oldLeaves(transaction, table.name, exchange))
      if (!leaf.isWatched) {
        const isDone = await locked(transaction, [leaf.name], () =>
          watch(transaction, history, table, leaf.name),
        )
        return isDone ? goesOn : waitFor(transaction, exchange, 'a lock')
      }
  return goTo(transaction, exchange, 'copying')
}

async function copying(transaction: Transaction, exchange: Exchange, { size }: Round): Promise<Done> {
  const slice = await nextSlice(transaction, exchange, size)
  if ((await copyRows(transaction, slice)) > 0) await noteWrite(transaction, exchange)
  const done = await goOn(transaction, exchange, slice.scope.to, 'comparing')
  // Nobody else sees it yet. Later, plans for all leaves would begin without a look at this one.
  if (slice.scope.to >= boundOf(exchange.to))
    for (const { name } of exchange.history.tables) await analyze(transaction, newLeafOf(name))
  return done
}

/** Of a large leaf it may take too long. Then autovacuum does it. */
async function analyze(transaction: Transaction, leaf: string): Promise<void> {
  await transaction.$executeRawUnsafe('SAVEPOINT before_analyze')
  try {
    await transaction.$executeRawUnsafe(`ANALYZE ${leaf}`)
  } catch (error) {
    if (!isStatementTimeout(error)) throw error
    await transaction.$executeRawUnsafe('ROLLBACK TO SAVEPOINT before_analyze')
  }
}

async function comparing(
  transaction: Transaction,
  exchange: Exchange,
  { size, now, onFault }: Round,
): Promise<Done> {
  if ((await catchUp(transaction, exchange, size)) === size) return goesOn
  const slice = await nextSlice(transaction, exchange, size)
  const differences = await countDifferences(transaction, slice)
  if (differences === 0) return goOn(transaction, exchange, slice.scope.to, 'swapping')
  const { name } = exchange.history
  onFault(`${differences} rows of new leaves of ${name} differ from the old ones, so nothing was exchanged`)
  return undo(transaction, exchange, now + restMs)
}

async function swapping(transaction: Transaction, exchange: Exchange, round: Round): Promise<Done> {
  const changes = await catchUp(transaction, exchange, round.size)
  // What was copied here has to be committed before a snapshot can see it.
  if (changes > 0)
    return changes === round.size || round.late++ < patience
      ? goesOn
      : waitFor(transaction, exchange, 'rows that change')
  if (!round.clocksAgree) return isOver
  if (!(await areNewLeavesAlike(transaction, exchange.history))) return goTo(transaction, exchange, 'undoing')
  if ((await keepWorkspaces(transaction, exchange)) > 0) return goTo(transaction, exchange, 'copying')
  const reader = await findOldSnapshot(transaction, exchange)
  if (reader !== undefined)
    return waitFor(transaction, exchange, `the transaction of process ${reader} of Postgres`)
  const swap = await planSwap(transaction, exchange.history, exchange)
  let isSwapped = false
  const isLocked = await locked(transaction, swap.locks, async () => {
    if (await hasChanged(transaction, exchange)) return
    await transaction.$executeRawUnsafe(swap.sql)
    isSwapped = true
  })
  if (!isLocked) return waitFor(transaction, exchange, 'a lock')
  if (!isSwapped) return waitFor(transaction, exchange, 'rows that change')
  return goTo(transaction, exchange, exchange.history.isKeyed ? 'releasing' : 'dropping')
}

/** @returns false if a lock was not free */
async function locked(
  transaction: Transaction,
  names: string[],
  work: () => Promise<void>,
): Promise<boolean> {
  const isDone = await withLock(clientOf(transaction), names, async () => {
    await work()
    return true
  })
  return isDone === true
}

/** Of a workspace that is on its way from another installation, claims come before their executions. */
const hasArrived = Prisma.sql`NOT EXISTS (SELECT FROM workspaces WHERE workspaces.id = workspace_id AND moving LIKE 'from %')`

/** Keys of removed events go, and claims of removed executions are released, as in removal/remove-history.ts. */
async function releasing(transaction: Transaction, exchange: Exchange, { size }: Round): Promise<Done> {
  const from = exchange.place
  let to = boundOf(exchange.to)
  to = await endOfSlice(transaction, 'event_keys', 'event_id', { from, to }, size)
  to = await endOfSlice(transaction, 'key_claims', 'execution_id', { from, to }, size)
  await transaction.$executeRaw(Prisma.sql`
    DELETE FROM event_keys WHERE event_id >= ${from}::uuid AND event_id < ${to}::uuid
      AND NOT EXISTS (SELECT FROM events WHERE events.id = event_keys.event_id) AND ${hasArrived}`)
  await transaction.$executeRaw(Prisma.sql`
    UPDATE key_claims SET is_exclusive = false, batch_id = NULL
    WHERE execution_id >= ${from}::uuid AND execution_id < ${to}::uuid AND (is_exclusive OR batch_id IS NOT NULL)
      AND NOT EXISTS (SELECT FROM executions WHERE executions.id = key_claims.execution_id) AND ${hasArrived}`)
  return goOn(transaction, exchange, to, 'dropping')
}

/** One table at a time. */
async function dropping(transaction: Transaction, exchange: Exchange): Promise<Done> {
  const left = await dropOne(transaction, exchange.history, 'old')
  if (left === 'dropped') return { removed: 1, isOver: false }
  if (left === 'waits') return waitFor(transaction, exchange, 'a lock')
  await endExchange(transaction, exchange, true)
  return goesOn
}

async function undoing(transaction: Transaction, exchange: Exchange): Promise<Done> {
  const { history } = exchange
  for (const { name } of history.tables)
    for (const leaf of await oldLeaves(transaction, name, exchange))
      if (leaf.isWatched) {
        const isDone = await locked(transaction, [leaf.name], () => unwatch(transaction, leaf.name))
        return isDone ? goesOn : waitFor(transaction, exchange, 'a lock')
      }
  const left = await dropOne(transaction, history, 'new')
  if (left !== 'none') return left === 'dropped' ? goesOn : waitFor(transaction, exchange, 'a lock')
  await endExchange(transaction, exchange, false)
  return isOver
}
