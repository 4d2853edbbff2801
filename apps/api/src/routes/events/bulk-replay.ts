import { countReplayable, narrowEvents } from '@automation/history'
import type { Narrowing } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { parseCursor, writeCursor } from '../../lists/cursor.js'
import { ChosenIds, checkFilter, checkTypeInFilter, readRange } from '../../lists/history-filter.js'
import { Matches, matchCounts } from '../../lists/matches.js'
import { NextCursor, refusalResponses } from '../../responses.js'
import { eventFilter } from './event-filter.js'
import { noteReplay } from './note-replay.js'
import { replayEvents, timeToReplayMs } from './replay-events.js'

const ReplayFilter = Type.Object(
  { ...eventFilter, ids: ChosenIds },
  { additionalProperties: false, title: 'EventFilter' },
)
const BulkReplayBody = Type.Object(
  {
    filter: ReplayFilter,
    cursor: Type.Optional(Type.String({ description: 'nextCursor of the previous call' })),
    dryRun: Type.Optional(Type.Boolean({ description: 'Only count the matches. Default: true.' })),
  },
  { additionalProperties: false, title: 'EventsToReplay' },
)

type BulkReplayBody = Type.Static<typeof BulkReplayBody>

const maxReplayed = 1_000

interface EventsToReplay {
  narrowing: Narrowing
  /** The id of the last event that an earlier call replayed. */
  after: string | undefined
}

export const bulkReplayRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/replay', {
    config: { role: 'operator' },
    schema: {
      operationId: 'replayEvents',
      summary: `Replay the events that match a filter, oldest first, at most ${maxReplayed.toLocaleString('en-US')} per call`,
      description: `A dry run, which only counts the matches, unless \`dryRun\` is false. Only finished events from outside are replayed. Replays are skipped, and so are events from EMIT_EVENT, because the replay emits them again. The next call continues from nextCursor. A slow call returns before it reaches ${maxReplayed.toLocaleString('en-US')} events. 50 events cost one token of the rate limit.`,
      body: BulkReplayBody,
      response: {
        200: Matches,
        202: Type.Object(
          { ...matchCounts, replayed: Type.Integer(), nextCursor: NextCursor },
          {
            title: 'EventsReplayed',
            'x-response-description': 'Accepted. The events run in the background.',
          },
        ),
        ...refusalResponses(409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { body, workspace } = request
      const events = await readEventsToReplay(request, body)
      const counted = await countReplayable(workspace.reads, events.narrowing, events.after)
      if (body.dryRun ?? true) return { ...counted, dryRun: true as const }
      return reply.status(202).send(await replayCounted(request, reply, body, events, counted))
    },
  })
}

/** @throws a 422 refusal for a filter or a cursor with a fault */
async function readEventsToReplay(
  request: FastifyRequest,
  { filter, cursor }: BulkReplayBody,
): Promise<EventsToReplay> {
  checkFilter(ReplayFilter, filter)
  await checkTypeInFilter(request, filter)
  const { eventType: type, ruleId, subscriptionId, ids } = filter
  const narrowing = narrowEvents(request.workspace.id, {
    ...(type !== undefined && { type }),
    ...(ruleId !== undefined && { ruleId }),
    ...(subscriptionId !== undefined && { subscriptionId }),
    ...(ids !== undefined && { ids }),
    ...readRange(filter),
  })
  const after = cursor === undefined ? undefined : parseCursor(cursor)
  if (cursor !== undefined && after === undefined)
    throw refusals.invalid([{ field: 'cursor', message: 'Must be the nextCursor of the previous call' }])
  return { narrowing, after }
}

async function replayCounted(
  request: FastifyRequest,
  reply: FastifyReply,
  { filter, cursor }: BulkReplayBody,
  events: EventsToReplay,
  counted: Awaited<ReturnType<typeof countReplayable>>,
) {
  const { server, workspace, dueAt } = request
  const { matched } = counted
  if (matched === 0) return { ...counted, replayed: 0, nextCursor: null }
  // Refused before it pays: after its deadline nobody reads what it did.
  if (dueAt - performance.now() < timeToReplayMs)
    throw refusals.unavailable(new Error('Not enough time was left for a bulk replay'))
  await server.payForMany(request, reply, Math.min(matched, maxReplayed))
  await noteReplay(request, workspace.id, { filter, ...(cursor !== undefined && { cursor }), ...counted })
  const { replayed, last, isOver } = await replayEvents(request, { ...events, limit: maxReplayed })
  return { ...counted, replayed, nextCursor: writeCursor(isOver ? undefined : last) }
}
