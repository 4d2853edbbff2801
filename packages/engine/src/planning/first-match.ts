import { Type } from 'typebox'

export const RuleGroup = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
  patternError: 'begin with a letter or a digit, and have only letters, digits, dots, dashes and underscores',
})
export const RuleOrder = Type.Integer({ minimum: 0, maximum: 1_000_000 })

/** The place of a rule in a group. Both are null if it is in none. */
export interface Grouped {
  readonly group: string | null
  readonly order: number | null
}

/**
 * Finds the rules that matched and do not run, since another one of their group does. A rule that could not be evaluated is one of those that
 * matched: a rule after it must not run because an exception could not be read.
 *
 * @param rules of one event type, in creation order
 * @param matched the indexes of the rules that matched, ascending
 * @returns by the index of a rule that does not run, the index of the one that does
 */
export function findOutranked(
  rules: readonly Grouped[],
  matched: readonly number[],
): ReadonlyMap<number, number> {
  const members = matched.flatMap((index) => {
    const { group, order } = rules[index] as Grouped
    return group === null ? [] : [{ index, group, order: order ?? 0 }]
  })
  const firsts = new Map<string, { index: number; order: number }>()
  for (const member of members) {
    const first = firsts.get(member.group)
    if (first === undefined || member.order < first.order) firsts.set(member.group, member)
  }
  const outranked = new Map<number, number>()
  for (const { index, group } of members) {
    const first = firsts.get(group)
    if (first !== undefined && first.index !== index) outranked.set(index, first.index)
  }
  return outranked
}

export function hasGroups(rules: readonly Grouped[]): boolean {
  return rules.some(({ group }) => group !== null)
}
