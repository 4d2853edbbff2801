import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { limitFailures } from './limit-failures.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a login: for probes. */
    isOpen?: boolean
  }
}

/**
 * Basic authentication before everything, files and unknown paths included. After a few failures an address waits, and then
 * the right password does not help either: else waiting would not slow down who guesses.
 */
export function addLogin(app: FastifyInstance, { user, password }: { user: string; password: string }): void {
  const wanted = digest(`${user}:${password}`)
  const failures = limitFailures()

  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config?.isOpen) return
    const waitSeconds = failures.waitSeconds(request.ip)
    if (waitSeconds > 0) {
      return reply.status(429).header('retry-after', waitSeconds).send({ error: 'Too many failed logins' })
    }
    const { authorization } = request.headers
    if (authorization !== undefined) {
      // Digests, since only what is of one length can be compared in constant time.
      if (timingSafeEqual(digest(readCredentials(authorization)), wanted)) return
      failures.note(request.ip)
      request.log.warn({ ip: request.ip }, 'login failed')
    }
    return reply
      .status(401)
      .header('www-authenticate', 'Basic realm="Automation rules", charset="UTF-8"')
      .send({ error: 'Authentication required' })
  })
}

/** `<user>:<password>`, or whatever else was sent. */
function readCredentials(authorization: string): string {
  const encoded = /^Basic +(\S+)$/i.exec(authorization)?.[1] ?? ''
  return Buffer.from(encoded, 'base64').toString()
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
