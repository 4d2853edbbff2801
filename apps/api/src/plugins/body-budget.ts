import fp from 'fastify-plugin'
import { type Refusal, refusals } from '../errors.js'
import { addressOf } from '../rate-limit/find-buckets.js'

declare module 'fastify' {
  interface FastifyInstance {
    bodyBudget: BodyBudget
  }
  interface FastifyRequest {
    /** The length of its body. */
    bodyLength: number
    /** What its body takes of the budget; undefined for a small one that arrived with the headers, and from the response on. */
    bodyHold: BodyHold | undefined
  }
}

/** A body up to this length costs nothing once it has arrived. Parsed, a body takes several times its length. */
export const smallLength = 65_536
/** How many owners must work together to take all of it. */
const owners = 4
/** Bytes of bodies: parsed, they take several times as much, which a container of 512 MB still has. */
const usualBytes = 33_554_432

/** What all bodies of an API may take: a quarter of it holds at least one body of the largest size. */
export function bodiesInFlightOf(bodyLimitBytes: number): number {
  return Math.max(usualBytes, owners * bodyLimitBytes)
}

/** Who pays for a body. Those whose caller is not known share one part, whatever workspace they name, and have an address. */
export interface BodyOwner {
  key: string
  address?: string
}

export function strangerAt(ip: string): BodyOwner {
  return { key: 'strangers', address: addressOf(ip) }
}

/**
 * Limits the bodies that are on their way, or parsed and not yet responded to: some hundred of a megabyte would end a small process. Each
 * owner has a quarter of it. All strangers are one owner, and what one address of theirs has not sent to its end has half of their quarter: bytes
 * are counted and not bodies, since a provider sends dozens of webhooks at once.
 *
 *   announced (Content-Length) or arriving (chunks) ──▶ arrived: a small one is free ──▶ responded to: free
 */
export class BodyBudget {
  readonly #limit: number
  readonly #share: number
  readonly #refuse: (bytes: number, bytesOfOne: number) => Refusal
  readonly #taken = new Map<string, number>()
  readonly #unfinished = new Map<string, number>()
  #total = 0

  constructor(limit: number, refuse: (bytes: number, bytesOfOne: number) => Refusal) {
    this.#limit = limit
    this.#share = Math.floor(limit / owners)
    this.#refuse = refuse
  }

  /** How many bytes all bodies take. */
  get taken(): number {
    return this.#total
  }

  /** @param own what the body has already: by itself, it may be larger than a share @throws a 429 refusal */
  take({ key, address }: BodyOwner, bytes: number, own: number): void {
    const ofOwner = this.#taken.get(key) ?? 0
    const ofAddress = address === undefined ? 0 : (this.#unfinished.get(address) ?? 0)
    const isBeyond = (taken: number, limit: number) => taken > own && taken + bytes > limit
    if (
      isBeyond(this.#total, this.#limit) ||
      isBeyond(ofOwner, this.#share) ||
      isBeyond(ofAddress, this.#share / 2)
    )
      throw this.#refuse(this.#limit, this.#share)
    this.#taken.set(key, ofOwner + bytes)
    if (address !== undefined) this.#unfinished.set(address, ofAddress + bytes)
    this.#total += bytes
  }

  give({ key }: BodyOwner, bytes: number): void {
    subtract(this.#taken, key, bytes)
    this.#total -= bytes
  }

  finish({ address }: BodyOwner, bytes: number): void {
    if (address !== undefined) subtract(this.#unfinished, address, bytes)
  }
}

/** What one body takes of the budget. */
export class BodyHold {
  readonly #budget: BodyBudget
  readonly #owner: BodyOwner
  #bytes = 0
  #isFinished = false

  constructor(budget: BodyBudget, owner: BodyOwner) {
    this.#budget = budget
    this.#owner = owner
  }

  /** @throws a 429 refusal */
  take(bytes: number): void {
    // Responded to already, while it was still arriving.
    if (this.#isFinished) return
    this.#budget.take(this.#owner, bytes, this.#bytes)
    this.#bytes += bytes
  }

  /** All of it has arrived. */
  finish(): void {
    if (!this.#isFinished) this.#budget.finish(this.#owner, this.#bytes)
    this.#isFinished = true
    if (this.#bytes <= smallLength) this.#give()
  }

  release(): void {
    this.finish()
    this.#give()
  }

  #give(): void {
    this.#budget.give(this.#owner, this.#bytes)
    this.#bytes = 0
  }
}

export default fp<{ bodiesInFlightBytes: number }>(
  async (app, { bodiesInFlightBytes }) => {
    const budget = new BodyBudget(bodiesInFlightBytes, (bytes, bytesOfOne) => {
      app.metrics.bodiesRefused.inc()
      return refusals.tooManyBodies(bytes, bytesOfOne)
    })
    app.decorate('bodyBudget', budget)
    app.decorateRequest('bodyLength', 0)
    app.decorateRequest('bodyHold', undefined)
    // Fastify calls onResponse for no request whose caller has hung up before the response.
    app.addHook('onSend', (request, _reply, _payload, done) => {
      request.bodyHold?.release()
      // A response that fails on its way is sent a second time.
      request.bodyHold = undefined
      done()
    })
  },
  { name: 'body-budget', dependencies: ['metrics'] },
)

function subtract(counts: Map<string, number>, key: string, count: number): void {
  const left = (counts.get(key) ?? 0) - count
  if (left > 0) counts.set(key, left)
  else counts.delete(key)
}
