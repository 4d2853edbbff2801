interface Member {
  id: string
  name: string
  group: string | null
  order: number | null
  isActive: boolean
}

const step = 10

/**
 * The number that a rule has in a group: its own if it is free there, and otherwise behind the last.
 *
 * @param others the rules with the same trigger
 */
export function findPlace(others: readonly Member[], group: string, own: number | null): number {
  const taken = others.flatMap((rule) => (rule.group === group && rule.order !== null ? [rule.order] : []))
  return own !== null && !taken.includes(own) ? own : Math.max(0, ...taken) + step
}

/**
 * The rules of a group that run, in their order: `10 Enterprise`, `20 this rule`. Of two with one number the older comes first.
 *
 * @param own its id is no UUID if it is new: then it is the youngest
 */
export function listMembers(
  others: readonly Member[],
  own: Pick<Member, 'id' | 'group' | 'order'>,
): string[] {
  const members = others.filter(({ group, isActive }) => group === own.group && isActive)
  // An id begins with its time.
  return [...members, { ...own, name: 'this rule' }]
    .sort((one, other) => (one.order ?? 0) - (other.order ?? 0) || (one.id < other.id ? -1 : 1))
    .map(({ name, order }) => `${order ?? '?'} ${name}`)
}

/**
 * The rules of a group with one of them a place further up (-1) or down (1) among those of its trigger: the others meet other events, and
 * stay where they are.
 */
export function moveInGroup<Member extends { id: string; trigger: string }>(
  rules: readonly Member[],
  id: string,
  by: -1 | 1,
): readonly Member[] {
  const at = rules.findIndex((rule) => rule.id === id)
  const moved = rules[at]
  const meets = (rule: Member) => rule.trigger === moved?.trigger
  const to =
    by === 1
      ? rules.findIndex((rule, index) => index > at && meets(rule))
      : rules.findLastIndex((rule, index) => index < at && meets(rule))
  const other = rules[to]
  return moved && other ? rules.with(at, other).with(to, moved) : rules
}
