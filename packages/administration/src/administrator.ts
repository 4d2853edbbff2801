import type { Database, WorkspaceTransaction } from '@automation/database'
import { newId, Prisma } from '@automation/database'
import type { AuditAction } from './audit.js'
import { Refused } from './refused.js'
import { publishChange } from './service-events.js'

/** On whose behalf a workspace is changed: every change leaves an entry in its audit log. */
export interface Administrator {
  database: Database
  workspaceId: string
  /** `user:<sub>`, `api_key:<id>` or `cli:<system user>` */
  actor: string
}

export interface Change<Result> {
  result: Result
  /** What is told of it beside who made it; undefined where all was so already. */
  entry: { action: AuditAction; subject: string; details?: object } | undefined
}

/**
 * Changes a workspace, writes down who did, and tells the subscribers, in one transaction. Changes of one workspace happen one after another,
 * so a rule about all of its members, keys or secrets holds whoever else is at work.
 *
 * @throws Refused where the workspace does not exist, and whatever the change throws
 */
export function changeWorkspace<Result>(
  { database, workspaceId, actor }: Administrator,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
): Promise<Result> {
  return database.forWorkspace(workspaceId).$transaction(async (transaction) => {
    const locked = await transaction.$queryRaw<unknown[]>(
      Prisma.sql`SELECT 1 FROM workspaces WHERE id = ${workspaceId}::uuid FOR NO KEY UPDATE`,
    )
    if (locked.length === 0) throw new Refused('not_found', 'Workspace not found')
    const { result, entry } = await change(transaction)
    if (entry) {
      const change = { workspaceId, actor, ...entry }
      await publishChange(transaction, { ...change, at: await writeAudit(transaction, change) })
    }
    return result
  })
}

/** @returns the time of the entry */
export async function writeAudit(
  transaction: WorkspaceTransaction,
  entry: { workspaceId: string; actor: string; action: AuditAction; subject: string; details?: object },
): Promise<Date> {
  const { details = {}, ...rest } = entry
  const data = { id: newId(), ...rest, details }
  const { at } = await transaction.auditEntry.create({ data, select: { at: true } })
  return at
}
