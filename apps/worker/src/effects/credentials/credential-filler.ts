import { isDatabaseAway, isStatementCancelled } from '@automation/database'
import type { CredentialUse, DecisionLinks, Effect, FillCredentials } from '@automation/engine'
import { RefusedCall } from '../address-guard.js'
import type { MakeLinks } from '../decision-links.js'
import { type CallContext, failed, type OutsideAction } from '../effect.js'
import type { AccessTokens, FoundToken } from './access-tokens.js'
import { createScrubber, type Scrubber, type Secret } from './create-scrubber.js'
import type { Credentials } from './find-credentials.js'
import { listParts } from './list-parts.js'
import type { OpenCredential, Token } from './open-credential.js'

/** What a call with credentials has to know of them. */
export interface Filling {
  readonly scrubber: Scrubber
  /** @returns a refusal if the URL leads to a host that one of the credentials is not for */
  findHostFault(url: string): RefusedCall | undefined
  /** How long (ms) the attempt has taken. */
  spentMs(): number
}

/** A call that needs credentials, or links of a decision. */
type ActionToFill = OutsideAction & { readonly fillCredentials?: FillCredentials }

interface ToFill {
  action: ActionToFill
  credentials: OpenCredential[]
  made: { links: DecisionLinks; token?: string } | undefined
}

interface Clock {
  timeoutMs: number
  spentMs: () => number
}

type MakeCall = (config: unknown, filling: Filling) => Promise<Effect>

/** The value that a credential has in a call, and everything of it that must not be seen. */
interface Filled {
  credential: OpenCredential
  value: string
  secrets: Secret[]
  token?: Token
}

/**
 * Fills credentials and the links of decisions into calls, at the last moment: only the call itself has their values. What comes back, a response or a fault, loses
 * them before anybody stores or logs it.
 *
 *   find ─▶ fill ─▶ call ─▶ scrub
 *             ▲       └── 401 with an access token: once more with the next token, as part of the same attempt
 *             └───────────┘
 */
export class CredentialFiller {
  readonly #credentials: Credentials
  readonly #tokens: Pick<AccessTokens, 'find'>
  readonly #makeLinks: MakeLinks

  constructor(credentials: Credentials, tokens: Pick<AccessTokens, 'find'>, makeLinks: MakeLinks) {
    this.#credentials = credentials
    this.#tokens = tokens
    this.#makeLinks = makeLinks
  }

  async fill(
    action: ActionToFill,
    context: CallContext,
    timeoutMs: number,
    makeCall: MakeCall,
  ): Promise<Effect> {
    const startedAt = performance.now()
    const uses = action.of.credentials ?? []
    const made = action.of.links && this.#makeLinks(action.of.links, context)
    if (made && 'fault' in made) return failUncalled({ ...made, isFinal: true })
    const credentials: OpenCredential[] = []
    for (const name of new Set(uses.map((use) => use.name))) {
      const found = await this.#credentials.find({ workspaceId: context.event.workspaceId, name })
      if ('fault' in found) return failUncalled(found)
      const fault = findKindFault(found, uses)
      if (fault !== undefined) return failUncalled({ fault, isFinal: true })
      credentials.push(found)
    }
    const clock = { timeoutMs, spentMs: () => performance.now() - startedAt }
    return this.#callTwice({ action, credentials, made }, makeCall, clock)
  }

