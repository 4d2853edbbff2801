import { setTimeout } from 'node:timers/promises'
import { networkOf } from '../server/network-of.js'

/** Failed logins within a minute, of one client and of all together, beyond which attempts are delayed. */
const allowedOfClient = 10
const allowedOfAll = 100
const windowMs = 60_000
export const delayMs = 3_000
/** Delayed attempts of one client at a time: as many as a browser opens connections. More are refused. */
const maxDelayed = 6
/** Delayed attempts of all clients at a time, so that many addresses use bounded memory. */
const maxDelayedOfAll = 600
/** Beyond this number of clients the oldest is forgotten, so that they use bounded memory. Then the limit of all together counts. */
const maxClients = 1_000

/** An attempt that may be checked. It counts as failed until it is known not to be. */
export interface LoginAttempt {
  /** The attempt did not fail. */
  giveBack(): void
}

/**
 * Slows guessing down and locks nobody out: a right password passes after the delay, although others behind the same address guess.
 * Each attempt waits before it is checked, so the time until the response does not tell a right password from a wrong one. It is counted
 * before it is checked: otherwise guesses that are checked at the same time would all pass the limit.
 *
 *   fewer than 10 failures of the client, and 100 of all: checked at once
 *   otherwise: checked after 3 s, six at a time, which is two guesses a second for a client
 *
 * A client is an IPv4 address or an IPv6 network of 64 bits: one host has as many addresses as it likes within its network.
 */
export class FailedLogins {
  readonly #now: () => number
  readonly #wait: (ms: number) => Promise<unknown>
  readonly #clients = new Map<string, Window>()
  readonly #delayed = new Map<string, number>()
  #delayedOfAll = 0
  #all: Window = { failures: 0, endsAt: 0 }

  constructor(now = () => performance.now(), wait: (ms: number) => Promise<unknown> = setTimeout) {
    this.#now = now
    this.#wait = wait
  }

  /** @returns undefined at once where too many attempts are delayed; otherwise an attempt, as soon as it may be checked */
  async reserve(address: string): Promise<LoginAttempt | undefined> {
    const client = networkOf(address)
    if (this.#isDelayed(client) && !(await this.#delay(client))) return undefined
    const counted = [this.#count(this.#renewed(client)), this.#count(this.#all)]
    return {
      giveBack: () => {
        for (const giveBack of counted.splice(0)) giveBack()
      },
    }
  }

  async #delay(client: string): Promise<boolean> {
    const delayed = this.#delayed.get(client) ?? 0
    if (delayed >= maxDelayed || this.#delayedOfAll >= maxDelayedOfAll) return false
    this.#delayed.set(client, delayed + 1)
    this.#delayedOfAll++
    try {
      await this.#wait(delayMs)
    } finally {
      this.#delayedOfAll--
      const left = (this.#delayed.get(client) ?? 1) - 1
      if (left > 0) this.#delayed.set(client, left)
      else this.#delayed.delete(client)
    }
    return true
  }

  /** The window of a client. One that begins anew is the youngest again. */
  #renewed(client: string): Window {
    const window = this.#clients.get(client) ?? { failures: 0, endsAt: 0 }
    if (this.#now() >= window.endsAt) this.#clients.delete(client)
    this.#clients.set(client, window)
    const [oldest] = this.#clients.keys()
    if (this.#clients.size > maxClients && oldest !== undefined) this.#clients.delete(oldest)
    return window
  }

  #isDelayed(client: string): boolean {
    const failuresOf = (window: Window | undefined) =>
      window && this.#now() < window.endsAt ? window.failures : 0
    return failuresOf(this.#clients.get(client)) >= allowedOfClient || failuresOf(this.#all) >= allowedOfAll
  }

  /** @returns what takes the count back, unless the window has ended meanwhile */
  #count(window: Window): () => void {
    if (this.#now() >= window.endsAt) {
      window.failures = 0
      window.endsAt = this.#now() + windowMs
    }
    window.failures++
    const { endsAt } = window
    return () => {
      if (window.endsAt === endsAt) window.failures--
    }
  }
}

/** It begins with the first failure. */
interface Window {
  failures: number
  endsAt: number
}
