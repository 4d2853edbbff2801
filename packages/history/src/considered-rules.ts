import { executionIdOf, Prisma, type WorkspaceDatabase } from '@automation/database'
import type { Suppression } from '@automation/engine'
import {
  type AddressColumns,
  type Addressee,
  addresseeOf,
  isLeftOut,
  type Outranked,
} from '@automation/ledger'
import { type PastState, readStates } from './past-states.js'

/** An event, as far as it says which rules were considered for it. */
export interface EvaluatedEvent {
  id: string
  workspaceId: string
  type: string
  acceptedAt: Date
  doneAt: Date | null
  quarantined: boolean
  quarantineReason: string | null
  /** When a value of its data was erased: its conditions may hold no more. */
  erasedAt: Date | null
  addressee: Addressee | null
  ruleSetId: string | null
  outranked: Outranked[] | null
  /** Of a replay, the rules that a person has chosen; null: all. */
  chosenRuleIds: string[] | null
  /** null: no rule was evaluated for it. */
  rulesVersion: number | null
  /** The event from outside that led to it; null for one from outside. */
  rootId: string | null
  /** JSON, not parsed: it may be large. */
  data: string
}

/** What became of one rule for one event. */
export type Verdict =
  | 'matched'
  | 'outranked'
  | 'left_out'
  | 'suppressed'
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

/** A rule, in the version in which it was considered. What is not stored any more is null. */
export interface ConsideredRule {
  ruleId: string
  verdict: Verdict
  executionId: string | null
  /** The rule of its group that ran instead; null where that is not why it has no execution. */
  outrankedBy: string | null
  /** Why its execution did nothing, as it was recorded; null where it is not suppressed. */
  suppression: Suppression | null
  version: number | null
  name: string | null
  /** JSON of its conditions; null where they need no explanation, too. */
  conditions: string | null
}

/** Reads an event of a workspace; undefined where there is none. */
export async function readEvaluatedEvent(
  database: WorkspaceDatabase,
  workspaceId: string,
  id: string,
): Promise<EvaluatedEvent | undefined> {
  type Row = Omit<EvaluatedEvent, 'addressee'> & AddressColumns
  const [row] = await database.$queryRaw<Row[]>(Prisma.sql`
    SELECT id, workspace_id AS "workspaceId", type, accepted_at AS "acceptedAt", done_at AS "doneAt", quarantined,
           quarantine_reason AS "quarantineReason", erased_at AS "erasedAt",
           addressee_kind AS "addresseeKind", addressee_id AS "addresseeId", rule_set_id AS "ruleSetId", outranked,
           chosen_rule_ids AS "chosenRuleIds", rules_version AS "rulesVersion", root_id AS "rootId", data::text AS data
    FROM events WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid`)
  return row && { ...row, addressee: addresseeOf(row) }
}

/**
 * Lists the rules that were considered for an event, in creation order: each in the version that was evaluated, with what happened. Verdicts
 * are facts of rows, and the engine can explain them.
 *
 * @param only this rule, if it was considered
 */
export async function listConsidered(
  database: WorkspaceDatabase,
  event: EvaluatedEvent,
  only?: string,
): Promise<ConsideredRule[]> {
  const all = await readRuleIds(database, event)
  const ruleIds = only === undefined ? all : all.filter((ruleId) => ruleId === only)
  const [states, executions] = [
    await readStates(database, event, ruleIds),
    await readExecutions(database, event, ruleIds),
  ]
  const winners = new Map(event.outranked?.map(([index, by]) => [all[index], all[by]]))
  return ruleIds.map((ruleId): ConsideredRule => {
    const state = states.get(ruleId)
    const execution = executions.get(ruleId)
    const outrankedBy = winners.get(ruleId) ?? null
    return {
      ruleId,
      verdict: isLeftOut(ruleId, event.chosenRuleIds)
        ? 'left_out'
        : outrankedBy === null
          ? verdictOfConsidered(execution)
          : 'outranked',
      executionId: execution?.id ?? null,
      outrankedBy,
      suppression: execution?.suppression ?? null,
      version: state?.version ?? null,
      name: state?.name ?? null,
      conditions: state?.conditions ?? null,
    }
  })
}

function verdictOfConsidered(execution: EvaluatedExecution | undefined): Verdict {
  if (execution === undefined) return 'not_matched'
  if (execution.suppression !== null) return 'suppressed'
  return execution.isUnevaluated ? 'not_judged' : 'matched'
}

/**
 * Says why a rule was not considered for an event.
 *
 * @returns undefined where the workspace has, and had, no such rule
 */
export async function findUnconsidered(
  database: WorkspaceDatabase,
  event: EvaluatedEvent,
  ruleId: string,
): Promise<ConsideredRule | undefined> {
  const state = (await readStates(database, event, [ruleId])).get(ruleId)
  if (state === undefined) return undefined
  const verdict = verdictOf(event, ruleId, state)
  return {
    ruleId,
    verdict,
    executionId: null,
    outrankedBy: null,
    suppression: null,
    version: state.version,
    name: state.name,
    conditions: verdict === 'inactive' ? state.conditions : null,
  }
}

/** `not_known`: the definition that says more is not stored any more. */
function verdictOf(event: EvaluatedEvent, ruleId: string, state: PastState): Verdict {
  if (event.quarantined) return 'quarantined'
  if (event.doneAt === null) return 'pending'
  if (event.addressee !== null && event.addressee.id !== ruleId) return 'not_considered'
  if (state.isDeleted) return 'deleted'
  if (state.version === null) return 'created_later'
  if (event.addressee !== null && event.addressee.kind !== 'tick') return 'not_known'
  if (state.isActive === false) return 'inactive'
  if (state.trigger === null) return 'not_known'
  if (state.trigger !== event.type) return 'other_type'
  // What a rule emitted ends with it (causation.ts of the worker). An event from outside meets all rules that are active.
  return event.rootId !== null && event.ruleSetId === null ? 'not_considered' : 'not_known'
}

async function readRuleIds(database: WorkspaceDatabase, event: EvaluatedEvent): Promise<string[]> {
  if (event.ruleSetId === null || event.addressee?.kind === 'subscription') return []
  if (event.addressee !== null) return [event.addressee.id]
  const set = await database.ruleSet.findFirst({
    where: { id: event.ruleSetId },
    select: { ruleIds: true },
  })
  return set?.ruleIds ?? []
}

interface EvaluatedExecution {
  id: string
  ruleId: string
  ruleVersion: number
  /** It failed before its conditions were evaluated, or, retried, they did not hold. */
  isUnevaluated: boolean
  suppression: Suppression | null
}

/** The ids of executions follow from their event and rule. */
async function readExecutions(
  database: WorkspaceDatabase,
  event: EvaluatedEvent,
  ruleIds: string[],
): Promise<Map<string, EvaluatedExecution>> {
  const ids = ruleIds.map((ruleId) => executionIdOf(event, ruleId))
  const [row] = await database.$queryRaw<{ executions: string }[]>(Prisma.sql`
    SELECT coalesce(json_agg(evaluated), '[]')::text AS executions FROM (
      SELECT id, handler_id AS "ruleId", rule_version AS "ruleVersion", suppression,
             json_array_length(results) = 0
             AND (status = 'failed' OR (status = 'cancelled' AND error = 'The conditions do not hold')) AS "isUnevaluated"
      FROM executions WHERE workspace_id = ${event.workspaceId}::uuid AND id = ANY (${ids}::uuid[])) AS evaluated`)
  const executions = JSON.parse(row?.executions ?? '[]') as EvaluatedExecution[]
  return new Map(executions.map((execution) => [execution.ruleId, execution]))
}
