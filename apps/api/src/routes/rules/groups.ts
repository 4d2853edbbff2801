import type { Prisma, WorkspaceTransaction } from '@automation/database'
import { RuleGroup as GroupName } from '@automation/engine'
import { findPlaceFaults, maxRules, modeOf, reorderGroup, updatedEntry } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { etagOf, IfMatchHeader, isTagRefused } from '../../etag.js'
import { refusalResponses } from '../../responses.js'
import { changeRulesOfRequest } from './change-rules.js'
import { refuseFaults } from './check-rule.js'
import { Rule } from './rule-schemas.js'

const { id, name, trigger, isActive, mode, version } = Rule.properties
const RuleGroup = Type.Object(
  {
    name: Type.String({ description: 'Name of the group' }),
    rules: Type.Array(
      Type.Object(
        { id, name, trigger, order: Type.Integer(), isActive, mode, version },
        { title: 'GroupedRule' },
      ),
      {
        description: 'All rules of the group in their order, also inactive ones and those of other triggers',
      },
    ),
  },
  { title: 'RuleGroup' },
)
type RuleGroup = Type.Static<typeof RuleGroup>

const GroupOrder = Type.Object(
  {
    ruleIds: Type.Array(Type.String({ minLength: 1, maxLength: 36 }), {
      minItems: 1,
      maxItems: maxRules,
      uniqueItems: true,
      description: 'Ids of all rules of the group, the first one first',
    }),
  },
  { title: 'GroupOrder', additionalProperties: false },
)

const GroupParams = Type.Object({ name: Type.String({ description: 'Name of the group' }) })

/** The order of the rules of which only the first that matches runs. */
export const groupRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/groups/:name', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRuleGroup',
      summary: 'Get the rules of a group in their order',
      description:
        'Of the active rules with the same group and trigger, only the first that matches runs. The ETag changes with each version of a rule of the group, and with the rules that are in it.',
      params: GroupParams,
      response: { 200: RuleGroup, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }, reply) =>
      sendGroup(reply, params.name, await findMembers(workspace.database, params.name)),
  })

  app.put('/groups/:name', {
    config: { role: 'editor' },
    schema: {
      operationId: 'reorderRuleGroup',
      summary: 'Put the rules of a group into an order',
      description:
        'The body lists all rules of the group. They get the orders 10, 20, and so on. Each rule whose order changes gets a new version.',
      params: GroupParams,
      headers: IfMatchHeader,
      body: GroupOrder,
      response: { 200: RuleGroup, ...refusalResponses(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const ruleIds = request.body.ruleIds.map((id) => id.toLowerCase())
      const { name } = request.params
      const saved = await changeRulesOfRequest(request, async (transaction) => {
        const members = await findMembers(transaction, name)
        if (isTagRefused(request, etagOfGroup(members))) throw refusals.resourceMismatch()
        refuseFaults(findPlaceFaults(members, ruleIds))
        const changes = await reorderGroup(transaction, administratorOf(request), members, ruleIds)
        const entry = changes.map(updatedEntry).filter((one) => one !== undefined)
        return { result: changes.map(({ rule }) => rule), entry }
      })
      return sendGroup(reply, name, saved)
    },
  })
}

type Member = Prisma.RuleGetPayload<object>

/** @throws refusals: 404 where no rule is in the group */
async function findMembers({ rule }: Pick<WorkspaceTransaction, 'rule'>, group: string): Promise<Member[]> {
  // Postgres has no text with a NUL.
  const members = Check(GroupName, group) ? await rule.findMany({ where: { group } }) : []
  if (members.length === 0) throw refusals.groupNotFound()
  return members
}

function sendGroup(reply: FastifyReply, name: string, members: Member[]) {
  return reply.header('etag', etagOfGroup(members)).send(presentGroup(name, members))
}

function presentGroup(name: string, members: Member[]): RuleGroup {
  const rules = members.map((rule) => ({
    ...{ id: rule.id, name: rule.name, trigger: rule.trigger, order: rule.order ?? 0 },
    ...{ isActive: rule.isActive, mode: modeOf(rule), version: rule.version },
  }))
  return { name, rules: rules.sort((one, other) => one.order - other.order || (one.id < other.id ? -1 : 1)) }
}

function etagOfGroup(members: readonly Member[]): string {
  const stamps = members.map(({ id, version }) => `${id} ${version}`)
  return etagOf(stamps.sort().join())
}
