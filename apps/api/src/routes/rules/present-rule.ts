import { type Prisma, summaryFields } from '@automation/database'
import { countsOf } from '@automation/ledger'
import { definitionOf, type FullDefinition, modeOf, pickFields } from '@automation/rules'
import type { FastifyReply } from 'fastify'
import type { StoredResponse } from '../../acceptance/idempotency/stored-response.js'
import type { Rule, RuleSummary, RuleVersion } from './rule-schemas.js'

export type RuleRow = Prisma.RuleGetPayload<{ include: { counters: true } }>

type SummaryRow = Omit<RuleRow, 'conditions' | 'actions'>

/** Presents a row as the full rule of all responses. */
export function presentRule(row: RuleRow): Rule {
  const { id, ...rest } = presentSummary(row)
  return { id, ...(definitionOf(row) as FullDefinition), ...rest }
}

export function presentSummary({ counters, ...rule }: SummaryRow): RuleSummary {
  const { successCount, failureCount } = countsOf(counters)
  return {
    id: rule.id,
    ...(pickFields(rule, summaryFields) as Pick<Rule, (typeof summaryFields)[number]>),
    isActive: rule.isActive,
    mode: modeOf(rule),
    nextRunAt: rule.nextRunAt?.toISOString() ?? null,
    expectEvery: rule.expectEvery,
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

/** Presents a row as the version of all responses. */
export function presentVersion({
  version,
  createdAt,
  createdBy,
  ...row
}: Parameters<typeof definitionOf>[0] & {
  version: number
  createdAt: Date
  createdBy: string
}): RuleVersion {
  return { version, ...(definitionOf(row) as FullDefinition), createdAt: createdAt.toISOString(), createdBy }
}

/** The response to a request that has created a rule. */
export function presentCreated(rule: RuleRow): StoredResponse {
  const { headers, body } = presentSaved(rule)
  return { status: 201, headers: { location: `/api/automation-rules/${rule.id}`, ...headers }, body }
}

/** The response to a request that has saved a rule. */
export function presentSaved(rule: RuleRow): StoredResponse {
  return { status: 200, headers: { etag: `"${rule.version}"` }, body: presentRule(rule) }
}

/** Answers one rule with its version as the entity tag. */
export function sendRule(reply: FastifyReply, rule: RuleRow) {
  return reply.header('etag', `"${rule.version}"`).send(presentRule(rule))
}
