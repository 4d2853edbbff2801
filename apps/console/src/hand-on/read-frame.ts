import type { FastifyRequest } from 'fastify'

const token = /^Bearer (emb_[0-9a-f-]{36}_[A-Za-z0-9_-]{43})$/

/**
 * Tells the requests of a frame from those of the console's page. A frame acts by its token alone: neither by the cookie of a colleague who is
 * signed in in the same browser, nor by the token that a company's proxy adds.
 *
 * @returns undefined for the page of the console; without a token where the frame needs one
 */
export function readFrame({ headers }: FastifyRequest): { bearer?: string } | undefined {
  const [, bearer] = token.exec(headers.authorization ?? '') ?? []
  if (bearer !== undefined) return { bearer }
  // A proxy has put another token in its place.
  return headers['x-embed-session'] === undefined ? undefined : {}
}
