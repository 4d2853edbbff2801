import { isUuid } from '@automation/database'
import { Change, Trace, type WorkLimits } from '@automation/engine'
import {
  type ConsideredRule,
  findUnconsidered,
  type JudgedEvent,
  listConsidered,
  readJudgedEvent,
} from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import type { Rank } from '../../judging/why-of-event.js'
import { checkQuery } from '../../lists/history-filter.js'
import { Id, NextCursor, orNull, PageQuery, refusalResponses, Timestamp } from '../responses.js'

const RuleVerdict = Type.Enum(
  [
    'matched',
    'not_matched',
    'not_judged',
    'inactive',
    'created_later',
    'other_type',
    'deleted',
    'quarantined',
    'pending',
    'not_considered',
    'not_known',
  ],
  {
    title: 'RuleVerdict',
    description:
      'What became of the rule for this event. matched, not_matched: its conditions were judged. not_judged: its execution failed before that, and says why. The others are of a rule that was not considered. inactive, created_later, other_type (another trigger), deleted: so it was when the event was evaluated. quarantined: so is the event. pending: no worker has evaluated the event yet. not_considered: the event was for another rule alone, or the rule that emitted it was switched off first. not_known: it is not stored, since a service before this function evaluated the event or changed the rule.',
  },
)

const RuleWhy = Type.Object(
  {
    ruleId: Id,
    name: orNull(Type.String({ description: 'The present name; null if it is not known' })),
    version: orNull(
      Type.Integer({ description: 'Version of the rule that was considered; null if it is not known' }),
    ),
    verdict: RuleVerdict,
    executionId: orNull(Id),
    decisive: Type.Array(Type.String(), {
      description:
        'Paths of the smallest set of clauses that would have to turn for the verdict to turn, such as conditions[0].any[1]',
    }),
    trace: orNull(Trace),
    change: orNull(
      Type.Array(Change, {
        description:
          'The nearest data found with which the rule would have matched. The engine has checked it. null if it matched, or none was found.',
      }),
    ),
  },
  { title: 'RuleWhy' },
)

const EventWhy = Type.Object(
  {
    eventId: Id,
    type: Type.String(),
    judgedAt: orNull({
      ...Timestamp,
      description:
        'The moment that conditions were compared with: when the event was accepted. null if it is not known, or the event is not evaluated yet.',
    }),
    rules: Type.Array(RuleWhy),
    nextCursor: NextCursor,
  },
  { title: 'EventWhy' },
)

const WhyQuery = Type.Object({
  ruleId: Type.Optional(Type.String({ description: 'Only this rule, also if it was not considered' })),
  ...PageQuery,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Maximum number of rules on the page. Default: 20',
    }),
  ),
})

const defaultLimit = 20

export const whyRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.get('/:id/why', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Outcomes'],
      operationId: 'explainEvent',
      summary: 'Explain why each rule matched an event, or not',
      description:
        'Lists the rules that were considered: those that matched, then those that missed by the fewest clauses, then in creation order. Nothing of it was recorded: the event, the version of each rule and the moment are stored, and the engine judges them again.',
      params: Type.Object({ id: Id }),
      querystring: WhyQuery,
      response: { 200: EventWhy, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      const { params, query, workspace } = request
      checkQuery(WhyQuery, query)
      const after = query.cursor === undefined ? undefined : readRank(query.cursor, params.id)
      const event = isUuid(params.id)
        ? await readJudgedEvent(workspace.reads, workspace.id, params.id)
        : undefined
      if (event === undefined) throw refusals.eventNotFound()
      const { items, end } = await request.judge('whyOfEvent', {
        rules: await findRules(request, event, query.ruleId?.toLowerCase()),
        data: event.data,
        now: event.acceptedAt.getTime(),
        limits: workLimits,
        limit: query.limit ?? defaultLimit,
        after,
      })
      const head = JSON.stringify({
        eventId: event.id,
        type: event.type,
        judgedAt: event.rulesVersion === null ? null : event.acceptedAt.toISOString(),
        nextCursor: end === undefined ? null : writeRank(end, event.id),
      })
      // The items are JSON already.
      const body = `${head.slice(0, -1)},"rules":${items}}`
      return reply.type('application/json; charset=utf-8').send(body as never)
    },
  })
}

async function findRules(
  { workspace: { reads } }: FastifyRequest,
  event: JudgedEvent,
  ruleId: string | undefined,
): Promise<ConsideredRule[]> {
  const considered = await listConsidered(reads, event)
  if (ruleId === undefined) return considered
  const found =
    considered.find((rule) => rule.ruleId === ruleId) ?? (await findUnconsidered(reads, event, ruleId))
  if (found === undefined) throw refusals.ruleNotFound()
  return [found]
}

/** The cursor names its event: one of another event would skip rules. */
function writeRank(rank: Rank, eventId: string): string {
  return Buffer.from(JSON.stringify([eventId, ...rank])).toString('base64url')
}

function readRank(cursor: string, eventId: string): Rank {
  try {
    const [id, ...rank] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (id === eventId.toLowerCase() && rank.length === 3 && rank.every(Number.isInteger))
      return rank as unknown as Rank
  } catch {
    // No JSON: refused like one of another list.
  }
  throw refusals.badRequest('Query parameter cursor is not a cursor of this event')
}
