import { pingType, ServiceEventType } from '@automation/administration'
import { firstIdOf, isUuid, Prisma } from '@automation/database'
import { eventTypes, parseTimestamp } from '@automation/engine'
import { Type } from 'typebox'
import { refusals } from './errors.js'

/** What narrows a list of history by a query, and, in a body, says with what of it something is to be done. */
type Filter = Record<string, unknown>

/** When it came in. */
export const TimeRange = {
  from: Type.Optional(Type.String({ description: 'then or later: ISO 8601, a date or a time with a zone' })),
  to: Type.Optional(Type.String({ description: 'before: ISO 8601, a date or a time with a zone' })),
}

/** What the clocks of an API process and of Postgres may differ: an id carries the time of the one, a row that of the other. */
export const clockSkewMs = 60 * 60 * 1_000

/** What rules are triggered by, and what subscriptions are told. */
const listedTypes: ReadonlySet<unknown> = new Set([...eventTypes, ...ServiceEventType.enum, pingType])

const id = { isRight: isUuid, expected: 'must be a UUID' }
const time = {
  isRight: (text: unknown) => !Number.isNaN(parseTimestamp(text)),
  expected: 'must be an ISO 8601 date, or a time with a zone',
}
const type = { isRight: (text: unknown) => listedTypes.has(text), expected: 'must be an event type' }
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

const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * The time that a text names which was checked. Postgres knows no year 0, and nothing came in before 1970; a zone may lead
 * beyond the year 9999, which could not be told again.
 */
export function readTime(text: string, offsetMs = 0): Date {
  return new Date(Math.min(Math.max(parseTimestamp(text) + offsetMs, 0), lastMs))
}

/** The lowest id of something that came in at that time, or later. */
export function firstIdAt(text: string, offsetMs = 0): string {
  return firstIdOf(readTime(text, offsetMs).getTime())
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
