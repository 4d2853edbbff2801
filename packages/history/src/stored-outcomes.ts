import {
  type Database,
  executionIdOf,
  highestIdLike,
  idRangeOf,
  lowestIdLike,
  writeJson,
} from '@automation/database'
import {
  type AddressColumns,
  addresseeOf,
  listEvaluations,
  type MatchedEvaluation,
  type Outranked,
  type RuleEvaluation,
} from '@automation/ledger'

/** An event, and the workspace that asks for it. */
export interface EventInWorkspace {
  id: string
  workspaceId: string
}

/** What is stored of an event that is done. */
export interface StoredOutcome {
  /**
   * In the order of the rules. Undefined while a worker holds one of the executions: an execution that waits is an answer, and a
   * running one is about to become one. Undefined also for a quarantined event: that no rule ran is no answer to its caller.
   */
  evaluations: RuleEvaluation[] | undefined
  isQuarantined: boolean
}

interface DoneEvent extends AddressColumns {
  index: number
  /** The rules considered, in creation order; none where one of its executions runs. */
  ruleIds: string[]
  outranked: Outranked[] | null
  chosenRuleIds: string[] | null
  isQuarantined: boolean
  /** Whether a worker holds one of its executions. */
  isRunning: boolean
}

/**
 * A caller asks several times while a call takes long, so the rules are read only when no execution runs. The condition on 'succeeded'
 * is that of the index executions_not_succeeded.
 *
 * $1 events · $2 and $3 between which ids they lie, and their executions
 */
const findDoneEventsSql = `
  WITH input AS (
    SELECT * FROM json_to_recordset($1::json) AS input (workspace_id uuid, id uuid, lowest uuid, highest uuid, index int)
  )
  SELECT input.index, events.addressee_kind AS "addresseeKind", events.addressee_id AS "addresseeId",
    events.outranked, events.chosen_rule_ids AS "chosenRuleIds", events.quarantined AS "isQuarantined", running.is AS "isRunning",
    CASE
      WHEN events.rule_set_id IS NULL OR running.is THEN '{}'
      WHEN events.addressee_kind IS NOT NULL THEN ARRAY[events.addressee_id]
      ELSE coalesce(rule_sets.rule_ids, '{}')
    END AS "ruleIds"
  FROM input JOIN events USING (workspace_id, id)
  CROSS JOIN LATERAL (
    SELECT EXISTS (
      SELECT FROM executions
      WHERE executions.workspace_id = events.workspace_id AND executions.id BETWEEN input.lowest AND input.highest
        AND executions.id >= $2::uuid AND executions.id <= $3::uuid
        AND executions.event_id = events.id AND executions.status = 'running' AND executions.status <> 'succeeded'
    ) AS is
  ) AS running
  LEFT JOIN rule_sets
    ON NOT running.is AND rule_sets.workspace_id = events.workspace_id AND rule_sets.id = events.rule_set_id
  WHERE events.id = ANY (ARRAY(SELECT id FROM input)) AND events.id >= $2::uuid AND events.id <= $3::uuid AND events.done_at IS NOT NULL`

/** Only a rule executed by hand presents its results, and that execution has the id of its event. $1 workspaces · $2 executions · $3 and $4 between which ids these lie */
const findDoneExecutionsSql = `
  SELECT id AS "executionId", status::text AS status, error, suppression,
    CASE WHEN id = event_id THEN results ELSE '[]'::json END AS results
  FROM unnest($1::uuid[], $2::uuid[]) AS input (workspace_id, id)
  JOIN executions USING (workspace_id, id)
  WHERE executions.id = ANY ($2::uuid[]) AND executions.id >= $3::uuid AND executions.id <= $4::uuid`

type StoredEvaluation = Omit<MatchedEvaluation, 'index'> & { executionId: string }

/** @returns an outcome for each event, undefined where it is not done */
export async function findOutcomes(
  database: Database,
  inputs: EventInWorkspace[],
): Promise<(StoredOutcome | undefined)[]> {
  const rows = inputs.map(({ id, workspaceId }, index) => {
    return { id, workspace_id: workspaceId, lowest: lowestIdLike(id), highest: highestIdLike(id), index }
  })
  const values = [writeJson(rows), ...idRangeOf(inputs.map(({ id }) => id))]
  const events = await database.run<DoneEvent>('find_done_events', findDoneEventsSql, values)
  const expected = events.map((event) => {
    const { id, workspaceId } = inputs[event.index] as EventInWorkspace
    const addressee = addresseeOf(event)
    const ids = event.ruleIds.map((ruleId) => executionIdOf({ id, addressee }, ruleId))
    return { ...event, workspaceId, ids }
  })
  const executions = await findExecutions(database, expected)
  const outcomes: (StoredOutcome | undefined)[] = inputs.map(() => undefined)
  for (const { index, ruleIds, ids, outranked, chosenRuleIds, isQuarantined, isRunning } of expected) {
    const matched = ids.flatMap((id, position): MatchedEvaluation[] => {
      const execution = executions.get(id)
      return execution === undefined ? [] : [{ index: position, ...execution }]
    })
    // One of them may have been retried since the first statement.
    const isOpen = isQuarantined || isRunning || matched.some(({ status }) => status === 'running')
    outcomes[index] = {
      evaluations: isOpen ? undefined : listEvaluations(ruleIds, matched, outranked, chosenRuleIds),
      isQuarantined,
    }
  }
  return outcomes
}

async function findExecutions(
  database: Database,
  expected: { workspaceId: string; ids: string[] }[],
): Promise<Map<string, StoredEvaluation>> {
  const ids = expected.flatMap((event) => event.ids)
  if (ids.length === 0) return new Map()
  const workspaceIds = expected.flatMap((event) => event.ids.map(() => event.workspaceId))
  const rows = await database.run<StoredEvaluation>('find_done_executions', findDoneExecutionsSql, [
    workspaceIds,
    ids,
    ...idRangeOf(ids),
  ])
  return new Map(rows.map((row) => [row.executionId, row]))
}
