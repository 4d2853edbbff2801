import type { Scope } from '@automation/access'
import {
  type Database,
  findMembership,
  isUuid,
  type Membership,
  type Role,
  type WorkspaceDatabase,
} from '@automation/database'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.js'
import { isPassing, refusals } from '../errors.js'
import { noteUnstorable } from '../plugins/bodies.js'
import { limitationOf } from '../rate-limit/rate-limit.js'
import { type Permissions, permissionsOfScopes, permits } from './permissions.js'
import { createVerifier } from './tokens.js'
import { createApiKeyVerifier } from './verify-api-key.js'

export interface Caller {
  /** `user:<sub>` or `api_key:<id>`, as the audit log tells it. */
  actor: string
  /** The `sub` of a token; undefined for a key. */
  userId: string | undefined
  /** The one that the request is about; undefined where the caller has named none. */
  workspaceId: string | undefined
  /** undefined for a stranger to the workspace; 'away' where Postgres could not be asked. */
  permissions: Permissions | 'away' | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
    /** The workspace of a request that has passed all checks, its rows, and who acts. */
    workspace: { readonly id: string; readonly database: WorkspaceDatabase; readonly actor: string }
  }
  interface FastifyContextConfig {
    /** The role that a route needs; without one no token is asked for. */
    role?: Role | ((request: FastifyRequest) => Role)
    /** What an API key needs, where the route is about something else than rules. */
    scope?: Scope
    /** Nothing is asked or drawn on arrival: for probes and documents, and for webhooks, which see to it themselves. */
    isOpen?: boolean
  }
}

/** For how long (ms) a role or a plan that another process has changed may still be answered as it was. */
const membershipTtlMs = 1_000

/**
 * Who calls, and may they? The caller is identified and a token drawn before the body is read, so each answer has
 * its rate headers; the refusals come after it, in the interface's order:
 *
 *   size 413 → JSON 400 → token 401, or 429 where its bucket is empty → workspace header 400 → membership, role 403 → body
 */
export default fp<{ tokens: Config['tokens'] }>(async (app, { tokens }) => {
  const verifyToken = await createVerifier(app, tokens)
  const verifyApiKey = createApiKeyVerifier(app.database)
  const memberships = new LRUCache<string, { found: Membership | undefined }>({
    max: 10_000,
    ttl: membershipTtlMs,
    // Forgotten while it is being looked up: still an answer, but none to keep.
    ignoreFetchAbort: true,
    fetchMethod: async (key) => {
      const [workspaceId, userId] = JSON.parse(key) as [string, string]
      return { found: await findMembership(app.database, workspaceId, userId) }
    },
  })

  app.accessCaches.push(memberships)
  app.decorateRequest('caller', undefined)
  app.decorateRequest('workspace', null as never)

  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config?.isOpen) return
    try {
      await identify(request)
    } finally {
      // Also where the token's keys are out of reach: no answer goes without its rate headers.
      await app.drawToken(request, reply)
    }
  })

  app.addHook('preValidation', async (request) => {
    const { role, scope } = request.routeOptions.config ?? {}
    if (role === undefined) return
    const limitation = limitationOf(request)
    if (limitation) throw limitation
    if (request.caller === undefined) throw refusals.authenticationRequired()
    const { actor, workspaceId, permissions } = request.caller
    if (workspaceId === undefined) throw refusals.workspaceRequired()
    if (permissions === 'away') throw refusals.unavailable()
    const needed = typeof role === 'function' ? role(request) : role
    if (permissions === undefined || !permits(permissions, needed, scope)) throw refusals.accessDenied()
    noteUnstorable(request)
    request.workspace = openWorkspace(app.database, workspaceId, actor)
  })

  /** Notes who calls, and who pays for it; neither where the token is no good. */
  async function identify(request: FastifyRequest): Promise<void> {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) return
    const named = request.headers['x-workspace-id']
    const found = token.startsWith('ark_')
      ? await identifyKey(token, named)
      : await identifyUser(token, named)
    if (found === undefined) return
    request.caller = found.caller
    request.payer = {
      owner: found.caller.actor,
      rateClass: found.plan === 'enterprise' ? 'enterprise' : 'authenticated',
    }
  }

  async function identifyUser(token: string, named: unknown) {
    const userId = await verifyToken(token)
    if (userId === undefined) return undefined
    const workspaceId = isUuid(named) ? named.toLowerCase() : undefined
    const membership = workspaceId === undefined ? undefined : await findCached(workspaceId, userId)
    const caller = { actor: `user:${userId}`, userId, workspaceId }
    return membership === undefined || membership === 'away'
      ? { caller: { ...caller, permissions: membership } }
      : {
          caller: { ...caller, permissions: { role: membership.role, scopes: undefined } },
          plan: membership.plan,
        }
  }

  /** A key knows its workspace; a header that names another one, or none, is not overlooked. */
  async function identifyKey(token: string, named: unknown) {
    const key = await verifyApiKey(token).catch((error) => {
      throw isPassing(error) ? refusals.unavailable() : error
    })
    if (key === undefined) return undefined
    const isNamed = named !== undefined
    const workspaceId = !isNamed ? key.workspaceId : isUuid(named) ? named.toLowerCase() : undefined
    const permissions = workspaceId === key.workspaceId ? permissionsOfScopes(key.scopes) : undefined
    return {
      caller: { actor: `api_key:${key.id}`, userId: undefined, workspaceId, permissions },
      plan: key.plan,
    }
  }

  async function findCached(workspaceId: string, userId: string): Promise<Membership | 'away' | undefined> {
    try {
      return (await memberships.fetch(JSON.stringify([workspaceId, userId])))?.found
    } catch (error) {
      if (isPassing(error)) return 'away'
      throw error
    }
  }
})

/** Scoping the database costs something, and posting an event never asks for it. */
function openWorkspace(database: Database, id: string, actor: string): FastifyRequest['workspace'] {
  let scoped: WorkspaceDatabase | undefined
  return {
    id,
    actor,
    get database() {
      scoped ??= database.forWorkspace(id)
      return scoped
    },
  }
}
