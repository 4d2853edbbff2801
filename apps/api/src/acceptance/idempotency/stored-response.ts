import type { FastifyReply } from 'fastify'
import { warnOfTexts } from '../../long-numbers.js'

/** A response that can be stored and sent again. */
export interface StoredResponse {
  status: number
  /** Headers about the outcome; those of a single request (rate limit, request id) are not stored. */
  headers: Record<string, string>
  body: object
}

const replayed = 'idempotent-replayed'

export function sendStored(reply: FastifyReply, { status, headers, body }: StoredResponse) {
  if (replayed in headers) reply.server.metrics.idempotentReplays.inc()
  // They are about the body of this request, and a repeat has the same.
  return reply
    .status(status)
    .headers(headers)
    .send({ ...body, ...warnOfTexts(reply.request.longNumbers) })
}

/** The same response for a caller who repeats the request. */
export function asReplay({ status, headers, body }: StoredResponse): StoredResponse {
  return { status, headers: { ...headers, [replayed]: 'true' }, body }
}
