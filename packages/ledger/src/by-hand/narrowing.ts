import { Prisma } from '@automation/database'

/** How a list of history is narrowed, in columns that are named with their table. */
export interface Narrowing {
  /** Conditions that an index answers, the workspace at least, and conditions that hold for nearly all rows there. */
  range: Prisma.Sql
  /** Conditions that may hold for few rows. */
  rest: Prisma.Sql | undefined
}

export function joinNarrowing({ range, rest }: Narrowing): Prisma.Sql {
  return rest === undefined ? range : Prisma.sql`${range} AND ${rest}`
}
