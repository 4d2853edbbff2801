import { findMembership, type LiveSession, type Membership, noteSeen, type Tenant } from '@automation/access'
import { type Database, isUuid } from '@automation/database'
import { LRUCache } from 'lru-cache'
import { isPassing, refusals } from '../errors.js'
import { createUseNotes } from './last-used.js'
import { type Permissions, permissionsOfScopes } from './permissions.js'
import { type TokenFault, unknownKey, unknownSession } from './token-faults.js'
import type { VerifyToken } from './tokens.js'
import { createApiKeyVerifier, createOperatorKeyVerifier } from './verify-api-key.js'
import { createSessionVerifier } from './verify-session.js'

export interface Caller {
  /** `user:<sub>`, `api_key:<id>`, `embed:<id>` or `operator_key:<id>`, as the audit log presents it. */
  actor: string
  /** The `sub` of a token; undefined for a key, and for an embed session, whose user is nobody's member. */
  userId: string | undefined
  /** The workspace that the request is about; undefined where the caller named none. */
  workspaceId: string | undefined
  /** undefined if the caller is no member of the workspace, or if they could not be read. */
  permissions: Permissions | undefined
  /** It has a key of the operator: it calls the routes whose `callers` have `operators` alone. */
  isOperator?: boolean
  /** Why the permissions could not be read: Postgres did not respond. */
  permissionsFault?: Error
  /** Its limits (embed-operations.ts); undefined for who is no embed session. */
  session?: LiveSession
}

/** A caller, and the workspace that it belongs to, which decides the rate; without one where it is no member of the named one. */
export interface Identity {
  caller: Caller
  tenant?: Tenant & { workspaceId: string }
  /** Whose bucket it draws from, if not that of the caller: all sessions of one user are one. */
  bucket?: string
}

/** How long (ms) this process may use a role or a plan that another process has changed. */
const membershipTtlMs = 1_000

/** Identifies callers by their token or API key, and the workspace that they name. */
export class Identification {
  /** Memberships by workspace and user. */
  readonly memberships: LRUCache<string, { found: Membership | undefined }>
  readonly #verifyToken: VerifyToken
  readonly #verifyApiKey: ReturnType<typeof createApiKeyVerifier>
  readonly #verifyOperatorKey: ReturnType<typeof createOperatorKeyVerifier>
  readonly #verifySession: ReturnType<typeof createSessionVerifier>

  constructor(database: Database, verifyToken: VerifyToken) {
    this.#verifyToken = verifyToken
    this.#verifyApiKey = createApiKeyVerifier(database)
    this.#verifyOperatorKey = createOperatorKeyVerifier(database)
    this.#verifySession = createSessionVerifier(database)
    const read = (key: string) => JSON.parse(key) as [workspaceId: string, userId: string]
    const noteUse = createUseNotes((key, at) => {
      const [workspaceId, userId] = read(key)
      return noteSeen(database.forWorkspace(workspaceId), userId, at)
    })
    this.memberships = new LRUCache({
      max: 10_000,
      ttl: membershipTtlMs,
      // An entry that is removed during its fetch is still returned, but not cached.
      ignoreFetchAbort: true,
      fetchMethod: async (key: string) => {
        const found = await findMembership(database, ...read(key))
        if (found !== undefined) noteUse(key)
        return { found }
      },
    })
  }

  /**
   * @param namedWorkspace the header x-workspace-id
   * @returns the fault of a token or key that is not valid
   */
  identify(token: string, namedWorkspace: unknown): Promise<Identity | TokenFault> {
    if (token.startsWith('opk_')) return this.#identifyOperator(token)
    if (token.startsWith('ark_')) return this.#identifyKey(token, namedWorkspace)
    if (token.startsWith('emb_')) return this.#identifySession(token, namedWorkspace)
    return this.#identifyUser(token, namedWorkspace)
  }

  async #identifyUser(token: string, named: unknown): Promise<Identity | TokenFault> {
    const verified = await this.#verifyToken(token)
    if ('fault' in verified) return verified
    const userId = verified.subject
    const workspaceId = isUuid(named) ? named.toLowerCase() : undefined
    const stranger = { actor: `user:${userId}`, userId, workspaceId, permissions: undefined }
    if (workspaceId === undefined) return { caller: stranger }
    try {
      const membership = await this.#findMembership(workspaceId, userId)
      if (membership === undefined) return { caller: stranger }
      const { role, isSupport, ...tenant } = membership
      return {
        caller: { ...stranger, permissions: { role, scopes: undefined, isSupport } },
        tenant: { ...tenant, workspaceId },
      }
    } catch (error) {
      if (!isPassing(error)) throw error
      const permissionsFault = new Error('The role of the caller could not be read', { cause: error })
      return { caller: { ...stranger, permissionsFault } }
    }
  }

  /** A key belongs to one workspace. Where a header names another one, or is no UUID, the key has no permissions. */
  async #identifyKey(token: string, named: unknown): Promise<Identity | TokenFault> {
    const key = await this.#verifyApiKey(token).catch(throwUnavailable)
    if (key === undefined) return { fault: unknownKey }
    const isNamed = named !== undefined
    const workspaceId = !isNamed ? key.workspaceId : isUuid(named) ? named.toLowerCase() : undefined
    const permissions = workspaceId === key.workspaceId ? permissionsOfScopes(key.scopes) : undefined
    return {
      caller: { actor: `api_key:${key.id}`, userId: undefined, workspaceId, permissions },
      tenant: key,
    }
  }

  /** It is of no workspace, whichever the header names, and has no permissions in one. Its own id stands for one: its Idempotency-Keys are of that. */
  async #identifyOperator(token: string): Promise<Identity | TokenFault> {
    const key = await this.#verifyOperatorKey(token).catch(throwUnavailable)
    if (key === undefined) return { fault: unknownKey }
    const { id: workspaceId } = key
    const actor = `operator_key:${workspaceId}`
    return { caller: { actor, userId: undefined, workspaceId, permissions: undefined, isOperator: true } }
  }

  /** A session belongs to one workspace, like a key. */
  async #identifySession(token: string, named: unknown): Promise<Identity | TokenFault> {
    const session = await this.#verifySession(token).catch(throwUnavailable)
    if (session === undefined) return { fault: unknownSession }
    const { grant } = session
    const isNamed = named !== undefined
    const workspaceId = !isNamed ? session.workspaceId : isUuid(named) ? named.toLowerCase() : undefined
    const isOwn = workspaceId === session.workspaceId
    return {
      caller: {
        actor: `embed:${grant.id}`,
        userId: undefined,
        workspaceId,
        permissions: isOwn ? { role: grant.role, scopes: undefined, isSupport: false } : undefined,
        session,
      },
      tenant: session,
      bucket: `embed:${session.workspaceId}:${grant.user.id}`,
    }
  }

  async #findMembership(workspaceId: string, userId: string): Promise<Membership | undefined> {
    const key = JSON.stringify([workspaceId, userId])
    // `fetch` costs much more than `get`, even where the entry is cached.
    const cached = this.memberships.get(key)
    return cached === undefined ? (await this.memberships.fetch(key))?.found : cached.found
  }
}

function throwUnavailable(error: Error): never {
  throw isPassing(error) ? refusals.unavailable(error) : error
}
