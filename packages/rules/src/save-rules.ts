import { isDeepStrictEqual } from 'node:util'
import { type Administrator, Refused } from '@automation/access'
import {
  columnOf,
  declareFields,
  definitionFields,
  Prisma,
  postgresNow,
  type WorkspaceTransaction,
  writeJson,
} from '@automation/database'
import { cancelWaiting, clearAttention, isBeingCancelled } from '@automation/ledger'
import { cancelDifferences } from './backtests/differences.js'
import { refuseUnknownTypes } from './event-types.js'
import { endGuards } from './guards.js'
import { lockRules } from './lock-rules.js'
import { planTicks } from './plan-ticks.js'
import { refuseForeignGroups, refuseToChange } from './refuse-beyond-grant.js'
import { refuseExcessBytes, refuseExcessVersions } from './refuse-excess.js'
import { bytesOf, type RuleFields, type StoredRule, versionRowOf } from './rule-fields.js'
import { settleGroup } from './rule-group.js'
import { isShadow, settleMode } from './rule-mode.js'
import { settleSchedule } from './rule-schedule.js'
import { noteStates } from './rule-states.js'
import { expectMatches } from './silence/expectations.js'
import { refuseManyWaits } from './waited-paths.js'

/** A rule after saveRules. */
export interface Saved<Rule extends StoredRule = StoredRule> {
  rule: Rule
  /** The names of the fields that have changed. */
  changed: string[]
  /** How many executions were cancelled, where the rule was deactivated. */
  cancelled?: number
}

/**
 * Saves the fields that differ, with their consequences. A changed definition is a new version. A deactivated rule loses its waiting
 * executions. A rule that is changed or activated needs no attention any more, and an activated one counts its failures in a row
 * from 0. A new place in its group alone is no answer to what a guard or the attention list found.
 *
 * @param changes stored rules, each with the fields to set
 * @throws Refused where the embed session of the author does not include it, and where the rules of the workspace would take more than 16 MiB, or their versions more than 64 MiB
 */
export async function saveRules<Rule extends StoredRule>(
  transaction: WorkspaceTransaction,
  { workspaceId, actor, grant }: Pick<Administrator, 'workspaceId' | 'actor' | 'grant'>,
  changes: { found: Rule; fields: Partial<RuleFields> }[],
): Promise<Saved<Rule>[]> {
  const now = new Date(postgresNow())
  const applied = changes.map(({ found, fields }) => applyFields(found, fields, now))
  for (const { before, rule } of applied) refuseToChange(grant, before, rule)
  const differing = applied.filter(({ changed }) => changed.length > 0)
  if (differing.length === 0) return applied.map(({ rule, changed }) => ({ rule, changed }))
  await refuseForeignGroups(transaction, grant, differing)

  const rewritten = differing.filter(({ isNewVersion }) => isNewVersion).map(({ rule }) => rule)
  const switched = differing.filter(({ changed }) => changed.includes('isActive')).map(({ rule }) => rule)
  const activated = switched.filter(({ isActive }) => isActive)
  // A shadow does not even run by hand, so that what was begun by hand ends, too.
  const shadowed = differing.filter(({ changed }) => changed.includes('mode')).map(({ rule }) => rule)
  const wereShadows = differing.filter(({ before }) => isShadow(before)).map(({ rule }) => rule)
  const deactivated = [...new Set([...switched, ...shadowed])].filter(({ isActive }) => !isActive)
  if (await isBeingCancelled(transaction, idsOf(activated)))
    throw new Refused(
      'still_cancelling',
      'Executions of the rule are still being cancelled: try again in a moment',
    )
  const saved = differing.map(({ rule }) => rule)
  await lockRules(transaction, workspaceId, idsOf(saved))
  await updateRows(transaction, workspaceId, saved, now)
  const planned = await planTicks(
    transaction,
    workspaceId,
    differing.filter(changesTicks).map(({ rule }) => rule),
  )
  // What a draft of another version, or a changed shadow, would have done is computed anew.
  await cancelDifferences(transaction, idsOf([...rewritten, ...wereShadows]))
  await noteStates(transaction, workspaceId, idsOf(saved))
  if (rewritten.length > 0) {
    await refuseUnknownTypes(transaction, rewritten)
    const versions = rewritten.map((rule) => versionRowOf(rule, actor, now))
    await transaction.ruleVersion.createMany({ data: versions })
    await refuseManyWaits(transaction, workspaceId, versions)
    await refuseExcessVersions(transaction, workspaceId)
  }
  if (differing.some(({ hasGrown }) => hasGrown)) await refuseExcessBytes(transaction, workspaceId)
  const redefined = differing
    .filter(({ isNewVersion, changed }) => isNewVersion && changed.some((name) => name !== 'order'))
    .map(({ rule }) => rule)
  await endGuards(transaction, idsOf(redefined), idsOf(activated))
  await clearAttention(transaction, workspaceId, idsOf([...redefined, ...activated]), idsOf(activated))
  await expectMatches(
    transaction,
    workspaceId,
    differing
      .filter(({ changed }) => changed.includes('expectEvery') || changed.includes('isActive'))
      .map(({ rule }) => rule),
  )
  const cancelled = await cancelWaiting(
    transaction,
    workspaceId,
    idsOf(deactivated),
    'The rule was switched off',
  )
  return applied.map(({ rule, changed }) => {
    const nextRunAt = planned.get(rule.id)
    const after = nextRunAt === undefined ? rule : { ...rule, nextRunAt }
    return deactivated.includes(rule)
      ? { rule: after, changed, cancelled: cancelled.get(rule.id) ?? 0 }
      : { rule: after, changed }
  })
}

