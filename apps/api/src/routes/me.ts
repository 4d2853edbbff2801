import {
  DateTime,
  EmbedGrant,
  findWorkspace,
  listMemberships,
  orNull,
  Role,
  Scope,
  Workspace,
} from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { refusalResponses } from '../responses.js'

const Me = Type.Object(
  {
    actor: Type.String({
      description: 'The caller as the audit log names it: `user:<sub>`, `api_key:<id>` or `embed:<id>`',
    }),
    userId: orNull(
      Type.String({ description: 'The `sub` of the token. null for an API key and an embed session.' }),
    ),
    scopes: orNull(
      Type.Array(Scope, {
        description: 'The scopes of the API key. null for a user and an embed session, who have a role.',
      }),
    ),
    embed: Type.Optional({
      ...EmbedGrant,
      description: 'What the embed session may',
    }),
    workspaces: Type.Array(
      Type.Object({
        ...Workspace.properties,
        role: orNull(
          Type.Enum([...Role.enum], {
            description:
              'Role of the user, or the role whose permissions the key has. null for a key without permissions on rules.',
          }),
        ),
        endsAt: orNull({
          ...DateTime,
          description: 'When support access of the user ends. null: it does not',
        }),
      }),
      {
        description:
          'The first 1,000 workspaces of the user, oldest first, or the workspace of the key or the embed session',
      },
    ),
  },
  { title: 'Me' },
)

/** Who the caller is, and where it may do what: a page cannot know a workspace before. */
export const meRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { isAboutCaller: true },
    schema: {
      operationId: 'getMe',
      summary: 'Get the caller, and its workspaces with its role in each',
      description: 'The request needs no x-workspace-id, and a member of no workspace gets an empty list.',
      security: [{ token: [] }, { apiKey: [] }],
      response: { 200: Me, ...refusalResponses() },
    },
    handler: async ({ caller, bucketOwner, tokenFault }) => {
      if (caller === undefined) throw refusals.authenticationRequired(tokenFault)
      const { actor, userId, permissions, session } = caller
      if (userId !== undefined) {
        const memberships = await listMemberships(app.database, userId)
        const workspaces = memberships.map(({ workspace, ...membership }) => ({
          ...workspace,
          ...membership,
        }))
        return { actor, userId, scopes: null, workspaces }
      }
      // A key that names another workspace than its own has no permissions; its own is that of its limit.
      const workspaceId = bucketOwner?.tenant?.workspaceId
      if (workspaceId === undefined || permissions === undefined)
        throw refusals.accessDenied('The key or the embed session belongs to another workspace')
      const workspace = await findWorkspace(app.database.forWorkspace(workspaceId), workspaceId)
      const { role = null, scopes = [] } = permissions
      const own = [{ ...workspace, role, endsAt: null }]
      if (session) return { actor, userId: null, scopes: null, embed: session.grant, workspaces: own }
      return { actor, userId: null, scopes, workspaces: own }
    },
  })
}
