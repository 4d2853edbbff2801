import type { Prisma } from '@automation/database'

/**
 * Keeps the leaves of the history where they are until the transaction ends. One that reads a snapshot calls it before anything else: where a leaf was
 * exchanged after the snapshot, it would find the rows of neither.
 */
export async function holdLeaves(
  transaction: Pick<Prisma.TransactionClient, '$executeRawUnsafe'>,
): Promise<void> {
  await transaction.$executeRawUnsafe('LOCK TABLE events, executions, tasks IN ACCESS SHARE MODE')
}
