import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** For a request that ends by timers of its own: its event is accepted, and its caller waits for the outcome. */
    liftDeadline(request: FastifyRequest): void
  }
  interface FastifyRequest {
    /** When it is refused at the latest (ms, by the process's own clock). */
    dueAt: number
  }
}

/** What one statement may take (10 s), and the wait for a connection (2 s). */
const limitMs = 12_000
const lookEveryMs = 500

/**
 * Refuses with 503 what has not been answered in time. Each statement has a limit of its own, but a request asks several, and
 * waits for others' as well: behind a Postgres that answers late these times would add up. What is refused so goes on behind
 * the scenes: whether it was done is not known, as with every 503 of an unkeyed request.
 *
 * Requests are due in the order in which they came, so one timer and a look at the oldest are enough.
 */
export default fp(
  async (app) => {
    const unanswered = new Map<FastifyRequest, FastifyReply>()

    app.decorateRequest('dueAt', 0)
    app.decorate('liftDeadline', (request: FastifyRequest) => void unanswered.delete(request))
    app.addHook('onRequest', (request, reply, done) => {
      request.dueAt = performance.now() + limitMs
      unanswered.set(request, reply)
      done()
    })
    app.addHook('onSend', (request, _reply, _payload, done) => {
      unanswered.delete(request)
      done()
    })
    const timer = setInterval(refuseOverdue, lookEveryMs).unref()
    app.addHook('onClose', async () => clearInterval(timer))

    function refuseOverdue(): void {
      const now = performance.now()
      for (const [request, reply] of unanswered) {
        if (request.dueAt > now) return
        unanswered.delete(request)
        reply.send(refusals.unavailable())
      }
    }
  },
  { name: 'deadline' },
)
