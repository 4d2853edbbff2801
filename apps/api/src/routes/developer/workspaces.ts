import {
  type Administrator,
  createWorkspace,
  findCreator,
  findWorkspace,
  listWorkspaces,
  updateWorkspace,
  Workspace,
  WorkspaceToCreate,
  WorkspaceToUpdate,
} from '@automation/access'
import type { Plan } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import type { Resource } from '../../etag.js'
import { cutList } from '../../lists/page.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'

/**
 * Each workspace has limits of its own, so a user who creates many has many times as much. Somebody with more than a hundred customers has
 * an operator who creates workspaces for them (`npm run admin -- workspaces create`).
 */
export const workspacesPerCreator = 100

const WorkspaceParams = Type.Object({ id: Id })

const resource: Resource = (transaction, { workspace }) => findWorkspace(transaction, workspace.id)

export const workspaceRoutes: FastifyPluginAsyncTypebox<{ perCreator: number }> = async (
  app,
  { perCreator: limit },
) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listWorkspaces',
      summary: 'List the workspaces of the user, oldest first. An API key lists its own workspace',
      description: 'The list has at most 1,000 workspaces.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object({ data: Type.Array(Workspace), nextCursor: NextCursor }, { title: 'WorkspaceList' }),
        ...refusalResponses(),
      },
    },
    handler: async ({ caller, query, workspace: { id, database } }) => {
      const userId = caller?.userId
      const found =
        userId === undefined
          ? [await findWorkspace(database, id)]
          : await listWorkspaces(app.database, userId)
      return cutList(found, query, { list: 'workspaces', placeOf: ({ id }) => id })
    },
  })

  app.get('/:id', {
    config: { role: 'viewer', resource },
    schema: {
      operationId: 'getWorkspace',
      summary: 'Get the workspace that x-workspace-id names',
      description: 'With its plan and its settings. The id in the path must be the one of x-workspace-id.',
      params: WorkspaceParams,
      response: { 200: Workspace, ...refusalResponses(404) },
    },
    handler: async (request) => {
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

  app.post('/', {
    attachValidation: true,
    config: { role: 'admin', key: 'change' },
    schema: {
      operationId: 'createWorkspace',
      summary: 'Create a workspace with its first admin',
      description:
        'The first admin is the caller, unless `adminUserId` names another user. An API key is no user, so it has to name one. Each user may create 100 workspaces. A workspace that an API key creates counts for the creator of the key’s workspace.',
      body: WorkspaceToCreate,
      response: { 201: Workspace, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const faults = bodyFaults(request.validationError ?? {})
      const { adminUserId = request.caller?.userId, ...fields } = request.body
      // A key is nobody's: somebody has to be named.
      if (adminUserId === undefined)
        faults.push({ field: 'adminUserId', message: 'Required: an API key is no user' })
      if (adminUserId === undefined || faults.length > 0) throw refusals.invalid(faults)
      const { id, database, actor } = request.workspace
      const own = await findWorkspace(database, id)
      refuseHigherPlan(own.plan, fields.plan)
      const createdBy = request.caller?.userId === undefined ? await findCreator(database, id) : actor
      const create = (administrator: Administrator) =>
        createWorkspace(administrator, { ...fields, adminUserId }, { creator: { createdBy, limit } })
      const present = (workspace: Workspace) => {
        return { status: 201, headers: { location: `${app.prefix}/${workspace.id}` }, body: workspace }
      }
      return sendStored(reply, await changeOnce(request, create, present))
    },
  })
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
