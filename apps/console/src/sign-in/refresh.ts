import { createHash } from 'node:crypto'
import type { Redis } from '@automation/queue/open-redis'
import { refreshTokenGrant } from 'openid-client'
import type { Config } from '../config.js'
import { ProviderDiscovery } from './provider.js'
import { readExpiry } from './read-claims.js'
import type { Session } from './sessions.js'
import { keptMs, type Renewed, SharedRefreshes } from './shared-refreshes.js'

/** Before its end (s) a token is replaced, so that it does not expire on its way. */
const aheadSeconds = 30

/** current: the token is still good. away: the token has ended, and the provider does not respond. */
export type Refreshed = Renewed | 'current'

/**
 * Replaces access tokens that are about to end. A provider may accept a refresh token only once, and a page sends several requests at
 * a time, perhaps to several consoles: they share one refresh.
 */
export class Refresher {
  readonly #discovery: ProviderDiscovery | undefined
  readonly #underWay = new Map<string, Promise<Renewed>>()
  readonly #shared: SharedRefreshes

  constructor(config: Pick<Config, 'oidc' | 'queuePrefix' | 'secret'>, redis: Redis | undefined) {
    this.#discovery = config.oidc && new ProviderDiscovery(config.oidc)
    this.#shared = new SharedRefreshes(redis, config)
  }

  async refresh(session: Session): Promise<Refreshed> {
    const { refreshToken, bearerExpiresAt } = session
    if (this.#discovery === undefined || refreshToken === undefined || bearerExpiresAt === undefined)
      return 'current'
    const now = Date.now() / 1_000
    if (bearerExpiresAt > now + aheadSeconds) return 'current'
    const key = createHash('sha256').update(refreshToken).digest('base64')
    const result = await (this.#underWay.get(key) ?? this.#begin(key, this.#discovery, refreshToken))
    // A token that has not ended yet serves while the provider is away.
    return result === 'away' && bearerExpiresAt > now ? 'current' : result
  }

  #begin(key: string, discovery: ProviderDiscovery, refreshToken: string): Promise<Renewed> {
    const asked = this.#shared
      .run(key, () => ask(discovery, refreshToken))
      .then((result) => {
        if (result === 'away') forget()
        return result
      })
    const forget = () => {
      if (this.#underWay.get(key) === asked) this.#underWay.delete(key)
    }
    this.#underWay.set(key, asked)
    setTimeout(forget, keptMs).unref()
    return asked
  }
}

async function ask(discovery: ProviderDiscovery, refreshToken: string): Promise<Renewed> {
  try {
    const tokens = await refreshTokenGrant(await discovery.find(), refreshToken)
    const bearer = tokens.access_token
    return { bearer, refreshToken: tokens.refresh_token ?? refreshToken, ...readExpiry(bearer) }
  } catch (error) {
    return (error as { error?: string }).error === 'invalid_grant' ? 'refused' : 'away'
  }
}
