import {
  createKeyedMutex,
  type Database,
  DatabaseBusy,
  isStatementCancelled,
  newId,
  Prisma,
  postgresNow,
  type WorkspaceTransaction,
} from '@automation/database'
import { isSuspendedSql } from '@automation/ledger'
import type { NewAuditEntry } from './audit.js'
import { refuseExcessEntries } from './audit-limit.js'
import type { EmbedGrant } from './embed-sessions/embed-session-schemas.js'
import { Refused } from './refused.js'
import { publishChanges, type ServiceEvent } from './service-events.js'

/** Changes of a workspace wait here instead of for its row: a waiting transaction would hold one of the pool's few connections. */
const serialize = createKeyedMutex()

/** The author of a change. Every change writes an entry to the workspace's audit log. */
export interface Administrator {
  database: Database
  workspaceId: string
  /** `user:<sub>`, `api_key:<id>`, `embed:<id>` or `cli:<system user>` */
  actor: string
  /** What the embed session of the author may; undefined for all others. The writers of rules ask it (packages/rules/src/refuse-beyond-grant.ts). */
  grant?: EmbedGrant
  /** Adds the jobs of committed events, best effort. Without it, the sweeper adds them some seconds later. */
  publish?(events: ServiceEvent[]): void
  /** How long the change waits for a lock, such as that of an earlier change. Without it: as long as it may take. */
  lockMs?: number
  /** The change is the suspension or deletion of the workspace itself, or undoes it: all others are refused while it is suspended. */
  isUndoing?: boolean
  /** Does what belongs into the transaction beside the change, such as to note the request that asks for it. */
  once?<Result>(
    transaction: WorkspaceTransaction,
    change: () => Promise<Change<Result>>,
  ): Promise<Change<Result>>
}

export interface Change<Result> {
  result: Result
  /** A list where several things were changed; undefined, or an empty list, where nothing was changed. */
  entry: NewAuditEntry | NewAuditEntry[] | undefined
  /** Events that the change itself published, beside those that follow from its entries. */
  published?: ServiceEvent[]
}

/**
 * Changes a workspace, writes its audit log and publishes to subscribers, in one transaction. The changes of a workspace happen one
 * after another, so a check over all of its members, keys or secrets holds despite concurrent requests.
 *
 * @param timeoutMs of the transaction; a change of many things needs more than the usual 5 s
 * @throws Refused where the workspace does not exist, is suspended or has changed too often today, DatabaseBusy where earlier changes took too long, and what `change` throws
 */
export async function changeWorkspace<Result>(
  {
    database,
    workspaceId,
    actor,
    publish,
    lockMs,
    isUndoing = false,
    once = (_, work) => work(),
  }: Administrator,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
  timeoutMs = database.limits.transactionMs,
): Promise<Result> {
  const work = async (transaction: WorkspaceTransaction) => {
    if (lockMs !== undefined)
      await transaction.$queryRaw(Prisma.sql`SELECT set_config('lock_timeout', ${`${lockMs}ms`}, true)`)
    const [locked] = await transaction.$queryRaw<{ isSuspended: boolean; isClosed: boolean }[]>(Prisma.sql`
      SELECT ${Prisma.raw(isSuspendedSql)} AS "isSuspended", closed_at IS NOT NULL AS "isClosed" FROM workspaces
      WHERE id = ${workspaceId}::uuid AND deleted_at IS NULL FOR NO KEY UPDATE`)
    if (locked === undefined) throw new Refused('workspace_not_found', 'Workspace not found')
    if (locked.isClosed && !isUndoing && !actor.startsWith('system:'))
      throw new Refused('unavailable', 'The workspace moves to another installation')
    if (locked.isSuspended && !isUndoing && !isOfService(actor))
      throw new Refused('workspace_suspended', 'The workspace is suspended')
    const changed = await once(transaction, () => change(transaction))
    const { result, published = [] } = changed
    const entries = listEntries(changed)
    if (entries.length === 0) return { result, published }
    await refuseExcessEntries(transaction, workspaceId, entries)
    const at = await writeAudits(transaction, { workspaceId, actor }, entries)
    const fromEntries = await publishChanges(transaction, { workspaceId, actor, at }, entries)
    return { result, published: [...published, ...fromEntries] }
  }
  const { result, published } = await serialize(
    workspaceId,
    () => database.forWorkspace(workspaceId).$transaction(work, { timeout: timeoutMs }),
    lockMs ?? database.limits.transactionMs,
  )
  if (published.length > 0) publish?.(published)
  return result
}

/** The operator on the command line, and workers: what they record of calls that were made before is never refused. */
function isOfService(actor: string): boolean {
  return /^(cli|system):/.test(actor)
}

/** Whether a change with `lockMs` was refused because an earlier one takes long. It may be tried again. */
export function isWorkspaceBusy(error: unknown): boolean {
  return error instanceof DatabaseBusy || isStatementCancelled(error)
}

export function listEntries({ entry = [] }: Pick<Change<unknown>, 'entry'>): NewAuditEntry[] {
  return [entry].flat()
}

export async function writeAudit(
  transaction: WorkspaceTransaction,
  { workspaceId, actor, ...entry }: NewAuditEntry & { workspaceId: string; actor: string },
): Promise<void> {
  await writeAudits(transaction, { workspaceId, actor }, [entry])
}

/** @returns the time of the entries */
async function writeAudits(
  transaction: WorkspaceTransaction,
  author: { workspaceId: string; actor: string },
  entries: NewAuditEntry[],
): Promise<Date> {
  const at = new Date(postgresNow())
  const data = entries.map(({ action, subject, details = {} }) => {
    return { id: newId(), workspaceId: author.workspaceId, actor: author.actor, action, subject, details, at }
  })
  await transaction.auditEntry.createMany({ data })
  return at
}
