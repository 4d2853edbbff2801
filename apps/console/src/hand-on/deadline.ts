import { finished } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** When (ms) the API must have begun to respond. Its own deadline is 12 s, and a write may wait 30 s for its outcome. */
const readMs = 15_000
const writeMs = 40_000
/** When (ms) a response must have ended, and its browser have taken it, after it began. */
const responseMs = 60_000

/** Why a request to the API was given up. */
class TooLate extends Error {}
class BrowserLeft extends Error {}

/**
 * The time that a request may take. Its signal ends the request to the API at the deadline, or when the browser has left: otherwise
 * the connections to a mute API would be taken by requests that nobody waits for.
 */
export class Deadline {
  readonly #abort = new AbortController()
  #timer: NodeJS.Timeout

  constructor(reply: FastifyReply, isRead: boolean) {
    this.#timer = this.#start(isRead ? readMs : writeMs)
    finished(reply.raw, () => {
      clearTimeout(this.#timer)
      this.#abort.abort(new BrowserLeft())
    })
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get isOver(): boolean {
    return this.signal.reason instanceof TooLate
  }

  /** Nobody waits for the response any more. */
  get hasLeft(): boolean {
    return this.signal.reason instanceof BrowserLeft
  }

  /** The API has begun to respond. */
  extend(): void {
    clearTimeout(this.#timer)
    if (!this.signal.aborted) this.#timer = this.#start(responseMs)
  }

  #start(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#abort.abort(new TooLate()), ms).unref()
  }
}
