import { Prisma } from '@automation/database'
import type { Removal, Transaction } from '../removal/removal.js'
import {
  type Done,
  type Exchange,
  endExchange,
  goesOn,
  goOn,
  goTo,
  isOver,
  mayUndo,
  noteWrite,
  readExchange,
  storeExchange,
  waitFor,
} from './exchange-row.js'
import { copyRows, countDifferences, takeBack } from './exchanged-rows.js'
import type { History } from './histories.js'
import { createLeaves, dropOne, namesToLock, oldLeaves, swapLeaves, unwatch, watch } from './leaf-tables.js'
import { type Kept, leavesOf, planExchange } from './plan-exchange.js'
import { boundOf, readLeaves } from './read-leaves.js'
import { endOfSlice, exchangedOf, nextSlice } from './slices.js'
import { withLock } from './with-lock.js'

/** So many changes are made good while everybody waits. */
const mostLate = 1_000
/** So often a change that comes at the last moment puts off the swap. Rows of the present change all the time. */
const patience = 5

const steps = { watching, copying, comparing, swapping, releasing, dropping, undoing }

export interface KeptLeaves extends Kept {
  /** Whether the clock of this process is that of Postgres: either may be wrong, and what it removes or makes for the wrong time is not mended. */
  clocksAgree: boolean
  /** Is told what nobody expected. */
  onFault(fault: string): void
}

interface Round extends Pick<KeptLeaves, 'onFault'> {
  size: number
  /** How often changes have put off the swap. */
  late: number
}

/**
 * Exchanges neighbouring leaves of a history for others of the same range, which have the rows that stay:
 *
 *   begun ─▶ watching ─▶ copying ─▶ comparing ─▶ swapping ─▶ releasing ─▶ dropping ─▶ none
 *     new leaves,   └──────────┬────────┴───────────┘ one transaction: old ones detached, new ones attached
 *     not attached             └▶ undoing ─▶ none: the new leaves are dropped
 *
 * - A trigger on the old leaves (watching) notes each row that changes, so no write is lost: such rows are copied again until the swap, in which nobody
 *   writes. Before that trigger, all who wrote have committed.
 * - Each step is one transaction of some ms, with what it has done: a worker may be killed at any of them, and the next one goes on.
 * - A lock that holds up writers is waited for 50 ms, and tried again in the next round.
 * - The swap waits for the end of snapshots that are older than the copies: these would see neither the old rows nor the new ones.
 *
 * The caller sees to it that one step runs at a time.
 */
export function createLeafExchange(history: History, kept: KeptLeaves): Removal {
  const round: Round = { onFault: kept.onFault, size: 0, late: 0 }
  return async (transaction, size) => {
    const exchange = await readExchange(transaction, history)
    if (exchange === undefined) return begin(transaction, history, kept)
    if (exchange.removesAt !== null && mayUndo(exchange)) {
      if (!kept.clocksAgree) return isOver
      if (exchange.keptDays !== kept.days && exchange.step !== 'undoing')
        return goTo(transaction, exchange, 'undoing')
    }
    round.size = size
    return steps[exchange.step](transaction, exchange, round)
  }
}

/** After a fault: the next steps undo the exchange, and then it begins anew. */
export async function undoExchange(transaction: Transaction, history: History): Promise<void> {
  const exchange = await readExchange(transaction, history)
  if (exchange && mayUndo(exchange)) await goTo(transaction, exchange, 'undoing')
}

async function begin(transaction: Transaction, history: History, kept: KeptLeaves): Promise<Done> {
  if (!kept.clocksAgree) return isOver
  const plan = planExchange(await readLeaves(transaction, history.name), history, kept)
  if (plan === undefined) return isOver
  // What somebody has left by hand must not be in the way for good.
  for (const { name } of history.tables) while (await dropOne(transaction, name, 'new'));
  await createLeaves(transaction, history, plan)
  const removesAt = plan.removes ? kept.now : null
  await storeExchange(transaction, { ...plan, history, removesAt, keptDays: kept.days })
  return goesOn
}

async function watching(transaction: Transaction, exchange: Exchange): Promise<Done> {
  const { history } = exchange
  for (const { name } of history.tables)
    for (const leaf of await oldLeaves(transaction, name, exchange))
      if (!leaf.isWatched) {
        const lock = `history.${leaf.name} IN SHARE ROW EXCLUSIVE MODE`
        const isDone = await withLock(transaction, lock, () => watch(transaction, name, leaf.name))
        return isDone ? goesOn : waitFor(transaction, exchange, 'a lock')
      }
  return goTo(transaction, exchange, 'copying')
}

async function copying(transaction: Transaction, exchange: Exchange, { size }: Round): Promise<Done> {
  const slice = await nextSlice(transaction, exchange, size)
  if ((await copyRows(transaction, slice)) > 0) await noteWrite(transaction, exchange)
  return goOn(transaction, exchange, slice.scope.to, 'comparing')
}

async function comparing(
  transaction: Transaction,
  exchange: Exchange,
  { size, onFault }: Round,
): Promise<Done> {
  if ((await catchUp(transaction, exchange, size)) === size) return goesOn
  const slice = await nextSlice(transaction, exchange, size)
  const differences = await countDifferences(transaction, slice)
  if (differences === 0) return goOn(transaction, exchange, slice.scope.to, 'swapping')
  const { name } = exchange.history
  onFault(`${differences} rows of new leaves of ${name} differ from the old ones, so nothing was exchanged`)
  return goTo(transaction, exchange, 'undoing')
}

