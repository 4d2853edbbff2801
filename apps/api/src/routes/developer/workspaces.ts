import {
  type Administrator,
  countInWorkspaces,
  createWorkspace,
  findCreator,
  findExpiryFault,
  findWorkspace,
  listAllWorkspaces,
  listWorkspaces,
  NewWorkspace,
  updateWorkspace,
  Workspace,
  WorkspaceCounts,
  WorkspaceToCreate,
  WorkspaceToDelete,
  WorkspaceToUpdate,
} from '@automation/access'
import { isUuid, type Plan } from '@automation/database'
import { deleteWorkspace, keepWorkspace, resumeWorkspace, suspendWorkspace } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { readInTurn } from '../../admission.js'
import { refusals } from '../../errors.js'
import type { Resource } from '../../etag.js'
import { readCursor } from '../../lists/cursor.js'
import { cutList, cutPage } from '../../lists/page.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'

/**
 * Each workspace has limits of its own, so a user who creates many has many times as much. Somebody with more than a hundred customers has
 * an operator who creates workspaces for them (`npm run admin -- workspaces create`), or a key of the operator.
 */
export const workspacesPerCreator = 100
/** Each workspace is an owner of its own in every turn, so a leaked key must not make many: one costs as much as so many items, five tokens. */
const itemsOfWorkspace = 250
/** Of a list of all. */
const operatorPage = 100

/** What an operator's key sees beside the workspace itself. */
const CountedWorkspace = Type.Object(
  {
    ...Workspace.properties,
    counts: Type.Optional({ ...WorkspaceCounts, description: 'For an operator’s key alone' }),
  },
  { title: 'CountedWorkspace' },
)

const WorkspaceParams = Type.Object({ id: Id })

const resource: Resource = (transaction, { workspace }) => findWorkspace(transaction, workspace.id)

