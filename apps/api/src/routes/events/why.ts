import { orNull } from '@automation/access'
import { isUuid } from '@automation/database'
import { NearestChange, Suppression, Trace, type WorkLimits } from '@automation/engine'
import {
  type ConsideredRule,
  type EvaluatedEvent,
  findUnconsidered,
  listConsidered,
  readEvaluatedEvent,
} from '@automation/history'
import { maxRules } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { OutrankedBy } from '../../acceptance/results.js'
import { refusals } from '../../errors.js'
import { checkQuery } from '../../lists/history-filter.js'
import { linkNext } from '../../lists/link-next.js'
import { Id, NextCursor, PageQuery, refusalResponses, Timestamp } from '../../responses.js'
import { ErasedAt, presentErased, presentQuarantine, QuarantineReason } from './event-schemas.js'

const RuleVerdict = Type.Enum(
  [
    'matched',
    'outranked',
    'left_out',
    'suppressed',
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
      'Result of the rule for this event. matched, not_matched: the conditions were evaluated. outranked: they matched, but another rule of its group came first and ran instead. left_out: the event is a replay of chosen rules, and this one was not among them. suppressed: they matched, but `perKey` of the rule did not grant an execution. not_judged: the execution failed before that, and its error says why. In all other cases the rule was not considered. inactive: it was switched off when the event was processed. created_later: it was created after the event was processed. other_type: it had a different trigger. deleted: it was deleted before. quarantined: the event is quarantined. pending: no worker has evaluated the event yet. not_considered: the event was addressed to a single other rule, or the rule that emitted it was switched off first. not_known: the definition that would explain it is no longer stored.',
  },
)

const RuleWhy = Type.Object(
  {
    ruleId: Id,
    name: orNull(Type.String({ description: 'Current name. null if it is not known.' })),
    version: orNull(
      Type.Integer({ description: 'Version of the rule that was considered. null if it is not known.' }),
    ),
    verdict: RuleVerdict,
    executionId: orNull(Id),
    outranked: orNull(OutrankedBy),
    suppressed: orNull(Suppression),
    decisive: Type.Array(Type.String(), {
      description:
        'Paths of the fewest conditions whose result would have to change to flip the result of the rule, such as conditions[0].any[1]. For a rule that matched: the conditions that the match depends on.',
    }),
    trace: orNull(Trace),
    change: orNull(
      Type.Array(NearestChange, {
        description:
          'The smallest change of the data found with which the rule would have matched, checked by evaluation. null if the rule matched, or none was found.',
      }),
    ),
  },
  { title: 'RuleWhy' },
)

const EventWhy = Type.Object(
  {
    eventId: Id,
    type: Type.String(),
    eventType: Type.String({ description: 'The same as type' }),
    judgedAt: orNull({
      ...Timestamp,
      description:
        'The time that conditions were evaluated as of: when the event was accepted. null if it is not known, or if the event is not evaluated yet.',
    }),
    quarantineReason: QuarantineReason,
    erasedAt: ErasedAt,
    isPending: Type.Boolean({
      description: 'true: no worker has evaluated the event yet, so it is not known which rules it will meet',
    }),
    rules: Type.Array(RuleWhy),
    nextCursor: NextCursor,
  },
  { title: 'EventWhy' },
)

const WhyQuery = Type.Object({
  ruleId: Type.Optional(Type.String({ description: 'Only this rule, even if it was not considered' })),
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
      operationId: 'explainEvent',
      summary: 'Explain why each rule matched an event, or did not',
      description:
        'Lists the rules that were considered: first those that matched, then those that missed by the fewest conditions, then in creation order, and what a person left out of a replay. The event is evaluated again exactly as it was: with its stored data, its time and the version of each rule at that time. If `erasedAt` is present, a value was erased from that data since then: a condition that looked at it is evaluated with what is left. If evaluating exceeds a time or cost limit, a page has fewer rules than its limit, and a later page may have a nearer miss.',
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
      const nextCursor = explained === undefined ? null : writeCursor(explained, event.id)
      linkNext(reply, nextCursor)
      const head = JSON.stringify({
        eventId: event.id,
        type: event.type,
        eventType: event.type,
        judgedAt: event.rulesVersion === null ? null : event.acceptedAt.toISOString(),
        ...presentQuarantine(event),
        ...presentErased(event),
        isPending: event.doneAt === null && event.rulesVersion === null && !event.quarantined,
        nextCursor,
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
  if (!isOfEvent || bytes.length > idBytes + maxRules / 8) throw refusals.invalidCursor()
  return [...bytes.subarray(idBytes)].flatMap((byte, index) =>
    [0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => (byte & (1 << bit) ? [index * 8 + bit] : [])),
  )
}

const idBytes = 16
