import type { WorkspaceDatabase } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Id, refusalAnswers, Timestamp } from '../answers.js'

const HealthReport = Type.Object({
  totalRules: Type.Integer(),
  activeRules: Type.Integer(),
  inactiveRules: Type.Integer(),
  totalExecutions: Type.Integer(),
  successfulExecutions: Type.Integer(),
  failedExecutions: Type.Integer(),
  averageSuccessRate: Type.Number({ description: 'Percentage with two decimals; 0 without executions.' }),
  rulesNeedingAttention: Type.Integer(),
})

const AttentionList = Type.Object({
  rules: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      failureCount: Type.Integer(),
      lastError: Type.String(),
      lastFailureAt: Timestamp,
    }),
  ),
})

const recentDays = 7
const failuresInARow = 3
const fewestExecutions = 5

/** Both read the counters alone, so they cost the same however long the history is. */
export const healthRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/health', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Health of the rules'],
      summary: 'Report the health of all rules',
      response: { 200: HealthReport, ...refusalAnswers() },
    },
    handler: async ({ workspace: { database } }) => {
      const [totalRules, activeRules, { _sum: sum }, attention] = await Promise.all([
        database.rule.count(),
        database.rule.count({ where: { isActive: true } }),
        database.ruleCounters.aggregate({ _sum: { successCount: true, failureCount: true } }),
        findRulesNeedingAttention(database),
      ])
      const successful = sum.successCount ?? 0
      const failed = sum.failureCount ?? 0
      const total = successful + failed
      return {
        totalRules,
        activeRules,
        inactiveRules: totalRules - activeRules,
        totalExecutions: total,
        successfulExecutions: successful,
        failedExecutions: failed,
        averageSuccessRate: total === 0 ? 0 : Math.round((successful * 10_000) / total) / 100,
        rulesNeedingAttention: attention.length,
      }
    },
  })

  app.get('/attention', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Health of the rules'],
      summary: 'List the rules that fail often or just now, latest failure first',
      response: { 200: AttentionList, ...refusalAnswers() },
    },
    handler: async ({ workspace: { database } }) => ({ rules: await findRulesNeedingAttention(database) }),
  })
}

/** Ran in the last days, and failed several times in a row or in at least half of its executions. */
async function findRulesNeedingAttention(database: WorkspaceDatabase) {
  const since = new Date(Date.now() - recentDays * 86_400_000)
  const candidates = await database.ruleCounters.findMany({
    where: {
      failureCount: { gt: 0 },
      OR: [{ lastFailureAt: { gte: since } }, { lastSuccessAt: { gte: since } }],
    },
    include: { rule: { select: { name: true } } },
    orderBy: { lastFailureAt: 'desc' },
  })
  return candidates
    .filter(needsAttention)
    .map(({ ruleId, rule, failureCount, lastError, lastFailureAt }) => ({
      id: ruleId,
      name: rule.name,
      failureCount,
      lastError: lastError ?? '',
      lastFailureAt: (lastFailureAt ?? since).toISOString(),
    }))
}

function needsAttention(counters: {
  successCount: number
  failureCount: number
  consecutiveFailures: number
}): boolean {
  const executions = counters.successCount + counters.failureCount
  const oftenFails = executions >= fewestExecutions && counters.failureCount * 2 >= executions
  return counters.consecutiveFailures >= failuresInARow || oftenFails
}
