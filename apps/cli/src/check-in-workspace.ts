import type { CheckResult, ObservedFields } from '@automation/check'
import type { Database } from '@automation/database'
import { FieldSurvey } from '@automation/engine'
import { type ScannedEvent, scanEvents } from '@automation/ledger'
import { observationLimits, observedEvents, observeTriggers, type RuleFile } from '@automation/rules'
import { checkFileRules } from './check-file-rules.js'

type Rules = RuleFile['rules']

/** Checks the rules of a file beside those of a workspace that an import leaves as they are, and compares them with its stored events. */
export async function checkInWorkspace(
  database: Database,
  workspaceId: string,
  inFile: Rules,
  prune = false,
): Promise<CheckResult> {
  const rules = [...inFile, ...(prune ? [] : await readOtherRules(database, workspaceId, inFile))]
  const observed = await observeTriggers(rules, (trigger) => survey(database, workspaceId, trigger))
  return checkFileRules(rules, observed)
}

async function readOtherRules(database: Database, workspaceId: string, inFile: Rules): Promise<Rules> {
  const names = new Set(inFile.map(({ name }) => name))
  const stored = await database.forWorkspace(workspaceId).rule.findMany({ orderBy: { id: 'asc' } })
  return stored.filter(({ name }) => !names.has(name))
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
