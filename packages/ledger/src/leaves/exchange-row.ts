import { type Kept, type Leaf, lowestId, Prisma, timeOf } from '@automation/database'
import type { Removal, Transaction } from '../removal/removal.js'
import { boundOf } from './bound-of.js'
import type { History } from './histories.js'

/** What exchange.ts does next, in this order; `undoing` instead of what comes before the swap. */
export type Step = 'watching' | 'copying' | 'comparing' | 'swapping' | 'releasing' | 'dropping' | 'undoing'

/** A row of `history.exchanges`: the state of an exchange. The row stays, and says up to which leaf exchanges were made. */
export interface Exchange extends Leaf {
  history: History
  /** By Postgres' clock (epoch ms): what was old then goes. */
  removesAt: number
  /** Of a workspace without a setting. */
  keptDays: number
  step: Step
  /** The slices before this id are done. */
  place: string
  /** The last transaction that wrote into the new leaves. */
  writtenBy: bigint | null
  /** What it has waited for since a day ago; null: it goes on, or has not waited for so long. */
  waitedFor: string | null
}

export type Done = Awaited<ReturnType<Removal>>
export const goesOn: Done = { removed: 0, isOver: false }
export const isOver: Done = { removed: 0, isOver: true }

type Row = Pick<Exchange, 'keptDays' | 'step' | 'place' | 'writtenBy' | 'waitedFor'> & {
  fromId: string
  toId: string
  removesAt: bigint
}

export async function readExchange(
  transaction: Transaction,
  history: History,
): Promise<Exchange | undefined> {
  const [row] = await transaction.$queryRaw<Row[]>(Prisma.sql`
    SELECT from_id AS "fromId", to_id AS "toId", removes_at AS "removesAt", kept_days AS "keptDays", step, place, written_by AS "writtenBy",
      CASE WHEN waits_since < clock_timestamp() - interval '1 day' THEN waits_for END AS "waitedFor"
    FROM history.exchanges WHERE name = ${history.name} AND step IS NOT NULL`)
  if (row === undefined) return undefined
  const { fromId, toId, removesAt, ...rest } = row
  const from = fromId === lowestId ? Number.NEGATIVE_INFINITY : timeOf(fromId)
  const range = { from, to: timeOf(toId) }
  return { ...rest, ...range, history, removesAt: Number(removesAt) }
}

export async function storeExchange(
  transaction: Transaction,
  { history, from, to, removesAt, keptDays }: Omit<Exchange, 'step' | 'place' | 'writtenBy' | 'waitedFor'>,
): Promise<void> {
  await transaction.$executeRaw(Prisma.sql`
    INSERT INTO history.exchanges (name, from_id, to_id, removes_at, kept_days, step, place)
    VALUES (${history.name}, ${boundOf(from)}::uuid, ${boundOf(to)}::uuid, ${BigInt(removesAt)}::bigint, ${keptDays}::int, 'watching', ${boundOf(from)}::uuid)
    ON CONFLICT (name) DO UPDATE SET from_id = excluded.from_id, to_id = excluded.to_id, removes_at = excluded.removes_at,
      kept_days = excluded.kept_days, step = excluded.step, place = excluded.place, written_by = NULL`)
}

/** The id up to which old leaves were exchanged. */
export async function readDoneTo(transaction: Transaction, history: History): Promise<string> {
  const [row] = await transaction.$queryRaw<{ doneTo: string | null }[]>(Prisma.sql`
    SELECT done_to AS "doneTo" FROM history.exchanges WHERE name = ${history.name}`)
  return row?.doneTo ?? lowestId
}

/** After a fault nobody begins anew before that, whichever worker it is. */
export async function isResting(
  transaction: Transaction,
  { name }: History,
  { now }: Kept,
): Promise<boolean> {
  const resting = await transaction.$queryRaw<object[]>(Prisma.sql`
    SELECT 1 FROM history.exchanges WHERE name = ${name} AND rests_until > ${BigInt(now)}::bigint`)
  return resting.length > 0
}

/**
 * Keeps the rows of workspaces that have more days by now, and of those that are on their way from another installation.
 *
 * @returns how many of the old rows' workspaces are new among them
 */
