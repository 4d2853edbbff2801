import { isDeepStrictEqual } from 'node:util'
import type { Administrator } from '@automation/access'
import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { cancelWaiting, clearAttention } from '@automation/ledger'
import { type RuleFields, type StoredRule, versionRowOf } from './rule-fields.js'

/** What became of a rule that was to be saved. */
export interface Saved<Rule extends StoredRule = StoredRule> {
  rule: Rule
  /** The names of the fields that have changed. */
  changed: string[]
  /** How many runs were cancelled by switching the rule off. */
  cancelled?: number
}

/**
 * Saves those of the fields that differ, and what follows from it. A changed definition is a new version; switching off
 * cancels what waits; a rule that is changed or switched on has had its attention, and one that is switched on begins
 * anew to count its failures in a row.
 *
 * @param wishes rules as they are, and what is to be different
 */
export async function saveRules<Rule extends StoredRule>(
  transaction: WorkspaceTransaction,
  { workspaceId, actor }: Pick<Administrator, 'workspaceId' | 'actor'>,
  wishes: { found: Rule; fields: Partial<RuleFields> }[],
): Promise<Saved<Rule>[]> {
  const now = new Date()
  const wished = wishes.map(({ found, fields }) => applyFields(found, fields, now))
  const changes = wished.filter(({ changed }) => changed.length > 0)
  if (changes.length === 0) return wished.map(({ rule, changed }) => ({ rule, changed }))

  const rewritten = changes.filter(({ isNewVersion }) => isNewVersion).map(({ rule }) => rule)
  const switched = changes.filter(({ changed }) => changed.includes('isActive')).map(({ rule }) => rule)
  const on = switched.filter(({ isActive }) => isActive)
  const off = switched.filter(({ isActive }) => !isActive)
  await updateRows(
    transaction,
    workspaceId,
    changes.map(({ rule }) => rule),
    now,
  )
  if (rewritten.length > 0)
    await transaction.ruleVersion.createMany({
      data: rewritten.map((rule) => versionRowOf(rule, actor, now)),
    })
  await clearAttention(transaction, workspaceId, idsOf([...rewritten, ...on]), idsOf(on))
  const cancelled = await cancelWaiting(transaction, workspaceId, idsOf(off), 'The rule was switched off')
  return wished.map(({ rule, changed }) =>
    off.includes(rule) ? { rule, changed, cancelled: cancelled.get(rule.id) ?? 0 } : { rule, changed },
  )
}

/** The names of the fields that differ, whatever the order of keys in their values. */
export function listChanges(found: RuleFields, fields: Partial<RuleFields>): string[] {
  return Object.entries(fields)
    .filter(([name, value]) => !isDeepStrictEqual(found[name as keyof RuleFields], value))
    .map(([name]) => name)
}

function applyFields<Rule extends StoredRule>(found: Rule, fields: Partial<RuleFields>, updatedAt: Date) {
  const changed = listChanges(found, fields)
  const isNewVersion = changed.some((name) => name !== 'isActive')
  if (changed.length === 0) return { rule: found, changed, isNewVersion }
  const version = found.version + (isNewVersion ? 1 : 0)
  return { rule: { ...found, ...fields, version, updatedAt }, changed, isNewVersion }
}

/** Definitions are `json` and kept as they were sent: a recordset hands them on as the text that they are. */
async function updateRows(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  rules: StoredRule[],
  updatedAt: Date,
): Promise<void> {
  const rows = rules.map(({ id, name, description, trigger, conditions, actions, isActive, version }) => {
    return { id, name, description, trigger, conditions, actions, is_active: isActive, version }
  })
  await transaction.$executeRaw(Prisma.sql`
    UPDATE rules SET
      name = new.name, description = new.description, trigger = new.trigger, conditions = new.conditions,
      actions = new.actions, is_active = new.is_active, version = new.version, updated_at = ${updatedAt}
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS new (
      id uuid, name text, description text, trigger text, conditions json, actions json, is_active boolean, version int)
    WHERE rules.id = new.id AND rules.workspace_id = ${workspaceId}::uuid`)
}

function idsOf(rules: StoredRule[]): string[] {
  return rules.map(({ id }) => id)
}
