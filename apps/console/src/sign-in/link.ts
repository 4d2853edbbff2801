import { type LinkContent, openLink } from '@automation/process/sign-in'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { LoginAttempts } from './login-attempts.js'
import { describeBearer, readExpiry } from './read-claims.js'
import type { Session, Sessions } from './sessions.js'
import type { Spending, SpentIds } from './spent-ids.js'

const KeyBody = {
  type: 'object',
  properties: {
    key: { type: 'string', maxLength: 8_000 },
    /** The user was asked whether the link may replace the session. */
    replacesSession: { type: 'boolean' },
  },
  required: ['key'],
  additionalProperties: false,
} as const

interface Body {
  key: string
  replacesSession?: boolean
}

interface Options {
  sessions: Sessions
  attempts: LoginAttempts
  usedLinks: SpentIds
  secret: string
}

/** Signs in with the key of a link. The page reads the key from its own address and posts it here. */
export const linkRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { sessions, attempts, usedLinks, secret } = options

  app.post<{ Body: Body }>(
    '/link',
    { schema: { body: KeyBody }, onRequest: attempts.admit, bodyLimit: 16_384 },
    async (request, reply) => {
      const { key, replacesSession = false } = request.body
      const link = await openLink(secret, key)
      if (link === undefined) return attempts.fail(request, reply, 'This link is not valid, or has expired.')
      const session = await sessions.read(request)
      const isOwn = session?.bearer === link.bearer
      // Somebody could send a link to their own account, and read what its visitor writes there.
      if (session !== undefined && !isOwn && !replacesSession)
        return askFirst(attempts, request, reply, session, link)
      const spending: Spending = isOlder(link, usedLinks)
        ? 'unknown'
        : await usedLinks.spend(link.id, link.exp)
      // A second click in the browser that used it: its session is the response.
      if (isOwn) {
        attempts.withdraw(request)
        return reply.status(204).send()
      }
      if (spending !== 'spent') return refuse(options, request, reply, spending)
      const { bearer } = link
      if (session !== undefined) await sessions.end(request)
      if (!(await sessions.begin(reply, { bearer, ...readExpiry(bearer) })))
        return attempts.failTooLarge(request, reply, 'The token of this link is too large for a cookie.')
      attempts.succeed(request)
      return reply.status(204).send()
    },
  )
}

function askFirst(
  attempts: LoginAttempts,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
  link: LinkContent,
): FastifyReply {
  attempts.withdraw(request)
  const [now, next] = [describeBearer(session.bearer), describeBearer(link.bearer)]
  return reply
    .status(409)
    .send({ error: `You are signed in as ${now}. This link signs you out, and signs you in as ${next}.` })
}

/** Without Redis a process does not know which links were used before its start. */
function isOlder({ madeAt }: LinkContent, { knownSince }: SpentIds): boolean {
  return knownSince !== undefined && !(madeAt >= knownSince)
}

function refuse(
  { attempts, usedLinks }: Options,
  request: FastifyRequest,
  reply: FastifyReply,
  spending: Exclude<Spending, 'spent'>,
): FastifyReply {
  if (spending === 'was-spent') return attempts.fail(request, reply, 'This link was used before.')
  attempts.withdraw(request)
  if (usedLinks.knownSince !== undefined)
    return reply.status(401).send({
      error:
        'This link is older than the running console, which cannot know whether it was used. Make another one.',
    })
  return reply.status(503).header('retry-after', 5).send({
    error:
      'Redis does not respond, so the console cannot know whether this link was used. Try again in a moment, or sign in with a token.',
  })
}
