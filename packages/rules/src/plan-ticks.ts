import { Prisma, type WorkspaceTransaction, writeJson } from '@automation/database'
import { nextTick, type Schedule } from '@automation/engine'
import { isSuspendedSql } from '@automation/ledger'
import type { StoredRule } from './rule-fields.js'

/** A rule, as far as its ticks need it. */
type Ticking = Pick<StoredRule, 'id' | 'schedule' | 'isActive'>

/**
 * Plans the next ticks of rules that are new, were switched on or off, or have another schedule. A tick is due strictly after this moment by
 * Postgres' clock, so none is due by a change, and none was missed before it. In a suspended workspace none has one: the resumption plans them.
 *
 * @returns by rule; null: it has none
 */
export async function planTicks(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  rules: readonly Ticking[],
): Promise<ReadonlyMap<string, Date | null>> {
  if (rules.length === 0) return new Map()
  const [read] = await transaction.$queryRaw<{ now: Date; isSuspended: boolean }[]>(Prisma.sql`
    SELECT date_trunc('milliseconds', clock_timestamp()) AS now,
           EXISTS (SELECT FROM workspaces WHERE id = ${workspaceId}::uuid AND ${Prisma.raw(isSuspendedSql)}) AS "isSuspended"`)
  const { now, isSuspended } = read as NonNullable<typeof read>
  const planned = rules.map(({ id, schedule, isActive }) => {
    const at =
      schedule !== null && isActive && !isSuspended ? nextTick(schedule as Schedule, now.getTime()) : null
    return { id, next_run_at: at === null ? null : new Date(at) }
  })
  await transaction.$executeRaw(Prisma.sql`
    UPDATE rules SET scheduled_since = ${now}, next_run_at = input.next_run_at, missed_ticks = 0
    FROM json_to_recordset(${writeJson(planned)}::json) AS input (id uuid, next_run_at timestamptz)
    WHERE rules.id = input.id AND rules.workspace_id = ${workspaceId}::uuid`)
  return new Map(planned.map(({ id, next_run_at }) => [id, next_run_at]))
}
