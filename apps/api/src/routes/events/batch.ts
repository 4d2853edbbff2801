import { newId } from '@automation/database'
import { type Fault, listLongFaults } from '@automation/engine'
import type { NewEvent, RequestKey } from '@automation/ledger'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { KnownRequest } from '../../acceptance/idempotency/kept-responses.js'
import { readEventKey } from '../../acceptance/idempotency/request-key.js'
import { Refusal } from '../../errors.js'
import { warnOfTexts } from '../../long-numbers.js'
import { findUnstorableValues } from '../../plugins/bodies.js'
import { bodyFaults } from '../../plugins/validation.js'
import { DataWarnings, FieldError, Id } from '../../responses.js'
import { refuseFaults } from '../rules/check-rule.js'

export const BatchResult = Type.Object(
  {
    status: Type.Enum(['accepted', 'refused', 'failed'], {
      description:
        'accepted: the event will run. refused: the event is invalid, and `errors` says why. failed: it is unknown whether the event was accepted, so send it again.',
    }),
    id: Type.Optional(Id),
    replayed: Type.Optional(
      Type.Boolean({
        description:
          'true if the key was already used. `id` is then the id of the first event with this key.',
      }),
    ),
    errors: Type.Optional(Type.Array(FieldError)),
    error: Type.Optional(Type.String()),
    warnings: DataWarnings,
  },
  { title: 'BatchResult' },
)
export type BatchResult = Type.Static<typeof BatchResult>

const failed: BatchResult = { status: 'failed', error: 'Service temporarily unavailable' }

export const BatchAnswer = Type.Object(
  {
    accepted: Type.Integer({ description: 'Number of accepted events' }),
    results: Type.Array(BatchResult, {
      description: 'One result for each event, in the order of the events',
    }),
  },
  { title: 'BatchAnswer' },
)

/** An event of a batch. */
export interface BatchedEvent {
  type: string
  data: object
  idempotencyKey?: string
}

/** One that cannot be accepted, with its faults. */
interface RefusedEvent {
  errors: Fault[]
}

export type EvaluatedEvent = BatchedEvent | RefusedEvent

/**
 * Accepts many events in one request and one commit. Each is checked and accepted by itself and has its own result; the response waits for
 * no outcome.
 */
export async function postBatch(
  request: FastifyRequest,
  reply: FastifyReply,
  events: (EvaluatedEvent | BatchResult)[],
): Promise<FastifyReply> {
  await request.server.payForMany(request, reply, events.length)
  // Asked in one turn, they share a commit.
  const settled = await Promise.allSettled(
    events.map(async (event, index): Promise<BatchResult> => {
      if ('status' in event) return event
      if ('errors' in event) return { status: 'refused', ...event }
      return warn(request, index, await acceptEvent(request, event, index))
    }),
  )
  const results = settled.map((one) => (one.status === 'fulfilled' ? one.value : failed))
  const failure = settled.find((one) => one.status === 'rejected')
  if (failure !== undefined) {
    if (countAccepted(results) === 0) throw failure.reason
    request.log.error({ err: failure.reason }, 'part of a batch failed')
  }
  return sendResults(reply, results)
}

export function sendResults(reply: FastifyReply, results: BatchResult[]): FastifyReply {
  return reply.status(202).send({ accepted: countAccepted(results), results })
}

function warn(request: FastifyRequest, index: number, result: BatchResult): BatchResult {
  return { ...result, ...warnOfTexts(request.longNumbers, `events[${index}].`) }
}

function countAccepted(results: BatchResult[]): number {
  return results.filter(({ status }) => status === 'accepted').length
}

/**
 * Checks each event by itself.
 *
 * @param typeOf names the type of an event whose shape is right
 * @throws refusals: 422 for what is wrong with the body as a whole
 */