/** Any other change leaves the next tick as it is, also one that is due. */
function changesTicks({ before, rule, changed }: ReturnType<typeof applyFields>): boolean {
  if (before.schedule === null && rule.schedule === null) return false
  return changed.includes('schedule') || changed.includes('isActive')
}

/** Fields that are no part of the definition. */
const stateNames: ReadonlySet<string> = new Set(['isActive', 'mode', 'expectEvery'])

/** The names of the fields that differ. The order of keys in their values does not count. */
export function listChanges(found: RuleFields, fields: Partial<RuleFields>): string[] {
  return Object.entries(fields)
    .filter(([name, value]) => !isDeepStrictEqual(found[name as keyof RuleFields], value))
    .map(([name]) => name)
}

function applyFields<Rule extends StoredRule>(found: Rule, wished: Partial<RuleFields>, updatedAt: Date) {
  const fields = settleSchedule(settleGroup(settleMode(wished)))
  const changed = listChanges(found, fields)
  const isNewVersion = changed.some((name) => !stateNames.has(name))
  if (changed.length === 0) return { before: found, rule: found, changed, isNewVersion, hasGrown: false }
  const version = found.version + (isNewVersion ? 1 : 0)
  // A rule may always become smaller.
  const hasGrown = bytesOf({ ...found, ...fields }) > bytesOf(found)
  return { before: found, rule: { ...found, ...fields, version, updatedAt }, changed, isNewVersion, hasGrown }
}

/** Definitions are `json`, stored as they were sent: a recordset passes them on as the same text. */
async function updateRows(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  rules: StoredRule[],
  updatedAt: Date,
): Promise<void> {
  const rows = rules.map((rule) => ({
    id: rule.id,
    ...Object.fromEntries(definitionFields.map((field) => [columnOf(field), rule[field]])),
    is_active: rule.isActive,
    mode: rule.mode,
    expect_every: rule.expectEvery,
    version: rule.version,
  }))
  const definition = definitionFields.map(columnOf).map((column) => `${column} = input.${column}`)
  await transaction.$executeRaw(Prisma.sql`
    UPDATE rules SET
      ${Prisma.raw(definition.join())}, is_active = input.is_active, mode = input.mode, expect_every = input.expect_every,
      version = input.version, updated_at = ${updatedAt}
    FROM json_to_recordset(${writeJson(rows)}::json) AS input (
      id uuid, ${Prisma.raw(declareFields())}, is_active boolean, mode text, expect_every text, version int)
    WHERE rules.id = input.id AND rules.workspace_id = ${workspaceId}::uuid`)
}

function idsOf(rules: StoredRule[]): string[] {
  return rules.map(({ id }) => id)
}
