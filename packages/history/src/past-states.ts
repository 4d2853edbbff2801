import { Prisma, type WorkspaceDatabase } from '@automation/database'

/** What a rule was when an event was evaluated. */
export interface PastState {
  ruleId: string
  /** null, as are the next two: the rule did not exist. */
  version: number | null
  isActive: boolean | null
  isDeleted: boolean | null
  /** The present name, or the last one. */
  name: string | null
  /** Of the version; null where it is not stored any more, as are the conditions. */
  trigger: string | null
  conditions: string | null
}

/**
 * Stands between the conditions of rules, which come as one value: JSON has no such character, so nothing is escaped. Prisma takes longer to
 * read a thousand rows of eight columns than Postgres to find them.
 */
const separator = '\u0001'

/**
 * Reads what rules were at the `rulesVersion` of an event: their last row of `rule_states` up to there.
 *
 * @returns nothing for rules that the workspace has, and had, never
 */
export async function readStates(
  database: Pick<WorkspaceDatabase, '$queryRaw'>,
  { workspaceId, rulesVersion }: { workspaceId: string; rulesVersion: number | null },
  ruleIds: string[],
): Promise<Map<string, PastState>> {
  const [row] = await database.$queryRaw<{ states: string; conditions: string | null }[]>(Prisma.sql`
    SELECT coalesce(json_agg(json_build_object(
             'ruleId', "ruleId", 'version', version, 'isActive', "isActive", 'isDeleted', "isDeleted",
             'name', name, 'trigger', trigger) ORDER BY "ruleId"), '[]')::text AS states,
           string_agg(coalesce(conditions, ''), ${separator} ORDER BY "ruleId") AS conditions
    FROM (
      SELECT input.rule_id AS "ruleId", state.version, state.is_active AS "isActive", state.is_deleted AS "isDeleted",
             coalesce(present.name, stored.name, deleted.name, latest.name) AS name,
             coalesce(stored.trigger, deleted.trigger) AS trigger,
             coalesce(stored.conditions, deleted.conditions)::text AS conditions
      FROM workspaces
      CROSS JOIN unnest(${ruleIds}::uuid[]) AS input (rule_id)
      LEFT JOIN LATERAL (
        SELECT version, is_active, is_deleted FROM rule_states
        WHERE workspace_id = workspaces.id AND rule_id = input.rule_id AND rules_version <= ${rulesVersion}::int
        ORDER BY rules_version DESC LIMIT 1
      ) AS state ON true
      LEFT JOIN LATERAL (
        SELECT versions.name FROM rule_states
        LEFT JOIN deleted_rule_versions AS versions USING (workspace_id, rule_id, version)
        WHERE workspace_id = workspaces.id AND rule_id = input.rule_id
        ORDER BY rules_version DESC LIMIT 1
      ) AS latest ON true
      LEFT JOIN rules AS present ON present.workspace_id = workspaces.id AND present.id = input.rule_id
      LEFT JOIN rule_versions AS stored ON stored.workspace_id = workspaces.id
        AND stored.rule_id = input.rule_id AND stored.version = state.version
      LEFT JOIN deleted_rule_versions AS deleted ON deleted.workspace_id = workspaces.id
        AND deleted.rule_id = input.rule_id AND deleted.version = state.version
      WHERE workspaces.id = ${workspaceId}::uuid
        AND (present.id IS NOT NULL OR EXISTS (
          SELECT FROM rule_states WHERE workspace_id = workspaces.id AND rule_id = input.rule_id))
    ) AS states`)
  const states = JSON.parse(row?.states ?? '[]') as Omit<PastState, 'conditions'>[]
  const conditions = row?.conditions?.split(separator) ?? []
  return new Map(
    states.map((state, index) => [state.ruleId, { ...state, conditions: conditions[index] || null }]),
  )
}
