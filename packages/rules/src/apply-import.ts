import { isDeepStrictEqual } from 'node:util'
import type { Administrator, NewAuditEntry } from '@automation/access'
import { Refused } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import { changeRules } from './change-rules.js'
import { createRules } from './create-rules.js'
import { deleteRules } from './delete-rules.js'
import { lockRules } from './lock-rules.js'
import { type Changes, type ImportOptions, type ImportPlan, planImport } from './plan-import.js'
import { createdEntry, deletedEntry, updatedEntry } from './rule-entries.js'
import type { RuleFile } from './rule-file.js'
import { saveRules } from './save-rules.js'
import {
  createdTemplateEntry,
  deletedTemplateEntry,
  insertTemplates,
  saveTemplate,
} from './write-templates.js'

const timeoutMs = 60_000
const maxNamed = 5

/** What planImport returns. */
export type PlannedImport = Awaited<ReturnType<typeof planImport>>

/**
 * Applies a plan in one transaction, completely or not at all. The plan is computed again under the lock of the workspace, so the
 * changes are those that were shown.
 *
 * @param shown the plan that the user has confirmed
 * @throws Refused where the workspace has changed since, so that the plan differs
 */
export async function applyImport(
  administrator: Administrator,
  file: RuleFile,
  options: ImportOptions,
  shown: ImportPlan,
): Promise<void> {
  await importRules(administrator, file, options, (now) => {
    if (!('plan' in now))
      throw new Refused('changed_meanwhile', 'The rules have changed in the meantime: nothing was applied')
    refuseOtherPlan(shown, now.plan)
    return shown
  })
}

/**
 * Changes the rules and email templates of a workspace to match a file, in one transaction, completely or not at all.
 *
 * @param accept gets the plan, computed under the lock of the workspace, and returns it, or throws what refuses it
 * @returns the plan that was applied
 */
export function importRules(
  administrator: Administrator,
  file: RuleFile,
  options: ImportOptions,
  accept: (planned: PlannedImport) => ImportPlan,
): Promise<ImportPlan> {
  const work = async (transaction: WorkspaceTransaction) => {
    const plan = accept(await planImport(transaction, file, options))
    const entry = [
      ...(await applyTemplates(transaction, administrator, plan.emailTemplates)),
      ...(await applyRules(transaction, administrator, plan.rules)),
    ]
    return { result: plan, entry }
  }
  return changeRules(administrator, work, timeoutMs)
}

/** Deletes first: the deleted rules do not count towards the limit. */
async function applyRules(
  transaction: WorkspaceTransaction,
  administrator: Administrator,
  { toCreate, toChange, toDelete }: ImportPlan['rules'],
): Promise<NewAuditEntry[]> {
  const { workspaceId } = administrator
  const ids = toDelete.map(({ id }) => id)
  // All in one order, whatever becomes of them.
  await lockRules(transaction, workspaceId, [...ids, ...toChange.map(({ found }) => found.id)])
  const cancelled = await deleteRules(transaction, workspaceId, ids)
  const saved = await saveRules(transaction, administrator, toChange)
  const created = await createRules(transaction, administrator, toCreate)
  return [
    ...toDelete.map((rule, index) => deletedEntry(rule, cancelled[index] ?? 0)),
    ...saved.map(updatedEntry).filter((entry) => entry !== undefined),
    ...created.map(createdEntry),
  ]
}

async function applyTemplates(
  transaction: WorkspaceTransaction,
  { workspaceId }: Administrator,
  { toCreate, toChange, toDelete }: ImportPlan['emailTemplates'],
): Promise<NewAuditEntry[]> {
  const ids = toDelete.map(({ id }) => id)
  if (ids.length > 0) await transaction.emailTemplate.deleteMany({ where: { id: { in: ids } } })
  const entries = toDelete.map(deletedTemplateEntry)
  for (const { found, fields } of toChange)
    entries.push((await saveTemplate(transaction, found, fields)).entry)
  const created = await insertTemplates(transaction, workspaceId, toCreate)
  return [...entries, ...created.map(createdTemplateEntry)]
}

function refuseOtherPlan(shown: ImportPlan, now: ImportPlan): void {
  const differing = [
    ...listDifferences(shown.rules, now.rules).map((name) => `rule ${JSON.stringify(name)}`),
    ...listDifferences(shown.emailTemplates, now.emailTemplates).map(
      (name) => `email template ${JSON.stringify(name)}`,
    ),
  ]
  if (differing.length === 0) return
  const more = differing.length > maxNamed ? ` and ${differing.length - maxNamed} more` : ''
  const list = `${differing.slice(0, maxNamed).join(', ')}${more}`
  throw new Refused('changed_meanwhile', `Changed since the plan was made: ${list}. Nothing was applied`)
}

/** The names of the items for which the two plans differ. */
function listDifferences<Fields extends { name: string }, Found extends { name: string }>(
  shown: Changes<Fields, Found>,
  now: Changes<Fields, Found>,
): string[] {
  const [before, after] = [stepsByName(shown), stepsByName(now)]
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)))
}

function stepsByName<Fields extends { name: string }, Found extends { name: string }>(
  changes: Changes<Fields, Found>,
): Map<string, unknown[]> {
  const { toCreate, toChange, toDelete, unchanged } = changes
  const named: [name: string, step: unknown][] = [
    ...toCreate.map((fields) => [fields.name, { fields }] satisfies [string, unknown]),
    ...toChange.map((change) => [change.fields.name, change] satisfies [string, unknown]),
    ...toDelete.map((found) => [found.name, { found }] satisfies [string, unknown]),
    ...unchanged.map((name) => [name, 'unchanged'] satisfies [string, unknown]),
  ]
  const steps = new Map<string, unknown[]>()
  for (const [name, step] of named) steps.set(name, [...(steps.get(name) ?? []), step])
  return steps
}
