import { Prisma, timeOf, type UnscopedSql } from '@automation/database'

/**
 * Finds the oldest event that is not done, of any workspace. It reads the entries of all finished events that an old snapshot keeps in the index,
 * so it is for a rare question: LowWaterMark is for the frequent one.
 *
 * @returns the time of its id; null where there is none
 */
export async function findOldestUndone(database: UnscopedSql): Promise<Date | null> {
  const [row] = await database.$queryRaw<{ id: string }[]>(
    Prisma.sql`SELECT id FROM events WHERE done_at IS NULL AND parked IS NULL ORDER BY id LIMIT 1`,
  )
  return row === undefined ? null : new Date(timeOf(row.id))
}
