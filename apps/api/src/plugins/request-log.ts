import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the accepted event, for log lines; for a batch or a webhook, of its first event. */
    eventId: string | undefined
  }
}

/** Logs one line per response at the levels debug and trace. At other levels, only notable events are logged, where they happen. */
export default fp<{ logLevel: string }>(
  async (app, { logLevel }) => {
    app.decorateRequest('eventId', undefined)
    if (logLevel !== 'debug' && logLevel !== 'trace') return
    app.addHook('onResponse', ({ log, method, routeOptions, eventId }, { statusCode, elapsedTime }, done) => {
      log.debug(
        { eventId, method, route: routeOptions.url, statusCode, ms: Math.round(elapsedTime) },
        'request finished',
      )
      done()
    })
  },
  { name: 'request-log' },
)
