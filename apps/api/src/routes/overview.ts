import { orNull } from '@automation/access'
import { timeOf } from '@automation/database'
import {
  type CountsByTime,
  countByTime,
  type FailureGroup as GroupedFailures,
  groupFailures,
  longestCountedMs,
  maxCountedByTime,
  maxGroupedFailures,
} from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { checkQuery, checkTypeInQuery } from '../lists/history-filter.js'
import { CountedWindow, presentWindow, type TimeWindow, windowQuery } from '../lists/time-window.js'
import { Id, refusalResponses, Timestamp } from '../responses.js'
import { EventStatus } from './events/event-schemas.js'
import { Acknowledgement } from './executions/acknowledge.js'
import { executionFilter } from './executions/execution-filter.js'

const overviewWindow = windowQuery(200, 48)
const OverviewQuery = Type.Object({
  ...overviewWindow.schema.properties,
  ruleId: Type.Optional(
    Type.String({
      description: 'Only the executions of this rule, and the events that it was considered for',
    }),
  ),
  eventType: executionFilter.eventType,
  eventStatus: Type.Optional(EventStatus),
  error: executionFilter.error,
  failures: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 50,
      description: 'Maximum number of groups of failures in the response. Default: 0.',
    }),
  ),
})

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const counts = {
  events: Count('Accepted events, without deliveries to subscriptions'),
  succeeded: Count('Succeeded executions'),
  failed: Count('Failed executions'),
  cancelled: Count('Cancelled executions'),
  unfinished: Count('Executions that run or wait'),
  p95Ms: orNull(
    Type.Number({
      description: `95th percentile of the duration of its finished executions in milliseconds; null if none counts. Those that took more than ${longestCountedMs / 60_000} minutes are left out: they waited.`,
    }),
  ),
}

const FailureGroup = Type.Object(
  {
    ruleId: Id,
    ruleName: orNull(Type.String({ description: 'null: the rule was deleted' })),
    error: Type.String({ description: 'The first 200 characters of the error' }),
    count: Type.Integer({ minimum: 1 }),
    firstAt: { ...Timestamp, description: 'When the event of the first of them was accepted' },
    lastAt: Timestamp,
    newestId: {
      ...Id,
      description: 'The execution that failed last: to acknowledge it acknowledges the group',
    },
    acknowledgement: orNull(Acknowledgement),
  },
  { title: 'FailureGroup' },
)

const Overview = Type.Object(
  {
    ...CountedWindow,
    totals: Type.Object({
      ...counts,
      unprocessed: Count('Of the events, those whose rules have not run yet'),
      oldestUnprocessedAt: orNull(Timestamp),
      rejectedWebhooks: Count(
        'Webhooks rejected for any reason, in the hours (UTC) that start between `from` and `to`',
      ),
    }),
    slices: Type.Array(Type.Object({ from: Timestamp, ...counts }, { title: 'OverviewSlice' }), {
      description: 'Executions count by the time of their event. Oldest first.',
    }),
    failures: Type.Array(FailureGroup, {
      description: `The failed executions by rule and error: first those that nobody acknowledged, the largest group first. The newest ${maxGroupedFailures.toLocaleString('en-US')} executions that did not succeed are grouped.`,
    }),
    redis: Type.Enum(['ok', 'away'], {
      description: 'away: accepted events wait in Postgres until Redis is available',
    }),
  },
  { title: 'Overview' },
)

/** What happened lately, in one request: for a page that shows whether all is well. */
export const overviewRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getOverview',
      summary: 'Count events, executions and rejected webhooks by time',
      description: `The default range is the last 24 hours, and the longest range is 31 days. The newest ${maxCountedByTime.toLocaleString('en-US')} events and executions are counted. The filters are those of the lists of events and executions, and rejected webhooks have none.`,
      querystring: OverviewQuery,
      response: { 200: Overview, ...refusalResponses() },
    },
    handler: async (request) => {
      const { query, workspace } = request
      const { id, reads } = workspace
      const range = overviewWindow.read(query)
      checkQuery(OverviewQuery, query)
      await checkTypeInQuery(request, query)
      const hour = { gte: new Date(range.from), lt: new Date(range.to) }
      const { failures: limit = 0, ruleId, eventType } = query
      const filter = {
        ...(ruleId !== undefined && { ruleId }),
        ...(eventType !== undefined && { eventType }),
      }
      const [found, failures, tally] = await Promise.all([
        countByTime(reads, id, range, query),
        limit === 0 ? [] : groupFailures(reads, id, { ...filter, ...periodOf(range), limit }),
        reads.webhookTally.aggregate({ where: { workspaceId: id, hour }, _sum: { rejected: true } }),
      ])
      return {
        ...presentOverview(found, range, tally._sum.rejected ?? 0),
        failures: failures.map(presentFailures),
        redis: app.redis.status === 'ready' ? ('ok' as const) : ('away' as const),
      }
    },
  })
}

function periodOf({ from, to }: TimeWindow): { from: Date; to: Date } {
  return { from: new Date(from), to: new Date(to) }
}

function presentFailures({ first, last, newest, acknowledgement, ...group }: GroupedFailures) {
  return {
    ...group,
    newestId: newest,
    acknowledgement: acknowledgement && {
      by: acknowledgement.actor,
      at: acknowledgement.at.toISOString(),
    },
    firstAt: new Date(timeOf(first)).toISOString(),
    lastAt: new Date(timeOf(last)).toISOString(),
  }
}

function presentOverview(
  { events, executions, oldestUnprocessed, durations, countedFrom }: CountsByTime,
  range: TimeWindow,
  rejectedWebhooks: number,
) {
  const sliceMs = (range.to - range.from) / range.slices
  const none = () => ({ events: 0, succeeded: 0, failed: 0, cancelled: 0, unfinished: 0 })
  const totals = {
    ...none(),
    p95Ms: durations.all ?? null,
    unprocessed: 0,
    oldestUnprocessedAt: oldestUnprocessed === undefined ? null : new Date(oldestUnprocessed).toISOString(),
    rejectedWebhooks,
  }
  const slices = Array.from({ length: range.slices }, (_, index) => ({
    from: new Date(range.from + index * sliceMs).toISOString(),
    ...none(),
    p95Ms: durations.bySlice.get(index) ?? null,
  }))
  for (const { slice, kind, count } of [...events, ...executions]) {
    const name = countedAs(kind)
    if (name === undefined) continue
    const counted = slices[slice]
    if (counted) counted[name] += count
    totals[name] += count
    if (kind === 'unprocessed') totals.unprocessed += count
  }
  return {
    ...presentWindow(range, countedFrom),
    totals,
    slices,
  }
}

/** @returns undefined for what was suppressed: the rule did not run */
function countedAs(kind: (CountsByTime['events'] | CountsByTime['executions'])[number]['kind']) {
  if (kind === 'accepted' || kind === 'unprocessed') return 'events'
  if (kind === 'suppressed') return undefined
  if (kind === 'succeeded' || kind === 'failed' || kind === 'cancelled') return kind
  return 'unfinished'
}
