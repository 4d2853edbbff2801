import type { Scope } from '@automation/access'
import type { Role } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Callers, findCallerRefusal } from '../access/find-caller-refusal.js'
import { type Caller, Identification } from '../access/identify.js'
import { limitSession } from '../access/limit-session.js'
import { openWorkspace, type RequestWorkspace } from '../access/request-workspace.js'
import { noToken } from '../access/token-faults.js'
import { createVerifier } from '../access/tokens.js'
import { readInTurn } from '../admission.js'
import type { Config } from '../config.js'
import { noteUnstorable } from './bodies.js'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
    /** Why there is no caller; undefined without a token. */
    tokenFault: string | undefined
    workspace: RequestWorkspace
  }
  interface FastifyContextConfig {
    /** The role that a route needs; a route without one needs no token, unless it is about the caller. */
    role?: Role | ((request: FastifyRequest) => Role)
    /** The scope that an API key needs, where the route is not about rules. */
    scope?: Scope
    /** Needs a token or a key, but no workspace: for what is about the caller. */
    isAboutCaller?: boolean
    /** Which kinds of callers may call a route with a role. */
    callers?: Callers
    /** No caller is identified and no token consumed on arrival: for probes, and for documents and webhooks, which consume it themselves. */
    isOpen?: boolean
  }
}

/**
 * Identifies the caller and consumes a rate-limit token before the body is read, so that each response has its rate headers. The
 * refusals follow after the body, in the interface's order:
 *
 *   size 413 → JSON 400 → token 401, or 429 where the bucket is empty → workspace header 400 → membership, role 403 → body
 *
 * While the body is still on its way, those of the caller come before it (plugins/bodies.ts): strangers must not fill the memory.
 */
export default fp<{ tokens: Config['tokens'] }>(
  async (app, { tokens }) => {
    const identification = new Identification(app.database, await createVerifier(app, tokens))
    app.accessCaches.push(identification.memberships)
    app.decorateRequest('caller', undefined)
    app.decorateRequest('tokenFault', undefined)
    app.decorateRequest('workspace', null as never)

    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config?.isOpen) return
      try {
        await identify(request)
      } finally {
        // Also where the keys of tokens are out of reach: every response has its rate headers.
        await app.consumeToken(request, reply)
      }
    })

    app.addHook('preValidation', async (request) => {
      const refusal = findCallerRefusal(request, true)
      if (refusal) throw refusal
      const { caller } = request
      const { role, isAboutCaller } = request.routeOptions.config ?? {}
      if (isAboutCaller) noteUnstorable(request)
      if (caller?.workspaceId === undefined || role === undefined) return
      noteUnstorable(request)
      const createdBy = request.bucketOwner?.tenant?.createdBy ?? null
      const workspace = { id: caller.workspaceId, actor: caller.actor, createdBy }
      request.workspace = openWorkspace(app.database, workspace, (read) => readInTurn(request, read))
      if (caller.session !== undefined) await limitSession(request, caller.session)
    })

    /** Notes the caller and the owners of the rate-limit buckets; neither where the token is not valid. */
    async function identify(request: FastifyRequest): Promise<void> {
      const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      if (token === undefined) {
        if (request.headers.authorization !== undefined) request.tokenFault = noToken
        return
      }
      const identity = await identification.identify(token, request.headers['x-workspace-id'])
      if ('fault' in identity) {
        request.tokenFault = identity.fault
        return
      }
      request.caller = identity.caller
      const { caller, tenant } = identity
      request.bucketOwner = {
        kind: 'caller',
        owner: identity.bucket ?? caller.actor,
        rateClass: tenant?.plan === 'enterprise' ? 'enterprise' : 'authenticated',
        tenant,
      }
    }
  },
  { name: 'identification', dependencies: ['resources', 'admission', 'access-caches', 'rate-limit'] },
)
