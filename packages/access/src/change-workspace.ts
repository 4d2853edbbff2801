import type { Database, WorkspaceTransaction } from '@automation/database'
import { createKeyedMutex, newId, Prisma } from '@automation/database'
import type { AuditAction } from './audit.js'
import { Refused } from './refused.js'
import { publishChanges, type ServiceEvent } from './service-events.js'

/** They would wait for the workspace's row anyway, and a pool has few connections to wait with. */
const serialize = createKeyedMutex(5_000)

/** On whose behalf a workspace is changed: every change leaves an entry in its audit log. */
export interface Administrator {
  database: Database
  workspaceId: string
  /** `user:<sub>`, `api_key:<id>` or `cli:<system user>` */
  actor: string
  /** Adds the jobs of events that were committed, best effort. Without it they wait some seconds for the sweeper. */
  publish?(events: ServiceEvent[]): void
}

/** What the audit log tells of a change beside who made it. */
export interface Entry {
  action: AuditAction
  subject: string
  details?: object
}

export interface Change<Result> {
  result: Result
  /** A list where several things were changed; undefined, or an empty list, where all was so already. */
  entry: Entry | Entry[] | undefined
  /** What the change itself has told subscriptions, beside what follows from its entries. */
  told?: ServiceEvent[]
}

/**
 * Changes a workspace, writes down who did, and tells the subscribers, in one transaction. Changes of one workspace happen
 * one after another, so a rule about all of its members, keys or secrets holds whoever else is at work.
 *
 * @param timeoutMs how long it may take; a change of many things needs more than the usual 5 s
 * @throws Refused where the workspace does not exist, DatabaseBusy where other changes took too long, and whatever the
 * change throws
 */
export async function changeWorkspace<Result>(
  { database, workspaceId, actor, publish }: Administrator,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
  timeoutMs = 5_000,
): Promise<Result> {
  const work = async (transaction: WorkspaceTransaction) => {
    const locked = await transaction.$queryRaw<unknown[]>(
      Prisma.sql`SELECT 1 FROM workspaces WHERE id = ${workspaceId}::uuid FOR NO KEY UPDATE`,
    )
    if (locked.length === 0) throw new Refused('not_found', 'Workspace not found')
    const changed = await change(transaction)
    const { result, told = [] } = changed
    const entries = listEntries(changed)
    if (entries.length === 0) return { result, told }
    const at = await writeAudits(transaction, { workspaceId, actor }, entries)
    return {
      result,
      told: [...told, ...(await publishChanges(transaction, { workspaceId, actor, at }, entries))],
    }
  }
  const { result, told } = await serialize(workspaceId, () =>
    database.forWorkspace(workspaceId).$transaction(work, { timeout: timeoutMs }),
  )
  if (told.length > 0) publish?.(told)
  return result
}

export function listEntries({ entry = [] }: Pick<Change<unknown>, 'entry'>): Entry[] {
  return [entry].flat()
}

export async function writeAudit(
  transaction: WorkspaceTransaction,
  { workspaceId, actor, ...entry }: Entry & { workspaceId: string; actor: string },
): Promise<void> {
  await writeAudits(transaction, { workspaceId, actor }, [entry])
}

/** @returns the time of the entries */
async function writeAudits(
  transaction: WorkspaceTransaction,
  author: { workspaceId: string; actor: string },
  entries: Entry[],
): Promise<Date> {
  const at = new Date()
  const data = entries.map(({ action, subject, details = {} }) => {
    return { id: newId(), workspaceId: author.workspaceId, actor: author.actor, action, subject, details, at }
  })
  await transaction.auditEntry.createMany({ data })
  return at
}
