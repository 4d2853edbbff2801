import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { cutPage, pageArguments } from '../../lists/page.js'
import { NextCursor, PageQuery, refusalResponses } from '../responses.js'
import { presentSummary } from './present-rule.js'
import { RuleSummary, rulesLimit } from './rule-schemas.js'

const RuleSummaryPage = Type.Object(
  { rules: Type.Array(RuleSummary), nextCursor: NextCursor },
  { title: 'RuleSummaryPage' },
)

const defaultLimit = 250

/** All rules in one request, for those who list or name them: definitions may take 16 MiB. */
export const summaryRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/summaries', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Rules'],
      operationId: 'listRuleSummaries',
      summary: 'List rules without their conditions and actions, newest first',
      querystring: Type.Object({ ...PageQuery, limit: rulesLimit }),
      response: { 200: RuleSummaryPage, ...refusalResponses() },
    },
    handler: async ({ query, workspace: { reads } }) => {
      const { limit = defaultLimit } = query
      const rows = await reads.rule.findMany({
        ...pageArguments(query, limit),
        include: { counters: true },
        omit: { conditions: true, actions: true },
      })
      const { page, nextCursor } = cutPage(rows, limit)
      return { rules: page.map(presentSummary), nextCursor }
    },
  })
}
