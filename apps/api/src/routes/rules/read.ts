import { escapeLike } from '@automation/database'
import { isEventType } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refusals } from '../../errors.js'
import { cutPage, pageArguments } from '../../lists/page.js'
import { refusalResponses } from '../responses.js'
import { ruleId } from './check-rule.js'
import { presentRule, sendRule } from './present-rule.js'
import { Rule, RuleList, RuleListQuery, RuleParams } from './rule-schemas.js'

const defaultLimit = 50

export const readRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Rules'],
      operationId: 'listRules',
      summary: 'List rules, newest first',
      description:
        'Without query parameters the response contains all rules. With any parameter it is a page.',
      querystring: RuleListQuery,
      response: { 200: RuleList, ...refusalResponses() },
    },
    handler: async ({ query, workspace }) => {
      if (query.trigger !== undefined && !isEventType(query.trigger)) throw refusals.invalidTriggerType()
      const isPaged = Object.keys(RuleListQuery.properties).some((name) => Object.hasOwn(query, name))
      const limit = isPaged ? (query.limit ?? defaultLimit) : undefined
      const { where, ...page } = pageArguments(query, limit)
      const rules = await workspace.database.rule.findMany({
        where: { AND: [where, filterOf(query)] },
        include: { counters: true },
        ...page,
      })
      if (limit === undefined) return { rules: rules.map(presentRule) }
      const cut = cutPage(rules, limit)
      return { rules: cut.page.map(presentRule), nextCursor: cut.nextCursor }
    },
  })

  app.get('/:id', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Rules'],
      operationId: 'getRule',
      summary: 'Get a rule',
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

function filterOf({ trigger, isActive, q }: { trigger?: string; isActive?: boolean; q?: string }) {
  const contains = { contains: escapeLike(q ?? ''), mode: 'insensitive' as const }
  return {
    ...(trigger === undefined ? {} : { trigger }),
    ...(isActive === undefined ? {} : { isActive }),
    ...(q === undefined ? {} : { OR: [{ name: contains }, { description: contains }] }),
  }
}
