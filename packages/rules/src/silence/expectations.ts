import { Prisma, type WorkspaceTransaction, writeJson } from '@automation/database'
import { parseDuration } from '@automation/engine'

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
    FROM json_to_recordset(${writeJson(rows)}::json) AS input (id uuid, seconds float8)
    ON CONFLICT (rule_id) DO UPDATE SET seconds = excluded.seconds, counted_from = now(), checked_at = now(), silent_at = NULL`)
}
