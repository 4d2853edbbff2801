import { type Database, executionIdOf, groupCommit } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import { listRuns, type MatchedRun, type Run, type RunStatus } from '@automation/jobs'

/** An event, and the workspace that asks for it. */
export interface WantedEvent {
  id: string
  workspaceId: string
}

/** What is stored of an event that is done. */
export interface StoredOutcome {
  /**
   * In the order of the rules. Undefined while a worker has one of them: a run that waits for its time is an answer, a run
   * that is under way is about to be one. Undefined also for a quarantined event: that no rule was run is no answer to
   * whoever asked for a run.
   */
  runs: Run[] | undefined
  isQuarantined: boolean
}

export type StoredOutcomes = ReturnType<typeof openStoredOutcomes>

/** Each event may have a thousand runs. */
const eventsAtOnce = 100

/**
 * Reads outcomes for those who got no reply. They come by the thousand at the same moment, when Redis is back or gone: they
 * share statements, and so take one connection at a time.
 */
export function openStoredOutcomes(database: Database) {
  return {
    /** undefined for an event that is not done. */
    find: groupCommit((wanted: WantedEvent[]) => findOutcomes(database, wanted), eventsAtOnce),
  }
}

interface DoneEvent {
  index: number
  ruleId: string | null
  /** Those that it has considered, in creation order. */
  ruleIds: string[]
  isQuarantined: boolean
}

async function findOutcomes(
  database: Database,
  wanted: WantedEvent[],
): Promise<(StoredOutcome | undefined)[]> {
  const rows = wanted.map(({ id, workspaceId }, index) => ({ id, workspace_id: workspaceId, index }))
  const events = await database.run<DoneEvent>('find_done_events', eventStatement, [JSON.stringify(rows)])
  const expected = events.map((event) => {
    const { id, workspaceId } = wanted[event.index] as WantedEvent
    const ids = event.ruleIds.map((ruleId) => executionIdOf({ id, ruleId: event.ruleId }, ruleId))
    return { ...event, workspaceId, ids }
  })
  const executions = await findExecutions(database, expected)
  const outcomes: (StoredOutcome | undefined)[] = wanted.map(() => undefined)
  for (const { index, ruleIds, ids, isQuarantined } of expected) {
    const matched = ids.flatMap((id, place): MatchedRun[] => {
      const execution = executions.get(id)
      return execution === undefined ? [] : [{ place, ...execution }]
    })
    const isOpen = isQuarantined || matched.some(({ status }) => status === 'running')
    outcomes[index] = { runs: isOpen ? undefined : listRuns(ruleIds, matched), isQuarantined }
  }
  return outcomes
}

const eventStatement = `
  SELECT wanted.index, events.rule_id AS "ruleId", events.quarantined AS "isQuarantined",
    CASE
      WHEN events.rule_set_id IS NULL THEN '{}'
      WHEN events.rule_id IS NOT NULL THEN ARRAY[events.rule_id]
      ELSE coalesce(rule_sets.rule_ids, '{}')
    END AS "ruleIds"
  FROM json_to_recordset($1::json) AS wanted (workspace_id uuid, id uuid, index int)
  JOIN events USING (workspace_id, id)
  LEFT JOIN rule_sets ON rule_sets.workspace_id = events.workspace_id AND rule_sets.id = events.rule_set_id
  WHERE events.done_at IS NOT NULL`

interface StoredRun {
  executionId: string
  status: RunStatus
  error: string | null
  results: ActionResult[]
}

async function findExecutions(
  database: Database,
  expected: { workspaceId: string; ids: string[] }[],
): Promise<Map<string, StoredRun>> {
  const ids = expected.flatMap((event) => event.ids)
  if (ids.length === 0) return new Map()
  const workspaceIds = expected.flatMap((event) => event.ids.map(() => event.workspaceId))
  const rows = await database.run<StoredRun>('find_done_executions', executionStatement, [workspaceIds, ids])
  return new Map(rows.map((row) => [row.executionId, row]))
}

// Results are told of a rule executed by hand alone, whose execution has the id of its event.
const executionStatement = `
  SELECT id AS "executionId", status::text AS status, error,
    CASE WHEN id = event_id THEN results ELSE '[]'::json END AS results
  FROM unnest($1::uuid[], $2::uuid[]) AS wanted (workspace_id, id)
  JOIN executions USING (workspace_id, id)`
