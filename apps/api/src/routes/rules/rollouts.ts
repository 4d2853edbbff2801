import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { orNull, refusalResponses } from '../responses.js'
import { RuleDraft } from './draft-schemas.js'
import { isInForce, presentGuard, RuleGuard } from './guard.js'
import { Rule } from './rule-schemas.js'

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
const RuleRolloutList = Type.Object({ rules: Type.Array(RuleRollout) }, { title: 'RuleRolloutList' })

/** Which changes are on their way, in one request: for a list of rules that marks them. Nothing is compared, and no history is read. */
export const rolloutRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/rollouts', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Drafts'],
      operationId: 'listRollouts',
      summary: 'List the rules that have a draft or a guard',
      description:
        'Without the texts of the drafts, and without differences. A guard is the one of GET /api/automation-rules/{id}/guard.',
      response: { 200: RuleRolloutList, ...refusalResponses() },
    },
    handler: async ({ workspace: { reads } }) => {
      const mark = { ruleId: true, baseVersion: true, savedAt: true, savedBy: true } as const
      const [drafts, guards] = await Promise.all([
        reads.ruleDraft.findMany({ select: mark }),
        reads.ruleGuard.findMany(),
      ])
      const ids = [...new Set([...drafts, ...guards].map(({ ruleId }) => ruleId))]
      const rules = await reads.rule.findMany({
        where: { id: { in: ids } },
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
          guard: guard && isInForce(guard, version) ? presentGuard(guard) : null,
        }
      })
      return { rules: found.filter(({ draft, guard }) => draft !== null || guard !== null) }
    },
  })
}
