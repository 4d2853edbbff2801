import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { capitalize, type Fault, findDurationFault, parseDuration } from '@automation/engine'

/** A worker looks every ten seconds, so less could not be kept. */
const leastMs = 60_000

/** The faults of `expectEvery`, of a request or of an item in a file. */
export function findExpectationFaults({ expectEvery }: { expectEvery?: unknown }): Fault[] {
  if (typeof expectEvery !== 'string') return []
  const ms = parseDuration(expectEvery)
  if (ms === undefined)
    return [{ field: 'expectEvery', message: capitalize(String(findDurationFault(expectEvery))) }]
  return ms < leastMs ? [{ field: 'expectEvery', message: 'Must be at least 1m' }] : []
}

interface ExpectingRule {
  id: string
  expectEvery?: string | null
}

/**
 * Counts the silence of rules from this moment: they were created or switched, or what is expected of them was changed. A worker keeps the
 * silence of an inactive one at zero.
 */
export async function expectMatches(
  transaction: Pick<WorkspaceTransaction, 'ruleSilence' | '$executeRaw'>,
  workspaceId: string,
  rules: ExpectingRule[],
): Promise<void> {
  const free = rules.filter(({ expectEvery }) => typeof expectEvery !== 'string')
  if (free.length > 0)
    await transaction.ruleSilence.deleteMany({ where: { ruleId: { in: free.map(({ id }) => id) } } })
  const rows = rules.flatMap(({ id, expectEvery }) =>
    typeof expectEvery === 'string' ? { id, seconds: (parseDuration(expectEvery) ?? 0) / 1_000 } : [],
  )
  if (rows.length === 0) return
  await transaction.$executeRaw(Prisma.sql`
    INSERT INTO rule_silences (rule_id, workspace_id, seconds)
    SELECT id, ${workspaceId}::uuid, seconds
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS input (id uuid, seconds float8)
    ON CONFLICT (rule_id) DO UPDATE SET seconds = excluded.seconds, counted_from = now(), checked_at = now(), silent_at = NULL`)
}
