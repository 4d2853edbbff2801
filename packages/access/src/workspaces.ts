import { isDeepStrictEqual } from 'node:util'
import { type Database, newId, type WorkspaceDatabase } from '@automation/database'
import { Type } from 'typebox'
import { type Administrator, changeWorkspace, writeAudit } from './change-workspace.js'
import { refuseBadUserId, UserId } from './members.js'
import { Refused } from './refused.js'

export const Plan = Type.Enum(['standard', 'enterprise'], {
  title: 'Plan',
  description: 'The plan sets the rate limit of the workspace’s members and keys.',
})
/** How many failures in a row deactivate a rule. */
export const AutoPauseAfter = Type.Integer({ minimum: 3, maximum: 1_000 })
// One schema instead of a union reports a fault once.
const AutoPauseAfterOrNever = Type.Unsafe<number | null>({
  ...AutoPauseAfter,
  type: ['integer', 'null'],
  description: 'Number of consecutive failures after which the service switches a rule off. null: never.',
})
/** How many days events that are done are kept, with their executions. */
export const RetentionDays = Type.Integer({ minimum: 1, maximum: 3_650 })
const RetentionDaysOrDefault = Type.Unsafe<number | null>({
  ...RetentionDays,
  type: ['integer', 'null'],
  description:
    'Number of days after which finished events and their executions are removed. null: the default of the service.',
})
const WorkspaceName = Type.String({ minLength: 1, maxLength: 200 })

export const Workspace = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: WorkspaceName,
    plan: Plan,
    autoPauseAfter: AutoPauseAfterOrNever,
    retentionDays: RetentionDaysOrDefault,
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Workspace' },
)
export type Workspace = Type.Static<typeof Workspace>

export const WorkspaceToCreate = Type.Object(
  {
    name: WorkspaceName,
    plan: Type.Optional(Plan),
    retentionDays: Type.Optional(RetentionDaysOrDefault),
    adminUserId: Type.Optional(UserId),
  },
  { additionalProperties: false, title: 'WorkspaceToCreate' },
)
export const WorkspaceToUpdate = Type.Object(
  {
    name: Type.Optional(WorkspaceName),
    plan: Type.Optional(Plan),
    autoPauseAfter: Type.Optional(AutoPauseAfterOrNever),
    retentionDays: Type.Optional(RetentionDaysOrDefault),
  },
  { additionalProperties: false, title: 'WorkspaceToUpdate' },
)

const fields = {
  id: true,
  name: true,
  plan: true,
  autoPauseAfter: true,
  retentionDays: true,
  createdAt: true,
} as const

/** Creates a workspace with its first admin. */
export function createWorkspace(
  { database, actor }: Pick<Administrator, 'database' | 'actor'>,
  {
    name,
    plan = 'standard',
    retentionDays = null,
    adminUserId,
  }: Type.Static<typeof WorkspaceToCreate> & { adminUserId: string },
  id = newId(),
): Promise<Workspace> {
  return database.forWorkspace(id).$transaction(async (transaction) => {
    refuseBadUserId(adminUserId, 'adminUserId')
    const workspace = await transaction.workspace.create({
      data: { id, name, plan, retentionDays, members: { create: { userId: adminUserId, role: 'admin' } } },
      select: fields,
    })
    await writeAudit(transaction, {
      workspaceId: id,
      actor,
      action: 'workspace.created',
      subject: id,
      details: { name, plan, ...(retentionDays !== null && { retentionDays }), adminUserId },
    })
    return present(workspace)
  })
}

/**
 * @param check throws where the present state of the workspace does not allow the change
 * @throws Refused where it does not exist
 */
export function updateWorkspace(
  administrator: Administrator,
  changes: Type.Static<typeof WorkspaceToUpdate>,
  check: (before: Workspace) => void = () => {},
): Promise<Workspace> {
  const id = administrator.workspaceId
  return changeWorkspace(administrator, async (transaction) => {
    const before = await findWorkspace(transaction, id)
    check(before)
    const data = {
      name: changes.name ?? before.name,
      plan: changes.plan ?? before.plan,
      autoPauseAfter: changes.autoPauseAfter === undefined ? before.autoPauseAfter : changes.autoPauseAfter,
      retentionDays: changes.retentionDays === undefined ? before.retentionDays : changes.retentionDays,
    }
    if (isDeepStrictEqual({ ...before, ...data }, before)) return { result: before, entry: undefined }
    const after = await transaction.workspace.update({ where: { id }, data, select: fields })
    return {
      result: present(after),
      entry: { action: 'workspace.updated', subject: id, details: changes },
    }
  })
}

/** @throws Refused where it does not exist */
export async function findWorkspace(
  database: Pick<WorkspaceDatabase, 'workspace'>,
  id: string,
): Promise<Workspace> {
  const workspace = await database.workspace.findUnique({ where: { id }, select: fields })
  if (workspace === null) throw new Refused('not_found', 'Workspace not found')
  return present(workspace)
}

/** Lists all workspaces, or those of which a user is a member, the oldest first. */
export async function listWorkspaces(database: Database, userId?: string): Promise<Workspace[]> {
  const workspaces = await database.system.workspace.findMany({
    where: userId === undefined ? {} : { members: { some: { userId } } },
    select: fields,
    orderBy: { id: 'asc' },
  })
  return workspaces.map(present)
}

function present({ createdAt, ...workspace }: Omit<Workspace, 'createdAt'> & { createdAt: Date }): Workspace {
  return { ...workspace, createdAt: createdAt.toISOString() }
}
