import { readForwardedAddresses } from '@automation/process/server'
import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.js'
import { type Refusal, refusals } from '../errors.js'
import { type BucketOwner, findBuckets, type LabelledBucket } from './find-buckets.js'
import { createSharedBuckets } from './shared-buckets.js'
import { type Consumption, createLocalBuckets, type TokenRequest, tokenInterval } from './token-bucket.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Consumes one token for a request, sets the X-RateLimit headers, and notes in the request whether it was refused. */
    consumeToken(request: FastifyRequest, reply: FastifyReply): Promise<void>
    /**
     * Consumes the tokens of a request that does many things at once, beside its first: 50 items cost one. It consumes all or none, and
     * at most those that full buckets have.
     *
     * @throws a 429 refusal where a bucket has fewer tokens
     */
    payForMany(request: FastifyRequest, reply: FastifyReply, items: number): Promise<void>
    /** The same for a large response: a token for each MiB, the first one included. @throws a 429 refusal */
    payForBytes(request: FastifyRequest, reply: FastifyReply, bytes: number): Promise<void>
  }
  interface FastifyRequest {
    /** The owner of the buckets; undefined: the IP. */
    bucketOwner: BucketOwner | undefined
    /** Retry-After in seconds; 0 where each bucket had a token. */
    retryAfterSeconds: number
  }
}
/** So many items cost about as much as a single request: doing many at once is cheap, and no way around the limit. */
const itemsPerToken = 50
const bytesPerToken = 1_048_576

interface Options {
  queuePrefix: string
  limits: Config['rateLimits']
  trustProxy: Config['trustProxy']
}

/** The buckets of a request, and what came of consuming their tokens. */
interface LabelledRequest extends TokenRequest {
  buckets: [LabelledBucket, ...LabelledBucket[]]
  result?: Consumption
}

/**
 * Limits rates with token buckets by API key, user or (for webhooks) workspace, and otherwise by IP (IPv6 by /64). Above those of keys
 * and users is one of their workspace, and one of its creator. A request consumes from all of its buckets or from none: a caller that
 * is refused takes nothing from the others of its workspace. The buckets are shared through Redis. While Redis is away, each process
 * has its own: requests are neither unlimited nor refused with an error.
 */
export default fp<Options>(
  async (app, { queuePrefix, limits, trustProxy }) => {
    if (trustProxy !== false) readForwardedAddresses(app)
    const consumeShared = createSharedBuckets(app.redis, `${queuePrefix}:rate:`)
    const consumeLocally = createLocalBuckets()
    const consume = (request: TokenRequest): Promise<Consumption> =>
      consumeShared(request).catch(() => consumeLocally(request, Date.now()))

    /** The plugin counts up to `max` in a window. Here `current` is the number of consumed tokens, and max + 1 where refused. */
    class TokenBuckets implements FastifyRateLimitStore {
      incr: FastifyRateLimitStore['incr'] = (key, callback, _windowMs, burst) => {
        const asked = key as unknown as LabelledRequest
        void consume(asked).then((result) => {
          asked.result = result
          const { isRefused, remaining, waitMs } = result
          callback(null, { current: isRefused ? burst + 1 : burst - remaining, ttl: waitMs })
        })
      }
      child(): this {
        return this
      }
    }

    await app.register(rateLimit, {
      global: false,
      store: TokenBuckets,
      // The plugin knows one bucket of a request. It hands the key on to the store, and back, as it is: so the key can be an object.
      keyGenerator: (request) =>
        ({ buckets: findBuckets(request, limits), tokens: 1 }) satisfies LabelledRequest as unknown as string,
      max: (_request, key) => (key as unknown as LabelledRequest).buckets[0].burst,
    })

    const consumeOne = app.createRateLimit()
    app.decorateRequest('bucketOwner', undefined)
    app.decorateRequest('retryAfterSeconds', 0)
    app.decorate('consumeToken', async (request, reply) => {
      const { buckets, result } = (await consumeOne(request)).key as unknown as Required<LabelledRequest>
      const described = buckets[result.index] ?? buckets[0]
      reply.headers(headersOf(described, result, 1))
      request.retryAfterSeconds = result.isRefused ? Math.max(1, Math.ceil(result.waitMs / 1_000)) : 0
      if (result.isRefused) app.metrics.rateLimited[described.label].inc()
    })
    app.decorate('payForMany', (request, reply, items) =>
      pay(request, reply, Math.ceil(items / itemsPerToken)),
    )
    app.decorate('payForBytes', (request, reply, bytes) =>
      pay(request, reply, Math.ceil(bytes / bytesPerToken)),
    )

    /** @param price in tokens; the request has consumed its first on arrival */
    async function pay(request: FastifyRequest, reply: FastifyReply, price: number): Promise<void> {
      const buckets = findBuckets(request, limits)
      const tokens = Math.min(price, ...buckets.map(({ burst }) => burst)) - 1
      if (tokens <= 0) return
      const result = await consume({ buckets, tokens })
      const described = buckets[result.index] ?? buckets[0]
      reply.headers(headersOf(described, result, tokens))
      if (!result.isRefused) return
      app.metrics.rateLimited[described.label].inc()
      // The next attempt also consumes its first token on arrival.
      throw refusals.rateLimited(Math.ceil((result.waitMs + msPerToken(described)) / 1_000))
    }
  },
  { name: 'rate-limit', dependencies: ['redis', 'metrics'] },
)

function headersOf(bucket: LabelledBucket, { isRefused, remaining, waitMs }: Consumption, tokens: number) {
  const missing = isRefused ? bucket.burst - tokens : bucket.burst - remaining
  return {
    // The draft of the IETF (07) names the rate, which the others do not.
    'ratelimit-policy': `${bucket.perMinute};w=60;burst=${bucket.burst}`,
    'x-ratelimit-limit': bucket.burst,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': Math.ceil((waitMs + missing * msPerToken(bucket)) / 1_000),
  }
}

function msPerToken({ perMinute }: LabelledBucket): number {
  return tokenInterval(perMinute) / 1_000
}

/** The refusal of a request that found an empty bucket; undefined where it did not. It takes precedence over all other refusals. */
export function limitationOf({ retryAfterSeconds }: FastifyRequest): Refusal | undefined {
  return retryAfterSeconds > 0 ? refusals.rateLimited(retryAfterSeconds) : undefined
}
