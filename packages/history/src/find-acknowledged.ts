import type { WorkspaceDatabase } from '@automation/database'
import { cutText } from '@automation/engine'
import { groupedErrorLength } from '@automation/ledger'

/** Which of these rules failed last in a way that somebody has acknowledged since. */
export async function findAcknowledged(
  database: WorkspaceDatabase,
  counters: readonly { ruleId: string; lastError: string | null; lastFailureAt: Date | null }[],
): Promise<Set<string>> {
  const failed = counters.flatMap(({ ruleId, lastError, lastFailureAt }) =>
    lastFailureAt === null
      ? []
      : [
          {
            handlerId: ruleId,
            error: cutText(lastError ?? '', groupedErrorLength),
            until: { gte: lastFailureAt },
          },
        ],
  )
  if (failed.length === 0) return new Set()
  const rows = await database.acknowledgement.findMany({ where: { OR: failed }, select: { handlerId: true } })
  return new Set(rows.map(({ handlerId }) => handlerId))
}
