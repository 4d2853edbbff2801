import { createBox, type SealedBox } from '@automation/sign-in'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieOptions, readCookie, writeCookie } from './cookies.js'

/** What the encrypted cookie carries. No copy of it stays in this process. */
export interface SessionContent {
  /** The token or API key that the API gets. */
  bearer: string
  /** Only where an identity provider gave one. */
  refreshToken?: string
  /** s since 1970, of `bearer` */
  bearerExpiresAt?: number
}

export type Session = SessionContent & { exp: number }

/** Browsers store a cookie of 4,096 bytes with its name and attributes. */
const maxCookieLength = 3_800

/** Keeps who is signed in, in a cookie that scripts cannot read and nobody can change. */
export class Sessions {
  readonly #box: SealedBox<SessionContent>
  readonly #name: string
  readonly #isSecure: boolean
  readonly #lifetimeSeconds: number

  constructor({ secret, url, sessionSeconds }: { secret: string; url: URL; sessionSeconds: number }) {
    this.#box = createBox(secret, 'session')
    this.#isSecure = url.protocol === 'https:'
    // Safari drops Secure cookies of http://localhost, so there is none on the loopback address.
    this.#name = this.#isSecure ? '__Host-rules' : 'rules-console'
    this.#lifetimeSeconds = sessionSeconds
  }

  async read(request: FastifyRequest): Promise<Session | undefined> {
    const sealed = readCookie(request.headers.cookie, this.#name)
    return sealed === undefined ? undefined : this.#box.open(sealed)
  }

  /**
   * Begins a session, or replaces its token: `endsAt` is then the end that it had.
   *
   * @returns false where the token is too large for a cookie
   */
  async write(reply: FastifyReply, content: SessionContent, endsAt?: number): Promise<boolean> {
    const now = Math.floor(Date.now() / 1_000)
    const tokenEnd = content.refreshToken === undefined ? content.bearerExpiresAt : undefined
    const exp = Math.min(endsAt ?? now + this.#lifetimeSeconds, tokenEnd ?? Number.POSITIVE_INFINITY)
    const sealed = await this.#box.seal(content, exp)
    if (sealed.length > maxCookieLength) return false
    const options = cookieOptions({ maxAgeSeconds: exp - now, isSecure: this.#isSecure, sameSite: 'Strict' })
    writeCookie(reply, `${this.#name}=${sealed}; ${options}`)
    return true
  }

  end(reply: FastifyReply): void {
    const options = cookieOptions({ maxAgeSeconds: 0, isSecure: this.#isSecure, sameSite: 'Strict' })
    writeCookie(reply, `${this.#name}=; ${options}`)
  }
}
