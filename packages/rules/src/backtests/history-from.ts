import type { WorkspaceDatabase } from '@automation/database'
import { dayMs } from '@automation/ledger'

/**
 * @param days the setting of the workspace; null: it has none
 * @param defaultDays RETENTION_DAYS
 * @param now epoch ms, of Postgres' clock, which dates events
 * @returns the time from which on all events of a workspace are kept; null: all are
 */
export function findHistoryFrom(days: number | null, defaultDays: number, now: number): number | null {
  const kept = days ?? defaultDays
  return kept === 0 ? null : now - kept * dayMs
}

/** The same of a stored workspace. */
export async function readHistoryFrom(
  { workspace }: Pick<WorkspaceDatabase, 'workspace'>,
  workspaceId: string,
  defaultDays: number,
  now: number,
): Promise<number | null> {
  const row = await workspace.findUnique({ where: { id: workspaceId }, select: { retentionDays: true } })
  return findHistoryFrom(row?.retentionDays ?? null, defaultDays, now)
}
