import { pipeline, Readable } from 'node:stream'
import { createGzip, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { acceptsGzip } from '../accepts-gzip.js'

/** A shorter text fits into one packet as it is. */
const minBytes = 1_400
/** Of what 6 would save, 3 saves nine tenths, in less than half of its time. */
const level = 3

/**
 * Compresses what callers read, for those that accept it. Responses to changes are never compressed: only they show a new key or secret, and
 * next to a text of its caller its length would tell something about it. Nor are the pages of decisions, whose links are secrets.
 */
export default fp(
  async (app) => {
    // Only these routes have the hook: a trigger pays nothing.
    app.addHook('onRoute', (route) => {
      if ((route.method !== 'GET' && route.method !== 'HEAD') || route.config?.isOpen) return
      // Fastify's own hook of a HEAD measures what this one leaves.
      route.onSend = [compress, route.onSend ?? []].flat()
    })
  },
  { name: 'compression' },
)

function compress(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload: unknown) => void,
): void {
  reply.header('vary', 'accept-encoding')
  const isLong = typeof payload === 'string' ? payload.length >= minBytes : payload instanceof Readable
  if (!isLong || !acceptsGzip(request)) done(null, payload)
  else if (typeof payload === 'string')
    gzip(payload, { level }, (error, compressed) => {
      if (error === null) reply.header('content-encoding', 'gzip')
      done(error, compressed)
    })
  else {
    reply.header('content-encoding', 'gzip')
    // Fastify sees a failure of either stream, and logs it.
    done(
      null,
      pipeline(payload as Readable, createGzip({ level }), () => {}),
    )
  }
}
