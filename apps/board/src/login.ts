import { createHash, timingSafeEqual } from 'node:crypto'
import { limitFailures } from '@automation/sign-in'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no login: for probes. */
    isOpen?: boolean
  }
}

/**
 * Basic authentication before everything, including files and unknown paths. After ten failures an address must wait, and
 * meanwhile even the right password is refused: otherwise the wait would not slow down guessing.
 */
export function addLogin(app: FastifyInstance, { user, password }: { user: string; password: string }): void {
  const expected = digest(`${user}:${password}`)
  const failures = limitFailures()

  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config?.isOpen) return
    const waitSeconds = failures.waitSeconds(request.ip)
    if (waitSeconds > 0) {
      return reply.status(429).header('retry-after', waitSeconds).send({ error: 'Too many failed logins' })
    }
    const { authorization } = request.headers
    if (authorization !== undefined) {
      // Compares digests, because a comparison in constant time needs equal lengths.
      if (timingSafeEqual(digest(readCredentials(authorization)), expected)) return
      failures.note(request.ip)
      request.log.warn({ ip: request.ip }, 'login failed')
    }
    return reply
      .status(401)
      .header('www-authenticate', 'Basic realm="Automation rules", charset="UTF-8"')
      .send({ error: 'Authentication required' })
  })
}

/** Decodes `<user>:<password>`. The text of a client may have any other form, too. */
function readCredentials(authorization: string): string {
  const encoded = /^Basic +(\S+)$/i.exec(authorization)?.[1] ?? ''
  return Buffer.from(encoded, 'base64').toString()
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
