import type { Redis } from 'ioredis'

/**
 * Knows what is wrong with a connection to Redis, which ioredis says in events alone:
 *
 *   connecting ─▶ errors ─▶ close   the first error is the fault, until the connection is ready
 */
export class RedisFaults {
  /** Of the present attempt to connect. */
  #noted: string | undefined
  #last: string | undefined
  #isReady = false

  watch(redis: Redis): void {
    const hint = redis.options.tls ? 'does the port speak TLS?' : 'does the port expect TLS (rediss://)?'
    redis.on('connecting', () => {
      this.#noted = undefined
      this.#isReady = false
    })
    // Each call that fails meanwhile reports it; without a listener the process would end.
    redis.on('error', (error) => {
      // It goes on by itself, within the same attempt.
      if (!error.message.startsWith('All sentinels are unreachable')) this.#noted ??= describe(error)
    })
    redis.on('sentinelError', (error) => {
      this.wait(
        describe(error).replace(
          'successfully, but got an invalid reply: null',
          'which knows no such primary',
        ),
      )
    })
    redis.on('close', () => {
      const fault = this.#noted ?? 'it closed the connection'
      const isMute = this.#noted === undefined || (redis.options.tls && /ETIMEDOUT/.test(fault))
      this.#last = isMute && !this.#isReady ? `${fault}; ${hint}` : fault
    })
    redis.on('ready', () => {
      this.#noted = undefined
      this.#last = undefined
      this.#isReady = true
    })
  }

  /** Of a server that responds as it should. BullMQ's copy of the connection notes here, too, while this one may be ready. */
  note(fault: string): void {
    if (!this.#isReady) this.#noted ??= fault
  }

  /** Of an attempt that has not found the primary yet: nothing was opened that could close. */
  wait(fault: string): void {
    if (!this.#isReady) this.#last = fault
  }

  /** Whether the present attempt has met one. */
  get isNoted(): boolean {
    return this.#noted !== undefined
  }

  /** Of the last attempt; undefined if the connection is ready, or was never tried. */
  get last(): string | undefined {
    return this.#last
  }
}

/** One line. OpenSSL's messages have several, and the name of a source file; those of several addresses have no text. */
function describe({ message, code, reason }: Error & { code?: string; reason?: string }): string {
  // A server that does not know a command repeats it, with its arguments, and a password is one.
  const [known = ''] = (reason || message || code || 'unknown').split(', with args beginning with')
  return known.replaceAll(/\s+/g, ' ').trim()
}
