import type { Rule } from '@automation/client'
import { type CompiledRule, compileRule, Evaluation, ruleHolds } from '@automation/engine'
import type { Definition } from './rule-definition.js'

/** A rule of the group that comes first if it matches, too. */
export interface Rival {
  name: string
  /** undefined: it does not compile, and takes its place as if it had matched. */
  compiled: CompiledRule | undefined
}

/**
 * The active rules that come before a definition in its group, in their order.
 *
 * @param id of the rule; of a new one it is no UUID, and it is the youngest
 */
export function listRivals(
  id: string,
  { group = null, order, trigger }: Pick<Definition, 'group' | 'order' | 'trigger'>,
  rules: readonly Rule[],
): Rival[] {
  if (group === null) return []
  const own = { id, order: order ?? 0 }
  return rules
    .filter((rule) => rule.id !== id && rule.isActive && rule.group === group && rule.trigger === trigger)
    .map(({ id, name, order, conditions }) => ({ id, name, order: order ?? 0, conditions }))
    .filter((rule) => isBefore(rule, own))
    .sort((one, other) => (isBefore(one, other) ? -1 : 1))
    .map(({ name, conditions }) => ({ name, compiled: compile(conditions) }))
}

/** The rule that runs in its place. @param now epoch ms */
export function findRival(rivals: readonly Rival[], data: object, now: number): Rival | undefined {
  return rivals.find(({ compiled }) => {
    if (compiled === undefined) return true
    const evaluation = new Evaluation(now)
    return ruleHolds(compiled, data, evaluation) || evaluation.fault !== null
  })
}

interface Place {
  id: string
  order: number
}

/** Of two with one number the older comes first: an id begins with its time. */
function isBefore(one: Place, other: Place): boolean {
  return one.order < other.order || (one.order === other.order && one.id < other.id)
}

function compile(conditions: Rule['conditions']): CompiledRule | undefined {
  try {
    return compileRule({ conditions, actions: [] } as never)
  } catch {
    return undefined
  }
}
