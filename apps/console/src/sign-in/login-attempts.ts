import { delayMs, FailedLogins, type LoginAttempt } from '@automation/process/sign-in'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/**
 * Slows guessing down, by one count for all ways in. An attempt counts as failed before it is checked, until `succeed` or `withdraw`: so
 * attempts that are checked at the same time do not pass the limit together. What holds no guess is not counted: other sites can make a
 * visitor send it.
 */
export class LoginAttempts {
  readonly #app: FastifyInstance
  readonly #failedLogins = new FailedLogins()
  readonly #underWay = new WeakMap<FastifyRequest, LoginAttempt>()

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  /** An onRequest hook: waits where the client has failed too often, and refuses where too many attempts wait already. */
  readonly admit = async (request: FastifyRequest, reply: FastifyReply) => {
    if (await this.#reserve(request)) return
    const error = `Too many failed attempts. Wait for ${delayMs / 1_000} seconds.`
    return reply
      .status(429)
      .header('retry-after', delayMs / 1_000)
      .send({ error })
  }

  /** The same for a guess that is known only after a look. @returns false where too many attempts wait already */
  admitGuess(request: FastifyRequest): Promise<boolean> {
    return this.#reserve(request)
  }

  succeed(request: FastifyRequest): void {
    this.withdraw(request)
    this.#app.countSignIn('succeeded')
  }

  /** The attempt was not checked: it counts for nothing. */
  withdraw(request: FastifyRequest): void {
    this.#underWay.get(request)?.giveBack()
  }

  /** @param reason more for the log, without any secret */
  note(request: FastifyRequest, reason: object = {}): void {
    this.#app.countSignIn('failed')
    request.log.warn({ ip: request.ip, ...reason }, 'sign-in failed')
  }

  fail(request: FastifyRequest, reply: FastifyReply, error: string): FastifyReply {
    this.note(request)
    return reply.status(401).send({ error })
  }

  /** It guessed right, but no session can hold the token. */
  failTooLarge(request: FastifyRequest, reply: FastifyReply, error: string): FastifyReply {
    this.withdraw(request)
    return this.fail(request, reply, error)
  }

  async #reserve(request: FastifyRequest): Promise<boolean> {
    // Despite its type, `ip` is undefined once the client has disconnected.
    const attempt = await this.#failedLogins.reserve(request.ip ?? 'gone')
    if (attempt !== undefined) this.#underWay.set(request, attempt)
    else this.#app.countSignIn('limited')
    return attempt !== undefined
  }
}
