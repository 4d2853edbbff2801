import { setTimeout } from 'node:timers/promises'
import { normalizeIP } from '@fastify/rate-limit'

/** Failed logins within a minute, of one client and of all together, beyond which attempts are delayed. */
const allowedOfClient = 10
const allowedOfAll = 100
const windowMs = 60_000
export const delayMs = 3_000
/** Delayed attempts of one client at a time: as many as a browser opens connections. More are refused. */
const maxDelayed = 6
/** Beyond this number of clients the oldest is forgotten, so that they use bounded memory. Then the limit of all together counts. */
const maxClients = 1_000

/**
 * Slows guessing down and locks nobody out: a right password passes after the delay, although others behind the same address guess.
 * Each attempt waits before it is judged, so the time until the response does not tell a right password from a wrong one.
 *
 *   fewer than 10 failures of the client, and 100 of all: judged at once
 *   otherwise: judged after 3 s, six at a time, which is two guesses a second for a client
 *
 * A client is an IPv4 address or an IPv6 network of 64 bits: one host has as many addresses as it likes within its network.
 */
export class FailedLogins {
  readonly #now: () => number
  readonly #wait: (ms: number) => Promise<unknown>
  readonly #clients = new Map<string, Window>()
  readonly #delayed = new Map<string, number>()
  #all: Window = { failures: 0, endsAt: 0 }

  constructor(now = () => performance.now(), wait: (ms: number) => Promise<unknown> = setTimeout) {
    this.#now = now
    this.#wait = wait
  }

  /** @returns false at once where too many attempts of the client are delayed; otherwise true, as soon as one more may be judged */
  async admit(address: string): Promise<boolean> {
    const client = clientOf(address)
    if (!this.#isDelayed(client)) return true
    const delayed = this.#delayed.get(client) ?? 0
    if (delayed >= maxDelayed) return false
    this.#delayed.set(client, delayed + 1)
    try {
      await this.#wait(delayMs)
    } finally {
      const left = (this.#delayed.get(client) ?? 1) - 1
      if (left > 0) this.#delayed.set(client, left)
      else this.#delayed.delete(client)
    }
    return true
  }

  note(address: string): void {
    const client = clientOf(address)
    const window = this.#clients.get(client) ?? { failures: 0, endsAt: 0 }
    this.#count(window)
    // A window that began anew is the youngest again.
    if (window.failures === 1) this.#clients.delete(client)
    this.#clients.set(client, window)
    const [oldest] = this.#clients.keys()
    if (this.#clients.size > maxClients && oldest !== undefined) this.#clients.delete(oldest)
    this.#count(this.#all)
  }

  #isDelayed(client: string): boolean {
    const failuresOf = (window: Window | undefined) =>
      window && this.#now() < window.endsAt ? window.failures : 0
    return failuresOf(this.#clients.get(client)) >= allowedOfClient || failuresOf(this.#all) >= allowedOfAll
  }

  #count(window: Window): void {
    if (this.#now() >= window.endsAt) {
      window.failures = 0
      window.endsAt = this.#now() + windowMs
    }
    window.failures++
  }
}

/** It begins with the first failure. */
interface Window {
  failures: number
  endsAt: number
}

function clientOf(address: string): string {
  return normalizeIP(address, 64)
}
