import {
  type Database,
  findMembership,
  isDatabaseAway,
  isUuid,
  type Membership,
  type Role,
  type WorkspaceDatabase,
} from '@automation/database'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.js'
import { refusals } from '../errors.js'
import { mayActAs } from '../permissions.js'
import { createVerifier } from '../tokens.js'
import { noteUnstorable } from './bodies.js'
import { limitationOf } from './rate-limit.js'

export interface Caller {
  userId: string
  /** undefined for a stranger to the workspace; 'away' where Postgres could not be asked. */
  membership: Membership | 'away' | undefined
  rateClass: 'authenticated' | 'enterprise'
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
    /** The workspace of a request that has passed all checks, and its rows. */
    workspace: { readonly id: string; readonly database: WorkspaceDatabase }
  }
  interface FastifyContextConfig {
    /** The role that a route needs; without one no token is asked for. */
    role?: Role | ((request: FastifyRequest) => Role)
    /** Neither token nor rate limit: for probes and documents. */
    isOpen?: boolean
  }
}

/** For how long (ms) a role or a plan that was changed may still be answered as it was. */
const membershipTtlMs = 1_000

/**
 * Who calls, and may they? The caller is identified and a token drawn before the body is read, so each answer has
 * its rate headers; the refusals come after it, in the interface's order:
 *
 *   size 413 → JSON 400 → token 401, or 429 where its bucket is empty → workspace header 400 → membership, role 403 → body
 */
export default fp<{ tokens: Config['tokens'] }>(async (app, { tokens }) => {
  const verify = await createVerifier(app, tokens)
  const memberships = new LRUCache<string, { found: Membership | undefined }>({
    max: 10_000,
    ttl: membershipTtlMs,
    fetchMethod: async (key) => {
      const [workspaceId, userId] = JSON.parse(key) as [string, string]
      return { found: await findMembership(app.database, workspaceId, userId) }
    },
  })

  app.decorateRequest('caller', undefined)
  app.decorateRequest('workspace', null as never)

  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config?.isOpen) return
    try {
      request.caller = await identify(request)
    } finally {
      // Also where the token's keys are out of reach: no answer goes without its rate headers.
      await app.drawToken(request, reply)
    }
  })

  app.addHook('preValidation', async (request) => {
    const role = request.routeOptions.config?.role
    if (role === undefined) return
    const limitation = limitationOf(request)
    if (limitation) throw limitation
    if (request.caller === undefined) throw refusals.authenticationRequired()
    const workspaceId = request.headers['x-workspace-id']
    if (!isUuid(workspaceId)) throw refusals.workspaceRequired()
    const { membership } = request.caller
    if (membership === 'away') throw refusals.unavailable()
    const needed = typeof role === 'function' ? role(request) : role
    if (membership === undefined || !mayActAs(membership.role, needed)) throw refusals.accessDenied()
    noteUnstorable(request)
    request.workspace = openWorkspace(app.database, workspaceId.toLowerCase())
  })

  async function identify(request: FastifyRequest): Promise<Caller | undefined> {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const userId = token === undefined ? undefined : await verify(token)
    if (userId === undefined) return undefined
    const membership = await findCached(request.headers['x-workspace-id'], userId)
    const isEnterprise = typeof membership === 'object' && membership.plan === 'enterprise'
    return { userId, membership, rateClass: isEnterprise ? 'enterprise' : 'authenticated' }
  }

  async function findCached(workspaceId: unknown, userId: string): Promise<Caller['membership']> {
    if (!isUuid(workspaceId)) return undefined
    try {
      return (await memberships.fetch(JSON.stringify([workspaceId.toLowerCase(), userId])))?.found
    } catch (error) {
      if (isDatabaseAway(error)) return 'away'
      throw error
    }
  }
})

/** Scoping the database costs something, and posting an event never asks for it. */
function openWorkspace(database: Database, id: string): FastifyRequest['workspace'] {
  let scoped: WorkspaceDatabase | undefined
  return {
    id,
    get database() {
      scoped ??= database.forWorkspace(id)
      return scoped
    },
  }
}
