import { type CountsByTime, countByTime, isUnfinished, maxCountedByTime } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { checkQuery, checkTypeInQuery } from '../lists/history-filter.js'
import { CountedWindow, presentWindow, type TimeWindow, windowQuery } from '../lists/time-window.js'
import { refusalResponses, Timestamp } from '../responses.js'
import { EventStatus } from './events/event-schemas.js'
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
})

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const counts = {
  events: Count('Accepted events, without deliveries to subscriptions'),
  succeeded: Count('Succeeded executions'),
  failed: Count('Failed executions'),
  cancelled: Count('Cancelled executions'),
  unfinished: Count('Executions that run or wait'),
}

const Overview = Type.Object(
  {
    ...CountedWindow,
    totals: Type.Object({
      ...counts,
      rejectedWebhooks: Count(
        'Webhooks rejected for any reason, in the hours (UTC) that start between `from` and `to`',
      ),
    }),
    slices: Type.Array(Type.Object({ from: Timestamp, ...counts }, { title: 'OverviewSlice' }), {
      description: 'Executions count by the time of their event. Oldest first.',
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
      const [found, tally] = await Promise.all([
        countByTime(reads, id, range, query),
        reads.webhookTally.aggregate({ where: { workspaceId: id, hour }, _sum: { rejected: true } }),
      ])
      return presentOverview(found, range, tally._sum.rejected ?? 0)
    },
  })
}

function presentOverview(
  { events, executions, countedFrom }: CountsByTime,
  range: TimeWindow,
  rejectedWebhooks: number,
) {
  const sliceMs = (range.to - range.from) / range.slices
  const none = () => ({ events: 0, succeeded: 0, failed: 0, cancelled: 0, unfinished: 0 })
  const totals = { ...none(), rejectedWebhooks }
  const slices = Array.from({ length: range.slices }, (_, index) => ({
    from: new Date(range.from + index * sliceMs).toISOString(),
    ...none(),
  }))
  for (const { slice, kind, count } of [...events, ...executions]) {
    const name = kind === 'accepted' ? 'events' : isUnfinished(kind) ? 'unfinished' : kind
    const counted = slices[slice]
    if (counted) counted[name as 'events'] += count
    totals[name as 'events'] += count
  }
  return {
    ...presentWindow(range, countedFrom),
    totals,
    slices,
  }
}
