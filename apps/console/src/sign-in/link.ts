import { openLink } from '@automation/sign-in'
import type { FastifyPluginAsync } from 'fastify'
import type { Attempts } from './attempts.js'
import { readExpiry } from './read-expiry.js'
import type { Sessions } from './sessions.js'

const KeyBody = {
  type: 'object',
  properties: { key: { type: 'string', maxLength: 8_000 } },
  required: ['key'],
  additionalProperties: false,
} as const

/** A link works once: this process remembers the ids of used links until they expire. */
class UsedLinks {
  readonly #expiryById = new Map<string, number>()

  /** @returns false where the link was used before */
  use(id: string, expiresAt: number): boolean {
    const now = Date.now() / 1_000
    for (const [known, expiry] of this.#expiryById) if (expiry < now) this.#expiryById.delete(known)
    if (this.#expiryById.has(id)) return false
    this.#expiryById.set(id, expiresAt)
    return true
  }
}

/** Signs in with the key of a link. The page reads the key from its own address and posts it here. */
export const linkRoutes: FastifyPluginAsync<{
  sessions: Sessions
  attempts: Attempts
  secret: string
}> = async (app, { sessions, attempts, secret }) => {
  const used = new UsedLinks()

  app.post<{ Body: { key: string } }>(
    '/link',
    { schema: { body: KeyBody }, onRequest: attempts.admit },
    async (request, reply) => {
      const link = await openLink(secret, request.body.key)
      if (link === undefined) return attempts.fail(request, reply, 'This link is not valid, or has expired.')
      if (!used.use(link.id, link.exp)) {
        // A second click in the browser that used it: its session is the answer.
        if ((await sessions.read(request)) !== undefined) return reply.status(204).send()
        return attempts.fail(request, reply, 'This link was used before.')
      }
      const { bearer } = link
      if (!(await sessions.write(reply, { bearer, ...readExpiry(bearer) })))
        return attempts.fail(request, reply, 'The token of this link is too large for a cookie.')
      app.countSignIn('succeeded')
      return reply.status(204).send()
    },
  )
}
