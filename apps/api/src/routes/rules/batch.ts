import { newId } from '@automation/database'
import { type Fault, listLongFaults } from '@automation/engine'
import type { NewEvent, RequestKey } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { KnownRequest } from '../../acceptance/idempotency/kept-responses.js'
import { hashRequest, keyPattern } from '../../acceptance/idempotency/request-key.js'
import { Refusal, refusals } from '../../errors.js'
import { warnOfTexts } from '../../long-numbers.js'
import { findUnstorableValues } from '../../plugins/bodies.js'
import { bodyFaults } from '../../plugins/validation.js'
import { DataWarnings, FieldError, Id, refusalResponses } from '../../responses.js'
import { maxBatchEvents } from '../../vocabulary/vocabulary.js'
import { EventData } from '../events/event-schemas.js'
import { refuseFaults } from './check-rule.js'

const BatchEvent = Type.Object(
  {
    data: EventData,
    idempotencyKey: Type.Optional(
      Type.String({
        pattern: keyPattern,
        description:
          'Like the Idempotency-Key header of a single event: the event is accepted once, however often it is sent',
      }),
    ),
  },
  { additionalProperties: false, title: 'BatchEvent' },
)
type BatchEvent = Type.Static<typeof BatchEvent>

const BatchResult = Type.Object(
  {
    status: Type.Enum(['accepted', 'refused', 'failed'], {
      description:
        'accepted: the event will run. refused: the event has the faults in `errors`. failed: it is unknown whether the event was accepted, so send it again.',
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
type BatchResult = Type.Static<typeof BatchResult>

const failed: BatchResult = { status: 'failed', error: 'Service temporarily unavailable' }

const BatchAnswer = Type.Object(
  {
    accepted: Type.Integer({ description: 'Number of accepted events' }),
    results: Type.Array(BatchResult, {
      description: 'One result for each event, in the order of the events',
    }),
  },
  { title: 'BatchAnswer' },
)

/** Many events in one request and one commit. Each is checked and accepted by itself and has its own result; the response waits for no outcome. */
export const batchRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/trigger/:eventType/batch', {
    attachValidation: true,
    config: { role: 'operator', evaluatesParts: true },
    schema: {
      tags: ['Running'],
      operationId: 'triggerEventBatch',
      summary: 'Post up to 500 events of one type. Each event has its own result',
      params: Type.Object({ eventType: Type.String() }),
      body: Type.Object(
        { events: Type.Array(BatchEvent, { minItems: 1, maxItems: maxBatchEvents }) },
        { additionalProperties: false, title: 'EventBatch' },
      ),
      response: { 202: BatchAnswer, ...refusalResponses(413, 415, 422) },
    },
    handler: async (request, reply) => {
      const faultsOf = evaluateEvents(request)
      const { eventType } = request.params
      if (!(await app.eventTypes.has(request.workspace.id, eventType))) {
        const results = await findRepeated(request, faultsOf)
        if (results === undefined) throw refusals.invalidTriggerType(eventType)
        return reply.status(202).send(answerOf(results))
      }
      // It would stand for all of them, and says nothing of which of them came before.
      if (request.headers['idempotency-key'] !== undefined) throw refusals.keyOfBatch()
      const { events } = request.body
      await app.payForMany(request, reply, events.length)
      // Asked in one turn, they share a commit.
      const settled = await Promise.allSettled(
        events.map(async (event, index): Promise<BatchResult> => {
          const errors = faultsOf(index)
          if (errors.length > 0) return { status: 'refused', errors }
          const result = await acceptEvent(request, event, index)
          return { ...result, ...warnOfTexts(request.longNumbers, `events[${index}].`) }
        }),
      )
      const results = settled.map((one) => (one.status === 'fulfilled' ? one.value : failed))
      const failure = settled.find((one) => one.status === 'rejected')
      if (failure !== undefined) {
        if (countAccepted(results) === 0) throw failure.reason
        request.log.error({ err: failure.reason }, 'part of a batch failed')
      }
      return reply.status(202).send(answerOf(results))
    },
  })
}

function answerOf(results: BatchResult[]) {
  return { accepted: countAccepted(results), results }
}

function countAccepted(results: BatchResult[]): number {
  return results.filter(({ status }) => status === 'accepted').length
}

/** Finds what is wrong with each event. @throws refusals: 422 for what is wrong with the body as a whole */
function evaluateEvents(request: FastifyRequest): (index: number) => Fault[] {
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
    else noteFaults(Number(index), [fault])
  }
  refuseFaults(ofBody)
  const { events } = body as { events: unknown[] }
  events.forEach((event, index) => {
    noteFaults(index, findUnstorableEvent(event, `events[${index}]`))
  })
  return (index) => byEvent.get(index) ?? []

  function noteFaults(index: number, faults: Fault[]): void {
    if (faults.length === 0) return
    const known = byEvent.get(index)
    if (known === undefined) byEvent.set(index, faults)
    else known.push(...faults)
  }
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
async function findRepeated(
  request: FastifyRequest,
  faultsOf: (index: number) => Fault[],
): Promise<BatchResult[] | undefined> {
  const { events } = request.body as { events: BatchEvent[] }
  const found = await Promise.all(
    events.map(async (event, index): Promise<BatchResult | undefined> => {
      const errors = faultsOf(index)
      if (errors.length > 0) return { status: 'refused', errors }
      const replayed = await findReplayed(request, event)
      return replayed && { ...replayed, ...warnOfTexts(request.longNumbers, `events[${index}].`) }
    }),
  )
  const results = found.filter((result) => result !== undefined)
  const isRepeat = results.length === events.length && results.some(({ replayed }) => replayed)
  return isRepeat ? results : undefined
}

async function findReplayed(request: FastifyRequest, event: BatchEvent): Promise<BatchResult | undefined> {
  const key = keyOf(request, event)
  const known = key && (await request.server.keptResponses.find(key))
  return known?.requestHash === key?.requestHash ? presentReplayed(known) : undefined
}

/** @throws what Postgres throws: whether the event is accepted is then not known */
async function acceptEvent(
  request: FastifyRequest,
  batchEvent: BatchEvent,
  index: number,
): Promise<BatchResult> {
  const { server, workspace, params, body, bodyLength } = request
  const { eventType: type } = params as { eventType: string }
  const bytes = bodyLength / (body as { events: unknown[] }).events.length
  const { id: workspaceId, createdBy } = workspace
  const { data } = batchEvent
  const event = { id: newId(), workspaceId, createdBy, type, data, bytes, addressee: null }
  const key = keyOf(request, batchEvent)
  if (key === undefined) {
    await server.inbox.accept(event)
    return { status: 'accepted', id: event.id }
  }
  const found = await acceptOnce(server, event, key)
  if (found !== undefined) return found
  const field = `events[${index}].idempotencyKey`
  return { status: 'refused', errors: [{ field, message: 'Was already used with a different request' }] }
}

/** The same hash as that of a single request: a caller who is unsure of a batch may send its events one by one. */
function keyOf(
  { workspace, params, routeOptions }: FastifyRequest,
  { data, idempotencyKey: key }: BatchEvent,
): RequestKey | undefined {
  if (key === undefined) return undefined
  const requestHash = hashRequest('POST', routeOptions.url?.replace(/\/batch$/, ''), params, { data })
  return { workspaceId: workspace.id, key, requestHash }
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
