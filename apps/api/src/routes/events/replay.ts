import { changeWorkspace } from '@automation/administration'
import { isUuid, newId, type Prisma, type WorkspaceDatabase } from '@automation/database'
import { isServiceEvent } from '@automation/engine'
import { TriggerResult, triggerResultOf } from '@automation/jobs'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { administratorOf } from '../../administrator.js'
import { Matches } from '../../count-matches.js'
import { refusals } from '../../errors.js'
import { checkFilter } from '../../history-filter.js'
import { sendAnswer } from '../../idempotency/answer.js'
import { IdempotencyHeader } from '../../idempotency/request-key.js'
import { parseCursor, writeCursor } from '../../page.js'
import { Accepted, type EventTelling, findEventAnswer, runEvent } from '../../run-event.js'
import { Id, NextCursor, refusalAnswers } from '../answers.js'
import { eventFilter, narrowEvents } from './event-filter.js'
import { countReplayable, replayEvents } from './replay-events.js'

const ReplayFilter = Type.Object(eventFilter, { additionalProperties: false })
const BulkReplayBody = Type.Object(
  {
    filter: ReplayFilter,
    cursor: Type.Optional(Type.String({ description: 'nextCursor of the call before' })),
    dryRun: Type.Optional(Type.Boolean({ description: 'true where omitted: tells how many there are' })),
  },
  { additionalProperties: false },
)

const maxReplayed = 1_000

export const replayRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/:id/replay', {
    config: { role: 'operator' },
    schema: {
      tags: ['Outcomes'],
      summary: 'Post an event again: its data, and the rules as they are now',
      description: 'What was addressed to one rule or one subscription goes to that one.',
      params: Type.Object({ id: Id }),
      headers: IdempotencyHeader,
      response: { 200: TriggerResult, 202: Accepted, ...refusalAnswers(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const known = await findEventAnswer(request, replayed)
      if (known !== undefined) return sendAnswer(reply, known)
      const { params, workspace } = request
      const event = await findEventToReplay(workspace.database, params.id)
      const { id: replayOf, type, ruleId } = event
      const data = event.data as object
      const replay = { id: newId(), workspaceId: workspace.id, type, data, ruleId, replayOf }
      await noteReplay(request, replayOf, { eventId: replay.id })
      return sendAnswer(reply, await runEvent(replay, request, replayed))
    },
  })

  app.post('/replay', {
    config: { role: 'operator' },
    schema: {
      tags: ['Outcomes'],
      summary: `Post the events that a filter names again, the oldest first, at most ${maxReplayed} a call`,
      description:
        'Only those from outside that are done: neither replays nor what EMIT_EVENT made, which comes again by itself. nextCursor goes on behind the last one; a call that takes long has one before the 1,000.',
      body: BulkReplayBody,
      response: {
        200: Type.Object(Matches.properties, { description: 'A dry run: nothing has happened.' }),
        202: Type.Object(
          { ...Matches.properties, replayed: Type.Integer(), nextCursor: NextCursor },
          { description: 'Accepted: they run by and by.' },
        ),
        ...refusalAnswers(413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { filter, cursor, dryRun = true } = request.body
      const { server, workspace } = request
      checkFilter(ReplayFilter, filter)
      const narrowing = narrowEvents(workspace.id, filter)
      const after = cursor === undefined ? undefined : readCursor(cursor)
      const counted = await countReplayable(workspace.database, narrowing, after)
      if (dryRun) return counted
      if (counted.matched > 0) await noteReplay(request, workspace.id, { filter, ...counted })
      const { replayed, last, isOver } = await replayEvents(server, workspace, narrowing, after, maxReplayed)
      const nextCursor = isOver || last === undefined ? null : writeCursor(last)
      return reply.status(202).send({ ...counted, replayed, nextCursor })
    },
  })
}

const replayed: EventTelling = {
  locationOf: (eventId) => `/api/events/${eventId}`,
  present: triggerResultOf,
}

type EventToReplay = Prisma.EventGetPayload<{ select: typeof fieldsToReplay }>
const fieldsToReplay = { id: true, type: true, data: true, ruleId: true } as const

/** @throws a 404 refusal where it is not there, or the one that it was addressed to is not */
async function findEventToReplay(database: WorkspaceDatabase, id: string): Promise<EventToReplay> {
  const event = isUuid(id) ? await database.event.findUnique({ where: { id }, select: fieldsToReplay }) : null
  if (event === null) throw refusals.eventNotFound()
  if (event.ruleId === null) return event
  const one = { where: { id: event.ruleId }, select: { id: true } } as const
  if (isServiceEvent(event.type)) {
    if ((await database.subscription.findUnique(one)) === null) throw refusals.subscriptionNotFound()
  } else if ((await database.rule.findUnique(one)) === null) throw refusals.ruleNotFound()
  return event
}

/** Before it is done: what happens has its entry in any case. */
function noteReplay(request: FastifyRequest, subject: string, details: object): Promise<void> {
  return changeWorkspace(administratorOf(request), async () => ({
    result: undefined,
    entry: { action: 'event.replayed', subject, details },
  }))
}

/** @throws a 422 refusal for a text that never was a cursor of ours */
function readCursor(cursor: string): string {
  const id = parseCursor(cursor)
  if (id === undefined) throw refusals.invalid([{ field: 'cursor', message: 'Is not a cursor' }])
  return id
}
