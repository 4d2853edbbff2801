import { AsyncLocalStorage } from 'node:async_hooks'
import { openTracing, type Span } from '@automation/telemetry'
import fp from 'fastify-plugin'
import { traceInbox } from '../acceptance/trace-inbox.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined where requests are not traced. */
    span: Span | undefined
  }
}

/** Frequent requests of machines, which cause nothing. */
const untraced = /^\/(healthz|readyz|docs)/

/**
 * Traces requests. A trace begins with a request, or continues from its `traceparent`, and passes through the queue with the accepted
 * events. Where tracing is off, the plugin adds no hooks.
 */
export default fp<{ observability: { isTraced: boolean } }>(
  async (app, { observability }) => {
    app.decorateRequest('span', undefined)
    if (!observability.isTraced) return

    const tracing = await openTracing('automation-api', (message) => app.log.warn(message))
    const current = new AsyncLocalStorage<Span>()
    app.inbox = traceInbox(app.inbox, () => current.getStore())
    app.addHook('onClose', () => tracing.close())

    app.addHook('onRequest', (request, _reply, done) => {
      const { method, routeOptions, headers, id } = request
      const route = routeOptions.url
      if (untraced.test(route ?? '')) return done()
      request.span = tracing.begin(`${method} ${route ?? ''}`.trim(), 'server', {
        parent: headers.traceparent,
        attributes: {
          'http.request.method': method,
          'automation.request_id': id,
          ...(route !== undefined && { 'http.route': route }),
        },
      })
      done()
    })
    // Not earlier: while the body is read, events of the socket run outside of this context.
    app.addHook('preHandler', ({ span }, _reply, done) => {
      if (span) current.run(span, done)
      else done()
    })
    app.addHook('onResponse', ({ span }, { statusCode }, done) => {
      span?.set({ 'http.response.status_code': statusCode })
      span?.end(statusCode >= 500)
      done()
    })
  },
  { name: 'tracing', dependencies: ['resources'] },
)
