import { executionIdOf, Prisma, timeOf, type WorkspaceDatabase } from '@automation/database'
import { type Addressee, addresseeOf } from '../addressee.js'

/** An event, as far as it says which rules were considered for it. */
export interface JudgedEvent {
  id: string
  workspaceId: string
  type: string
  acceptedAt: Date
  doneAt: Date | null
  quarantined: boolean
  addressee: Addressee | null
  ruleSetId: string | null
  /** null: the event is not done, or a worker of the version before evaluated it. */
  rulesVersion: number | null
  /** JSON, not parsed: it may be large. */
  data: string
}

/** What became of one rule for one event. */
export type Verdict =
  | 'matched'
  | 'not_matched'
  | 'not_judged'
  | 'inactive'
  | 'created_later'
  | 'other_type'
  | 'deleted'
  | 'quarantined'
  | 'pending'
  | 'not_considered'
  | 'not_known'

/** A rule, in the version in which it was considered. What is not known is null. */
export interface ConsideredRule {
  ruleId: string
  verdict: Verdict
  executionId: string | null
  version: number | null
  name: string | null
  /** JSON of its conditions; null where they need no explanation, too. */
  conditions: string | null
}

/** Reads an event of a workspace; undefined where there is none. */
export async function readJudgedEvent(
  database: WorkspaceDatabase,
  workspaceId: string,
  id: string,
): Promise<JudgedEvent | undefined> {
  type Row = Omit<JudgedEvent, 'addressee'> & { ruleId: string | null; subscriptionId: string | null }
  const [row] = await database.$queryRaw<Row[]>(Prisma.sql`
    SELECT id, workspace_id AS "workspaceId", type, accepted_at AS "acceptedAt", done_at AS "doneAt", quarantined,
           rule_id AS "ruleId", subscription_id AS "subscriptionId", rule_set_id AS "ruleSetId",
           rules_version AS "rulesVersion", data::text AS data
    FROM events WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid`)
  return row && { ...row, addressee: addresseeOf(row) }
}

/**
 * Lists the rules that were considered for an event, in creation order: each in the version that was evaluated, with what happened. Verdicts
 * are facts of rows. The engine can explain those whose version is known.
 */
export async function listConsidered(
  database: WorkspaceDatabase,
  event: JudgedEvent,
): Promise<ConsideredRule[]> {
  const ruleIds = await readRuleIds(database, event)
  const [states, executions] = [
    await readStates(database, event, ruleIds),
    await readExecutions(database, event, ruleIds),
  ]
  return ruleIds.map((ruleId): ConsideredRule => {
    const state = states.get(ruleId)
    const execution = executions.get(ruleId)
    // Without the moment of judging, only the version that ran is known.
    // An older API does not note its changes: the version of an execution is the proof.
    const isKnown =
      event.rulesVersion !== null &&
      state?.isKnown === true &&
      (execution === undefined || execution.ruleVersion === state.version)
    const verdict = execution === undefined ? 'not_matched' : execution.isUnjudged ? 'not_judged' : 'matched'
    return {
      ruleId,
      verdict,
      executionId: execution?.id ?? null,
      version: isKnown ? (state.version ?? null) : (execution?.ruleVersion ?? null),
      name: state?.name ?? null,
      conditions: isKnown ? state.conditions : null,
    }
  })
}

/**
 * Says why a rule was not considered for an event.
 *
 * @returns undefined where the workspace has, and had, no such rule
 */
export async function findUnconsidered(
  database: WorkspaceDatabase,
  event: JudgedEvent,
  ruleId: string,
): Promise<ConsideredRule | undefined> {
  const state = (await readStates(database, event, [ruleId])).get(ruleId)
  const isThere = (await database.rule.count({ where: { id: ruleId } })) > 0
  if (!isThere && (state === undefined || !state.wasNoted)) return undefined
  const verdict = verdictOf(event, ruleId, state, isThere)
  return {
    ruleId,
    verdict,
    executionId: null,
    version: state?.isKnown === true ? state.version : null,
    name: state?.name ?? null,
    conditions: verdict === 'inactive' && state?.isKnown === true ? state.conditions : null,
  }
}

function verdictOf(
  event: JudgedEvent,
  ruleId: string,
  state: RuleStateRow | undefined,
  isThere: boolean,
): Verdict {
  if (event.quarantined) return 'quarantined'
  if (event.doneAt === null) return 'pending'
  if (event.addressee !== null) return 'not_considered'
  if (state === undefined || state.version === null)
    return timeOf(ruleId) >= event.acceptedAt.getTime() ? 'created_later' : 'not_known'
  if (state.isDeleted) return 'deleted'
  if (!state.isKnown) return isThere ? 'not_known' : 'deleted'
  if (state.isActive === false) return 'inactive'
  if (state.trigger === null) return 'not_known'
  if (state.trigger !== event.type) return 'other_type'
  // An API of the version before deleted it, which it did not note.
  return isThere ? 'not_considered' : 'deleted'
}

