type Count = 'successCount' | 'failureCount' | 'consecutiveFailures'

/**
 * The counts of a rule, or sums of them, as numbers: Prisma reads BIGINT as bigint, which neither JSON nor other numbers take.
 * Where there is none, 0. Numbers are exact up to 9e15, which is 285,000 years of 1,000 executions a second.
 */
export function countsOf(
  counters: Partial<Record<Count, bigint | null>> | null | undefined,
): Record<Count, number> {
  const { successCount, failureCount, consecutiveFailures } = counters ?? {}
  return {
    successCount: Number(successCount ?? 0),
    failureCount: Number(failureCount ?? 0),
    consecutiveFailures: Number(consecutiveFailures ?? 0),
  }
}
