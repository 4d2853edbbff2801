import { Prisma, type WorkspaceDatabase } from '@automation/database'
import { sizeRules } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { cutPage, pageArguments } from '../../lists/page.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { readInParts, sumOf } from './list-by-bytes.js'
import { presentSummary } from './present-rule.js'
import { RuleSummary, rulesLimit } from './rule-schemas.js'
import { sendList } from './send-list.js'

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
      operationId: 'listRuleSummaries',
      summary: 'List rules without their conditions and actions, newest first',
      description:
        'For tables and choices: up to 1,000 rules on a page. A response of more than 1 MiB costs a token of the rate limit for each MiB.',
      querystring: Type.Object({ ...PageQuery, limit: rulesLimit }),
      response: { 200: RuleSummaryPage, ...refusalResponses() },
    },
    handler: async (request, reply) => {
      const { query, workspace } = request
      const { id: workspaceId, reads } = workspace
      const { limit = defaultLimit } = query
      const found = await reads.rule.findMany({ ...pageArguments(query, limit), select: { id: true } })
      const { page, nextCursor } = cutPage(found, limit)
      const ids = page.map(({ id }) => id)
      const narrowing = Prisma.sql`AND id = ANY (${ids}::uuid[])`
      const sizes = await sizeRules(reads, workspaceId, narrowing, 'summary')
      await app.payForBytes(request, reply, sumOf(sizes))
      return sendList(
        reply,
        'rules',
        readInParts(sizes, (part) => writeSummaries(reads, part)),
        nextCursor,
      )
    },
  })
}

async function writeSummaries(reads: WorkspaceDatabase, rules: { id: string }[]): Promise<string> {
  const rows = await reads.rule.findMany({
    where: { id: { in: rules.map(({ id }) => id) } },
    orderBy: { id: 'desc' },
    include: { counters: true },
    omit: { conditions: true, actions: true },
  })
  return rows.map((row) => JSON.stringify(presentSummary(row))).join()
}
