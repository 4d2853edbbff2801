import { Prisma } from '@automation/database'
import type { GrantedDefinition } from '@automation/rules'
import type { FastifyRequest } from 'fastify'

/** To whom a row belongs, as far as the limits of an embed session ask. */
export interface ReachedRow {
  /** The rule; null for an event that is addressed to none. */
  ruleId: string | null
  isDelivery?: boolean
  /** Of an event. */
  type?: string
  /** Of an execution that has begun. */
  version?: number | null
  /** The triggers of what a backtest tests. */
  types?: (string | null)[]
}

type Kind = 'execution' | 'event' | 'task' | 'backtest'

/** Of each, the id of an execution that has not begun is that of its event. */
const statements: Record<Kind, (workspaceId: string, id: string) => Prisma.Sql> = {
  execution: (workspaceId, id) => Prisma.sql`
    SELECT handler_id AS "ruleId", is_delivery AS "isDelivery", rule_version AS version
    FROM executions WHERE id = ${id}::uuid AND workspace_id = ${workspaceId}::uuid
    UNION ALL
    SELECT addressee_id, addressee_kind = 'subscription', NULL
    FROM events WHERE id = ${id}::uuid AND workspace_id = ${workspaceId}::uuid AND addressee_id IS NOT NULL
    LIMIT 1`,
  event: (workspaceId, id) => Prisma.sql`
    SELECT type, addressee_id AS "ruleId", coalesce(addressee_kind = 'subscription', false) AS "isDelivery"
    FROM events WHERE id = ${id}::uuid AND workspace_id = ${workspaceId}::uuid`,
  task: (workspaceId, id) => Prisma.sql`
    SELECT rule_id AS "ruleId" FROM tasks WHERE id = ${id}::uuid AND workspace_id = ${workspaceId}::uuid`,
  backtest: (workspaceId, id) => Prisma.sql`
    SELECT rule_id AS "ruleId",
           ARRAY[subject #>> '{draft,trigger}', subject #>> '{active,definition,trigger}'] AS types
    FROM backtests WHERE id = ${id}::uuid AND workspace_id = ${workspaceId}::uuid`,
}

export async function findReachedRow(
  { workspace: { id: workspaceId, reads } }: FastifyRequest,
  kind: Kind,
  id: string,
): Promise<ReachedRow | undefined> {
  const [row] = await reads.$queryRows<ReachedRow>(statements[kind](workspaceId, id))
  return row
}

/** Filters by a rule also take the id of a subscription. */
export async function isSubscription({ workspace }: FastifyRequest, id: string): Promise<boolean> {
  return (await workspace.reads.subscription.count({ where: { id } })) > 0
}

const parts = { trigger: true, actions: true, group: true } as const

export async function readDefinition(
  { workspace }: FastifyRequest,
  id: string,
): Promise<GrantedDefinition | undefined> {
  return (await workspace.reads.rule.findUnique({ where: { id }, select: parts })) ?? undefined
}

export async function readDraft(
  { workspace }: FastifyRequest,
  ruleId: string,
): Promise<GrantedDefinition | undefined> {
  return (await workspace.reads.ruleDraft.findUnique({ where: { ruleId }, select: parts })) ?? undefined
}

export async function readVersion(
  { workspace }: FastifyRequest,
  ruleId: string,
  version: number,
): Promise<GrantedDefinition | undefined> {
  const where = { ruleId_version: { ruleId, version } }
  return (await workspace.reads.ruleVersion.findUnique({ where, select: parts })) ?? undefined
}

/** The active rules that an event of a type runs. */
export function readTriggered({ workspace }: FastifyRequest, trigger: string): Promise<GrantedDefinition[]> {
  return workspace.reads.rule.findMany({ where: { trigger, isActive: true }, select: parts })
}
