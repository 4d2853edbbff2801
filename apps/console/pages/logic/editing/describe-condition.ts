import type { Condition } from '@automation/client'
import { describeCondition as describe } from '@automation/engine'
import { show, showControls } from '../show.js'
import { childrenOf, groupKindOf, isClause, isTime } from './condition-kinds.js'
import { describeHours } from './hours.js'

/** `score is above 80`. What the editor does not know is shown as it is. */
export function describeCondition(condition: Condition): string {
  if (isTime(condition)) return describeHours(condition.time)
  return isKnown(condition) ? showControls(describe(withoutGaps(condition))) : show(condition)
}

/** A number that is not filled in yet is left out: nothing is above null. */
function withoutGaps(condition: Condition): Condition {
  if (!isClause(condition) || /^(?:not_)?equals$/.test(condition.operator)) return condition
  const { value, ...rest } = condition
  const isGap =
    value === null || (Array.isArray(value) && value.length > 0 && value.every((one) => one === null))
  return isGap ? (rest as Condition) : condition
}

/** Whether the editor has words for it. */
export function isKnown(condition: unknown): condition is Condition {
  if (isClause(condition) || isTime(condition)) return true
  const kind = groupKindOf(condition)
  if (kind === undefined) return false
  const children = childrenOf(condition as Condition, kind)
  return Array.isArray(children) && children.every(isKnown)
}
