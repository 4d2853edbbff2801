import {
  type AttachedLeaf,
  type Database,
  highestId,
  isOld,
  type Kept,
  lengthOf,
  mayChangeLeaves,
  readLeaves,
} from '@automation/database'
import { dayMs } from '../removal/keeping-executions.js'
import type { Transaction } from '../removal/removal.js'
import { boundOf } from './bound-of.js'
import { readDoneTo, readExchange } from './exchange-row.js'
import { clientOf } from './exchanged-leaves.js'
import type { History } from './histories.js'

/** An exchange that begins later is not waited for. */
const patienceMs = dayMs

/**
 * The id from which old rows go with their leaf. Those before it go one by one: what an exchange has left, and leaves of months, which nobody made in time. If no
 * exchange has begun a day after its time, whatever the cause, all go one by one.
 */
export async function readWholeFrom(
  transaction: Transaction,
  history: History,
  { now, days }: Kept,
): Promise<string> {
  if (!(await mayChangeLeaves(clientOf(transaction)))) return highestId
  const leaves = await readLeaves(clientOf(transaction), history.name)
  const from = wholeFrom(leaves, days, await readDoneTo(transaction, history))
  const exchange = await readExchange(transaction, history)
  if (exchange && exchange.step !== 'undoing') return from
  const late = { now: now - patienceMs, days }
  return leaves.some((leaf) => boundOf(leaf.from) >= from && isOld(leaf, late)) ? highestId : from
}

/** Otherwise all go one by one. */
export function mayExchange({ system }: Pick<Database, 'system'>): Promise<boolean> {
  return mayChangeLeaves(clientOf(system))
}

/** After the last exchange, the first leaf that is as long as it should be. @param doneTo see `readDoneTo` */
export function wholeFrom(leaves: readonly AttachedLeaf[], days: number, doneTo: string): string {
  const first = leaves.find(({ from, to }) => to - from <= lengthOf(days))
  const from = boundOf(first?.from ?? Number.POSITIVE_INFINITY)
  return from > doneTo ? from : doneTo
}
