import type { Administrator } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import type { Fault } from '@automation/engine'
import type { StoredRule } from './rule-fields.js'
import { type Saved, saveRules } from './save-rules.js'

/** Between two places: a rule can be put there without moving others. */
const step = 10

/** The faults of a new order of a group, which is the full list of its rules. */
export function findPlaceFaults(members: readonly { id: string }[], ruleIds: readonly string[]): Fault[] {
  const [known, named] = [new Set(members.map(({ id }) => id)), new Set(ruleIds)]
  const strangers = ruleIds.flatMap((id, index) =>
    known.has(id) ? [] : [{ field: `ruleIds[${index}]`, message: 'Must be the id of a rule of the group' }],
  )
  const missing = members.filter(({ id }) => !named.has(id))
  if (missing.length === 0) return strangers
  const message = `Must have the id of each rule of the group: ${missing.length} of ${members.length} are missing`
  return [...strangers, { field: 'ruleIds', message }]
}

/** Gives the rules of a group their places in this order. Only a rule whose place changes gets a new version. */
export function reorderGroup<Rule extends StoredRule>(
  transaction: WorkspaceTransaction,
  administrator: Pick<Administrator, 'workspaceId' | 'actor' | 'grant'>,
  members: readonly Rule[],
  ruleIds: readonly string[],
): Promise<Saved<Rule>[]> {
  const places = new Map(ruleIds.map((id, index) => [id, (index + 1) * step]))
  const changes = members.map((found) => ({ found, fields: { order: places.get(found.id) ?? null } }))
  return saveRules(transaction, administrator, changes)
}
