import { isDeepStrictEqual } from 'node:util'
import type { Administrator, Entry } from '@automation/access'
import { Refused } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import { changeRules } from './change-rules.js'
import { createRules } from './create-rules.js'
import { deleteRules } from './delete-rules.js'
import { type Changes, type ImportOptions, type ImportPlan, planImport } from './plan-import.js'
import { tellCreated, tellDeleted, tellUpdated } from './rule-entries.js'
import type { RuleFile } from './rule-file.js'
import { saveRules } from './save-rules.js'
import { insertTemplates, saveTemplate, tellTemplateCreated, tellTemplateDeleted } from './write-templates.js'

const patienceMs = 60_000
const maxTold = 5

/**
 * Does what a plan says: all of it, in one transaction, or nothing. It is made anew under the lock of the workspace, so what
 * is done is what was shown.
 *
 * @param shown the plan that somebody has agreed to
 * @throws Refused where the workspace has changed since, so that the plan would be another one
 */
export function applyImport(
  administrator: Administrator,
  file: RuleFile,
  options: ImportOptions,
  shown: ImportPlan,
): Promise<void> {
  const work = async (transaction: WorkspaceTransaction) => {
    const now = await planImport(transaction, file, options)
    if (!('plan' in now))
      throw new Refused('conflict', 'The rules have changed meanwhile: nothing was applied')
    refuseOtherPlan(shown, now.plan)
    const entry = [
      ...(await applyTemplates(transaction, administrator, shown.emailTemplates)),
      ...(await applyRules(transaction, administrator, shown.rules)),
    ]
    return { result: undefined, entry }
  }
  return changeRules(administrator, work, patienceMs)
}

/** What is deleted goes first: it makes room. */
async function applyRules(
  transaction: WorkspaceTransaction,
  administrator: Administrator,
  { toCreate, toChange, toDelete }: ImportPlan['rules'],
): Promise<Entry[]> {
  const ids = toDelete.map(({ id }) => id)
  const cancelled = await deleteRules(transaction, administrator.workspaceId, ids)
  const saved = await saveRules(transaction, administrator, toChange)
  const created = await createRules(transaction, administrator, toCreate)
  return [
    ...toDelete.map((rule, index) => tellDeleted(rule, cancelled[index] ?? 0)),
    ...saved.map(tellUpdated).filter((entry) => entry !== undefined),
    ...created.map(tellCreated),
  ]
}

async function applyTemplates(
  transaction: WorkspaceTransaction,
  { workspaceId }: Administrator,
  { toCreate, toChange, toDelete }: ImportPlan['emailTemplates'],
): Promise<Entry[]> {
  const ids = toDelete.map(({ id }) => id)
  if (ids.length > 0) await transaction.emailTemplate.deleteMany({ where: { id: { in: ids } } })
  const entries = toDelete.map(tellTemplateDeleted)
  for (const { found, fields } of toChange)
    entries.push((await saveTemplate(transaction, found, fields)).entry)
  const created = await insertTemplates(transaction, workspaceId, toCreate)
  return [...entries, ...created.map(tellTemplateCreated)]
}

function refuseOtherPlan(shown: ImportPlan, now: ImportPlan): void {
  const differing = [
    ...listDifferences(shown.rules, now.rules).map((name) => `rule ${JSON.stringify(name)}`),
    ...listDifferences(shown.emailTemplates, now.emailTemplates).map(
      (name) => `email template ${JSON.stringify(name)}`,
    ),
  ]
  if (differing.length === 0) return
  const more = differing.length > maxTold ? ` and ${differing.length - maxTold} more` : ''
  const list = `${differing.slice(0, maxTold).join(', ')}${more}`
  throw new Refused('conflict', `Changed since the plan was made: ${list}. Nothing was applied`)
}

/** The names of those to which something else would happen. */
function listDifferences<Fields extends { name: string }, Found extends { name: string }>(
  shown: Changes<Fields, Found>,
  now: Changes<Fields, Found>,
): string[] {
  const [before, after] = [listFates(shown), listFates(now)]
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)))
}

function listFates<Fields extends { name: string }, Found extends { name: string }>(
  changes: Changes<Fields, Found>,
): Map<string, unknown> {
  const { toCreate, toChange, toDelete, unchanged } = changes
  return new Map<string, unknown>([
    ...toCreate.map((fields) => [fields.name, { fields }] as const),
    ...toChange.map((change) => [change.fields.name, change] as const),
    ...toDelete.map((found) => [found.name, { found }] as const),
    ...unchanged.map((name) => [name, 'unchanged'] as const),
  ])
}
