import { createSealer } from '@automation/access'
import { newId } from '@automation/database'
import { logOptions } from '@automation/telemetry'
import Fastify, { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import idempotency from './acceptance/idempotency.js'
import replies from './acceptance/replies.js'
import storedOutcomes from './acceptance/stored-outcomes.js'
import accessCaches from './access/access-caches.js'
import caller from './access/caller.js'
import type { Config } from './config.js'
import { refusals } from './errors.js'
import bodies from './plugins/bodies.js'
import deadline from './plugins/deadline.js'
import errors from './plugins/errors.js'
import metrics from './plugins/metrics.js'
import notFound from './plugins/not-found.js'
import openapi from './plugins/openapi.js'
import redis from './plugins/redis.js'
import requestLog from './plugins/request-log.js'
import resources from './plugins/resources.js'
import serialization from './plugins/serialization.js'
import shutdown from './plugins/shutdown.js'
import tracing from './plugins/tracing.js'
import validation from './plugins/validation.js'
import rateLimit, { limitationOf } from './rate-limit/rate-limit.js'
import { developerRoutes } from './routes/developer/index.js'
import { emailTemplateRoutes } from './routes/email-templates/index.js'
import { eventRoutes } from './routes/events/index.js'
import { executionRoutes } from './routes/executions/index.js'
import { incomingWebhookRoutes } from './routes/incoming-webhooks/index.js'
import { probeRoutes } from './routes/probes.js'
import { ruleRoutes } from './routes/rules/index.js'
import { taskRoutes } from './routes/tasks.js'

const requestTimeoutMs = 10_000

/** The whole API, ready to listen or to inject requests into. It starts without Postgres or Redis and answers 503. */
export async function buildApp(config: Config) {
  const app = Fastify({
    logger: logOptions('api', config.logLevel),
    // Logging each request costs 5 to 19 % of the requests a second; what is worth a line is logged where it happens.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: countRequests(),
    requestIdHeader: false,
    trustProxy: config.trustProxy,
    bodyLimit: config.bodyLimitBytes,
    // What still comes in on a connection while the process ends is answered like all the rest (plugins/shutdown.ts).
    return503OnClosing: false,
    // A body must have come in by then; Node looks every second, or slow senders could hold sockets for ever. Of the
    // two times Node takes the shorter one for the headers, so with its 60 s for these a body would have as long.
    requestTimeout: requestTimeoutMs,
    http: { connectionsCheckingInterval: 1_000, headersTimeout: requestTimeoutMs },
    // An id of any length is merely unknown; Node limits the URL as a whole.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    frameworkErrors: (_error, request, reply) =>
      void refuseUrl(request as FastifyRequest, reply as FastifyReply),
  })

  const sealer = createSealer(config.encryptionKey)
  await app.register(requestLog, config)
  await app.register(errors)
  await app.register(deadline)
  await app.register(metrics, config)
  await app.register(resources, { config })
  await app.register(tracing, config)
  await app.register(redis, config)
  await app.register(storedOutcomes)
  await app.register(replies, config)
  await app.register(idempotency)
  await app.register(rateLimit, { ...config, limits: config.rateLimits })
  await app.register(accessCaches)
  await app.register(caller, config)
  await app.register(bodies)
  await app.register(validation)
  await app.register(serialization)
  await app.register(notFound)
  await app.register(shutdown)
  await app.register(openapi)

  await app.register(probeRoutes, config)
  await app.register(ruleRoutes, { prefix: '/api/automation-rules', bodyLimitBytes: config.bodyLimitBytes })
  await app.register(eventRoutes, { prefix: '/api/events' })
  await app.register(executionRoutes, { prefix: '/api/executions' })
  await app.register(incomingWebhookRoutes, { ...config, sealer, prefix: '/api/incoming-webhooks' })
  await app.register(taskRoutes, { prefix: '/api/tasks' })
  await app.register(emailTemplateRoutes, { prefix: '/api/email-templates' })
  await app.register(developerRoutes, { ...config, prefix: '/api/developer/v1', sealer })
  app.refuseOtherMethods()
  return app
}

/** A URL that cannot be decoded meets no hook and no error handler: it is answered like the rest by hand. */
async function refuseUrl(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('x-request-id', request.id)
  await request.server.consumeToken(request, reply)
  const refusal = limitationOf(request) ?? refusals.badUrl()
  reply.status(refusal.statusCode).headers(refusal.headers).send(refusal.body)
}

/** Ids that no other process gives: making a UUID for each request would cost more than checking its body. */
function countRequests(): () => string {
  const process = newId()
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}
