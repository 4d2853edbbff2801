import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyRequest {
    /** The event that it became, for its log lines; of a batch or a webhook the first one. */
    eventId: string | undefined
  }
}

/** One line for each answer, at the levels debug and trace. Otherwise only what is worth one is logged, where it happens. */
export default fp<{ logLevel: string }>(
  async (app, { logLevel }) => {
    app.decorateRequest('eventId', undefined)
    if (logLevel !== 'debug' && logLevel !== 'trace') return
    app.addHook('onResponse', ({ log, method, routeOptions, eventId }, { statusCode, elapsedTime }, done) => {
      log.debug(
        { eventId, method, route: routeOptions.url, statusCode, ms: Math.round(elapsedTime) },
        'answered',
      )
      done()
    })
  },
  { name: 'request-log' },
)
