import { limitFailures } from '@automation/sign-in'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** One limit for all ways in: ten failures a minute and address. */
export function addAttempts(app: FastifyInstance) {
  const failures = limitFailures()

  /** While an address has to wait, even what is right is refused: otherwise the wait would not slow down guessing. */
  async function refuseTooMany(request: FastifyRequest, reply: FastifyReply) {
    const waitSeconds = failures.waitSeconds(request.ip)
    if (waitSeconds === 0) return
    app.countSignIn('limited')
    return reply
      .status(429)
      .header('retry-after', waitSeconds)
      .send({ error: `Too many failed attempts. Wait for ${waitSeconds} seconds.` })
  }

  function fail(request: FastifyRequest, reply: FastifyReply, error: string) {
    failures.note(request.ip)
    app.countSignIn('failed')
    request.log.warn({ ip: request.ip }, 'sign-in failed')
    return reply.status(401).send({ error })
  }
  return { refuseTooMany, fail }
}
