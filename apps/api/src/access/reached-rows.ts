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
  version?: number
  /** The triggers of what a backtest tests. */
  types?: string[]
}

type Find = (request: FastifyRequest, id: string) => Promise<ReachedRow | undefined>

const finders: Record<'execution' | 'event' | 'task' | 'backtest', Find> = {
  async execution(request, id) {
    const select = { handlerId: true, isDelivery: true, ruleVersion: true } as const
    const row = await request.workspace.reads.execution.findUnique({ where: { id }, select })
    if (row !== null) return { ruleId: row.handlerId, isDelivery: row.isDelivery, version: row.ruleVersion }
    // One that has not begun has the id of its event.
    const event = await finders.event(request, id)
    return event?.ruleId == null ? undefined : event
  },

  async event({ workspace }, id) {
    const select = { type: true, addresseeKind: true, addresseeId: true } as const
    const row = await workspace.reads.event.findUnique({ where: { id }, select })
    if (row === null) return undefined
    return { type: row.type, ruleId: row.addresseeId, isDelivery: row.addresseeKind === 'subscription' }
  },

  async task({ workspace }, id) {
    const row = await workspace.reads.task.findUnique({ where: { id }, select: { ruleId: true } })
    return row ?? undefined
  },

  async backtest({ workspace }, id) {
    const select = { ruleId: true, subject: true } as const
    const row = await workspace.reads.backtest.findUnique({ where: { id }, select })
    if (row === null) return undefined
    const { draft, active } = row.subject as {
      draft?: { trigger: string }
      active?: { definition: { trigger: string } }
    }
    return {
      ruleId: row.ruleId,
      types: [draft, active?.definition].flatMap((tested) => tested?.trigger ?? []),
    }
  },
}

export function findReachedRow(
  request: FastifyRequest,
  kind: keyof typeof finders,
  id: string,
): Promise<ReachedRow | undefined> {
  return finders[kind](request, id)
}

/** Filters by a rule also take the id of a subscription. */
export async function isSubscription({ workspace }: FastifyRequest, id: string): Promise<boolean> {
  return (await workspace.reads.subscription.count({ where: { id } })) > 0
}

const parts = { trigger: true, actions: true, group: true, order: true } as const

export async function readDefinition(
  { workspace }: FastifyRequest,
  id: string,
): Promise<(GrantedDefinition & { isActive: boolean }) | undefined> {
  const select = { ...parts, isActive: true }
  return (await workspace.reads.rule.findUnique({ where: { id }, select })) ?? undefined
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
