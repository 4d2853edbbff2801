import { findOperator, type Operator } from '@automation/engine'

/**
 * The comparisons that read such values: nobody asks whether a number "starts with" something. The engine itself says what each of them
 * reads, so a new one comes by itself.
 *
 * @param names of all comparisons
 * @param values that events have in the field. None: every comparison is offered.
 */
export function listComparisons(names: readonly string[], values: readonly unknown[]): string[] {
  const telling = values.filter((value) => value !== null && value !== undefined)
  if (telling.length === 0) return [...names]
  return names.filter((name) => {
    const operator = findOperator(name)
    return operator !== undefined && telling.some((value) => reads(operator, value))
  })
}

function reads(operator: Operator, value: unknown): boolean {
  const kind = Array.isArray(value) ? 'array' : typeof value
  if (!(operator.compares as readonly string[]).includes(kind)) return false
  return operator.findUnread?.(value, operator.example.value) === undefined
}
