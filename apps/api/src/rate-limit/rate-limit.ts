import rateLimit, { type FastifyRateLimitStore, normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Bucket, Config } from '../config.js'
import { type Refusal, refusals } from '../errors.js'
import { createSharedBuckets } from './shared-buckets.js'
import { type Consumption, createLocalBuckets, tokenInterval } from './token-bucket.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Consumes one token for a request, sets the X-RateLimit headers, and notes in the request whether it was refused. */
    consumeToken(request: FastifyRequest, reply: FastifyReply): Promise<void>
    /**
     * Consumes the tokens of a request that does many things at once, beside its first: 50 items cost one. It consumes all or none, and
     * at most those that a full bucket has.
     *
     * @throws a 429 refusal where the bucket has fewer tokens
     */
    payForMany(request: FastifyRequest, reply: FastifyReply, items: number): Promise<void>
  }
  interface FastifyRequest {
    /** The owner of the bucket; undefined: the IP. */
    bucketOwner: { owner: string; rateClass: 'authenticated' | 'enterprise' } | undefined
    /** Retry-After in seconds; 0 where the bucket had a token. */
    retryAfterSeconds: number
  }
}
/** So many items cost about as much as a single request: doing many at once is cheap, and no way around the limit. */
const itemsPerToken = 50

interface Options {
  queuePrefix: string
  limits: Config['rateLimits']
}

/**
 * Limits rates with token buckets by API key, user or (for webhooks) workspace, and otherwise by IP (IPv6 by /64). The buckets are
 * shared through Redis. While Redis is away, each process has its own: requests are neither unlimited nor refused with an error.
 */
export default fp<Options>(
  async (app, { queuePrefix, limits }) => {
    const consumeShared = createSharedBuckets(app.redis, `${queuePrefix}:rate:`)
    const consumeLocally = createLocalBuckets()
    const consume = (key: string, bucket: Bucket, tokens: number): Promise<Consumption> =>
      consumeShared({ key, bucket, tokens }).catch(() => consumeLocally(key, bucket, Date.now(), tokens))

    /** The plugin counts up to `max` in a window. Here `current` is the number of consumed tokens, and max + 1 where refused. */
    class TokenBuckets implements FastifyRateLimitStore {
      incr: FastifyRateLimitStore['incr'] = (key, callback, windowMs, burst) => {
        const bucket = { perMinute: (burst * 60_000) / windowMs, burst }
        void consume(key, bucket, 1).then(({ isRefused, remaining, waitMs }) =>
          callback(null, { current: isRefused ? burst + 1 : burst - remaining, ttl: waitMs }),
        )
      }
      child(): this {
        return this
      }
    }

    const bucketOf = ({ bucketOwner }: FastifyRequest) => limits[bucketOwner?.rateClass ?? 'anonymous']
    const keyOf = ({ bucketOwner, ip }: FastifyRequest) =>
      // Despite its type, `ip` is undefined once the caller has disconnected.
      bucketOwner
        ? `${bucketOwner.rateClass}:${bucketOwner.owner}`
        : `anonymous:${ip ? normalizeIP(ip, 64) : 'gone'}`
    await app.register(rateLimit, {
      global: false,
      store: TokenBuckets,
      keyGenerator: keyOf,
      max: (request) => bucketOf(request).burst,
      timeWindow: (request) => (bucketOf(request).burst / bucketOf(request).perMinute) * 60_000,
    })

    const consumeOne = app.createRateLimit()
    app.decorateRequest('bucketOwner', undefined)
    app.decorateRequest('retryAfterSeconds', 0)
    app.decorate('consumeToken', async (request, reply) => {
      const consumption = await consumeOne(request)
      if (consumption.isAllowed) return
      const { max, remaining, timeWindow, ttl, ttlInSeconds, isExceeded } = consumption
      const msUntilFull = ttl + (timeWindow / max) * (isExceeded ? max - 1 : max - remaining)
      request.retryAfterSeconds = isExceeded ? Math.max(1, ttlInSeconds) : 0
      if (isExceeded) app.metrics.rateLimited[bucketNameOf(request)].inc()
      reply.headers({
        'x-ratelimit-limit': max,
        'x-ratelimit-remaining': remaining,
        'x-ratelimit-reset': Math.ceil(msUntilFull / 1_000),
      })
    })
    app.decorate('payForMany', async (request, reply, items) => {
      const bucket = bucketOf(request)
      const tokens = Math.min(Math.ceil(items / itemsPerToken) - 1, bucket.burst - 1)
      if (tokens <= 0) return
      const { isRefused, remaining, waitMs } = await consume(keyOf(request), bucket, tokens)
      const msPerToken = tokenInterval(bucket.perMinute) / 1_000
      if (isRefused) {
        app.metrics.rateLimited[bucketNameOf(request)].inc()
        // The next attempt also consumes its first token on arrival.
        throw refusals.rateLimited(Math.ceil((waitMs + msPerToken) / 1_000))
      }
      reply.headers({
        'x-ratelimit-remaining': remaining,
        'x-ratelimit-reset': Math.ceil(((bucket.burst - remaining) * msPerToken) / 1_000),
      })
    })
  },
  { name: 'rate-limit', dependencies: ['redis', 'metrics'] },
)

/** The bucket's label in metrics. */
function bucketNameOf({ bucketOwner }: FastifyRequest) {
  if (bucketOwner === undefined) return 'anonymous'
  return bucketOwner.owner.startsWith('webhooks:') ? 'webhooks' : bucketOwner.rateClass
}

/** The refusal of a request whose bucket was empty; undefined where it was not. It takes precedence over all other refusals. */
export function limitationOf({ retryAfterSeconds }: FastifyRequest): Refusal | undefined {
  return retryAfterSeconds > 0 ? refusals.rateLimited(retryAfterSeconds) : undefined
}
