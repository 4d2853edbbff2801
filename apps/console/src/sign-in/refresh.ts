import { createHash } from 'node:crypto'
import { refreshTokenGrant } from 'openid-client'
import type { Config } from '../config.js'
import { ProviderDiscovery } from './provider.js'
import { readExpiry } from './read-expiry.js'
import type { Session, SessionContent } from './sessions.js'

/** Before its end (s) a token is replaced, so that it does not expire on its way. */
const aheadSeconds = 30
/** How long (ms) the result of a refresh serves the requests that still carry the old cookie. */
const keptMs = 60_000

/**
 * Replaces access tokens that are about to end. A provider may accept a refresh token only once, and a page sends several requests at
 * a time: they share one refresh.
 */
export class Refresher {
  readonly #discovery: ProviderDiscovery | undefined
  readonly #underWay = new Map<string, Promise<SessionContent | 'current' | undefined>>()

  constructor({ oidc }: Pick<Config, 'oidc'>) {
    this.#discovery = oidc && new ProviderDiscovery(oidc)
  }

  /** @returns the new content of the session; 'current' where it needs none; undefined where the provider refuses */
  async refresh(session: Session): Promise<SessionContent | 'current' | undefined> {
    const { refreshToken, bearerExpiresAt } = session
    if (this.#discovery === undefined || refreshToken === undefined || bearerExpiresAt === undefined)
      return 'current'
    if (bearerExpiresAt > Date.now() / 1_000 + aheadSeconds) return 'current'
    const key = createHash('sha256').update(refreshToken).digest('base64')
    const known = this.#underWay.get(key)
    if (known) return known
    const asked = this.#ask(this.#discovery, refreshToken, key)
    this.#underWay.set(key, asked)
    setTimeout(() => this.#underWay.delete(key), keptMs).unref()
    return asked
  }

  async #ask(
    discovery: ProviderDiscovery,
    refreshToken: string,
    key: string,
  ): Promise<SessionContent | 'current' | undefined> {
    try {
      const tokens = await refreshTokenGrant(await discovery.find(), refreshToken)
      const bearer = tokens.access_token
      return { bearer, refreshToken: tokens.refresh_token ?? refreshToken, ...readExpiry(bearer) }
    } catch (error) {
      if ((error as { error?: string }).error === 'invalid_grant') return undefined
      // The provider is away. The token is still good for a while, and the next request asks again.
      this.#underWay.delete(key)
      return 'current'
    }
  }
}
