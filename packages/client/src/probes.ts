import type { RequestOptions, Sender } from './send.js'

/** For probes: they cost nothing of the bucket. */
export class Probes {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Is the process alive? */
  live(options?: RequestOptions) {
    return this.#sender.ask('GET /healthz', {}, options)
  }

  /** Can it serve? Tells what is missing where it cannot. */
  ready(options?: RequestOptions) {
    return this.#sender.ask('GET /readyz', {}, { ...options, alsoGood: [503] })
  }
}
