import { FairSlots, TooMuchAtOnce } from '@automation/database'
import { EventType, ObservedField } from '@automation/engine'
import { type ScanLimits, type ScannedEvent, scanEvents } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { refusalResponses } from '../responses.js'

const EventTypeFields = Type.Object(
  {
    eventType: EventType,
    events: Type.Integer({ description: 'Number of events that were surveyed, the newest ones' }),
    isComplete: Type.Boolean({
      description:
        'false: reading ended before so many events of the type were found, since there are too many others',
    }),
    hasMorePaths: Type.Boolean({ description: 'true: there are more than 500 paths' }),
    fields: Type.Array(ObservedField),
  },
  { title: 'EventTypeFields' },
)

const defaultEvents = 1_000
const maxEvents = 50_000
/** With its last turns it ends before the deadline of a request. */
const scanLimits = { events: 500_000, ms: 2_000 }
/** Surveys at a time: each holds a slice of events and up to 20 MB of what it has seen. */
const surveys = { total: 8, perOwner: 1, waitingPerOwner: 10, timeoutMs: 5_000 }

/** What the events of a type look like. Computed when it is asked for: ingestion does nothing for it, and the API parses none of them. */
export const fieldRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const survey = createSurvey()

  app.get('/:name/fields', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Rules'],
      operationId: 'surveyEventType',
      summary: 'List the fields that the newest events of a type have, with their kinds and values',
      params: Type.Object({ name: Type.String() }),
      querystring: Type.Object({
        events: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: maxEvents,
            description: `Number of events to survey. Default: ${defaultEvents}`,
          }),
        ),
      }),
      response: { 200: EventTypeFields, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      const { params, query, workspace } = request
      if (!(await app.eventTypes.has(workspace.id, params.name))) throw refusals.eventTypeNotFound()
      const { fields, isComplete } = await survey(request, params.name, query.events ?? defaultEvents)
      const head = JSON.stringify({ eventType: params.name, isComplete })
      // The fields are JSON already.
      const body = `${head.slice(0, -1)},${fields.slice(1)}`
      return reply.type('application/json; charset=utf-8').send(body as never)
    },
  })
}

interface Surveyed {
  /** JSON of `events`, `hasMorePaths` and `fields`. */
  fields: string
  isComplete: boolean
}

/** Creates a survey of events that a workspace has once at a time. */
export function createSurvey() {
  const slots = new FairSlots(surveys)
  return (...[request, type, wanted, limits]: Parameters<typeof surveyType>): Promise<Surveyed> =>
    slots
      .run(request.workspace.id, () => surveyType(request, type, wanted, limits))
      .catch((error): never => {
        throw error instanceof TooMuchAtOnce ? refusals.tooManyReads() : error
      })
}

async function surveyType(
  request: FastifyRequest,
  type: string,
  wanted: number,
  limits: ScanLimits = scanLimits,
): Promise<Surveyed> {
  const { id: workspaceId, reads } = request.workspace
  const startedAt = performance.now()
  let state: Uint8Array | undefined
  let surveyed = 0
  const visit = async (events: ScannedEvent[]): Promise<string | undefined> => {
    for (let start = 0; start < events.length; ) {
      const slice = events.slice(start).map(({ json }) => json)
      const turn = await request.judge('surveyEvents', { events: slice, wanted, state })
      start += turn.used
      state = turn.state
      surveyed = turn.events
      const isOver = surveyed === wanted || performance.now() - startedAt > limits.ms
      if (isOver) return events[start - 1]?.id
    }
    return undefined
  }
  const range = { workspaceId, type, order: 'newest first' as const }
  const { end } = await scanEvents(reads, range, undefined, limits, visit)
  const fields = await request.judge('listFields', { state })
  return { fields, isComplete: end === undefined || surveyed === wanted }
}
