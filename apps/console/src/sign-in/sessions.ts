import { randomUUID } from 'node:crypto'
import { createBox, type SealedBox, sessionHours } from '@automation/process/sign-in'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.js'
import { cookieName, cookieOptions, readCookie, writeCookie } from './cookies.js'
import type { SpentIds } from './spent-ids.js'

/** What the encrypted cookie carries. No copy of it stays in this process. */
export interface SessionContent {
  /** The token or API key that the API gets. */
  bearer: string
  /** Only where an identity provider gave one. */
  refreshToken?: string
  /** s since 1970, of `bearer` */
  bearerExpiresAt?: number
}

/** `id` stays the same when its token is replaced. */
export type Session = SessionContent & { id: string; exp: number }

/** Browsers store a cookie of 4,096 bytes with its name and attributes. */
const maxCookieLength = 3_800

/**
 * Keeps who is signed in, in a cookie that scripts cannot read and nobody can change.
 *
 *   begin ──▶ live ──renew──▶ live (same id, new token)
 *              └── end ──▶ ended: its id is remembered, so neither a copy of the cookie nor a refresh under way revives it
 */
export class Sessions {
  readonly #box: SealedBox<SessionContent & { id: string }>
  readonly #ended: SpentIds
  readonly #name: string
  readonly #isSecure: boolean

  constructor({ secret, url }: Config, ended: SpentIds) {
    this.#box = createBox(secret, 'session')
    this.#ended = ended
    this.#isSecure = url.protocol === 'https:'
    this.#name = cookieName('rules', url)
  }

  async read(request: FastifyRequest): Promise<Session | undefined> {
    const sealed = readCookie(request.headers.cookie, this.#name)
    const session = sealed === undefined ? undefined : await this.#box.open(sealed)
    if (session === undefined) return undefined
    return (await this.#ended.isSpent(session.id)) ? undefined : session
  }

  /** @returns false where the token is too large for a cookie */
  begin(reply: FastifyReply, content: SessionContent): Promise<boolean> {
    const endsAt = Math.floor(Date.now() / 1_000) + sessionHours * 3_600
    return this.#write(reply, { ...content, id: randomUUID() }, endsAt)
  }

  /**
   * Replaces the token of a session, whose end stays.
   *
   * @returns 'ended' where the user has signed out meanwhile
   */
  async renew(
    reply: FastifyReply,
    { id, exp }: Session,
    content: SessionContent,
  ): Promise<'renewed' | 'too-large' | 'ended'> {
    if (await this.#ended.isSpent(id)) return 'ended'
    return (await this.#write(reply, { ...content, id }, exp)) ? 'renewed' : 'too-large'
  }

  /** Ends the session of a request, if there is one: also for copies of its cookie, and in this process also without Redis. */
  async end(request: FastifyRequest): Promise<void> {
    const session = await this.read(request)
    if (session === undefined) return
    await this.#ended.end(session.id, session.exp)
  }

  /** Removes the cookie of a session that ended. */
  forget(reply: FastifyReply): void {
    const options = cookieOptions({ maxAgeSeconds: 0, isSecure: this.#isSecure, sameSite: 'Strict' })
    writeCookie(reply, `${this.#name}=; ${options}`)
  }

  async #write(
    reply: FastifyReply,
    content: SessionContent & { id: string },
    endsAt: number,
  ): Promise<boolean> {
    const now = Math.floor(Date.now() / 1_000)
    const tokenEnd = content.refreshToken === undefined ? content.bearerExpiresAt : undefined
    const exp = Math.min(endsAt, tokenEnd ?? Number.POSITIVE_INFINITY)
    const sealed = await this.#box.seal(content, exp)
    if (sealed.length > maxCookieLength) return false
    const options = cookieOptions({ maxAgeSeconds: exp - now, isSecure: this.#isSecure, sameSite: 'Strict' })
    writeCookie(reply, `${this.#name}=${sealed}; ${options}`)
    return true
  }
}
