import Fastify, { type FastifyReply, LogController } from 'fastify'
import { logOptions } from '../telemetry/index.js'
import { readForwardedAddresses } from './forwarded-addresses.js'
import { refuseBrokenRequest } from './refuse-broken-request.js'
import type { SecurityHeaders } from './security-headers.js'
import { slowReaders } from './slow-readers.js'

const requestTimeoutMs = 10_000

interface Options {
  name: string
  logLevel: string
  trustProxy: string[] | boolean
  headers: SecurityHeaders
}

/**
 * Creates the server of a process that serves pages (board and console). Who sends or reads too slowly is cut off. The headers are on
 * every response, including refusals and errors, and caches may store only what says so itself.
 */
export async function createPageServer({ name, logLevel, trustProxy, headers }: Options) {
  const app = Fastify({
    logger: logOptions(name, logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    // The deadline of a whole request, with its body. Node checks every second.
    requestTimeout: requestTimeoutMs,
    http: { connectionsCheckingInterval: 1_000, headersTimeout: requestTimeoutMs },
    clientErrorHandler: refuseBrokenRequest,
    // Fastify runs no hook for a URL that cannot be decoded.
    frameworkErrors: (_error, _request, reply) =>
      void (reply as FastifyReply)
        .status(400)
        .headers({ ...headers, 'cache-control': 'no-store' })
        .send({ error: 'The URL cannot be decoded' }),
  })
  if (trustProxy !== false) readForwardedAddresses(app)
  // A form on another site can send text together with the browser's cookie or login, but it cannot send JSON.
  app.removeContentTypeParser('text/plain')
  app.addHook('onSend', async (_request, reply) => {
    reply.headers(headers)
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
  await app.register(slowReaders)
  return app
}