  async #callTwice(toFill: ToFill, makeCall: MakeCall, clock: Clock): Promise<Effect> {
    const filled: Filled[] = []
    const effect = await this.#call(toFill, makeCall, clock, filled)
    const hasToken = filled.some(({ token }) => token !== undefined)
    if (!hasToken || !isUnauthorized(effect)) return effect
    try {
      const repeated = await this.#call(toFill, makeCall, clock, filled)
      // Calls that follow need not be refused to learn of the new token. A receiver that refuses any token makes nobody ask for more of them.
      if (!isUnauthorized(repeated)) for (const one of toFill.credentials) this.#credentials.forget(one)
      return repeated
    } catch (error) {
      // A caller that waits for Postgres repeats all of it, but a call was made by now.
      if (!isDatabaseAway(error) && !isStatementCancelled(error)) throw error
      return { ...effect, isFinal: false }
    }
  }

  /** @param before what the call before was filled with; that of this one is added */
  async #call(
    { action, credentials, made }: ToFill,
    makeCall: MakeCall,
    clock: Clock,
    before: Filled[],
  ): Promise<Effect> {
    const filled: Filled[] = []
    for (const credential of credentials) {
      const refused = before.find((one) => one.credential.name === credential.name)?.token
      const found = await this.#findValue(credential, refused, clock)
      if ('fault' in found) return failUncalled(found)
      filled.push(found)
    }
    before.push(...filled)
    const values = new Map(filled.map(({ credential, value }) => [credential.name, value]))
    const scrubber = createScrubber([...before.flatMap(({ secrets }) => secrets), ...secretsOf(made)])
    const config = action.fillCredentials?.(values, made?.links) ?? { config: action.config }
    if ('fault' in config) return failUncalled({ fault: scrubber.scrub(config.fault), isFinal: true })
    const findHostFault = (url: string) => findForeignHost(url, credentials)
    const filling = { scrubber, findHostFault, spentMs: clock.spentMs }
    return scrubEffect(await makeCall(config.config, filling), scrubber)
  }

  async #findValue(
    credential: OpenCredential,
    refused: Token | undefined,
    clock: Clock,
  ): Promise<Filled | { fault: string; isFinal: boolean }> {
    const { name, parts } = credential
    const hide = (...values: string[]) => values.map((value) => ({ name, value }))
    if (parts.kind === 'text') {
      const { value = '' } = parts
      return { credential, value, secrets: hide(...listParts(value)) }
    }
    if (parts.kind === 'basic') {
      const { username = '', password = '' } = parts
      const encoded = Buffer.from(`${username}:${password}`).toString('base64')
      return { credential, value: `Basic ${encoded}`, secrets: hide(username, password, encoded) }
    }
    const { clientSecret = '' } = parts
    const found = await inTime(this.#tokens.find(credential, refused?.id), clock)
    if ('fault' in found) return { ...found, fault: createScrubber(hide(clientSecret)).scrub(found.fault) }
    const { token } = found
    // Those that follow find it with the credential.
    if (credential.token === undefined) this.#credentials.forget(credential)
    return { credential, token, value: `Bearer ${token.text}`, secrets: hide(clientSecret, token.text) }
  }
}

function secretsOf(made: ToFill['made']): Secret[] {
  const value = made?.token
  return value === undefined ? [] : [{ name: '', value, shown: '{{decision.links}}' }]
}

/** A fault of a credential, or of the endpoint of its tokens, is none of the destination. */
function failUncalled({ fault, isFinal }: { fault: string; isFinal: boolean }): Effect {
  return { ...failed(fault), isFinal, isUncalled: true }
}

function findKindFault(
  { name, parts: { kind } }: OpenCredential,
  uses: readonly CredentialUse[],
): string | undefined {
  const isMisplaced = uses.some((use) => use.name === name && !(use.field === 'headers' && use.isWhole))
  return kind === 'text' || !isMisplaced
    ? undefined
    : `The credential ${name} is of kind ${kind}: it has to be the whole value of a header`
}

/** The host may be a part of a secret, if the URL is one: no message names it. */
function findForeignHost(url: string, credentials: OpenCredential[]): RefusedCall | undefined {
  if (!URL.canParse(url)) return new RefusedCall('The URL cannot be read')
  const host = new URL(url).hostname.replace(/\.$/, '')
  const foreign = credentials.find(({ parts }) => !parts.hosts.includes(host))
  return foreign && new RefusedCall(`The credential ${foreign.name} may not be sent to the host of this URL`)
}

function isUnauthorized(effect: Effect): effect is Effect & { status: 'failed' } {
  const { statusCode } = (effect.output ?? {}) as { statusCode?: number }
  return effect.status === 'failed' && statusCode === 401
}

function scrubEffect(effect: Effect, { scrub }: Scrubber): Effect {
  return effect.status === 'failed' ? { ...effect, error: scrub(effect.error) } : effect
}

/** To wait for an access token is a part of the attempt; the request for it goes on for the next one. */
async function inTime(found: Promise<FoundToken>, { timeoutMs, spentMs }: Clock): Promise<FoundToken> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<FoundToken>((resolve) => {
    const fault = `Timed out after ${timeoutMs} ms, without an access token`
    timer = setTimeout(resolve, timeoutMs - spentMs(), { fault, isFinal: false })
  })
  return Promise.race([found, late]).finally(() => clearTimeout(timer))
}
