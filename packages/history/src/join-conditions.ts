import { Prisma } from '@automation/database'

/** @returns undefined where there are none */
export function joinConditions(conditions: [Prisma.Sql, ...Prisma.Sql[]]): Prisma.Sql
export function joinConditions(conditions: Prisma.Sql[]): Prisma.Sql | undefined
export function joinConditions(conditions: Prisma.Sql[]): Prisma.Sql | undefined {
  return conditions.length === 0 ? undefined : Prisma.join(conditions, ' AND ')
}
