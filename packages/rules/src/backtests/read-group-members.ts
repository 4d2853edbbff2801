import type { BacktestSubject, GroupMember } from '@automation/backtest'
import { Prisma, type UnscopedSql } from '@automation/database'

/** A backtest keeps so many versions of other rules, with so much JSON: it compiles them in each slice. */
const maxVersions = 200
const maxBytes = 65_536

/**
 * Reads the versions of the other rules in the groups of the tested definitions, and when each of them was the active one.
 *
 * @returns undefined where there are more than can be simulated
 */
export async function readGroupMembers(
  database: UnscopedSql,
  workspaceId: string,
  { ruleId, active, draft }: Pick<BacktestSubject, 'ruleId' | 'active' | 'draft'>,
): Promise<GroupMember[] | undefined> {
  const places = [active?.definition, draft].flatMap((one) =>
    typeof one?.group === 'string' ? [{ group: one.group, trigger: one.trigger }] : [],
  )
  if (places.length === 0) return []
  const members = await database.$queryRaw<(GroupMember & { bytes: number })[]>(Prisma.sql`
    WITH spans AS (
      SELECT rule_id, version, rules_version, is_active AND NOT is_deleted AS is_active,
             lead(rules_version) OVER (PARTITION BY rule_id ORDER BY rules_version) AS until
      FROM rule_states WHERE workspace_id = ${workspaceId}::uuid AND rule_id IS DISTINCT FROM ${ruleId ?? null}::uuid
    ),
    versions AS (
      SELECT rule_id, version, name, trigger, group_name, group_order, conditions FROM rule_versions
      WHERE workspace_id = ${workspaceId}::uuid AND group_name IS NOT NULL
      UNION ALL
      SELECT rule_id, version, name, trigger, group_name, group_order, conditions FROM deleted_rule_versions
      WHERE workspace_id = ${workspaceId}::uuid AND group_name IS NOT NULL
    )
    SELECT rule_id AS "ruleId", name, trigger, group_name AS "group", group_order AS "order", conditions,
           rules_version AS "from", until, octet_length(conditions::text) AS bytes
    FROM spans JOIN versions USING (rule_id, version)
    WHERE is_active AND (group_name, trigger) IN (
      SELECT * FROM unnest(${places.map(({ group }) => group)}::text[], ${places.map(({ trigger }) => trigger)}::text[]))
    ORDER BY rule_id, rules_version LIMIT ${maxVersions + 1}`)
  const bytes = members.reduce((sum, member) => sum + member.bytes, 0)
  if (members.length > maxVersions || bytes > maxBytes) return undefined
  return members.map(({ bytes: _, ...member }) => member)
}
