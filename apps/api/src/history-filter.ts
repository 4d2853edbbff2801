import { firstIdOf, isUuid, Prisma } from '@automation/database'
import { isEventType, parseTimestamp } from '@automation/engine'
import { Type } from 'typebox'
import { refusals } from './errors.js'

/** What narrows a list of history by a query, and, in a body, says with what of it something is to be done. */
type Filter = Record<string, unknown>

export const FilterTime = Type.String({ description: 'ISO 8601: a date, or a time with a zone' })

/** What Postgres can compare: no NUL, and no half of a character. */
export const SearchText = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000\\ud800-\\udfff]*$',
})

const id = { isRight: isUuid, expected: 'must be a UUID' }
const time = {
  isRight: (text: unknown) => !Number.isNaN(parseTimestamp(text)),
  expected: 'must be an ISO 8601 date, or a time with a zone',
}
const type = {
  isRight: (text: unknown) => isEventType(text as string) || isServiceEvent(text as string),
  expected: 'must be an event type',
}
/** What a schema cannot say. */
const checks = { ruleId: id, eventId: id, from: time, to: time, type, eventType: type }

/** @throws a 400 refusal that tells the first fault */
export function checkQuery({ properties }: Type.TObject, query: Filter): void {
  const [fault] = findFaults(properties, query)
  if (fault) throw refusals.badRequest(`Query parameter ${fault.name} ${fault.expected}`)
}

/** @throws a 422 refusal that tells all faults */
export function checkFilter({ properties }: Type.TObject, filter: Filter): void {
  const faults = findFaults(properties, filter).map(({ name, expected }) => ({
    field: `filter.${name}`,
    message: expected.charAt(0).toUpperCase() + expected.slice(1),
  }))
  if (faults.length > 0) throw refusals.invalid(faults)
}

/** The lowest id of something that came in at a time, or later. Nothing did before 1970. */
export function firstIdAt(text: string, offsetMs = 0): Prisma.Sql {
  return Prisma.sql`${firstIdOf(Math.max(parseTimestamp(text) + offsetMs, 0))}::uuid`
}

/** What the service itself tells of has a dotted name, such as `rule.updated`; it goes to subscriptions, and to no rule. */
export function isServiceEvent(eventType: string): boolean {
  return /^[a-z_]+\.[a-z_]+$/.test(eventType)
}

/** @returns undefined where there are none */
export function joinConditions(conditions: [Prisma.Sql, ...Prisma.Sql[]]): Prisma.Sql
export function joinConditions(conditions: Prisma.Sql[]): Prisma.Sql | undefined
export function joinConditions(conditions: Prisma.Sql[]): Prisma.Sql | undefined {
  return conditions.length === 0 ? undefined : Prisma.join(conditions, ' AND ')
}

function findFaults(names: object, filter: Filter): { name: string; expected: string }[] {
  return Object.entries(checks).flatMap(([name, { isRight, expected }]) => {
    const value = Object.hasOwn(names, name) ? filter[name] : undefined
    return value === undefined || isRight(value) ? [] : [{ name, expected }]
  })
}
