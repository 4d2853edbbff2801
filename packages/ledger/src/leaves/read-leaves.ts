import { firstIdOf, highestId, lowestId, lowestIdLike, Prisma, timeOf } from '@automation/database'
import type { Transaction } from '../removal/removal.js'
import type { Leaf } from './plan-exchange.js'

export interface AttachedLeaf extends Leaf {
  /** Without its schema, which is `history`. */
  name: string
}

const boundPattern = /^FOR VALUES FROM \((?:MINVALUE|'(.+)')\) TO \((?:MAXVALUE|'(.+)')\)$/

/** Reads the leaves of a table, in order. */
export async function readLeaves(transaction: Transaction, table: string): Promise<AttachedLeaf[]> {
  const rows = await transaction.$queryRaw<{ name: string; bound: string }[]>(Prisma.sql`
    SELECT relname::text AS name, pg_get_expr(relpartbound, pg_class.oid) AS bound
    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = ${table}::regclass AND relnamespace = 'history'::regnamespace`)
  const leaves = rows.map(({ name, bound }) => {
    const [, from, to] = boundPattern.exec(bound) ?? []
    return {
      name,
      from: from ? timeOf(from) : Number.NEGATIVE_INFINITY,
      to: to ? timeOf(to) : Number.POSITIVE_INFINITY,
    }
  })
  return leaves.sort((one, other) => one.from - other.from)
}

/** The id at which a leaf begins or ends. */
export function boundOf(time: number): string {
  if (time === Number.NEGATIVE_INFINITY) return lowestId
  if (time === Number.POSITIVE_INFINITY) return highestId
  return lowestIdLike(firstIdOf(time))
}

/** The contrary of boundOf. */
export function timeOfBound(id: string): number {
  if (id === lowestId) return Number.NEGATIVE_INFINITY
  if (id === highestId) return Number.POSITIVE_INFINITY
  return timeOf(id)
}
