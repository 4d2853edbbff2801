import rateLimit, { type FastifyRateLimitStore, normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Bucket, Config } from '../config.js'
import { type Refusal, refusals } from '../errors.js'
import { createSharedBuckets } from './shared-buckets.js'
import { createLocalBuckets, type Draw, tokenInterval } from './token-bucket.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Takes one token for a request, sets the X-RateLimit headers, and notes in the request whether it was refused. */
    consumeToken(request: FastifyRequest, reply: FastifyReply): Promise<void>
    /**
     * Takes more tokens for a request that turns out to be worth several: all or none, and never more than a full bucket
     * has beside the first.
     *
     * @throws a 429 refusal where the bucket has not so many
     */
    consumeMoreTokens(request: FastifyRequest, reply: FastifyReply, tokens: number): Promise<void>
  }
  interface FastifyRequest {
    /** Whose bucket pays for the request; undefined leaves it to the IP. */
    bucketOwner: { owner: string; rateClass: 'authenticated' | 'enterprise' } | undefined
    /** Seconds after which to try again; 0 where the bucket had a token. */
    retryAfterSeconds: number
  }
}
interface Options {
  queuePrefix: string
  limits: Config['rateLimits']
}

/**
 * Token buckets by API key, user or (for webhooks) workspace, else by IP (IPv6 by /64): shared through Redis, and one for each process while Redis is
 * away: never an open door, never an error.
 */
export default fp<Options>(
  async (app, { queuePrefix, limits }) => {
    const drawShared = createSharedBuckets(app.redis, `${queuePrefix}:rate:`)
    const drawLocally = createLocalBuckets()
    const drawFrom = (key: string, bucket: Bucket, tokens: number): Promise<Draw> =>
      drawShared({ key, bucket, tokens }).catch(() => drawLocally(key, bucket, Date.now(), tokens))

    /** The plugin counts up to `max` in a window; here `current` is what is gone from the bucket, max + 1 where refused. */
    class TokenBuckets implements FastifyRateLimitStore {
      incr: FastifyRateLimitStore['incr'] = (key, callback, windowMs, burst) => {
        const bucket = { perMinute: (burst * 60_000) / windowMs, burst }
        void drawFrom(key, bucket, 1).then(({ isRefused, remaining, waitMs }) =>
          callback(null, { current: isRefused ? burst + 1 : burst - remaining, ttl: waitMs }),
        )
      }
      child(): this {
        return this
      }
    }

    const bucketOf = ({ bucketOwner }: FastifyRequest) => limits[bucketOwner?.rateClass ?? 'anonymous']
    const keyOf = ({ bucketOwner, ip }: FastifyRequest) =>
      // Who has hung up meanwhile has no address any more, whatever the type says.
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

    const draw = app.createRateLimit()
    app.decorateRequest('bucketOwner', undefined)
    app.decorateRequest('retryAfterSeconds', 0)
    app.decorate('consumeToken', async (request, reply) => {
      const drawn = await draw(request)
      if (drawn.isAllowed) return
      const { max, remaining, timeWindow, ttl, ttlInSeconds, isExceeded } = drawn
      const msUntilFull = ttl + (timeWindow / max) * (isExceeded ? max - 1 : max - remaining)
      request.retryAfterSeconds = isExceeded ? Math.max(1, ttlInSeconds) : 0
      if (isExceeded) app.metrics.rateLimited[bucketNameOf(request)].inc()
      reply.headers({
        'x-ratelimit-limit': max,
        'x-ratelimit-remaining': remaining,
        'x-ratelimit-reset': Math.ceil(msUntilFull / 1_000),
      })
    })
    app.decorate('consumeMoreTokens', async (request, reply, wanted) => {
      const bucket = bucketOf(request)
      const tokens = Math.min(wanted, bucket.burst - 1)
      if (tokens <= 0) return
      const { isRefused, remaining, waitMs } = await drawFrom(keyOf(request), bucket, tokens)
      const msPerToken = tokenInterval(bucket.perMinute) / 1_000
      if (isRefused) {
        app.metrics.rateLimited[bucketNameOf(request)].inc()
        // The next attempt, too, pays its first token on arrival.
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

/** As metrics tell buckets apart. */
function bucketNameOf({ bucketOwner }: FastifyRequest) {
  if (bucketOwner === undefined) return 'anonymous'
  return bucketOwner.owner.startsWith('webhooks:') ? 'webhooks' : bucketOwner.rateClass
}

/** How to refuse a request whose bucket was empty; it comes before whatever else could be said of it. */
export function limitationOf({ retryAfterSeconds }: FastifyRequest): Refusal | undefined {
  return retryAfterSeconds > 0 ? refusals.rateLimited(retryAfterSeconds) : undefined
}
