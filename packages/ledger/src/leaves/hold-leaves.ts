import type { Prisma } from '@automation/database'

/**
 * The first statement of a transaction that reads one snapshot: no leaf is exchanged until it ends. Without it, rows that are copied at the last moment
 * would be in neither leaf for that snapshot, and a backup would look for leaves that are gone.
 */
export async function holdLeaves(
  transaction: Pick<Prisma.TransactionClient, '$executeRawUnsafe'>,
): Promise<void> {
  await transaction.$executeRawUnsafe('LOCK TABLE events, executions, tasks IN ACCESS SHARE MODE')
}
