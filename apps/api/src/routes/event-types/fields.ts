import { setImmediate as nextTurn } from 'node:timers/promises'
import { FairSlots, TooMuchAtOnce } from '@automation/database'
import { EventType, FieldSurvey, ObservedField } from '@automation/engine'
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
const scanLimits = { events: 500_000, ms: 5_000 }
/** How long (ms) events are surveyed before others have a turn. */
const turnMs = 10

/** What the events of a type look like. Computed when it is asked for: ingestion does nothing for it. */
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
    handler: async (request) => {
      const { params, query, workspace } = request
      if (!(await app.eventTypes.has(workspace.id, params.name))) throw refusals.eventTypeNotFound()
      return survey(request, params.name, query.events ?? defaultEvents)
    },
  })
}

/** Creates a survey of events that runs once at a time. */
export function createSurvey() {
  const slots = new FairSlots({ total: 1, perOwner: 1, waitingPerOwner: 10, timeoutMs: 5_000 })
  return (...[request, type, wanted, limits]: Parameters<typeof surveyEvents>) =>
    slots
      .run(request.workspace.id, () => surveyEvents(request, type, wanted, limits))
      .catch((error): never => {
        throw error instanceof TooMuchAtOnce ? refusals.tooManyReads() : error
      })
}

async function surveyEvents(
  { workspace: { id: workspaceId, reads } }: FastifyRequest,
  type: string,
  wanted: number,
  limits: ScanLimits = scanLimits,
): Promise<Type.Static<typeof EventTypeFields>> {
  const survey = new FieldSurvey()
  const visit = async (events: ScannedEvent[]): Promise<string | undefined> => {
    let turnedAt = performance.now()
    for (const { id, json } of events) {
      survey.add(JSON.parse(json))
      if (survey.events === wanted) return id
      if (performance.now() - turnedAt < turnMs) continue
      await nextTurn()
      turnedAt = performance.now()
    }
    return undefined
  }
  const range = { workspaceId, type, order: 'newest first' as const }
  const { end } = await scanEvents(reads, range, undefined, limits, visit)
  const { events, hasMorePaths } = survey
  const isComplete = end === undefined || events === wanted
  return { eventType: type, events, isComplete, hasMorePaths, fields: survey.list() }
}
