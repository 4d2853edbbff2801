import { setTimeout } from 'node:timers/promises'
import type { RouteHandlerMethod } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** True once the shutdown has begun: the process still serves, and asks for no further requests. */
    isEnding(): boolean
    /** Continues to serve for a while, unready, so that load balancers have time to notice. */
    drain(seconds: number): Promise<void>
  }
}

/**
 * Shuts down gracefully: requests under way get their responses, with `Connection: close`. Resources are closed after the last
 * request, even where its caller has disconnected. Register this plugin after those whose resources it keeps open.
 */
export default fp(
  async (app) => {
    let isEnding = false
    let running = 0
    let resolveIdle = () => {}

    app.decorate('isEnding', () => isEnding)
    app.decorate('drain', async (seconds: number) => {
      isEnding = true
      await setTimeout(seconds * 1_000)
    })
    app.addHook('onRoute', (route) => {
      const { handler } = route
      // Fastify counts connections: a request may still run though its caller has closed the connection.
      const counted: RouteHandlerMethod = function (request, reply) {
        const result: unknown = handler.call(this, request, reply)
        if (result instanceof Promise) {
          running++
          result.then(settle, settle)
        }
        return result
      }
      route.handler = counted
    })
    app.addHook('preClose', async () => {
      isEnding = true
    })
    app.addHook('onClose', async () => {
      if (running > 0) await new Promise<void>((resolve) => (resolveIdle = resolve))
    })
    // Without this header, a kept-alive connection would keep the process alive until its idle timeout.
    app.addHook('onSend', (_request, reply, _payload, done) => {
      if (isEnding) reply.header('connection', 'close')
      done()
    })

    function settle(): void {
      running--
      if (running === 0) resolveIdle()
    }
  },
  { name: 'shutdown' },
)
