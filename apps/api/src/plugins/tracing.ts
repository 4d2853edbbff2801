import { AsyncLocalStorage } from 'node:async_hooks'
import { openTracing, type Span } from '@automation/process/telemetry'
import type { FastifyRequest } from 'fastify'
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
 *
 * Only a caller with permissions in a workspace continues a trace. A stranger's request, and a webhook, begins a trace that is linked
 * to theirs: otherwise anybody could have every request sampled, or add spans to the trace of somebody else.
 */
export default fp<{ observability: { isTraced: boolean } }>(
  async (app, { observability }) => {
    app.decorateRequest('span', undefined)
    if (!observability.isTraced) return

    const tracing = await openTracing('automation-api', (message) => app.log.warn(message))
    const current = new AsyncLocalStorage<Span>()
    app.inbox = traceInbox(app.inbox, () => current.getStore())
    app.addHook('onClose', () => tracing.close())

    // Not earlier: the caller is known now. And while the body is read, events of the socket run outside of this context.
    app.addHook('preHandler', (request, { elapsedTime }, done) => {
      const span = begin(request, elapsedTime)
      if (span) current.run(span, done)
      else done()
    })
    app.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
      // One that was refused before has no span yet.
      const span = request.span ?? begin(request, elapsedTime)
      span?.set({ 'http.response.status_code': statusCode })
      span?.end(statusCode >= 500)
      done()
    })

    function begin(request: FastifyRequest, elapsedMs: number): Span | undefined {
      const { method, routeOptions, headers, id, caller } = request
      const route = routeOptions.url
      if (untraced.test(route ?? '')) return undefined
      const isTrusted = typeof caller?.permissions === 'object'
      request.span = tracing.begin(`${method} ${route ?? ''}`.trim(), 'server', {
        [isTrusted ? 'parent' : 'link']: headers.traceparent,
        elapsedMs,
        attributes: {
          'http.request.method': method,
          'automation.request_id': id,
          ...(route !== undefined && { 'http.route': route }),
        },
      })
      return request.span
    }
  },
  { name: 'tracing', dependencies: ['resources'] },
)
