import { createSealer } from '@automation/access'
import { newId } from '@automation/database'
import { earlyResponses, refuseBrokenRequest, slowReaders } from '@automation/process/server'
import { logOptions } from '@automation/process/telemetry'
import Fastify, { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import replies from './acceptance/replies.js'
import storedOutcomes from './acceptance/stored-outcomes.js'
import accessCaches from './access/access-caches.js'
import type { Config } from './config.js'
import { refusals } from './errors.js'
import { type ApiLimits, limitsOf } from './limits.js'
import admission from './plugins/admission.js'
import bodies from './plugins/bodies.js'
import bodyBudget from './plugins/body-budget.js'
import deadline from './plugins/deadline.js'
import docs from './plugins/docs.js'
import errors from './plugins/errors.js'
import evaluator from './plugins/evaluator.js'
import eventTypes from './plugins/event-types.js'
import idempotency from './plugins/idempotency.js'
import identification from './plugins/identification.js'
import ifMatch from './plugins/if-match.js'
import metrics from './plugins/metrics.js'
import notFound from './plugins/not-found.js'
import openapi from './plugins/openapi.js'
import paging from './plugins/paging.js'
import redis from './plugins/redis.js'
import requestLog from './plugins/request-log.js'
import resources from './plugins/resources.js'
import serialization from './plugins/serialization.js'
import shutdown from './plugins/shutdown.js'
import tracing from './plugins/tracing.js'
import validation from './plugins/validation.js'
import warmUp from './plugins/warm-up.js'
import rateLimit, { limitationOf } from './rate-limit/rate-limit.js'
import { decisionRoutes } from './routes/decisions/index.js'
import { decisionLinkRoutes } from './routes/decisions/links.js'
import { developerRoutes } from './routes/developer/index.js'
import { emailTemplateRoutes } from './routes/email-templates/index.js'
import { eventTypeRoutes } from './routes/event-types/index.js'
import { eventRoutes } from './routes/events/index.js'
import { executionRoutes } from './routes/executions/index.js'
import { incomingWebhookRoutes } from './routes/incoming-webhooks/index.js'
import { meRoutes } from './routes/me.js'
import { overviewRoutes } from './routes/overview.js'
import { probeRoutes } from './routes/probes.js'
import { ruleRoutes } from './routes/rules/index.js'
import { taskRoutes } from './routes/tasks.js'
import { vocabularyRoutes } from './routes/vocabulary.js'

const requestTimeoutMs = 10_000

/**
 * Builds the API, ready to listen or to get injected requests. It starts without Postgres and Redis, and responds with 503 then.
 *
 * @param limits smaller ones in tests
 */
export async function buildApp(config: Config, limits: ApiLimits = limitsOf(config)) {
  const app = Fastify({
    logger: logOptions('api', config.logLevel),
    // A log line for each request costs 5 to 19 % of the throughput. Notable events are logged at their origin.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: countRequests(),
    requestIdHeader: false,
    trustProxy: config.trustProxy,
    bodyLimit: config.bodyLimitBytes,
    // While the process ends, requests on open connections are served like all others (plugins/shutdown.ts).
    return503OnClosing: false,
    // The deadline for a complete body, without which slow senders could hold sockets for ever; Node checks every second. For the
    // headers Node uses the shorter of the two timeouts: with its default of 60 s for them, a body would have 60 s, too.
    requestTimeout: requestTimeoutMs,
    http: { connectionsCheckingInterval: 1_000, headersTimeout: requestTimeoutMs },
    clientErrorHandler: refuseBrokenRequest,
    // A long id is an unknown id, and not a fault; Node limits the URL as a whole.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    frameworkErrors: (_error, request, reply) =>
      void refuseUrl(request as FastifyRequest, reply as FastifyReply),
  })

  const sealer = createSealer(config.encryptionKey)
  await app.register(requestLog, config)
  await app.register(errors, limits)
  await app.register(deadline, limits)
  await app.register(metrics, config)
  await app.register(resources, { config, limits: limits.database })
  await app.register(tracing, config)
  await app.register(redis, config)
  await app.register(storedOutcomes)
  await app.register(replies, config)
  await app.register(rateLimit, { ...config, limits: config.rateLimits })
  await app.register(accessCaches)
  await app.register(admission, limits)
  await app.register(identification, config)
  await app.register(evaluator, limits)
  await app.register(eventTypes)
  await app.register(bodyBudget, limits)
  await app.register(bodies)
  await app.register(validation)
  await app.register(idempotency, { sealer })
  await app.register(ifMatch)
  await app.register(serialization)
  await app.register(paging)
  await app.register(notFound)
  await app.register(warmUp, config)
  await app.register(shutdown)
  await app.register(openapi)
  await app.register(docs)
  await app.register(earlyResponses)
  await app.register(slowReaders, { noteClosed: () => app.metrics.slowReaders.inc() })

  await app.register(probeRoutes, config)
  await app.register(ruleRoutes, { ...config, ...limits, prefix: '/api/automation-rules' })
  await app.register(eventRoutes, { ...limits, prefix: '/api/events' })
  await app.register(eventTypeRoutes, { prefix: '/api/event-types' })
  await app.register(executionRoutes, { ...limits, prefix: '/api/executions' })
  await app.register(incomingWebhookRoutes, { ...config, sealer, prefix: '/api/incoming-webhooks' })
  await app.register(taskRoutes, { ...limits, prefix: '/api/tasks' })
  await app.register(decisionRoutes, { prefix: '/api/decisions' })
  await app.register(decisionLinkRoutes, { ...config, prefix: '/decide' })
  await app.register(vocabularyRoutes, { ...config, ...limits, prefix: '/api/vocabulary' })
  await app.register(emailTemplateRoutes, { ...limits, prefix: '/api/email-templates' })
  await app.register(meRoutes, { prefix: '/api/me' })
  await app.register(overviewRoutes, { prefix: '/api/overview' })
  await app.register(developerRoutes, { ...config, ...limits, prefix: '/api/developer/v1', sealer })
  app.refuseOtherMethods()
  return app
}

/** Refuses a URL that cannot be decoded. Fastify runs no hook and no error handler for it, so this sets the headers itself. */
async function refuseUrl(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('x-request-id', request.id)
  await request.server.consumeToken(request, reply)
  const refusal = limitationOf(request) ?? refusals.badUrl()
  reply.status(refusal.statusCode).headers(refusal.headers).send(refusal.body)
}

/** Creates request ids that are unique among all processes. A UUID for each request would cost more than to check its body. */
function countRequests(): () => string {
  const process = newId()
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}
