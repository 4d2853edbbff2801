import {
  type Administrator,
  type Change,
  changeWorkspace,
  findWorkspace,
  type NewAuditEntry,
  Refused,
  type Workspace,
} from '@automation/access'
import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { lockRules } from './lock-rules.js'
import { planTicks } from './plan-ticks.js'

/** How long (days) the deletion of a workspace can be undone. */
export const graceDays = 7

/**
 * A workspace may be suspended, and its deletion may be asked for: either of them suspends it, and each is undone by itself.
 *
 *             suspendWorkspace                     deleteWorkspace
 *   active ◀───────────────────▶ suspended        ◀───────────────▶ leaving ──7 days──▶ deleted (endWorkspaces of packages/ledger)
 *             resumeWorkspace                      keepWorkspace
 *
 * What the operator of the service has done only the operator undoes. A schedule has no next tick meanwhile.
 */
export function suspendWorkspace(administrator: Administrator): Promise<Workspace> {
  const { actor } = administrator
  return changeState(administrator, async (transaction, before) => {
    if (before.suspendedBy !== null && !isTakenOver(actor, before.suspendedBy)) return undefined
    await transaction.$executeRaw(Prisma.sql`
      UPDATE workspaces SET suspended_at = coalesce(suspended_at, now()), suspended_by = ${actor}, has_parked = true
      WHERE id = ${before.id}::uuid`)
    return { action: 'workspace.suspended', subject: before.id }
  })
}

/** @throws Refused where the operator has suspended it, or its deletion was asked for */
export function resumeWorkspace(administrator: Administrator): Promise<Workspace> {
  return changeState(administrator, async (transaction, before) => {
    if (before.suspendedBy === null) return undefined
    refuseOperators(administrator, before.suspendedBy, 'has suspended the workspace: only they can resume it')
    if (before.deletesAt !== null)
      throw new Refused('workspace_suspended', 'Its deletion was asked for: undo that first')
    await transaction.$executeRaw(Prisma.sql`
      UPDATE workspaces SET suspended_at = NULL, suspended_by = NULL WHERE id = ${before.id}::uuid`)
    return { action: 'workspace.resumed', subject: before.id }
  })
}

/**
 * Asks for the deletion of a workspace.
 *
 * @param name typed again
 * @param deletesAt when it begins, where a restore has undone it: the time to undo it has begun before
 * @throws Refused where that is another name, or the operator has suspended it
 */
export function deleteWorkspace(
  administrator: Administrator,
  name: string,
  deletesAt: Date | null = null,
): Promise<Workspace> {
  const { actor } = administrator
  return changeState(administrator, async (transaction, before) => {
    refuseOperators(administrator, before.suspendedBy, 'has suspended the workspace: only they can delete it')
    if (name !== before.name)
      throw new Refused('validation_failed', 'Must be the name of the workspace', 'name')
    if (before.deletionAskedBy !== null && !isTakenOver(actor, before.deletionAskedBy)) return undefined
    await transaction.$executeRaw(Prisma.sql`
      UPDATE workspaces SET deletion_asked_at = coalesce(deletion_asked_at, now()), deletion_asked_by = ${actor},
        deletes_at = coalesce(least(deletes_at, ${deletesAt}::timestamptz), now() + make_interval(hours => ${graceDays * 24})), has_parked = true
      WHERE id = ${before.id}::uuid`)
    return { action: 'workspace.deletion_asked', subject: before.id }
  })
}

/** Undoes a deletion that has not begun. @throws Refused where the operator has asked for it */
export function keepWorkspace(administrator: Administrator): Promise<Workspace> {
  return changeState(administrator, async (transaction, before) => {
    if (before.deletionAskedBy === null) return undefined
    refuseOperators(administrator, before.deletionAskedBy, 'deletes the workspace: only they can undo that')
    await transaction.$executeRaw(Prisma.sql`
      UPDATE workspaces SET deletion_asked_at = NULL, deletion_asked_by = NULL, deletes_at = NULL WHERE id = ${before.id}::uuid`)
    return { action: 'workspace.deletion_undone', subject: before.id }
  })
}

/**
 * Closes a workspace that moves to another installation: the second half of the move, or its undoing, opens it (packages/ledger/src/moving).
 *
 * @param moveId of this move
 * @returns since when it is closed
 * @throws Refused where it is closed for another one
 */
