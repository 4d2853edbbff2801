import { delayMs, FailedLogins } from '@automation/sign-in'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Slows guessing down, by one count for all ways in. */
export class Attempts {
  readonly #app: FastifyInstance
  readonly #failedLogins = new FailedLogins()

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  /** An onRequest hook: waits where the client has failed too often, and refuses where too many of its attempts wait already. */
  readonly admit = async (request: FastifyRequest, reply: FastifyReply) => {
    // Despite its type, `ip` is undefined once the client has disconnected.
    if (await this.#failedLogins.admit(request.ip ?? 'gone')) return
    this.#app.countSignIn('limited')
    const error = `Too many failed attempts. Wait for ${delayMs / 1_000} seconds.`
    return reply
      .status(429)
      .header('retry-after', delayMs / 1_000)
      .send({ error })
  }

  fail(request: FastifyRequest, reply: FastifyReply, error: string): FastifyReply {
    this.#failedLogins.note(request.ip ?? 'gone')
    this.#app.countSignIn('failed')
    request.log.warn({ ip: request.ip }, 'sign-in failed')
    return reply.status(401).send({ error })
  }
}
