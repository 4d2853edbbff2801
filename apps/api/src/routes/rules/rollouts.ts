import { orNull } from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readCursor } from '../../lists/cursor.js'
import { checkQuery } from '../../lists/history-filter.js'
import { cutPage } from '../../lists/page.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { RuleDraft } from './draft-schemas.js'
import { presentGuard, RuleGuard } from './guard.js'
import { Rule, rulesLimit } from './rule-schemas.js'

const { basedOn, isStale, savedAt, savedBy } = RuleDraft.properties

const RuleRollout = Type.Object(
  {
    id: Rule.properties.id,
    name: Type.String(),
    draft: orNull(Type.Object({ basedOn, isStale, savedAt, savedBy }, { title: 'DraftMark' })),
    guard: orNull(RuleGuard),
  },
  { title: 'RuleRollout' },
)
const RuleRolloutPage = Type.Object(
  { rules: Type.Array(RuleRollout), nextCursor: NextCursor },
  { title: 'RuleRolloutPage' },
)
const RolloutQuery = Type.Object({
  ...PageQuery,
  limit: rulesLimit,
  ruleId: Type.Optional(Type.String({ description: 'Only this rule' })),
})

const defaultLimit = 50

/** Which changes are on their way, in one request: for a list of rules that marks them. Nothing is compared, and no history is read. */
export const rolloutRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/rollouts', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listRollouts',
      summary: 'List the rules that have a draft or a guard, newest first',
      description:
        'Without the texts of the drafts, and without differences. A guard is the one of GET /api/automation-rules/{id}/guard. A page may be shorter than its limit.',
      querystring: RolloutQuery,
      response: { 200: RuleRolloutPage, ...refusalResponses() },
    },
    handler: async ({ query, workspace: { reads } }) => {
      checkQuery(RolloutQuery, query)
      const { limit = defaultLimit, cursor, ruleId } = query
      const below = cursor === undefined ? {} : { ruleId: { lt: readCursor(cursor) } }
      const page = {
        where: { AND: [ruleId === undefined ? {} : { ruleId }, below] },
        orderBy: { ruleId: 'desc' as const },
        take: limit + 1,
      }
      const mark = { ruleId: true, baseVersion: true, savedAt: true, savedBy: true } as const
      const [drafts, guards] = await Promise.all([
        reads.ruleDraft.findMany({ select: mark, ...page }),
        reads.ruleGuard.findMany(page),
      ])
      const ids = new Set([...drafts, ...guards].map((row) => row.ruleId))
      const cut = cutPage(
        [...ids]
          .sort()
          .reverse()
          .map((id) => ({ id })),
        limit,
      )
      const rules = await reads.rule.findMany({
        where: { id: { in: cut.page.map(({ id }) => id) } },
        select: { id: true, name: true, version: true },
        orderBy: { id: 'desc' },
      })
      const draftOf = new Map(drafts.map((draft) => [draft.ruleId, draft]))
      const guardOf = new Map(guards.map((guard) => [guard.ruleId, guard]))
      const found = rules.map(({ id, name, version }) => {
        const draft = draftOf.get(id)
        const guard = guardOf.get(id)
        return {
          id,
          name,
          draft: draft
            ? {
                basedOn: draft.baseVersion,
                isStale: draft.baseVersion !== version,
                savedAt: draft.savedAt.toISOString(),
                savedBy: draft.savedBy,
              }
            : null,
          guard: guard ? presentGuard(guard) : null,
        }
      })
      return {
        rules: found.filter(({ draft, guard }) => draft !== null || guard !== null),
        nextCursor: cut.nextCursor,
      }
    },
  })
}
