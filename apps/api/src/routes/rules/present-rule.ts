import type { Prisma } from '@automation/database'
import type { FastifyReply } from 'fastify'
import type { Rule } from './rule-schemas.js'

export type RuleRow = Prisma.RuleGetPayload<{ include: { counters: true } }>

/** A row as the full rule that every answer tells. */
export function presentRule({ counters, ...rule }: RuleRow): Rule {
  const successCount = counters?.successCount ?? 0
  const failureCount = counters?.failureCount ?? 0
  return {
    id: rule.id,
    name: rule.name,
    description: rule.description,
    trigger: rule.trigger as Rule['trigger'],
    conditions: rule.conditions as Rule['conditions'],
    actions: rule.actions as Rule['actions'],
    isActive: rule.isActive,
    workspaceId: rule.workspaceId,
    version: rule.version,
    executionCount: successCount + failureCount,
    successCount,
    failureCount,
    lastSuccessAt: counters?.lastSuccessAt?.toISOString() ?? null,
    lastFailureAt: counters?.lastFailureAt?.toISOString() ?? null,
    lastError: counters?.lastError ?? null,
    createdAt: rule.createdAt.toISOString(),
    updatedAt: rule.updatedAt.toISOString(),
  }
}

/** Answers one rule with its version as the entity tag. */
export function sendRule(reply: FastifyReply, rule: RuleRow) {
  return reply.header('etag', `"${rule.version}"`).send(presentRule(rule))
}
