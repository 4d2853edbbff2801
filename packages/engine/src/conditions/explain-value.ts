import type { Kind, Operator } from '../operators/operator.js'
import type { ClauseTrace } from '../results/outcome.js'
import { findDeadEnd } from '../values/dead-end.js'
import type { Path } from '../values/path.js'

/** What a trace says about a value beside the value itself. */
export type ValueHints = Pick<ClauseTrace, 'note' | 'distance' | 'distanceMs'>

/**
 * Says how an operator read the value of a clause: how far off it was, how a number was read as a time, or why it could not be read and
 * counts as missing. If there is no value, whether the path leads into one that has nothing below it.
 */
export function explainValue(
  { operator, value, path, isTwo }: { operator: Operator; value: unknown; path: Path; isTwo: boolean },
  { data, actual, verdict, now }: { data: unknown; actual: unknown; verdict: boolean; now: number },
): ValueHints {
  if (actual === undefined) return noteOf(findDeadEnd(path, data))
  const otherFault = isTwo ? describeOther(operator, value) : undefined
  if (otherFault !== undefined) return { note: otherFault }
  const unread = describeUnread(operator, value, actual)
  if (unread !== undefined) return { note: unread }
  const distance = verdict ? undefined : operator.measure?.(actual, value, now)
  return {
    ...noteOf(operator.describeReading?.(actual) ?? operator.describeDifference?.(actual, value)),
    ...(distance && Object.values(distance).every(Number.isFinite) && distance),
  }
}

function noteOf(note: string | undefined): { note?: string } {
  return note === undefined ? {} : { note }
}

function describeUnread(operator: Operator, value: unknown, actual: unknown): string | undefined {
  const { name, reads } = operator
  if (reads === undefined) return undefined
  const reason = operator.compares.includes(kindOf(actual))
    ? operator.findUnread?.(actual, value)
    : `${nameKind(actual)} counts as missing`
  return reason === undefined ? undefined : `${reason}: ${name} reads ${reads}`
}

/** Why the value of the other field cannot be compared with. */
function describeOther(operator: Operator, other: unknown): string | undefined {
  if (other === undefined) return 'the field to compare with is missing'
  const { name } = operator
  if (/^(?:not_)?in$/.test(name))
    return Array.isArray(other)
      ? undefined
      : `the other value is ${nameKind(other)}, and ${name} needs a list`
  const fault = /^(?:not_)?contains$/.test(name) ? undefined : describeUnread(operator, other, other)
  return fault === undefined ? undefined : `the other value: ${fault}`
}

export function nameKind(value: unknown): string {
  return kindNames[kindOf(value)]
}

const kindNames: Record<Kind, string> = {
  string: 'a text',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null',
  array: 'a list',
  object: 'an object',
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as Kind)
}
