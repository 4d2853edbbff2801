import { orNull } from '@automation/access'
import { isUuid } from '@automation/database'
import { NearestChange, Trace, type WorkLimits } from '@automation/engine'
import {
  type ConsideredRule,
  type EvaluatedEvent,
  findUnconsidered,
  listConsidered,
  readEvaluatedEvent,
} from '@automation/ledger'
import { maxRules } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { checkQuery } from '../../lists/history-filter.js'
import { Id, NextCursor, PageQuery, refusalResponses, Timestamp } from '../../responses.js'

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
      'What became of the rule for this event. matched, not_matched: its conditions were evaluated. not_judged: its execution failed before that, and says why. The others are of a rule that was not considered. inactive, created_later, other_type (another trigger), deleted: so it was when the event was evaluated. quarantined: so is the event. pending: no worker has evaluated the event yet. not_considered: the event was for another rule alone, or the rule that emitted it was switched off first. not_known: the definition that would say why is not stored any more.',
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
      Type.Array(NearestChange, {
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
        'Lists the rules that were considered: those that matched, then those that missed by the fewest clauses, then in creation order. Nothing of it was recorded: the event, the version of each rule and the moment are stored, and the engine evaluates them again. A page has fewer rules than its limit where they need more time or work than one question may cost; a later page may then have a nearer miss.',
      params: Type.Object({ id: Id }),
      querystring: WhyQuery,
      response: { 200: EventWhy, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      const { params, query, workspace } = request
      checkQuery(WhyQuery, query)
      const before = query.cursor === undefined ? [] : readCursor(query.cursor, params.id)
      const { event, items, explained } = await request.readAndEvaluate(async (evaluate) => {
        const event = isUuid(params.id)
          ? await readEvaluatedEvent(workspace.reads, workspace.id, params.id)
          : undefined
        if (event === undefined) throw refusals.eventNotFound()
        const page = await evaluate('whyOfEvent', {
          rules: await findRules(request, event, query.ruleId?.toLowerCase()),
          data: event.data,
          now: event.acceptedAt.getTime(),
          limits: workLimits,
          limit: query.limit ?? defaultLimit,
          explained: before,
        })
        return { event, ...page }
      })
      const head = JSON.stringify({
        eventId: event.id,
        type: event.type,
        judgedAt: event.rulesVersion === null ? null : event.acceptedAt.toISOString(),
        nextCursor: explained === undefined ? null : writeCursor(explained, event.id),
      })
      // The items are JSON already.
      const body = `${head.slice(0, -1)},"rules":${items}}`
      return reply.type('application/json; charset=utf-8').send(body as never)
    },
  })
}

async function findRules(
  { workspace: { reads } }: FastifyRequest,
  event: EvaluatedEvent,
  ruleId: string | undefined,
): Promise<ConsideredRule[]> {
  const considered = await listConsidered(reads, event, ruleId)
  if (ruleId === undefined) return considered
  const found = considered[0] ?? (await findUnconsidered(reads, event, ruleId))
  if (found === undefined) throw refusals.ruleNotFound()
  return [found]
}

/**
 * The cursor says which rules were explained: where not all of them could be ordered, no rank divides the pages. It is a bit for each rule, and
 * names its event: that of another one would skip rules.
 */
function writeCursor(explained: number[], eventId: string): string {
  const bits = new Uint8Array((Math.max(...explained) >> 3) + 1)
  for (const position of explained) bits[position >> 3] = (bits[position >> 3] ?? 0) | (1 << (position & 7))
  return Buffer.concat([Buffer.from(eventId.replaceAll('-', ''), 'hex'), bits]).toString('base64url')
}

function readCursor(cursor: string, eventId: string): number[] {
  const bytes = Buffer.from(cursor, 'base64url')
  const isOfEvent = bytes.toString('hex', 0, idBytes) === eventId.toLowerCase().replaceAll('-', '')
  if (!isOfEvent || bytes.length > idBytes + maxRules / 8)
    throw refusals.badRequest('Query parameter cursor is not a cursor of this event')
  return [...bytes.subarray(idBytes)].flatMap((byte, index) =>
    [0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => (byte & (1 << bit) ? [index * 8 + bit] : [])),
  )
}

const idBytes = 16
