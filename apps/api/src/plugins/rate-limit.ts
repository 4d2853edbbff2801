import { groupCommit } from '@automation/database'
import rateLimit, { type FastifyRateLimitStore, normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.js'
import { type Refusal, refusals } from '../errors.js'
import { createLocalBuckets, drawTokensScript, tokenInterval } from '../token-bucket.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Takes one token for this request, sets the X-RateLimit headers, and notes in the request whether it was refused. */
    drawToken(request: FastifyRequest, reply: FastifyReply): Promise<void>
  }
  interface FastifyRequest {
    /** Whose bucket pays for the request; undefined leaves it to the IP. */
    payer: { owner: string; rateClass: 'authenticated' | 'enterprise' } | undefined
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
export default fp<Options>(async (app, { queuePrefix, limits }) => {
  const { redis } = app
  redis.defineCommand('drawTokens', { lua: drawTokensScript })
  const { drawTokens } = redis as unknown as {
    drawTokens(count: number, ...keysAndSizes: (string | number)[]): Promise<number[]>
  }
  /** Requests that arrive together draw in one call. */
  const drawShared = groupCommit(async (buckets: { key: string; interval: number; burst: number }[]) => {
    const keys = buckets.map(({ key }) => key)
    const sizes = buckets.flatMap(({ interval, burst }) => [interval, burst])
    const draws = await drawTokens.call(redis, keys.length, ...keys, ...sizes)
    return buckets.map((_, index) => ({
      remaining: draws[2 * index] ?? 0,
      waitMs: draws[2 * index + 1] ?? 0,
    }))
  })
  const drawLocally = createLocalBuckets()

  /** The plugin counts up to `max` in a window; here `current` is what is gone from the bucket, max + 1 where refused. */
  class TokenBuckets implements FastifyRateLimitStore {
    incr: FastifyRateLimitStore['incr'] = (key, callback, windowMs, burst) => {
      const bucket = { perMinute: (burst * 60_000) / windowMs, burst }
      drawShared({ key: `${queuePrefix}:rate:${key}`, interval: tokenInterval(bucket.perMinute), burst })
        .then(({ remaining, waitMs }) => ({ isRefused: remaining < 0, remaining, waitMs }))
        .catch(() => drawLocally(key, bucket, Date.now()))
        .then(({ isRefused, remaining, waitMs }) =>
          callback(null, { current: isRefused ? burst + 1 : burst - remaining, ttl: waitMs }),
        )
    }
    child(): this {
      return this
    }
  }

  const bucketOf = ({ payer }: FastifyRequest) => limits[payer?.rateClass ?? 'anonymous']
  await app.register(rateLimit, {
    global: false,
    store: TokenBuckets,
    keyGenerator: ({ payer, ip }) =>
      // Who has hung up meanwhile has no address any more, whatever the type says.
      payer ? `${payer.rateClass}:${payer.owner}` : `anonymous:${ip ? normalizeIP(ip, 64) : 'gone'}`,
    max: (request) => bucketOf(request).burst,
    timeWindow: (request) => (bucketOf(request).burst / bucketOf(request).perMinute) * 60_000,
  })

  const draw = app.createRateLimit()
  app.decorateRequest('payer', undefined)
  app.decorateRequest('retryAfterSeconds', 0)
  app.decorate('drawToken', async (request, reply) => {
    const drawn = await draw(request)
    if (drawn.isAllowed) return
    const { max, remaining, timeWindow, ttl, ttlInSeconds, isExceeded } = drawn
    const msUntilFull = ttl + (timeWindow / max) * (isExceeded ? max - 1 : max - remaining)
    request.retryAfterSeconds = isExceeded ? Math.max(1, ttlInSeconds) : 0
    reply.headers({
      'x-ratelimit-limit': max,
      'x-ratelimit-remaining': remaining,
      'x-ratelimit-reset': Math.ceil(msUntilFull / 1_000),
    })
  })
})

/** How to refuse a request whose bucket was empty; it comes before whatever else could be said of it. */
export function limitationOf({ retryAfterSeconds }: FastifyRequest): Refusal | undefined {
  return retryAfterSeconds > 0 ? refusals.rateLimited(retryAfterSeconds) : undefined
}
