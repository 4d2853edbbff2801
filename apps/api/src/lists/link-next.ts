import type { FastifyReply } from 'fastify'

/** Names the next page of a list in `Link` (RFC 8288), beside nextCursor: a program that follows links needs no field of ours. */
export function linkNext(reply: FastifyReply, nextCursor: string | null): void {
  if (nextCursor === null) return
  const { pathname, searchParams } = new URL(reply.request.url, 'http://localhost')
  searchParams.set('cursor', nextCursor)
  reply.header('link', `<${pathname}?${searchParams}>; rel="next"`)
}
