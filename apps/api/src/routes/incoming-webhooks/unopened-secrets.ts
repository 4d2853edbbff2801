import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'

interface SealedSecret {
  id: string
  sealed: Uint8Array
}

/** One line a minute, because anyone who knows the id can deliver as often as they like. */
const logPauseMs = 60_000

/**
 * Signing secrets that no key of ENCRYPTION_KEY opens. The next delivery does not try to open them again: a failed attempt takes
 * longer than a good one, and would tell a stranger that the secret exists. A secret that is sealed again is another value.
 */
export class UnopenedSecrets {
  readonly #sealed = new LRUCache<string, Uint8Array>({ max: 10_000 })
  readonly #log: FastifyBaseLogger
  readonly #count: () => void
  #nextLogAt = 0

  /** @param count counts a delivery with such a secret */
  constructor(log: FastifyBaseLogger, count: () => void) {
    this.#log = log
    this.#count = count
  }

  has({ id, sealed }: SealedSecret): boolean {
    const known = this.#sealed.get(id)
    return known !== undefined && Buffer.compare(known, sealed) === 0
  }

  /** Remembers a secret after a delivery with it, and logs it. The sender learns nothing. */
  note({ id, sealed }: SealedSecret): void {
    this.#sealed.set(id, sealed)
    this.#count()
    const now = Date.now()
    if (now < this.#nextLogAt) return
    this.#nextLogAt = now + logPauseMs
    this.#log.error(
      { secretId: id },
      'a signing secret cannot be decrypted with ENCRYPTION_KEY: its webhooks are refused',
    )
  }
}
