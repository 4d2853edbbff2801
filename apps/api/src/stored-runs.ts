import { executionIdOf, type WorkspaceDatabase } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import type { Run } from '@automation/jobs'

/** The runs of an event as they were stored, in the order of the rules; undefined while it is not done. */
export async function findRuns(database: WorkspaceDatabase, eventId: string): Promise<Run[] | undefined> {
  const event = await database.event.findUnique({
    where: { id: eventId },
    select: { id: true, ruleId: true, ruleIds: true, doneAt: true },
  })
  return event?.doneAt ? readRuns(database, event) : undefined
}

/** The same for an event that was read already and is done. */
export async function readRuns(
  database: WorkspaceDatabase,
  event: { id: string; ruleId: string | null; ruleIds: string[] },
): Promise<Run[]> {
  const ids = event.ruleIds.map((ruleId) => executionIdOf(event, ruleId))
  const executions = await database.execution.findMany({ where: { id: { in: ids } } })
  const byId = new Map(executions.map((execution) => [execution.id, execution]))
  return event.ruleIds.map((ruleId, index) => {
    const execution = byId.get(ids[index] ?? '')
    return {
      ruleId,
      executionId: execution?.id ?? null,
      success: execution?.status !== 'failed',
      error: execution?.error ?? null,
      results: (execution?.results ?? []) as unknown as ActionResult[],
    }
  })
}
