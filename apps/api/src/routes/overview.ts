import { type CountsByTime, countByTime, isUnfinished, maxCountedByTime } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { CountedWindow, presentWindow, type TimeWindow, windowQuery } from '../lists/time-window.js'
import { refusalResponses, Timestamp } from '../responses.js'

const overviewWindow = windowQuery(200, 48)

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
      tags: ['Outcomes'],
      operationId: 'getOverview',
      summary: 'Count events, executions and rejected webhooks by time',
      description: `The default range is the last 24 hours, and the longest range is 31 days. The newest ${maxCountedByTime} events and executions are counted.`,
      querystring: overviewWindow.schema,
      response: { 200: Overview, ...refusalResponses() },
    },
    handler: async ({ query, workspace: { id, reads } }) => {
      const range = overviewWindow.read(query)
      const hour = { gte: new Date(range.from), lt: new Date(range.to) }
      const [found, tally] = await Promise.all([
        countByTime(reads, id, range),
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
