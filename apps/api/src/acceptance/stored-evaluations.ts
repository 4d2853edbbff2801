import { executionIdOf, type WorkspaceDatabase } from '@automation/database'
import type { Suppression } from '@automation/engine'
import {
  type AddressColumns,
  type Addressee,
  addresseeOf,
  listEvaluations,
  type MatchedEvaluation,
  type Outranked,
  type RuleEvaluation,
} from '@automation/ledger'

interface ConsideringEvent extends AddressColumns {
  id: string
  ruleSetId: string | null
  outranked: unknown
  chosenRuleIds: string[]
}

/** Reads the evaluations of an event that is done, in the order of the rules, without the results of actions: those may be large. */
export async function readEvaluations(
  database: WorkspaceDatabase,
  event: ConsideringEvent,
): Promise<RuleEvaluation[]> {
  const addressee = addresseeOf(event)
  const ruleIds = await readRuleIds(database, event, addressee)
  const ids = ruleIds.map((ruleId) => executionIdOf({ id: event.id, addressee }, ruleId))
  const executions = await database.execution.findMany({
    where: { id: { in: ids } },
    select: { id: true, status: true, error: true, suppression: true },
  })
  const byId = new Map(executions.map((execution) => [execution.id, execution]))
  const matched = ids.flatMap((executionId, index): MatchedEvaluation[] => {
    const execution = byId.get(executionId)
    if (execution === undefined) return []
    const { status, error } = execution
    const suppression = execution.suppression as Suppression | null
    return [{ index, executionId, status, error, suppression, results: [] }]
  })
  return listEvaluations(ruleIds, matched, event.outranked as Outranked[] | null, event.chosenRuleIds)
}

/** Reads the rules that were evaluated for an event, in creation order. */
async function readRuleIds(
  database: WorkspaceDatabase,
  { ruleSetId }: ConsideringEvent,
  addressee: Addressee | null,
): Promise<string[]> {
  if (ruleSetId === null) return []
  if (addressee !== null) return [addressee.id]
  const set = await database.ruleSet.findFirst({ where: { id: ruleSetId }, select: { ruleIds: true } })
  return set?.ruleIds ?? []
}
