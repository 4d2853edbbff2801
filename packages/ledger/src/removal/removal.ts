import type { Prisma } from '@automation/database'

export type Transaction = Prisma.TransactionClient

/**
 * Removes some of the oldest rows of a kind, and continues from there with the next call.
 *
 * @param size about how many rows to remove
 */
export type Removal = (
  transaction: Transaction,
  size: number,
) => Promise<{ removed: number; isOver: boolean }>