export async function keepWorkspaces(
  transaction: Transaction,
  { history, from, to, keptDays }: Pick<Exchange, 'history' | 'from' | 'to' | 'keptDays'>,
): Promise<number> {
  if (!history.isKeyed) return 0
  const [row] = await transaction.$queryRaw<{ count: number }[]>(Prisma.sql`
    WITH kept AS (
      INSERT INTO history.kept_workspaces (name, workspace_id)
      SELECT ${history.name}, id FROM workspaces WHERE retention_days > ${keptDays}::int OR moving LIKE 'from %'
      ON CONFLICT DO NOTHING RETURNING workspace_id
    )
    SELECT count(*)::int AS count FROM kept WHERE EXISTS (
      SELECT FROM events WHERE events.workspace_id = kept.workspace_id AND id >= ${boundOf(from)}::uuid AND id < ${boundOf(to)}::uuid)`)
  return row?.count ?? 0
}

/** Until then no row has gone. */
export function mayUndo({ step }: Exchange): boolean {
  return step !== 'releasing' && step !== 'dropping'
}

/** Notes that rows up to this id are done; behind the last one, the next step begins. */
export async function goOn(
  transaction: Transaction,
  exchange: Exchange,
  place: string,
  next: Step,
): Promise<Done> {
  if (place >= boundOf(exchange.to)) return goTo(transaction, exchange, next)
  await transaction.$executeRaw(Prisma.sql`
    UPDATE history.exchanges SET place = ${place}::uuid, waits_for = NULL, waits_since = NULL
    WHERE name = ${exchange.history.name}`)
  return goesOn
}

export async function goTo(transaction: Transaction, { history }: Exchange, step: Step): Promise<Done> {
  await transaction.$executeRaw(Prisma.sql`
    UPDATE history.exchanges SET step = ${step}, place = from_id, waits_for = NULL, waits_since = NULL
    WHERE name = ${history.name}`)
  return goesOn
}

/** The next steps undo the exchange. @param restsUntil when it may begin anew (epoch ms) */
export async function undo(transaction: Transaction, exchange: Exchange, restsUntil: number): Promise<Done> {
  await rest(transaction, exchange.history, restsUntil)
  return goTo(transaction, exchange, 'undoing')
}

/** Nobody begins before that (epoch ms). There may have been no exchange yet. */
export async function rest(transaction: Transaction, { name }: History, until: number): Promise<void> {
  await transaction.$executeRaw(Prisma.sql`
    INSERT INTO history.exchanges (name, from_id, to_id, removes_at, kept_days, place, rests_until)
    VALUES (${name}, ${lowestId}::uuid, ${lowestId}::uuid, 0, 0, ${lowestId}::uuid, ${BigInt(until)}::bigint)
    ON CONFLICT (name) DO UPDATE SET rests_until = excluded.rests_until`)
}

/** The next round tries the same step again. */
export async function waitFor(transaction: Transaction, { history }: Exchange, what: string): Promise<Done> {
  await transaction.$executeRaw(Prisma.sql`
    UPDATE history.exchanges SET waits_for = ${what}, waits_since = coalesce(waits_since, clock_timestamp())
    WHERE name = ${history.name}`)
  return isOver
}

export async function noteWrite(transaction: Transaction, { history }: Exchange): Promise<void> {
  await transaction.$executeRaw(Prisma.sql`
    UPDATE history.exchanges SET written_by = pg_current_xact_id()::text::bigint WHERE name = ${history.name}`)
}

/** @param isDone false if it was undone */
export async function endExchange(
  transaction: Transaction,
  { history }: Exchange,
  isDone: boolean,
): Promise<void> {
  await transaction.$executeRaw(Prisma.sql`DELETE FROM history.changes WHERE name = ${history.name}`)
  await transaction.$executeRaw(Prisma.sql`DELETE FROM history.kept_workspaces WHERE name = ${history.name}`)
  await transaction.$executeRaw(Prisma.sql`
    UPDATE history.exchanges
    SET step = NULL, waits_for = NULL, waits_since = NULL, done_to = CASE WHEN ${isDone} THEN to_id ELSE done_to END
    WHERE name = ${history.name}`)
}
