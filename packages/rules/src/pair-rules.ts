import { arrangeRule } from './arrange-rule.js'
import { completeDefinition, type FileRule, type RuleFields, type StoredRule } from './rule-fields.js'
import { completeMode, isShadow, modeOf } from './rule-mode.js'

/** An item of a file, and the row that it describes. Without a row, the item is new. */
export interface Pair<Fields, Row> {
  fields: Fields
  row: Row | undefined
}

/** Entry and row agree in all that one of these reads. The first that finds a row decides. */
const likenesses: ((rule: FileRule) => string)[] = [
  (rule) => JSON.stringify(arrangeRule(rule as RuleFields)),
  // A file may leave open whether a rule is active.
  (rule) => JSON.stringify(arrangeRule({ ...rule, isActive: true, mode: 'live', expectEvery: null })),
  ({ name }) => name,
]

/**
 * Finds the rule that each entry of a file describes, by its name. Of several rules of one name, an entry describes the one that
 * equals it, otherwise the oldest that is left: so entries can change places in the file, and an entry that is removed deletes its
 * own rule.
 *
 * @param rows oldest first
 */
export function pairRules(entries: FileRule[], rows: StoredRule[]): Pair<RuleFields, StoredRule>[] {
  const found = new Map<FileRule, StoredRule>()
  for (const likenessOf of likenesses) {
    const taken = new Set(found.values())
    const groups = groupBy(
      rows.filter((row) => !taken.has(row)),
      likenessOf,
    )
    for (const entry of entries) {
      const row = found.has(entry) ? undefined : groups.get(likenessOf(entry))?.shift()
      if (row !== undefined) found.set(entry, row)
    }
  }
  return entries.map((entry) => {
    const row = found.get(entry)
    const { expectEvery = null } = entry
    return { fields: { ...completeDefinition(entry), expectEvery, ...stateOf(entry, row) }, row }
  })
}

/** A file names the state of a rule, or leaves it as it is. What an editor has made a shadow becomes live by `mode` alone, as in the API. */
function stateOf({ isActive, mode }: FileRule, row: StoredRule | undefined) {
  if (row !== undefined && mode === undefined && (isActive === undefined || isShadow(row)))
    return { isActive: row.isActive, mode: modeOf(row) }
  return completeMode({ mode, isActive: isActive ?? row?.isActive })
}

/** For items whose names differ. */
export function pairByName<Fields extends { name: string }, Row extends { name: string }>(
  entries: Fields[],
  rows: Row[],
): Pair<Fields, Row>[] {
  const byName = new Map(rows.map((row) => [row.name, row]))
  return entries.map((fields) => ({ fields, row: byName.get(fields.name) }))
}

function groupBy<Item>(items: Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}
