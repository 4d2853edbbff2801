import { type CountsByTime, countByTime, isUnfinished, maxCountedByTime } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { checkQuery, readTime, TimeRange } from '../lists/history-filter.js'
import { refusalResponses, Timestamp } from './responses.js'

const OverviewQuery = Type.Object({
  ...TimeRange,
  slices: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, description: 'Number of slices of equal length. Default: 48.' }),
  ),
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
    from: Timestamp,
    to: Timestamp,
    countedFrom: Type.String({
      format: 'date-time',
      description: `Start of the time that is counted. It is later than \`from\` if there are more than ${maxCountedByTime} rows.`,
    }),
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

const dayMs = 86_400_000
const longestMs = 31 * dayMs
const usualSlices = 48

/** What happened lately, in one request: for a page that shows whether all is well. */
export const overviewRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Outcomes'],
      operationId: 'getOverview',
      summary: 'Count events, executions and rejected webhooks by time',
      description: `The default range is the last 24 hours, and the longest range is 31 days. The newest ${maxCountedByTime} events and executions are counted.`,
      querystring: OverviewQuery,
      response: { 200: Overview, ...refusalResponses() },
    },
    handler: async ({ query, workspace: { id, reads } }) => {
      checkQuery(OverviewQuery, query)
      const range = { ...readWindow(query, Date.now()), slices: query.slices ?? usualSlices }
      const hour = { gte: new Date(range.from), lt: new Date(range.to) }
      const [found, tally] = await Promise.all([
        countByTime(reads, id, range),
        reads.webhookTally.aggregate({ where: { workspaceId: id, hour }, _sum: { rejected: true } }),
      ])
      return present(found, range, tally._sum.rejected ?? 0)
    },
  })
}

type Range = { from: number; to: number; slices: number }

function present({ events, executions, countedFrom }: CountsByTime, range: Range, rejectedWebhooks: number) {
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
    from: new Date(range.from).toISOString(),
    to: new Date(range.to).toISOString(),
    countedFrom: new Date(countedFrom).toISOString(),
    totals,
    slices,
  }
}

/** @throws a 400 refusal where it is none, or too long */
function readWindow(query: { from?: string; to?: string }, now: number): { from: number; to: number } {
  const to = query.to === undefined ? now : readTime(query.to).getTime()
  const from = query.from === undefined ? Math.max(to - dayMs, 0) : readTime(query.from).getTime()
  if (from >= to) throw refusals.badRequest('Query parameter from must be before to')
  if (to - from > longestMs)
    throw refusals.badRequest('Query parameters from and to must be 31 days apart at most')
  return { from, to }
}
