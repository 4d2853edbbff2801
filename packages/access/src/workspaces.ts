import { isDeepStrictEqual } from 'node:util'
import { ownerOf } from '@automation/admission'
import {
  createKeyedMutex,
  type Database,
  newId,
  Prisma,
  type WorkspaceDatabase,
  type WorkspaceTransaction,
} from '@automation/database'
import type { Type } from 'typebox'
import { insertApiKey } from './api-keys.js'
import { type Administrator, changeWorkspace, writeAudit } from './change-workspace.js'
import { frameOriginFault, isFrameOrigin } from './embed-sessions/frame-origins.js'
import { type Role, refuseBadUserId, whereNotEnded } from './members.js'
import { Refused } from './refused.js'
import {
  type NewWorkspace,
  presentWorkspace,
  type Workspace,
  type WorkspaceCounts,
  type WorkspaceToCreate,
  type WorkspaceToUpdate,
  workspaceFields,
} from './workspace-schemas.js'

/** Whose limits apply to a new workspace besides its own, however many admins it gets. */
export interface Creator {
  /** `user:<sub>`, or `workspace:<id>` for a key of a workspace without a creator. */
  createdBy: string
  /** How many workspaces it may have created. */
  limit: number
}

/** Workspaces of one creator wait here instead of for its lock: a waiting transaction would hold one of the pool's few connections. */
const serialize = createKeyedMutex()

/**
 * Creates a workspace with its first admin.
 *
 * @param options.creator none for an operator, on the command line or with a key of theirs: no limit applies to them
 * @throws Refused where the creator has as many workspaces as it may have, those included that were handed to another admin
 */
export function createWorkspace(
  { database, actor, once = (_, work) => work() }: Pick<Administrator, 'database' | 'actor' | 'once'>,
  {
    name,
    plan = 'standard',
    retentionDays = null,
    adminUserId,
    apiKey,
  }: Type.Static<typeof WorkspaceToCreate> & { adminUserId: string },
  { id: givenId, creator }: { id?: string; creator?: Creator } = {},
): Promise<NewWorkspace> {
  const id = givenId ?? newId()
  const create = () =>
    database.forWorkspace(id).$transaction(async (transaction) => {
      const { result } = await once(transaction, async () => {
        refuseBadUserId(adminUserId, 'adminUserId')
        if (creator !== undefined) await refuseTooMany(transaction, creator)
        if (givenId !== undefined) await refuseDeletedId(transaction, id)
        const members = { create: { userId: adminUserId, role: 'admin' } } as const
        const createdBy = creator?.createdBy ?? null
        const workspace = await transaction.workspace.create({
          data: { id, name, plan, retentionDays, createdBy, members },
          select: workspaceFields,
        })
        const details = { name, plan, ...(retentionDays !== null && { retentionDays }), adminUserId }
        const entry = { action: 'workspace.created', subject: id, details } as const
        await writeAudit(transaction, { workspaceId: id, actor, ...entry })
        const first = apiKey && (await insertApiKey(transaction, id, apiKey))
        if (first) await writeAudit(transaction, { workspaceId: id, actor, ...first.entry })
        const created = { ...presentWorkspace(workspace), ...(first && { apiKey: first.result }) }
        return { result: created, entry: undefined }
      })
      return result
    })
  return creator === undefined
    ? create()
    : serialize(creator.createdBy, create, database.limits.transactionMs)
}

/** What is kept of a deleted workspace, in logs and elsewhere, must not become another one's. */
async function refuseDeletedId(transaction: WorkspaceTransaction, id: string): Promise<void> {
  const found = await transaction.$queryRaw<unknown[]>(
    Prisma.sql`SELECT FROM deleted_workspaces WHERE id = ${id}::uuid`,
  )
  if (found.length > 0) throw new Refused('name_taken', 'A deleted workspace had this id: use another one')
}

async function refuseTooMany(
  transaction: WorkspaceTransaction,
  { createdBy, limit }: Creator,
): Promise<void> {
  // Other processes create workspaces, too. The lock ends with the transaction.
  await transaction.$executeRaw(
    Prisma.sql`SELECT pg_advisory_xact_lock(hashtextextended(${`workspaces of ${createdBy}`}, 0))`,
  )
  const [{ count } = { count: 0n }] = await transaction.$queryRaw<{ count: bigint }[]>(
    Prisma.sql`SELECT count(*) FROM workspaces WHERE created_by = ${createdBy}`,
  )
  if (count >= limit) throw new Refused('limit_reached', `A user may create ${limit} workspaces`)
}

/** The creator of what a key of this workspace creates: a key is nobody's, and must not be a way around a limit. */
export async function findCreator(database: WorkspaceDatabase, workspaceId: string): Promise<string> {
  const workspace = await database.workspace.findUnique({
    where: { id: workspaceId },
    select: { createdBy: true },
  })
  return ownerOf({ workspaceId, ...workspace })
}

/**
 * @param check throws where the present state of the workspace does not allow the change
 * @throws Refused where it does not exist, or one of `embedOrigins` is no origin
 */