export const workspaceRoutes: FastifyPluginAsyncTypebox<{ perCreator: number }> = async (
  app,
  { perCreator: limit },
) => {
  app.get('/', {
    config: { role: 'viewer', callers: { operators: true } },
    schema: {
      operationId: 'listWorkspaces',
      summary: 'List the workspaces of the user, oldest first. An API key lists its own workspace',
      description:
        'The list has at most 1,000 workspaces. An operator’s key lists all workspaces with their counts, in pages of 100 at most.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object(
          { data: Type.Array(CountedWorkspace), nextCursor: NextCursor },
          { title: 'WorkspaceList' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async (request) => {
      const {
        caller,
        query,
        workspace: { id, database },
      } = request
      if (caller?.isOperator) return listForOperator(request, query)
      const userId = caller?.userId
      const found =
        userId === undefined
          ? [await findWorkspace(database, id)]
          : await listWorkspaces(app.database, userId)
      return cutList(found, query, { list: 'workspaces', placeOf: ({ id }) => id })
    },
  })

  app.get('/:id', {
    config: { role: 'viewer', resource, callers: { operators: true } },
    schema: {
      operationId: 'getWorkspace',
      summary: 'Get the workspace that x-workspace-id names',
      description:
        'With its plan and its settings. The id in the path must be the one of x-workspace-id. An operator’s key gets any workspace, with its counts.',
      params: WorkspaceParams,
      response: { 200: CountedWorkspace, ...refusalResponses(404) },
    },
    handler: async (request) => {
      if (request.caller?.isOperator) return findForOperator(request, request.params.id)
      refuseOtherWorkspace(request, request.params)
      return findWorkspace(request.workspace.database, request.workspace.id)
    },
  })

  app.patch('/:id', {
    config: { role: 'admin', resource },
    schema: {
      operationId: 'updateWorkspace',
      summary: 'Update the workspace that x-workspace-id names',
      description:
        'Rename the workspace, lower its plan, set when failing rules are switched off, or set how long history is kept.',
      params: WorkspaceParams,
      body: WorkspaceToUpdate,
      response: { 200: Workspace, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request) => {
      refuseOtherWorkspace(request, request.params)
      const { body } = request
      const workspace = await updateWorkspace(administratorOf(request), body, ({ plan }) =>
        refuseHigherPlan(plan, body.plan),
      )
      return workspace
    },
  })

  const config = { role: 'admin', resource, callers: { keys: false, whileSuspended: true } } as const
  const params = WorkspaceParams

  app.put('/:id/suspension', {
    config,
    schema: {
      operationId: 'suspendWorkspace',
      summary: 'Suspend the workspace that x-workspace-id names',
      description:
        'Nothing of it runs and nothing is sent until it is resumed; only its admins read it. Admins only, and no API keys. A workspace that is suspended stays as it is.',
      params,
      response: { 200: Workspace, ...refusalResponses(404, 413, 415) },
    },
    handler: (request) => suspendWorkspace(administratorOfNamed(request)),
  })

  app.delete('/:id/suspension', {
    config,
    schema: {
      operationId: 'resumeWorkspace',
      summary: 'Resume the workspace that x-workspace-id names',
      description:
        'What waited goes on. Admins only, and no API keys. What the operator of the service has suspended only the operator resumes. A workspace that is not suspended stays as it is.',
      params,
      response: { 200: Workspace, ...refusalResponses(404, 413, 415) },
    },
    handler: (request) => resumeWorkspace(administratorOfNamed(request)),
  })

  app.put('/:id/deletion', {
    config,
    schema: {
      operationId: 'deleteWorkspace',
      summary: 'Ask for the deletion of the workspace that x-workspace-id names',
      description:
        'It is suspended at once and deleted 7 days later, with all that it has. Until then the deletion can be undone. Admins only, and no API keys.',
      params,
      body: WorkspaceToDelete,
      response: { 200: Workspace, ...refusalResponses(404, 413, 415, 422) },
    },
    handler: (request) => deleteWorkspace(administratorOfNamed(request), request.body.name),
  })

  app.delete('/:id/deletion', {
    config,
    schema: {
      operationId: 'keepWorkspace',
      summary: 'Undo the deletion of the workspace that x-workspace-id names',
      description:
        'It is again what it was before: active, or suspended. Admins only, and no API keys. What the operator of the service has asked for only the operator undoes.',
      params,
      response: { 200: Workspace, ...refusalResponses(404, 413, 415) },
    },
    handler: (request) => keepWorkspace(administratorOfNamed(request)),
  })

  app.post('/', {
    attachValidation: true,
    config: { role: 'admin', key: 'change', callers: { operators: true } },
    schema: {
      operationId: 'createWorkspace',
      summary: 'Create a workspace with its first admin',
      description:
        'The first admin is the caller, unless `adminUserId` names another user. An API key is no user, so it has to name one. Each user may create 100 workspaces. A workspace that an API key creates counts for the creator of the key’s workspace. An operator’s key has no such limit, gives any plan, and may ask for a first API key in the same response (`apiKey`); it has to name an admin, and one request costs five tokens.',
      body: WorkspaceToCreate,
      response: { 201: NewWorkspace, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const faults = bodyFaults(request.validationError ?? {})
      const { adminUserId = request.caller?.userId, ...fields } = request.body
      const isOperator = request.caller?.isOperator === true
      const { apiKey } = fields
      if (apiKey !== undefined && !isOperator)
        faults.push({ field: 'apiKey', message: 'Only an operator’s key creates a key with its workspace' })
      const expiryFault = apiKey?.expiresAt === undefined ? undefined : findExpiryFault(apiKey.expiresAt)
      if (expiryFault !== undefined) faults.push({ field: 'apiKey.expiresAt', message: expiryFault })
      // A key is nobody's: somebody has to be named.
      if (adminUserId === undefined)
        faults.push({ field: 'adminUserId', message: 'Required: an API key is no user' })
      if (adminUserId === undefined || faults.length > 0) throw refusals.invalid(faults)
      if (isOperator) await app.payForMany(request, reply, itemsOfWorkspace)
      const options = isOperator ? {} : { creator: { createdBy: await refuseToCreate(request), limit } }
      const create = (administrator: Administrator) =>
        createWorkspace(administrator, { ...fields, adminUserId }, options)
      const present = (workspace: NewWorkspace) => {
        return { status: 201, headers: { location: `${app.prefix}/${workspace.id}` }, body: workspace }
      }
      return sendStored(reply, await changeOnce(request, create, present, apiKey && 'apiKey.key'))
    },
  })
}

/** @returns the creator of the new workspace @throws a refusal where its plan is higher than that of the caller's workspace */
async function refuseToCreate({ caller, workspace, body }: FastifyRequest): Promise<string> {
  const { id, database, actor } = workspace
  const own = await findWorkspace(database, id)
  refuseHigherPlan(own.plan, (body as { plan?: Plan }).plan)
  return caller?.userId === undefined ? findCreator(database, id) : actor
}

async function listForOperator(
  request: FastifyRequest,
  { cursor, limit = operatorPage }: { cursor?: string; limit?: number },
) {
  const { database } = request.server
  const most = Math.min(limit, operatorPage)
  const after = cursor === undefined ? undefined : readCursor(cursor)
  return readInTurn(request, async () => {
    const { page, nextCursor } = cutPage(await listAllWorkspaces(database, { after, limit: most + 1 }), most)
    const counts = await countInWorkspaces(
      database,
      page.map(({ id }) => id),
    )
    return { data: page.map((one) => withCounts(one, counts)), nextCursor }
  })
}

async function findForOperator(request: FastifyRequest, id: string) {
  if (!isUuid(id)) throw refusals.workspaceNotFound()
  const { database } = request.server
  return readInTurn(request, async () => {
    const found = await findWorkspace(database.forWorkspace(id), id)
    return withCounts(found, await countInWorkspaces(database, [id]))
  })
}

/** One that is gone since it was read has none. */
function withCounts(workspace: Workspace, counts: Map<string, WorkspaceCounts>) {
  const found = counts.get(workspace.id)
  return { ...workspace, ...(found && { counts: found }) }
}

function administratorOfNamed(request: FastifyRequest<{ Params: { id: string } }>): Administrator {
  refuseOtherWorkspace(request, request.params)
  return administratorOf(request)
}

/** To whom another workspace belongs is nobody's business here, though the caller may be its admin, too. */
function refuseOtherWorkspace({ workspace }: FastifyRequest, { id }: { id: string }): void {
  if (id.toLowerCase() !== workspace.id) throw refusals.workspaceNotFound()
}

const rank: Record<Plan, number> = { standard: 0, enterprise: 1 }

/** A plan is bought: only an operator gives more than the caller's workspace has. */
function refuseHigherPlan(own: Plan, wanted: Plan = own): void {
  if (rank[wanted] > rank[own]) throw refusals.higherPlan()
}
