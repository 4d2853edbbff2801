import { operators } from '../operators/index.js'
import { instantDescription } from '../operators/times.js'
import { describeNearest, maxListed } from '../texts/nearest.js'
import { readTime } from '../times/read-time.js'

const fieldsOfServer = new Set(
  'id workspaceId version executionCount successCount failureCount lastSuccessAt lastFailureAt lastError createdAt createdBy updatedAt nextRunAt'.split(
    ' ',
  ),
)

/** @param known the names of an object's fields; what has a name has fields that only the server sets */
export function hintOfName(name: string, known: readonly string[]): string | undefined {
  return known.includes('name') && fieldsOfServer.has(name)
    ? 'Only the server sets it'
    : describeNearest(name, known)
}

/** Without aliases. */
const operatorNames = operators.map(({ name }) => name)

/** @param known the values of the field that says which object of a union is meant */
export function hintOfTag(tag: string, value: unknown, known: readonly string[]): string | undefined {
  if (typeof value !== 'string') return undefined
  if (tag === 'operator') return describeNearest(value, operatorNames, '/docs/rules#clauses')
  return describeNearest(value, known, tag === 'type' ? '/docs/rules#actions' : undefined)
}

/** Of a list that the message names in full there is nothing to add. */
export function hintOfEnum(value: unknown, allowed: readonly unknown[]): string | undefined {
  return allowed.length > maxListed && typeof value === 'string'
    ? describeNearest(value, allowed.map(String))
    : undefined
}

export function hintOfType(value: unknown, description: string | undefined): string | undefined {
  // A time of a rule, which the data of events may have as a number.
  if (description === instantDescription && !Number.isNaN(readTime(value)))
    return `Write it as "${new Date(readTime(value)).toISOString()}"`
  // The conditions of a rule are a list, and a group is one of them.
  return typeof value === 'object' &&
    value !== null &&
    ['all', 'any', 'not'].some((group) => Object.hasOwn(value, group))
    ? 'Put the condition group into a list: [{ "all": [] }]'
    : undefined
}