export function updateWorkspace(
  administrator: Administrator,
  changes: Type.Static<typeof WorkspaceToUpdate>,
  check: (before: Workspace) => void = () => {},
): Promise<Workspace> {
  const id = administrator.workspaceId
  const wrong = changes.embedOrigins?.findIndex((origin) => !isFrameOrigin(origin)) ?? -1
  return changeWorkspace(administrator, async (transaction) => {
    if (wrong >= 0) throw new Refused('validation_failed', frameOriginFault, `embedOrigins[${wrong}]`)
    const before = await findWorkspace(transaction, id)
    check(before)
    const data = {
      name: changes.name ?? before.name,
      plan: changes.plan ?? before.plan,
      autoPauseAfter: changes.autoPauseAfter === undefined ? before.autoPauseAfter : changes.autoPauseAfter,
      retentionDays: changes.retentionDays === undefined ? before.retentionDays : changes.retentionDays,
      embedOrigins: changes.embedOrigins ?? before.embedOrigins,
    }
    if (isDeepStrictEqual({ ...before, ...data }, before)) return { result: before, entry: undefined }
    const after = await transaction.workspace.update({ where: { id }, data, select: workspaceFields })
    return {
      result: presentWorkspace(after),
      entry: { action: 'workspace.updated', subject: id, details: changes },
    }
  })
}

/** @throws Refused where it does not exist */
export async function findWorkspace(
  database: Pick<WorkspaceTransaction, 'workspace'> | Pick<Database['system'], 'workspace'>,
  id: string,
): Promise<Workspace> {
  const workspace = await database.workspace.findUnique({
    where: { id, deletedAt: null },
    select: workspaceFields,
  })
  if (workspace === null) throw new Refused('workspace_not_found', 'Workspace not found')
  return presentWorkspace(workspace)
}

/** A page of all workspaces, in the order of their ids. @param after the last id of the page before */
export async function listAllWorkspaces(
  database: Database,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<Workspace[]> {
  const workspaces = await database.system.workspace.findMany({
    where: { deletedAt: null, ...(after !== undefined && { id: { gt: after } }) },
    select: workspaceFields,
    orderBy: { id: 'asc' },
    take: limit,
  })
  return workspaces.map(presentWorkspace)
}

/** $1 workspaces. Each count has an index, and a limit of the workspace bounds it. */
const countInWorkspacesSql = `
  SELECT w.id,
         (SELECT count(*)::int FROM rules WHERE workspace_id = w.id) AS rules,
         (SELECT count(*)::int FROM members
          WHERE workspace_id = w.id AND (ends_at IS NULL OR ends_at > now())) AS members,
         (SELECT count(*)::int FROM api_keys WHERE workspace_id = w.id AND revoked_at IS NULL) AS "apiKeys"
  FROM workspaces w
  WHERE w.id = ANY($1::uuid[])`

/** Counts what is in some workspaces, by their ids. */
export async function countInWorkspaces(
  database: Database,
  ids: string[],
): Promise<Map<string, WorkspaceCounts>> {
  const rows = await database.run<WorkspaceCounts & { id: string }>(
    'count_in_workspaces',
    countInWorkspacesSql,
    [ids],
  )
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

/** Nobody is asked before becoming a member, so the number of a user's workspaces has no limit, but the list has. */
const maxListed = 1_000

/** Lists all workspaces, or the first 1,000 of which a user is a member, the oldest first. */
export async function listWorkspaces(database: Database, userId?: string): Promise<Workspace[]> {
  const workspaces = await database.system.workspace.findMany({
    where:
      userId === undefined
        ? { deletedAt: null }
        : { members: { some: { userId, ...(await whereNotEnded(database.system)) } } },
    select: workspaceFields,
    orderBy: { id: 'asc' },
    ...(userId !== undefined && { take: maxListed }),
  })
  return workspaces.map(presentWorkspace)
}

/** Lists the first 1,000 workspaces of a user with the role there, the oldest first. */
export async function listMemberships(
  database: Database,
  userId: string,
): Promise<{ workspace: Workspace; role: Role; endsAt: string | null }[]> {
  const members = await database.system.member.findMany({
    where: { userId, ...(await whereNotEnded(database.system)) },
    select: { role: true, endsAt: true, workspace: { select: workspaceFields } },
    orderBy: { workspaceId: 'asc' },
    take: maxListed,
  })
  return members.map(({ role, endsAt, workspace }) => {
    return { role, endsAt: endsAt?.toISOString() ?? null, workspace: presentWorkspace(workspace) }
  })
}

/** A row of the operator's log of deletions. */
export interface DeletedWorkspace {
  id: string
  name: string
  askedBy: string
  askedAt: string
  deletedAt: string
  counts: Record<string, number>
  rowsRemoved: number
  /** null: workers still remove its rows. */
  finishedAt: string | null
}

/** Lists the workspaces that were deleted, the oldest deletion first. */
export async function listDeletedWorkspaces({ system }: Database): Promise<DeletedWorkspace[]> {
  const rows = await system.deletedWorkspace.findMany({ orderBy: [{ deletedAt: 'asc' }, { id: 'asc' }] })
  return rows.map(({ askedAt, deletedAt, finishedAt, rowsRemoved, counts, ...row }) => ({
    ...row,
    askedAt: askedAt.toISOString(),
    deletedAt: deletedAt.toISOString(),
    counts: counts as Record<string, number>,
    rowsRemoved: Number(rowsRemoved),
    finishedAt: finishedAt?.toISOString() ?? null,
  }))
}
