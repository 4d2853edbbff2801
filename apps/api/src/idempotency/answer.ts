import type { FastifyReply } from 'fastify'

/** What a request is answered, so that it can be kept and sent again. */
export interface Answer {
  status: number
  /** Those that tell of the outcome; what belongs to one sending (rate, request id) is not among them. */
  headers: Record<string, string>
  body: object
}

const replayed = 'idempotent-replayed'

export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer) {
  if (replayed in headers) reply.server.metrics.idempotentReplays.inc()
  return reply.status(status).headers(headers).send(body)
}

/** The same for a caller who has asked before. */
export function asReplay({ status, headers, body }: Answer): Answer {
  return { status, headers: { ...headers, [replayed]: 'true' }, body }
}
