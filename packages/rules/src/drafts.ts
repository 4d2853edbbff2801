import { type Administrator, type NewAuditEntry, Refused } from '@automation/access'
import { newId, type Prisma, postgresNow, type WorkspaceTransaction } from '@automation/database'
import { cancelDifferences } from './backtests/differences.js'
import { refuseUnknownTypes } from './event-types.js'
import { type GuardToSet, setGuard } from './guards.js'
import { refuseToWrite } from './refuse-beyond-grant.js'
import { refuseExcessBytes } from './refuse-excess.js'
import { type DefinitionFields, definitionColumnsOf, definitionOf, type StoredRule } from './rule-fields.js'
import { listChanges, saveRules } from './save-rules.js'

export type DraftRow = Prisma.RuleDraftGetPayload<object>

/**
 * Saves the draft of a rule, in place of the one before. It is made from the present version of the rule. Workers do not know of drafts, so it
 * does not increment `rulesVersion`: call it in the transaction of changeWorkspace.
 *
 * @throws Refused where the embed session of the author does not include it, and where the rules of the workspace would take more than 16 MiB with their drafts
 */
export async function saveDraft(
  transaction: WorkspaceTransaction,
  { workspaceId, actor, grant }: Pick<Administrator, 'workspaceId' | 'actor' | 'grant'>,
  rule: StoredRule,
  definition: DefinitionFields,
): Promise<DraftRow> {
  refuseToWrite(grant, rule, definition)
  await refuseUnknownTypes(transaction, [definition])
  const fields = {
    ...definitionColumnsOf(definition),
    id: newId(),
    baseVersion: rule.version,
    savedAt: new Date(postgresNow()),
    savedBy: actor,
  }
  const draft = await transaction.ruleDraft.upsert({
    where: { ruleId: rule.id },
    create: { ruleId: rule.id, workspaceId, ...fields },
    update: fields,
  })
  await cancelDifferences(transaction, [rule.id])
  await refuseExcessBytes(transaction, workspaceId)
  return draft
}

export async function deleteDraft(transaction: WorkspaceTransaction, ruleId: string): Promise<void> {
  await transaction.ruleDraft.delete({ where: { ruleId } })
  await cancelDifferences(transaction, [ruleId])
}

/**
 * Makes a draft the next version of its rule. Call it in the transaction of changeRules, for a draft of the present version.
 *
 * @param guard watches the new version, and restores the present one
 * @param oldestUndone of setGuard
 * @throws Refused where the draft equals the rule, and as saveRules
 */
export async function promoteDraft<Rule extends StoredRule>(
  transaction: WorkspaceTransaction,
  administrator: Pick<Administrator, 'workspaceId' | 'actor' | 'grant'>,
  rule: Rule,
  draft: DraftRow,
  guard: GuardToSet | undefined,
  oldestUndone: Date | null,
): Promise<{ rule: Rule; entry: NewAuditEntry }> {
  const fields = definitionOf(draft)
  if (listChanges(rule, fields).length === 0)
    throw new Refused('draft_equals_rule', 'The draft equals the rule: there is nothing to promote')
  // First: it does not count besides the definition that it becomes.
  await deleteDraft(transaction, rule.id)
  const [saved] = await saveRules(transaction, administrator, [{ found: rule, fields }])
  const { rule: promoted, changed } = saved as { rule: Rule; changed: string[] }
  if (guard !== undefined) await setGuard(transaction, promoted, rule.version, guard, oldestUndone)
  const details = { from: rule.version, version: promoted.version, changed, ...(guard && { guard }) }
  return { rule: promoted, entry: { action: 'rule.promoted', subject: rule.id, details } }
}