export function evaluateEvents<Event extends Omit<BatchedEvent, 'type'>>(
  request: FastifyRequest,
  typeOf: (event: Event, root: string) => { type: string } | { fault: Fault },
): EvaluatedEvent[] {
  const { body, validationError } = request
  const byEvent = new Map<number, Fault[]>()
  const ofBody: Fault[] = []
  // All of them: an event without a fault is accepted.
  for (const fault of [
    ...listLongFaults(request.longNumbers ?? []),
    ...bodyFaults(validationError ?? {}, Number.POSITIVE_INFINITY),
  ]) {
    const index = /^events\[(\d+)\]/.exec(fault.field)?.[1]
    if (index === undefined) ofBody.push(fault)
    else byEvent.set(Number(index), [...(byEvent.get(Number(index)) ?? []), fault])
  }
  refuseFaults(ofBody)
  const { events } = body as { events: Event[] }
  return events.map((event, index) => {
    const root = `events[${index}]`
    const errors = [...(byEvent.get(index) ?? []), ...findUnstorableEvent(event, root)]
    if (errors.length > 0) return { errors }
    const named = typeOf(event, `${root}.`)
    if ('fault' in named) return { errors: [named.fault] }
    const { data, idempotencyKey } = event
    return { type: named.type, data, ...(idempotencyKey !== undefined && { idempotencyKey }) }
  })
}

/** Elsewhere a body that is too deep is refused before anything else; here it is a fault of one event. */
function findUnstorableEvent(event: unknown, field: string): Fault[] {
  try {
    return findUnstorableValues(event, field)
  } catch (error) {
    if (error instanceof Refusal && 'errors' in error.body) return error.body.errors
    throw error
  }
}

/** The results of a batch that was accepted before its event type was deleted; undefined where it has an event that is new. */
export async function findRepeated(
  request: FastifyRequest,
  events: EvaluatedEvent[],
): Promise<BatchResult[] | undefined> {
  const found = await Promise.all(
    events.map(async (event, index): Promise<BatchResult | undefined> => {
      if ('errors' in event) return { status: 'refused', ...event }
      return findReplayed(request, event, index)
    }),
  )
  const results = found.filter((result) => result !== undefined)
  const isRepeat = results.length === events.length && results.some(({ replayed }) => replayed)
  return isRepeat ? results : undefined
}

/** The result of an event that was accepted before; undefined for another one. */
export async function findReplayed(
  request: FastifyRequest,
  event: BatchedEvent,
  index: number,
): Promise<BatchResult | undefined> {
  const key = keyOf(request, event)
  const known = key && (await request.server.keptResponses.find(key))
  const replayed = known?.requestHash === key?.requestHash ? presentReplayed(known) : undefined
  return replayed && warn(request, index, replayed)
}

/** @throws what Postgres throws: whether the event is accepted is then not known */
async function acceptEvent(
  request: FastifyRequest,
  batched: BatchedEvent,
  index: number,
): Promise<BatchResult> {
  const { server, workspace, body, bodyLength } = request
  const bytes = bodyLength / (body as { events: unknown[] }).events.length
  const { id: workspaceId, createdBy } = workspace
  const { type, data } = batched
  const event = { id: newId(), workspaceId, createdBy, type, data, bytes, addressee: null }
  const key = keyOf(request, batched)
  if (key === undefined) {
    await server.inbox.accept(event)
    return { status: 'accepted', id: event.id }
  }
  const found = await acceptOnce(server, event, key)
  if (found !== undefined) return found
  const field = `events[${index}].idempotencyKey`
  return { status: 'refused', errors: [{ field, message: 'Was already used with a different request' }] }
}

/** A caller who is unsure of a batch may send its events one by one. The key of the header would stand for all of them. */
function keyOf(request: FastifyRequest, event: BatchedEvent): RequestKey | undefined {
  const { idempotencyKey: key } = event
  return key === undefined ? undefined : readEventKey(request, event, key)
}

/** @returns undefined where the key stands for another request */
async function acceptOnce(
  server: FastifyInstance,
  event: NewEvent,
  request: RequestKey,
): Promise<BatchResult | undefined> {
  const body = { id: event.id, status: 'accepted' as const }
  const answer = { status: 202, headers: { location: `/api/events/${event.id}` }, body }
  if (await server.inbox.acceptOnce({ request, event, answer })) return body
  const known = await server.keptResponses.find(request)
  // Removed for its age since it stood in the way: nothing does now.
  if (known === undefined) return acceptOnce(server, event, request)
  return known.requestHash === request.requestHash ? presentReplayed(known) : undefined
}

/** @returns undefined where the key belongs to no event */
function presentReplayed(known: KnownRequest | undefined): BatchResult | undefined {
  if (known === undefined || known.eventId === null) return undefined
  return { status: 'accepted', id: known.eventId, replayed: true }
}
