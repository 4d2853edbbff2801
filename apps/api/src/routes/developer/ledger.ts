import { postgresNow } from '@automation/database'
import { auditLedger } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { enter } from '../../admission.js'
import { refusals } from '../../errors.js'
import { checkQuery, readQueryTime, TimeRange } from '../../lists/history-filter.js'
import { refusalResponses } from '../../responses.js'
import { Ledger, presentLedger } from './present-ledger.js'

const LedgerQuery = Type.Object(TimeRange)

const dayMs = 24 * 60 * 60 * 1_000
const hourMs = dayMs / 24
const longestMs = 31 * dayMs
const budgetMs = 3_000

/** The conservation ledger: what was accepted is finished, waiting or leased, and nothing is lost, double or left behind. */
export const ledgerRoutes: FastifyPluginAsyncTypebox<{ retentionDays: number }> = async (
  app,
  { retentionDays },
) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      operationId: 'getLedger',
      summary: 'Reconcile receipts, events, executions, effects and counters: is everything accounted for?',
      description:
        'The default range is the last hour, and the longest range is 31 days. The reconciliation leaves out rows that retention has removed. All figures come from one snapshot. The workspaces of one owner run one reconciliation at a time: others wait, and get 429 after some seconds.',
      querystring: LedgerQuery,
      response: { 200: Ledger, ...refusalResponses() },
    },
    handler: async (request) => {
      const { query } = request
      const { id: workspaceId, database } = request.workspace
      checkQuery(LedgerQuery, query)
      const { retentionDays: ownDays } = await database.workspace.findUniqueOrThrow({
        where: { id: workspaceId },
        select: { retentionDays: true },
      })
      const now = postgresNow()
      const keptDays = ownDays ?? retentionDays
      const keptSince = keptDays === 0 ? 0 : now - keptDays * dayMs
      const asked = readWindow(query, now)
      const from = Math.max(asked.from, Math.min(keptSince, asked.to))
      // Ids of this moment may carry the time of a clock that goes before this one.
      const to = query.to === undefined ? now + hourMs : asked.to
      // An audit is work for Postgres, and holds a transaction for some seconds at worst.
      const entry = await enter(request, 'reads', { key: 'reconciliation', reserveMs: budgetMs })
      const range = { workspaceId, from, to, keptSince, budgetMs }
      const audit = await auditLedger(app.database, range).finally(() => entry.leave())
      const within = { gte: new Date(audit.from), lt: new Date(to) }
      const { _sum } = await database.webhookTally.aggregate({
        where: { workspaceId, hour: within },
        _sum: { duplicates: true, rejected: true },
      })
      const unstored = { duplicate: _sum.duplicates ?? 0, rejected: _sum.rejected ?? 0 }
      return presentLedger(audit, { from, to: asked.to }, unstored)
    },
  })
}

/** @throws a 400 refusal where it is none, or too long */
function readWindow(query: { from?: string; to?: string }, now: number): { from: number; to: number } {
  const to = query.to === undefined ? now : readQueryTime(query.to).getTime()
  const from = query.from === undefined ? Math.max(to - hourMs, 0) : readQueryTime(query.from).getTime()
  if (from >= to) throw refusals.badRequest('Query parameter from must be before to')
  if (to - from > longestMs)
    throw refusals.badRequest('Query parameters from and to must be at most 31 days apart')
  return { from, to }
}
