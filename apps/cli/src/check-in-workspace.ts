import { listCredentials } from '@automation/access'
import type { CheckResult, ObservedFields } from '@automation/check'
import type { Database } from '@automation/database'
import { FieldSurvey } from '@automation/engine'
import { type ScannedEvent, scanEvents } from '@automation/ledger'
import {
  type ImportPlan,
  observationLimits,
  observedEvents,
  observeTypes,
  type RuleFile,
  typesOf,
} from '@automation/rules'
import { checkFileRules } from './check-file-rules.js'

/**
 * Checks the rules of a workspace as an import of a file leaves them, and compares them with its stored events.
 *
 * @param plan what the import would do
 */
export async function checkInWorkspace(
  database: Database,
  workspaceId: string,
  inFile: RuleFile['rules'],
  plan: ImportPlan['rules'],
): Promise<CheckResult> {
  const rules = await listAfterImport(database, workspaceId, inFile, plan)
  const observed = await observeTypes(rules.flatMap(typesOf), (type) => survey(database, workspaceId, type))
  const credentials = await listCredentials(database.forWorkspace(workspaceId))
  return checkFileRules(rules, observed, credentials)
}

/** In the order of the file, with the other rules last. What the file leaves open, such as whether a rule is active, is as it is stored. */
async function listAfterImport(
  database: Database,
  workspaceId: string,
  inFile: RuleFile['rules'],
  { toChange, toCreate, toDelete }: ImportPlan['rules'],
): Promise<RuleFile['rules']> {
  const replaced = new Set([...toChange.map(({ found }) => found.id), ...toDelete.map(({ id }) => id)])
  const stored = await database.forWorkspace(workspaceId).rule.findMany({ orderBy: { id: 'asc' } })
  const rules = [
    ...toChange.map(({ found, fields }) => ({ ...fields, id: found.id })),
    ...toCreate,
    ...stored.filter(({ id }) => !replaced.has(id)),
  ]
  const places = new Map(inFile.map(({ name }, index) => [name, index]))
  const placeOf = ({ name }: { name: string }) => places.get(name) ?? inFile.length
  return rules.sort((one, other) => placeOf(one) - placeOf(other))
}

async function survey(database: Database, workspaceId: string, type: string): Promise<ObservedFields> {
  const survey = new FieldSurvey()
  const visit = async (events: ScannedEvent[]) => {
    for (const { id, json } of events) {
      survey.add(JSON.parse(json))
      if (survey.events === observedEvents) return id
    }
    return undefined
  }
  const range = { workspaceId, type, order: 'newest first' as const }
  await scanEvents(database.readsOf(workspaceId), range, undefined, observationLimits, visit)
  const { events, hasMorePaths } = survey
  return { events, hasMorePaths, fields: survey.list() }
}
