import { createHash, timingSafeEqual } from 'node:crypto'
import { delayMs, FailedLogins } from '@automation/process/sign-in'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no login: for probes. */
    isOpen?: boolean
  }
}

/** Browsers ask for a name, too. There is one login, so its name is fixed. */
export const boardUser = 'operator'

/** Basic authentication before everything, including files and unknown paths. */
export function addLogin(app: FastifyInstance, { password }: { password: string }): void {
  const expected = digest(`${boardUser}:${password}`)
  const failedLogins = new FailedLogins()

  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config?.isOpen) return
    const { authorization } = request.headers
    if (authorization !== undefined) {
      // Despite its type, `ip` is undefined once the client has disconnected.
      const address = request.ip ?? 'gone'
      const attempt = await failedLogins.reserve(address)
      if (attempt === undefined)
        return reply
          .status(429)
          .header('retry-after', delayMs / 1_000)
          .send({ error: 'Too many failed logins' })
      // Compares digests, because a comparison in constant time needs equal lengths.
      if (timingSafeEqual(digest(readCredentials(authorization)), expected)) return attempt.giveBack()
      request.log.warn({ ip: address }, 'login failed')
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
