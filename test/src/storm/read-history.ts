import type { TestedDefinition } from '@automation/backtest'

/** Reads rows of any table, past everything that is tested. */
export type Query = <Row extends object>(text: string) => Promise<Row[]>

/** A rule that was considered for an event, and what the ledger holds of it. */
export interface ConsideredVersion {
  ruleId: string
  /** That of the rule's last state at the event's `rulesVersion`; undefined where there is none. */
  version: number | undefined
  definition: TestedDefinition | undefined
  /** Whether it has an execution. */
  hasRun: boolean
  /** It matched, and another rule of its group has the execution. */
  isOutranked: boolean
  /** Its execution failed before its conditions were evaluated. */
  isUnevaluated: boolean
}

export interface PastEvent {
  id: string
  workspaceId: string
  type: string
  acceptedAt: Date
  doneAt: Date | null
  quarantined: boolean
  /** The rule that it is addressed to. */
  addresseeKind: 'rule' | 'tick' | null
  addresseeId: string | null
  ruleSetId: string | null
  /** Places in the rule set: of the rules that matched and did not run, and of those of their groups that did. */
  outranked: [index: number, by: number][] | null
  rulesVersion: number | null
  rootId: string | null
  /** JSON of its data. */
  json: string
  considered: ConsideredVersion[]
}

interface ExecutionRow {
  eventId: string
  ruleId: string
  isUnevaluated: boolean
}

const atOnce = 2_000

/**
 * Reads all events of some workspaces in the order of their ids, with the rules that were considered for each, by the rows alone: no code of
 * the product decides what was considered, in which version, and what came of it. Deliveries are left out.
 */
export async function* readHistory(query: Query, workspaceIds: string[]): AsyncGenerator<PastEvent[]> {
  const ids = workspaceIds.map((id) => `'${id}'`).join(', ')
  const book = await readRuleBook(query, ids)
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const events = await query<Omit<PastEvent, 'considered'>>(`
      SELECT id, workspace_id AS "workspaceId", type, accepted_at AS "acceptedAt", done_at AS "doneAt", quarantined,
             addressee_kind AS "addresseeKind", addressee_id AS "addresseeId", rule_set_id AS "ruleSetId", outranked,
             rules_version AS "rulesVersion", root_id AS "rootId", data::text AS json
      FROM events
      WHERE workspace_id IN (${ids}) AND addressee_kind IS DISTINCT FROM 'subscription' AND id > '${after}'
      ORDER BY id LIMIT ${atOnce}`)
    const [first, last] = [events[0], events.at(-1)]
    if (first === undefined || last === undefined) return
    // The id of an execution begins with the time of its event's id.
    const executions = await query<ExecutionRow>(`
      SELECT event_id AS "eventId", handler_id AS "ruleId", status = 'failed' AND results::text = '[]' AS "isUnevaluated"
      FROM executions
      WHERE workspace_id IN (${ids})
        AND id BETWEEN '${first.id.slice(0, 13)}-0000-0000-000000000000' AND '${last.id.slice(0, 13)}-ffff-ffff-ffffffffffff'`)
    const known = new Map(executions.map((row) => [`${row.eventId} ${row.ruleId}`, row]))
    yield events.map((event) => ({ ...event, considered: listConsidered(event, book, known) }))
    after = last.id
  }
}

interface RuleBook {
  /** By workspace and set. */
  sets: Map<string, string[]>
  /** By workspace and rule, in the order of their `rulesVersion`. */
  states: Map<string, { rulesVersion: number; version: number }[]>
  /** By rule and version. */
  definitions: Map<string, TestedDefinition>
}

async function readRuleBook(query: Query, ids: string): Promise<RuleBook> {
  const where = `WHERE workspace_id IN (${ids})`
  const sets = await query<{ workspaceId: string; id: string; ruleIds: string[] }>(
    `SELECT workspace_id AS "workspaceId", id, rule_ids::text[] AS "ruleIds" FROM rule_sets ${where}`,
  )
  const states = await query<{ workspaceId: string; ruleId: string; rulesVersion: number; version: number }>(`
    SELECT workspace_id AS "workspaceId", rule_id AS "ruleId", rules_version AS "rulesVersion", version
    FROM rule_states ${where} ORDER BY rules_version`)
  const versions = await query<TestedDefinition & { ruleId: string; version: number }>(`
    SELECT rule_id AS "ruleId", version, trigger, group_name AS "group", group_order AS "order", conditions, actions
    FROM rule_versions ${where}
    UNION ALL SELECT rule_id, version, trigger, group_name, group_order, conditions, actions
    FROM deleted_rule_versions ${where}`)
  const book: RuleBook = { sets: new Map(), states: new Map(), definitions: new Map() }
  for (const { workspaceId, id, ruleIds } of sets) book.sets.set(`${workspaceId} ${id}`, ruleIds)
  for (const { ruleId, version, ...definition } of versions)
    book.definitions.set(`${ruleId} ${version}`, definition)
  for (const { workspaceId, ruleId, ...state } of states) {
    const key = `${workspaceId} ${ruleId}`
    const known = book.states.get(key) ?? []
    known.push(state)
    book.states.set(key, known)
  }
  return book
}

function listConsidered(
  event: Omit<PastEvent, 'considered'>,
  { sets, states, definitions }: RuleBook,
  executions: Map<string, ExecutionRow>,
): ConsideredVersion[] {
  const { id, workspaceId, doneAt, quarantined, addresseeId: addressee, ruleSetId, rulesVersion } = event
  if (doneAt === null || quarantined || ruleSetId === null) return []
  const ruleIds = addressee === null ? (sets.get(`${workspaceId} ${ruleSetId}`) ?? []) : [addressee]
  const outranked = new Set(event.outranked?.map(([index]) => index))
  return ruleIds.map((ruleId, index) => {
    const version =
      rulesVersion === null
        ? undefined
        : states.get(`${workspaceId} ${ruleId}`)?.findLast((state) => state.rulesVersion <= rulesVersion)
            ?.version
    const execution = executions.get(`${id} ${ruleId}`)
    return {
      ruleId,
      version,
      definition: definitions.get(`${ruleId} ${version}`),
      hasRun: execution !== undefined,
      isOutranked: outranked.has(index),
      isUnevaluated: execution?.isUnevaluated ?? false,
    }
  })
}
