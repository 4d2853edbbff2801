import { pingType, ServiceEventType } from '@automation/access'
import { firstIdOf, isUuid } from '@automation/database'
import { eventTypes, isEventTypeName, parseTimestamp } from '@automation/engine'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../errors.js'

/** In a query it narrows a list of history; in a body it selects the rows to change. */
type Filter = Record<string, unknown>

/** The time of acceptance. */
export const TimeRange = {
  from: Type.Optional(
    Type.String({ description: 'Start of the range, inclusive: an ISO 8601 date, or a time with a zone' }),
  ),
  to: Type.Optional(
    Type.String({ description: 'End of the range, exclusive: an ISO 8601 date, or a time with a zone' }),
  ),
}

/** The event types of rules and of subscriptions. */
const listedTypes: ReadonlySet<unknown> = new Set([...eventTypes, ...ServiceEventType.enum, pingType])

const id = { isRight: isUuid, expected: 'must be a UUID' }
const time = {
  isRight: (text: unknown) => !Number.isNaN(parseTimestamp(text)),
  expected: 'must be an ISO 8601 date, or a time with a zone',
}
const type = {
  isRight: (text: unknown) => listedTypes.has(text) || (typeof text === 'string' && isEventTypeName(text)),
  expected: 'must be an event type',
}
/** Checks that a schema cannot express. */
const checks: Record<string, { isRight(value: unknown): boolean; expected: string }> = {
  ruleId: id,
  eventId: id,
  from: time,
  to: time,
  type,
  eventType: type,
}

/** @throws a 400 refusal with the first fault */
export function checkQuery({ properties }: Type.TObject, query: Filter): void {
  const [fault] = findFaults(properties, query)
  if (fault) throw refusals.badRequest(`Query parameter ${fault.name} ${fault.expected}`)
}

/** Whether a filter names no type, or one of the workspace. A type that was deleted has events, but no name any more. */
async function isKnownType(
  { server, workspace }: FastifyRequest,
  named: string | undefined,
): Promise<boolean> {
  return named === undefined || listedTypes.has(named) || server.eventTypes.has(workspace.id, named)
}

/** @throws a 400 refusal */
export async function checkTypeInQuery(
  request: FastifyRequest,
  name: 'type' | 'eventType',
  named: string | undefined,
): Promise<void> {
  if (!(await isKnownType(request, named)))
    throw refusals.badRequest(`Query parameter ${name} ${type.expected}`)
}

/** @throws a 422 refusal */
export async function checkTypeInFilter(
  request: FastifyRequest,
  name: 'type' | 'eventType',
  named: string | undefined,
): Promise<void> {
  if (!(await isKnownType(request, named)))
    throw refusals.invalid([{ field: `filter.${name}`, message: 'Must be an event type' }])
}

/** @throws a 422 refusal with all faults */
export function checkFilter({ properties }: Type.TObject, filter: Filter): void {
  const faults = findFaults(properties, filter).map(({ name, expected }) => ({
    field: `filter.${name}`,
    message: expected.charAt(0).toUpperCase() + expected.slice(1),
  }))
  if (faults.length > 0) throw refusals.invalid(faults)
}

const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Parses a checked time. It is at least 1970, since Postgres has no year 0 and no row is older, and at most the year 9999, since a
 * zone may lead to a later time, which cannot be presented.
 */
export function readTime(text: string, offsetMs = 0): Date {
  return new Date(Math.min(Math.max(parseTimestamp(text) + offsetMs, 0), lastMs))
}

/** The lowest id of a row that was accepted at this time, or later. */
export function firstIdAt(text: string, offsetMs = 0): string {
  return firstIdOf(readTime(text, offsetMs).getTime())
}

function findFaults(names: object, filter: Filter): { name: string; expected: string }[] {
  return Object.entries(checks).flatMap(([name, { isRight, expected }]) => {
    const value = Object.hasOwn(names, name) ? filter[name] : undefined
    return value === undefined || isRight(value) ? [] : [{ name, expected }]
  })
}

/** Parses the times of a checked filter. */
export function readRange({ from, to }: { from?: string; to?: string }): { from?: Date; to?: Date } {
  return {
    ...(from !== undefined && { from: readTime(from) }),
    ...(to !== undefined && { to: readTime(to) }),
  }
}
