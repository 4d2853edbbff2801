import type { Administrator, NewAuditEntry } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import { changeRules } from './change-rules.js'
import { createRules } from './create-rules.js'
import { deleteRules } from './delete-rules.js'
import { lockRules } from './lock-rules.js'
import { type ImportOptions, type ImportPlan, planImport } from './plan-import.js'
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

/** What planImport returns. */
export type PlannedImport = Awaited<ReturnType<typeof planImport>>

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