export function closeWorkspace(administrator: Administrator, moveId: string): Promise<Date> {
  return changeMove(administrator, moveId, async (transaction, { id, closedAt }) => {
    if (closedAt !== null) return { result: closedAt, entry: undefined }
    const [closed] = await transaction.$queryRaw<{ at: Date }[]>(Prisma.sql`
      UPDATE workspaces SET closed_at = clock_timestamp(), moving = ${`to ${moveId}`}, has_parked = true WHERE id = ${id}::uuid
      RETURNING closed_at AS at`)
    return { result: (closed as NonNullable<typeof closed>).at, entry: noteClosed(id, true) }
  })
}

/** Undoes that. @param before is done under the lock of the workspace, and throws where it must stay closed */
export function openWorkspace(
  administrator: Administrator,
  moveId: string,
  before: () => Promise<void>,
): Promise<void> {
  return changeMove(administrator, moveId, async (transaction, { id, closedAt }) => {
    await before()
    await transaction.$executeRaw(
      Prisma.sql`UPDATE workspaces SET closed_at = NULL, moving = NULL WHERE id = ${id}::uuid`,
    )
    return { result: undefined, entry: closedAt === null ? undefined : noteClosed(id, false) }
  })
}

function changeMove<Result>(
  administrator: Administrator,
  moveId: string,
  change: (
    transaction: WorkspaceTransaction,
    workspace: { id: string; closedAt: Date | null },
  ) => Promise<Change<Result>>,
): Promise<Result> {
  return changeWorkspace({ ...administrator, isUndoing: true }, async (transaction) => {
    const { moving, ...workspace } = await transaction.workspace.findUniqueOrThrow({
      where: { id: administrator.workspaceId },
      select: { id: true, closedAt: true, moving: true },
    })
    if (moving !== null && moving !== `to ${moveId}`)
      throw new Refused('unavailable', 'The workspace is closed for another move')
    return change(transaction, workspace)
  })
}

/** Only the operator does this: a workspace that has made too many changes cannot prevent it. */
function noteClosed(subject: string, isClosed: boolean): NewAuditEntry {
  return { action: 'workspace.updated', subject, details: { isClosed }, isSwitchOff: true }
}

/** @param change returns undefined where nothing is to be changed */
function changeState(
  administrator: Administrator,
  change: (transaction: WorkspaceTransaction, before: Workspace) => Promise<NewAuditEntry | undefined>,
): Promise<Workspace> {
  const { workspaceId } = administrator
  return changeWorkspace({ ...administrator, isUndoing: true }, async (transaction) => {
    const before = await findWorkspace(transaction, workspaceId)
    const entry = await change(transaction, before)
    const after = entry === undefined ? before : await findWorkspace(transaction, workspaceId)
    if (isSuspended(before) !== isSuspended(after)) await planAllTicks(transaction, after)
    const changed: Change<Workspace> = { result: after, entry }
    return changed
  })
}

function isSuspended({ suspendedAt, deletesAt }: Workspace): boolean {
  return suspendedAt !== null || deletesAt !== null
}

/** Ticks that would have been due while a workspace was suspended are neither made nor missed. */
async function planAllTicks(transaction: WorkspaceTransaction, workspace: Workspace): Promise<void> {
  const rules = await transaction.rule.findMany({
    where: { isActive: true, trigger: 'SCHEDULE' },
    select: { id: true, schedule: true, isActive: true },
    orderBy: { id: 'asc' },
  })
  const ids = rules.map(({ id }) => id)
  if (ids.length === 0) return
  await lockRules(transaction, workspace.id, ids)
  if (!isSuspended(workspace)) await planTicks(transaction, workspace.id, rules)
  else await transaction.rule.updateMany({ where: { id: { in: ids } }, data: { nextRunAt: null } })
}

function isOperator(actor: string): boolean {
  return actor.startsWith('cli:')
}

/** From then on only the operator undoes it. */
function isTakenOver(actor: string, by: string): boolean {
  return isOperator(actor) && !isOperator(by)
}

function refuseOperators({ actor }: Administrator, by: string | null, what: string): void {
  if (by !== null && isOperator(by) && !isOperator(actor))
    throw new Refused('workspace_suspended', `The operator of the service ${what}`)
}
