import { publish } from '@automation/access'
import { type Database, Prisma } from '@automation/database'
import type { Silence } from '@automation/ledger'

/** So long (ms) a report waits for a change of its rule: reports of all owners have few places. */
const lockMs = 300

/**
 * Reports that a rule has become silent, or that it is heard again: once, in the commit that notes it. A worker that dies before has reported
 * nothing, and the next look finds it again. A rule that has matched or was edited since the look waits for the next one.
 *
 * @returns whether this call has reported it
 */
export function reportSilence(database: Database, silence: Silence): Promise<boolean> {
  const { ruleId, workspaceId, wasSilent, lastMatchAt, countedFrom } = silence
  return database.forWorkspace(workspaceId).$transaction(async (transaction) => {
    await transaction.$queryRaw(Prisma.sql`SELECT set_config('lock_timeout', ${`${lockMs}ms`}, true)`)
    const [noted] = await transaction.$queryRaw<{ name: string; expectEvery: string; at: Date }[]>(Prisma.sql`
      UPDATE rule_silences SET silent_at = CASE WHEN silent_at IS NULL THEN now() END
      FROM rules
      WHERE rule_silences.rule_id = ${ruleId}::uuid AND rules.id = rule_silences.rule_id AND rules.is_active
        AND rules.expect_every IS NOT NULL AND (silent_at IS NOT NULL) = ${wasSilent}::boolean
        AND counted_from = ${countedFrom}::timestamptz
      RETURNING rules.name, rules.expect_every AS "expectEvery", now() AS at`)
    if (noted === undefined) return false
    const { name, expectEvery, at } = noted
    await publish(transaction, {
      workspaceId,
      type: wasSilent ? 'rule.heard' : 'rule.silent',
      data: {
        ruleId,
        name,
        expectEvery,
        lastMatchAt: lastMatchAt?.toISOString() ?? null,
        at: at.toISOString(),
      },
    })
    return true
  })
}
