import { executionIdOf, type WorkspaceDatabase } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import { listRuns, type MatchedRun, type Run, type RunStatus } from '@automation/jobs'

/**
 * The runs of an event as they were stored, in the order of the rules. Undefined while it is not done, or a worker has one
 * of them: one that waits for its time is an answer, one that is under way is about to be. Undefined also where the event is
 * quarantined: that no rule was run is no answer to whoever asked for a run.
 */
export async function findRuns(database: WorkspaceDatabase, eventId: string): Promise<Run[] | undefined> {
  const event = await database.event.findUnique({
    where: { id: eventId },
    select: { id: true, ruleId: true, ruleSetId: true, doneAt: true, quarantined: true },
  })
  const runs = event?.doneAt && !event.quarantined ? await readRuns(database, event) : undefined
  return runs?.some(({ status }) => status === 'running') ? undefined : runs
}

/** All of them, for an event that was read already and is done. */
export async function readRuns(database: WorkspaceDatabase, event: ConsideringEvent): Promise<Run[]> {
  const ruleIds = await readRuleIds(database, event)
  const ids = ruleIds.map((ruleId) => executionIdOf(event, ruleId))
  const executions = await database.execution.findMany({
    where: { id: { in: ids } },
    select: { id: true, status: true, error: true, results: true },
  })
  const byId = new Map(executions.map((execution) => [execution.id, execution]))
  const matched = ids.flatMap((executionId, place): MatchedRun[] => {
    const execution = byId.get(executionId)
    if (execution === undefined) return []
    const { status, error, results } = execution
    return [{ place, executionId, status, error, results: results as unknown as ActionResult[] }]
  })
  return listRuns(ruleIds, matched)
}

interface ConsideringEvent {
  id: string
  ruleId: string | null
  ruleSetId: string | null
}

/** The rules that an event has considered, in creation order. */
async function readRuleIds(
  database: WorkspaceDatabase,
  { ruleId, ruleSetId }: ConsideringEvent,
): Promise<string[]> {
  if (ruleSetId === null) return []
  if (ruleId !== null) return [ruleId]
  const set = await database.ruleSet.findFirst({ where: { id: ruleSetId }, select: { ruleIds: true } })
  return set?.ruleIds ?? []
}

const unfinished: ReadonlySet<RunStatus> = new Set<RunStatus>(['running', 'waiting', 'retrying'])

export function isUnfinished({ status }: Pick<Run, 'status'>): boolean {
  return unfinished.has(status)
}
