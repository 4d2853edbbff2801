import { escapeLike, Prisma } from '@automation/database'
import { sizeRules } from '@automation/ledger'
import type { RuleMode } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refusals } from '../../errors.js'
import { writeCursor } from '../../lists/cursor.js'
import { checkQuery, checkTypeInQuery } from '../../lists/history-filter.js'
import { pageArguments } from '../../lists/page.js'
import { refusalResponses } from '../../responses.js'
import { ruleId } from './check-rule.js'
import { writeRules } from './definition-texts.js'
import { cutByBytes, readInParts, type SizedRule, sumOf } from './list-by-bytes.js'
import { sendRule } from './present-rule.js'
import { Rule, RuleList, RuleListQuery, RuleParams } from './rule-schemas.js'
import { sendList } from './send-list.js'

const defaultLimit = 50

export const ruleReadRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listRules',
      summary: 'List rules, newest first',
      description:
        'Without query parameters the response contains all rules. With any parameter it is a page. A page of large rules may be shorter than its limit. A response of more than 1 MiB costs a token of the rate limit for each MiB.',
      querystring: RuleListQuery,
      response: { 200: RuleList, ...refusalResponses() },
    },
    handler: async (request, reply) => {
      const { query, workspace } = request
      const { id, reads } = workspace
      checkQuery(RuleListQuery, query)
      const { trigger = query.eventType, eventType = trigger } = query
      if (trigger !== eventType)
        throw refusals.badRequest('Query parameter trigger must be the same as eventType')
      const write = (part: SizedRule[]) => writeRules(reads, id, part)
      await checkTypeInQuery(request, query)
      const isPaged = Object.keys(RuleListQuery.properties).some((name) => Object.hasOwn(query, name))
      if (!isPaged) {
        const sizes = await sizeRules(reads, id)
        await app.payForBytes(request, reply, sumOf(sizes))
        return sendList(reply, 'rules', readInParts(sizes, write))
      }
      const limit = query.limit ?? defaultLimit
      const { where, ...page } = pageArguments(query, limit)
      const found = await reads.rule.findMany({
        where: { AND: [where, filterOf({ ...query, ...(trigger !== undefined && { trigger }) })] },
        select: { id: true },
        ...page,
      })
      const ids = found.slice(0, limit).map((rule) => rule.id)
      const narrowing = Prisma.sql`AND id = ANY (${ids}::uuid[])`
      const sizes = cutByBytes(await sizeRules(reads, id, narrowing))
      await app.payForBytes(request, reply, sumOf(sizes))
      // All rules of the page may have been deleted meanwhile: the next page begins behind them.
      const last = sizes.at(-1)?.id ?? ids.at(-1)
      const end = last === found.at(-1)?.id ? undefined : last
      return sendList(reply, 'rules', readInParts(sizes, write), writeCursor(end))
    },
  })

  app.get('/:id', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRule',
      summary: 'Get a rule',
      description:
        'The full rule, with its counters. `ETag` has its version: send it as If-Match with a change, so that you do not overwrite a change of somebody else.',
      params: RuleParams,
      response: { 200: Rule, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }, reply) => {
      const rule = await workspace.database.rule.findUnique({
        where: { id: ruleId(params) },
        include: { counters: true },
      })
      if (rule === null) throw refusals.ruleNotFound()
      return sendRule(reply, rule)
    },
  })
}

function filterOf({
  trigger,
  isActive,
  mode,
  label = [],
  q,
}: {
  trigger?: string
  isActive?: boolean
  mode?: RuleMode
  label?: string[]
  q?: string
}) {
  const contains = { contains: escapeLike(q ?? ''), mode: 'insensitive' as const }
  return {
    ...(trigger === undefined ? {} : { trigger }),
    labels: { hasEvery: label },
    ...(isActive === undefined ? {} : { isActive }),
    ...(mode === undefined ? {} : { mode }),
    ...(q === undefined ? {} : { OR: [{ name: contains }, { description: contains }] }),
  }
}
