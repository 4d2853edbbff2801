import type { RequestOptions, Sender } from './send.js'

/** Probes, which consume no tokens of the bucket. */
export class Probes {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Whether the process is alive. */
  live(options?: RequestOptions) {
    return this.#sender.ask('GET /healthz', {}, { ...options, bucket: 'none' })
  }

  /** Whether the process can serve requests, and if not, what is missing. */
  ready(options?: RequestOptions) {
    return this.#sender.ask('GET /readyz', {}, { ...options, bucket: 'none', alsoGood: [503] })
  }
}
