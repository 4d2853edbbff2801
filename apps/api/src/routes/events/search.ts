import { createHash } from 'node:crypto'
import { isUuid } from '@automation/database'
import {
  Conditions,
  isReservedType,
  normaliseConditions,
  parseTimestamp,
  type WorkLimits,
} from '@automation/engine'
import { listEventsByIds } from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { readWords } from '../../evaluation/find-words.js'
import { addExcerpts, ExcerptQuery } from '../../lists/excerpt.js'
import { readRange, TimeRange } from '../../lists/history-filter.js'
import { bodyFaults } from '../../plugins/validation.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { findFaults, refuseFaults } from '../rules/check-rule.js'
import { ListedEvent, presentListedEvent } from './event-schemas.js'
import { findEvents, SearchWords } from './find-events.js'

const EventSearch = Type.Object(
  {
    conditions: Conditions,
    q: SearchWords,
    eventType: Type.Optional(Type.String({ description: 'Only events of this type' })),
    type: Type.Optional(Type.String({ description: 'Another name of eventType' })),
    ...TimeRange,
    ...PageQuery,
    excerpt: ExcerptQuery,
  },
  {
    title: 'EventSearch',
    additionalProperties: false,
    examples: [
      { conditions: [{ field: 'score', operator: 'greater_than', value: 80 }], eventType: 'LEAD_CREATED' },
    ],
  },
)
type EventSearch = Type.Static<typeof EventSearch>

const FoundEvents = Type.Object(
  {
    events: Type.Array(ListedEvent),
    scanned: Type.Integer({ description: 'Number of events that were searched for this page' }),
    notJudged: Type.Integer({
      description:
        'Number of events that were skipped, because evaluating them exceeded the evaluation limit',
    }),
    nextCursor: NextCursor,
  },
  { title: 'FoundEvents' },
)

const defaultLimit = 50

export const searchRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.post('/search', {
    attachValidation: true,
    config: { role: 'viewer' },
    schema: {
      operationId: 'searchEvents',
      summary: 'Find events whose data matches conditions, newest first',
      description:
        'The conditions are those of rules, evaluated as of the time when the event was accepted; `q` looks for words, as in the list of events. A page searches at most 20,000 events, so it can be short or empty and still have a nextCursor. Deliveries to subscriptions are not included.',
      body: EventSearch,
      response: { 200: FoundEvents, ...refusalResponses(413, 415, 422) },
    },
    handler: async (request) => {
      const { workspace } = request
      const body = nameType(request.body)
      refuseFaults([...bodyFaults(request.validationError ?? {}), ...findTimeFaults(body)])
      refuseFaults(await findFaults(request, { conditions: body.conditions }))
      if (
        body.type !== undefined &&
        !isReservedType(body.type) &&
        !(await app.eventTypes.has(workspace.id, body.type))
      )
        throw await app.eventTypes.refusalOf(workspace.id, body.type, 'eventType')
      const after = body.cursor === undefined ? undefined : readEnd(body.cursor, body)
      const { limit = defaultLimit, q = '', conditions } = body
      const range = { ...(body.type !== undefined && { type: body.type }), ...readRange(timesOf(body)) }
      const wanted = { conditions: normaliseConditions(conditions), words: readWords(q), range, limit }
      const { ids, scanned, notJudged, end } = await findEvents(request, wanted, after, workLimits)
      const events = (await listEventsByIds(workspace.reads, workspace.id, ids)).map(presentListedEvent)
      return {
        events: body.excerpt
          ? await addExcerpts(workspace.reads, workspace.id, events, ({ id }) => id)
          : events,
        scanned,
        notJudged,
        nextCursor: end === undefined ? null : writeEnd(end, body),
      }
    },
  })
}

/** @throws a 422 refusal for two different types */
function nameType(body: EventSearch): EventSearch {
  // A body that is no object is refused after this.
  const { eventType, ...search } = (body ?? {}) as EventSearch
  if (eventType === undefined) return body
  if (search.type !== undefined && search.type !== eventType)
    throw refusals.invalid([{ field: 'type', message: 'Must be the same as eventType' }])
  return { ...search, type: eventType }
}

function timesOf({ from, to }: EventSearch) {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

function findTimeFaults({ from, to }: Partial<EventSearch>) {
  return Object.entries({ from, to }).flatMap(([field, text]) =>
    text === undefined || !Number.isNaN(parseTimestamp(text))
      ? []
      : [{ field, message: 'Must be an ISO 8601 date, or a time with a zone' }],
  )
}

/** The cursor names its search: that of another one would skip events. */
function writeEnd(id: string, search: EventSearch): string {
  return Buffer.from(`${id} ${digestOf(search)}`).toString('base64url')
}

function readEnd(cursor: string, search: EventSearch): string {
  const [id, digest] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (!isUuid(id) || digest !== digestOf(search)) throw refusals.invalidCursor('cursor')
  return id
}

function digestOf({ conditions, q, type, from, to }: EventSearch): string {
  const text = JSON.stringify([conditions, type, from, to, q])
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}
