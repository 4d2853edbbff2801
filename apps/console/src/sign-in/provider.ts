import { allowInsecureRequests, type Configuration, discovery } from 'openid-client'
import type { Config } from '../config.js'

export type IdentityProvider = NonNullable<Config['oidc']>

/** Discovers the identity provider when it is first needed, and again after a failure: the console starts without it. */
export class ProviderDiscovery {
  readonly #provider: IdentityProvider
  #found: Promise<Configuration> | undefined

  constructor(provider: IdentityProvider) {
    this.#provider = provider
  }

  find(): Promise<Configuration> {
    this.#found ??= this.#discover().catch((error) => {
      this.#found = undefined
      throw error
    })
    return this.#found
  }

  #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#provider
    const isLocal =
      issuer.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(issuer.hostname)
    const options = { timeout: 5, ...(isLocal && { execute: [allowInsecureRequests] }) }
    return discovery(issuer, clientId, clientSecret, undefined, options)
  }
}