async function swapping(transaction: Transaction, exchange: Exchange, round: Round): Promise<Done> {
  // What was written here has to be committed before a snapshot can see it.
  const isTooLate = (changes: number, most: number) =>
    changes === most || (changes > 0 && round.late++ < patience)
  if (isTooLate(await catchUp(transaction, exchange, round.size), round.size)) return goesOn
  const reader = await findOldSnapshot(transaction, exchange)
  if (reader !== undefined)
    return waitFor(transaction, exchange, `the transaction of process ${reader} of Postgres`)
  const names = await namesToLock(transaction, exchange.history, exchange)
  let isSwapped = false
  const isLocked = await withLock(transaction, `${names.join(', ')} IN ACCESS EXCLUSIVE MODE`, async () => {
    if (isTooLate(await catchUp(transaction, exchange, mostLate), mostLate)) return
    await swapLeaves(transaction, exchange.history, exchange)
    isSwapped = true
  })
  if (!isLocked) return waitFor(transaction, exchange, 'a lock')
  if (!isSwapped) return goesOn
  const { removesAt, history } = exchange
  return goTo(transaction, exchange, removesAt !== null && history.isKeyed ? 'releasing' : 'dropping')
}

/** Keys of removed events go, and claims of removed executions are released, as in removal/remove-history.ts. */
async function releasing(transaction: Transaction, exchange: Exchange, { size }: Round): Promise<Done> {
  const from = exchange.place
  let to = boundOf(exchange.to)
  to = await endOfSlice(transaction, 'event_keys', 'event_id', { from, to }, size)
  to = await endOfSlice(transaction, 'key_claims', 'execution_id', { from, to }, size)
  await transaction.$executeRaw(Prisma.sql`
    DELETE FROM event_keys WHERE event_id >= ${from}::uuid AND event_id < ${to}::uuid
      AND NOT EXISTS (SELECT FROM events WHERE events.id = event_keys.event_id)`)
  await transaction.$executeRaw(Prisma.sql`
    UPDATE key_claims SET is_exclusive = false, batch_id = NULL
    WHERE execution_id >= ${from}::uuid AND execution_id < ${to}::uuid AND (is_exclusive OR batch_id IS NOT NULL)
      AND NOT EXISTS (SELECT FROM executions WHERE executions.id = key_claims.execution_id)`)
  return goOn(transaction, exchange, to, 'dropping')
}

/** One table at a time. */
async function dropping(transaction: Transaction, exchange: Exchange): Promise<Done> {
  for (const { name } of exchange.history.tables)
    if (await dropOne(transaction, name, 'old')) return { removed: 1, isOver: false }
  await endExchange(transaction, exchange)
  return goesOn
}

async function undoing(transaction: Transaction, exchange: Exchange): Promise<Done> {
  const { history } = exchange
  for (const { name } of history.tables)
    for (const leaf of await oldLeaves(transaction, name, exchange))
      if (leaf.isWatched) {
        const lock = `history.${leaf.name} IN ACCESS EXCLUSIVE MODE`
        const isDone = await withLock(transaction, lock, () => unwatch(transaction, leaf.name))
        return isDone ? goesOn : waitFor(transaction, exchange, 'a lock')
      }
  for (const { name } of history.tables) if (await dropOne(transaction, name, 'new')) return goesOn
  await endExchange(transaction, exchange)
  return isOver
}

/** Copies rows again that have changed, and what belongs to them. @returns how many changes it has made good; `size` if there are more */
async function catchUp(transaction: Transaction, exchange: Exchange, size: number): Promise<number> {
  const { history } = exchange
  const changes = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    DELETE FROM history.changes WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM history.changes WHERE name = ${history.name} LIMIT ${size}))
    RETURNING id::text`)
  if (changes.length === 0) return 0
  const owners = await withBatches(transaction, exchange, [...new Set(changes.map(({ id }) => id))])
  for (const leaf of leavesOf(exchange)) {
    const scope = { from: boundOf(leaf.from), to: boundOf(leaf.to), owners }
    await takeBack(transaction, exchangedOf(exchange, leaf, scope))
    await copyRows(transaction, exchangedOf(exchange, leaf, scope))
  }
  await noteWrite(transaction, exchange)
  return changes.length
}

/** A batch that is opened again keeps the events that it has collected. */
async function withBatches(
  transaction: Transaction,
  exchange: Exchange,
  owners: string[],
): Promise<string[]> {
  if (exchange.removesAt === null || !exchange.history.isKeyed) return owners
  const collected = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT DISTINCT key_claims.event_id::text AS id
    FROM executions JOIN key_claims ON key_claims.batch_id = executions.id
    WHERE executions.event_id = ANY (${owners}::uuid[]) AND executions.id >= ${boundOf(exchange.from)}::uuid
      AND executions.id < ${boundOf(exchange.to)}::uuid`)
  return [...new Set([...owners, ...collected.map(({ id }) => id)])]
}

/** A transaction that sees rows as they were before the copies were written: its process. In a database that was restored no transaction is that old. */
async function findOldSnapshot(
  transaction: Transaction,
  { writtenBy }: Exchange,
): Promise<number | undefined> {
  if (writtenBy === null) return undefined
  const [row] = await transaction.$queryRaw<{ pid: number }[]>(Prisma.sql`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND ${writtenBy}::bigint < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      AND age(backend_xmin) >= age((${writtenBy}::bigint % 4294967296)::text::xid)
    ORDER BY xact_start LIMIT 1`)
  return row?.pid
}
