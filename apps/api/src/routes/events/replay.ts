import { changeWorkspace } from '@automation/access'
import { FairSlots } from '@automation/admission'
import { isUuid, newId, type WorkspaceDatabase } from '@automation/database'
import { addresseeOf, countReplayable, narrowEvents, type ReplayableEvent } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { IdempotencyHeader } from '../../acceptance/idempotency/request-key.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { PreferHeader } from '../../acceptance/prefer.js'
import { TriggerResult, triggerResultOf } from '../../acceptance/results.js'
import { Accepted, findEventResponse, type Presentation, runEvent } from '../../acceptance/run-event.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { callerOf, takeTurn } from '../../evaluation/take-turn.js'
import { checkFilter, checkTypeInFilter, eventTypeOf, readRange } from '../../lists/history-filter.js'
import { takeLongRead } from '../../lists/long-read.js'
import { Matches } from '../../lists/matches.js'
import { parseCursor, writeCursor } from '../../lists/page.js'
import { Id, NextCursor, refusalResponses } from '../../responses.js'
import { eventFilter } from './event-filter.js'
import { replayEvents, timeToReplayMs } from './replay-events.js'

const ReplayFilter = Type.Object(eventFilter, { additionalProperties: false, title: 'EventFilter' })
const BulkReplayBody = Type.Object(
  {
    filter: ReplayFilter,
    cursor: Type.Optional(Type.String({ description: 'nextCursor of the previous call' })),
    dryRun: Type.Optional(Type.Boolean({ description: 'Only count the matches. Default: true.' })),
  },
  { additionalProperties: false, title: 'EventsToReplay' },
)

const maxReplayed = 1_000

/** Four at once delayed others by 0.5 s, so each process runs one of a workspace at a time. */
const limits = { total: Number.POSITIVE_INFINITY, perOwner: 1, waitingPerOwner: 16, timeoutMs: 3_000 }
const turns = new FairSlots(limits)

export const replayRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/:id/replay', {
    config: { role: 'operator' },
    schema: {
      tags: ['Outcomes'],
      operationId: 'replayEvent',
      summary: 'Replay an event: the same data, with the current rules',
      description:
        'An event that was addressed to one rule or one subscription goes to the same rule or subscription.',
      params: Type.Object({ id: Id }),
      headers: Type.Object({ ...IdempotencyHeader.properties, ...PreferHeader.properties }),
      response: { 200: TriggerResult, 202: Accepted, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const known = await findEventResponse(request, replayed)
      if (known !== undefined) return sendStored(reply, known)
      const { params, workspace } = request
      const { id: replayOf, ...event } = await findEventToReplay(workspace.database, params.id)
      const replay = {
        ...event,
        id: newId(),
        workspaceId: workspace.id,
        createdBy: workspace.createdBy,
        replayOf,
      }
      await noteReplay(request, replayOf, { eventId: replay.id })
      return sendStored(reply, await runEvent(replay, request, replayed))
    },
  })

  app.post('/replay', {
    config: { role: 'operator' },
    schema: {
      tags: ['Outcomes'],
      operationId: 'replayEvents',
      summary: `Replay the events that match a filter, oldest first, at most ${maxReplayed} per call`,
      description: `The call replays only finished events from outside. It skips replays, and events from EMIT_EVENT because the replay emits them again. The next call continues from nextCursor. A slow call returns before it reaches ${maxReplayed} events. A workspace has one call that replays at a time, of 500 events a second at most. Sixteen more may wait, for three seconds each. Others get 429. 50 events cost one token of the rate limit.`,
      body: BulkReplayBody,
      response: {
        200: { ...Matches, 'x-response-description': 'A dry run. Nothing was replayed.' },
        202: Type.Object(
          { ...Matches.properties, replayed: Type.Integer(), nextCursor: NextCursor },
          {
            title: 'EventsReplayed',
            'x-response-description': 'Accepted. The events run in the background.',
          },
        ),
        ...refusalResponses(409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { filter, cursor, dryRun = true } = request.body
      const { workspace } = request
      checkFilter(ReplayFilter, filter)
      await checkTypeInFilter(request, filter)
      const { ruleId } = filter
      const type = eventTypeOf(filter)
      const narrowing = narrowEvents(workspace.id, {
        ...(type !== undefined && { type }),
        ...(ruleId !== undefined && { ruleId }),
        ...readRange(filter),
      })
      const after = cursor === undefined ? undefined : readCursor(cursor)
      const caller = callerOf(request)
      const count = () => takeLongRead(caller, () => countReplayable(workspace.reads, narrowing, after))
      if (dryRun) return count()
      const replay = async () => {
        const counted = await count()
        const { matched } = counted
        if (matched === 0) return { ...counted, replayed: 0, nextCursor: null }
        // Refused before it pays: after its deadline nobody reads what it did.
        if (caller.dueAt - performance.now() < timeToReplayMs)
          throw refusals.unavailable(new Error('Too little time was left for a bulk replay'))
        await app.payForMany(request, reply, Math.min(matched, maxReplayed))
        await noteReplay(request, workspace.id, {
          filter,
          ...(cursor !== undefined && { cursor }),
          ...counted,
        })
        const page = { narrowing, after, limit: maxReplayed }
        const { replayed, last, isOver } = await replayEvents(request, page)
        return { ...counted, replayed, nextCursor: isOver || last === undefined ? null : writeCursor(last) }
      }
      const result = await takeTurn(turns, caller, replay, (error) => refusals.tooManyReplays(limits, error))
      return reply.status(202).send(result)
    },
  })
}

const replayed: Presentation = {
  locationOf: (eventId) => `/api/events/${eventId}`,
  present: triggerResultOf,
}

const fieldsToReplay = { id: true, type: true, data: true, ruleId: true, subscriptionId: true } as const

/** @throws a 404 refusal where it is not there, or its addressee is not */
async function findEventToReplay(database: WorkspaceDatabase, id: string): Promise<ReplayableEvent> {
  const row = isUuid(id) ? await database.event.findUnique({ where: { id }, select: fieldsToReplay }) : null
  if (row === null) throw refusals.eventNotFound()
  const addressee = addresseeOf(row)
  const data = row.data as object
  const event = { id: row.id, type: row.type, data, bytes: JSON.stringify(data).length, addressee }
  if (addressee === null) return event
  const one = { where: { id: addressee.id }, select: { id: true } } as const
  if (addressee.kind === 'subscription') {
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
