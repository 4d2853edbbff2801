import type { DatabaseLimits } from '@automation/database'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** For a request with timers of its own, whose caller waits for something: its reads have no deadline either. */
    liftDeadline(request: FastifyRequest): void
  }
  interface FastifyRequest {
    /** The deadline (ms, by the process's monotonic clock). */
    dueAt: number
  }
}

const lookEveryMs = 500
/** A process that has not looked for so long (ms) stood still: it was paused, or its machine was. */
const stillMs = 2_000

/**
 * Refuses requests with 503 after a deadline of 12 s: as long as one statement may take, and the wait for a connection. Each statement has a
 * timeout of its own, but a request runs several statements and waits for those of others: with a slow Postgres these times would add up. A
 * refused request continues in the background: whether its work was done is unknown, as with every 503 of a request without a key.
 *
 * Requests are due in the order of their arrival, so one timer that checks the oldest suffices.
 *
 * A process that stood still forgets what it has read of its callers: meanwhile the workspace may have moved to another installation. So no response says that
 * something was accepted by what was read more than some 15 s before: `workspaces moved` counts on that.
 */
export default fp<{ database: DatabaseLimits }>(
  async (app, { database: { connectMs, statementMs } }) => {
    const limitMs = connectMs + statementMs
    const open = new Map<FastifyRequest, FastifyReply>()

    app.decorateRequest('dueAt', 0)
    app.decorate('liftDeadline', (request: FastifyRequest) => {
      request.dueAt = Number.POSITIVE_INFINITY
      open.delete(request)
    })
    let lookedAt = performance.now()
    app.addHook('onRequest', (request, reply, done) => {
      const now = performance.now()
      // The first request may come before the timer.
      if (now - lookedAt > stillMs) look(now)
      request.dueAt = now + limitMs
      open.set(request, reply)
      done()
    })
    app.addHook('onSend', (request, _reply, _payload, done) => {
      open.delete(request)
      done()
    })
    const timer = setInterval(refuseOverdue, lookEveryMs).unref()
    app.addHook('onClose', async () => clearInterval(timer))

    function look(now: number): void {
      if (now - lookedAt > stillMs) for (const cache of app.accessCaches) cache.clear()
      lookedAt = now
    }

    function refuseOverdue(): void {
      const now = performance.now()
      look(now)
      for (const [request, reply] of open) {
        if (request.dueAt > now) return
        open.delete(request)
        reply.send(refusals.unavailable(new Error(`No response within ${limitMs} ms`)))
      }
    }
  },
  { name: 'deadline' },
)
