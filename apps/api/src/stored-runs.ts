import { executionIdOf, type WorkspaceDatabase } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import { listRuns, type MatchedRun, type Run, type RunStatus } from '@automation/jobs'

/** The runs of an event that was read already and is done, in the order of the rules. */
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
