import { orNull } from '@automation/access'
import { countByRule, maxCountedByTime, type RuleCounts } from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { CountedWindow, presentWindow, windowQuery } from '../../lists/time-window.js'
import { Id, refusalResponses } from '../../responses.js'
import { AttentionItem, findRulesNeedingAttention } from './health.js'

const overviewWindow = windowQuery(48, 24)
const { reason, explanation, lastError, since } = AttentionItem.properties

const RuleOverview = Type.Object(
  {
    id: Id,
    attention: orNull(Type.Object({ reason, explanation, lastError, since }, { title: 'RuleAttention' })),
    runs: Type.Array(Type.Integer(), {
      description: 'Executions in each slice, by the time of their event, oldest first',
    }),
    failed: Type.Array(Type.Integer(), { description: 'Of these, those that failed' }),
  },
  { title: 'RuleOverview' },
)

const RulesOverview = Type.Object(
  {
    ...CountedWindow,
    rules: Type.Array(RuleOverview),
  },
  { title: 'RulesOverview' },
)

/** How the rules are doing, in one request: for a list of rules. */
export const rulesOverviewRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/overview', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRulesOverview',
      summary: 'Count the executions of each rule by time, and show which rules need attention',
      description: `Only rules that ran or need attention are listed. The default range is the last 24 hours, and the longest range is 31 days. The newest ${maxCountedByTime.toLocaleString('en-US')} executions of the workspace are counted.`,
      querystring: overviewWindow.schema,
      response: { 200: RulesOverview, ...refusalResponses() },
    },
    handler: async ({ query, workspace: { id: workspaceId, reads } }) => {
      const range = overviewWindow.read(query)
      const [{ rules, countedFrom }, needing] = await Promise.all([
        countByRule(reads, workspaceId, range),
        findRulesNeedingAttention(reads),
      ])
      const counts = new Map(rules.map(({ ruleId, slices }) => [ruleId, slices]))
      const attention = new Map(needing.map((item) => [item.id, item]))
      const ids = [...new Set([...counts.keys(), ...attention.keys()])].sort().reverse()
      return {
        ...presentWindow(range, countedFrom),
        rules: ids.map((id) => ({
          id,
          attention: attention.get(id) ?? null,
          ...spread(counts.get(id) ?? [], range.slices),
        })),
      }
    },
  })
}

function spread(slices: RuleCounts['slices'], length: number): { runs: number[]; failed: number[] } {
  const [runs, failed] = [Array<number>(length).fill(0), Array<number>(length).fill(0)]
  for (const [slice, ran, failures] of slices) {
    runs[slice] = ran
    failed[slice] = failures
  }
  return { runs, failed }
}
