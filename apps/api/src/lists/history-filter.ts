import { pingType, ServiceEventType } from '@automation/access'
import { firstIdOf, isUuid } from '@automation/database'
import {
  capitalize,
  describeUnknownType,
  eventTypes,
  isEventTypeName,
  isReservedType,
  parseTimestamp,
} from '@automation/engine'
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

/** In a body: some rows and no others. As many as the largest page has. */
export const ChosenIds = Type.Optional(
  Type.Array(Type.String(), { minItems: 1, maxItems: 250, description: 'Only those with one of these ids' }),
)

const id = { isRight: isUuid, expected: 'must be a UUID' }
const time = {
  isRight: (text: unknown) => !Number.isNaN(parseTimestamp(text)),
  expected: 'must be an ISO 8601 date, or a time with a zone',
}
const eventType = {
  isRight: (text: unknown) => listedTypes.has(text) || (typeof text === 'string' && isEventTypeName(text)),
  expected: (text: unknown) => `must be an event type. ${describeUnknownType(String(text))}`,
}
/** Checks that a schema cannot express. */
const checks: Record<string, Check> = {
  ids: { isRight: (ids: unknown) => Array.isArray(ids) && ids.every(isUuid), expected: 'must be UUIDs' },
  ruleId: id,
  executionId: id,
  subscriptionId: id,
  eventId: id,
  after: id,
  from: time,
  to: time,
  eventType,
  trigger: eventType,
  dueBefore: time,
}

interface FilterFault {
  name: string
  expected: string
}

interface Check {
  isRight(value: unknown): boolean
  expected: string | ((value: unknown) => string)
}

/** @throws a 400 refusal with the first fault */
export function checkQuery({ properties }: Type.TObject, query: Filter): void {
  const [fault] = findFaults(properties, query)
  if (fault) throw refusals.badRequest(`Query parameter ${fault.name} ${fault.expected}`)
}

/** @throws a 400 refusal where a checked query names a type that the workspace does not have */
export async function checkTypeInQuery(request: FastifyRequest, query: Filter): Promise<void> {
  const fault = await findUnknownType(request, query)
  if (fault) throw refusals.badRequest(`Query parameter ${fault.name} ${fault.expected}`)
}

/** @throws a 422 refusal where a checked filter names a type that the workspace does not have */
export async function checkTypeInFilter(request: FastifyRequest, filter: Filter): Promise<void> {
  const fault = await findUnknownType(request, filter)
  if (fault) throw refusals.invalid([describeFault(fault)])
}

/** A type that was deleted has events, but no name any more. */
async function findUnknownType(
  { server, workspace }: FastifyRequest,
  filter: Filter,
): Promise<FilterFault | undefined> {
  for (const name of ['eventType', 'trigger']) {
    const named = filter[name]
    if (typeof named !== 'string' || listedTypes.has(named) || isReservedType(named)) continue
    if (!(await server.eventTypes.has(workspace.id, named)))
      return { name, expected: eventType.expected(named) }
  }
  return undefined
}

/** @throws a 422 refusal with all faults */
export function checkFilter({ properties }: Type.TObject, filter: Filter): void {
  const faults = findFaults(properties, filter)
  if (faults.length > 0) throw refusals.invalid(faults.map(describeFault))
}

function describeFault({ name, expected }: FilterFault) {
  return { field: `filter.${name}`, message: capitalize(expected) }
}

const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Parses a checked time. It is at least 1970, since Postgres has no year 0 and no row is older, and at most the year 9999, since a
 * zone may lead to a later time, which cannot be presented.
 */
export function readQueryTime(text: string, offsetMs = 0): Date {
  return new Date(Math.min(Math.max(parseTimestamp(text) + offsetMs, 0), lastMs))
}

/** The lowest id of a row that was accepted at this time, or later. */
export function firstIdAt(text: string, offsetMs = 0): string {
  return firstIdOf(readQueryTime(text, offsetMs).getTime())
}

function findFaults(names: object, filter: Filter): FilterFault[] {
  const faults = findFaultyFields(names, filter)
  const { from, to } = filter
  const isBackward = parseTimestamp(from) > parseTimestamp(to)
  return isBackward && faults.length === 0 ? [{ name: 'from', expected: 'must not be after to' }] : faults
}

function findFaultyFields(names: object, filter: Filter): FilterFault[] {
  return Object.entries(checks).flatMap(([name, { isRight, expected }]) => {
    const value = Object.hasOwn(names, name) ? filter[name] : undefined
    if (value === undefined || isRight(value)) return []
    return [{ name, expected: typeof expected === 'string' ? expected : expected(value) }]
  })
}

/** Parses the times of a checked filter. */
export function readRange({ from, to }: { from?: string; to?: string }): { from?: Date; to?: Date } {
  return {
    ...(from !== undefined && { from: readQueryTime(from) }),
    ...(to !== undefined && { to: readQueryTime(to) }),
  }
}
