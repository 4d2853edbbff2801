import { setTimeout } from 'node:timers/promises'
import type { RouteHandlerMethod } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** True from the first word of the end on: it still serves, and asks not to be sent anything more. */
    isEnding(): boolean
    /** Goes on serving for a while, unready, so that whoever routes requests to it has time to notice. */
    drain(seconds: number): Promise<void>
  }
}

/**
 * A graceful end: requests under way are answered and told to close their connection, and what they stand on is closed
 * after them, also where a caller has hung up and its request still runs. Registered behind what it has to hold open.
 */
export default fp(
  async (app) => {
    let isEnding = false
    let running = 0
    let tellIdle = () => {}

    app.decorate('isEnding', () => isEnding)
    app.decorate('drain', async (seconds: number) => {
      isEnding = true
      await setTimeout(seconds * 1_000)
    })
    app.addHook('onRoute', (route) => {
      const { handler } = route
      // Fastify counts connections, and one that its caller has closed is gone though its request is not.
      const counted: RouteHandlerMethod = function (request, reply) {
        const answer: unknown = handler.call(this, request, reply)
        if (answer instanceof Promise) {
          running++
          answer.then(settle, settle)
        }
        return answer
      }
      route.handler = counted
    })
    app.addHook('preClose', async () => {
      isEnding = true
    })
    app.addHook('onClose', async () => {
      if (running > 0) await new Promise<void>((resolve) => (tellIdle = resolve))
    })
    // Without that word a kept-alive connection would hold the process until its idle time is over.
    app.addHook('onSend', (_request, reply, _payload, done) => {
      if (isEnding) reply.header('connection', 'close')
      done()
    })

    function settle(): void {
      running--
      if (running === 0) tellIdle()
    }
  },
  { name: 'shutdown' },
)