async function readRuleIds(database: WorkspaceDatabase, event: JudgedEvent): Promise<string[]> {
  if (event.ruleSetId === null || event.addressee?.kind === 'subscription') return []
  if (event.addressee !== null) return [event.addressee.id]
  const set = await database.ruleSet.findFirst({
    where: { id: event.ruleSetId },
    select: { ruleIds: true },
  })
  return set?.ruleIds ?? []
}

interface RuleStateRow {
  ruleId: string
  /** Whether anything is known of it, at any time. */
  wasNoted: boolean
  /** null where nothing is known of it at the event's `rulesVersion`; so is the rest. */
  version: number | null
  isActive: boolean | null
  isDeleted: boolean | null
  /** Whether no version came in between that was not noted. */
  isKnown: boolean
  name: string | null
  trigger: string | null
  conditions: string | null
}

async function readStates(
  database: WorkspaceDatabase,
  { workspaceId, rulesVersion }: JudgedEvent,
  ruleIds: string[],
): Promise<Map<string, RuleStateRow>> {
  const rows = await database.$queryRaw<RuleStateRow[]>(Prisma.sql`
    SELECT input.rule_id AS "ruleId", latest.version IS NOT NULL AS "wasNoted", state.version,
           state.is_active AS "isActive", state.is_deleted AS "isDeleted",
           coalesce(next.version = state.version + 1,
                    state.version IS NOT NULL AND following.version IS NULL) AS "isKnown",
           coalesce(present.name, stored.name, deleted.name, latest.name) AS name,
           coalesce(stored.trigger, deleted.trigger) AS trigger,
           coalesce(stored.conditions, deleted.conditions)::text AS conditions
    FROM unnest(${ruleIds}::uuid[]) AS input (rule_id)
    LEFT JOIN LATERAL (
      SELECT version, is_active, is_deleted FROM rule_states
      WHERE workspace_id = ${workspaceId}::uuid AND rule_id = input.rule_id AND rules_version <= ${rulesVersion}::int
      ORDER BY rules_version DESC LIMIT 1
    ) AS state ON true
    LEFT JOIN LATERAL (
      SELECT version FROM rule_states
      WHERE workspace_id = ${workspaceId}::uuid AND rule_id = input.rule_id AND rules_version > ${rulesVersion}::int
        AND version > state.version
      ORDER BY rules_version LIMIT 1
    ) AS next ON true
    LEFT JOIN LATERAL (
      SELECT rule_states.version, versions.name FROM rule_states
      LEFT JOIN deleted_rule_versions AS versions USING (workspace_id, rule_id, version)
      WHERE rule_states.workspace_id = ${workspaceId}::uuid AND rule_id = input.rule_id
      ORDER BY rules_version DESC LIMIT 1
    ) AS latest ON true
    LEFT JOIN rules AS present ON present.workspace_id = ${workspaceId}::uuid AND present.id = input.rule_id
    LEFT JOIN rule_versions AS stored ON stored.workspace_id = ${workspaceId}::uuid
      AND stored.rule_id = input.rule_id AND stored.version = state.version
    LEFT JOIN rule_versions AS following ON following.workspace_id = ${workspaceId}::uuid
      AND following.rule_id = input.rule_id AND following.version = state.version + 1
    LEFT JOIN deleted_rule_versions AS deleted ON deleted.workspace_id = ${workspaceId}::uuid
      AND deleted.rule_id = input.rule_id AND deleted.version = state.version`)
  return new Map(rows.map((row) => [row.ruleId, row]))
}

interface JudgedExecution {
  id: string
  ruleId: string
  ruleVersion: number
  /** It failed before its conditions were judged, or, retried, they did not hold. */
  isUnjudged: boolean
}

/** The ids of executions follow from their event and rule. */
async function readExecutions(
  database: WorkspaceDatabase,
  event: JudgedEvent,
  ruleIds: string[],
): Promise<Map<string, JudgedExecution>> {
  const ids = ruleIds.map((ruleId) => executionIdOf(event, ruleId))
  const rows = await database.$queryRaw<JudgedExecution[]>(Prisma.sql`
    SELECT id, rule_id AS "ruleId", rule_version AS "ruleVersion",
           json_array_length(results) = 0
           AND (status = 'failed' OR (status = 'cancelled' AND error = 'The conditions do not hold')) AS "isUnjudged"
    FROM executions WHERE workspace_id = ${event.workspaceId}::uuid AND id = ANY (${ids}::uuid[])`)
  return new Map(rows.map((row) => [row.ruleId, row]))
}
