import { createHash } from 'node:crypto'
import type { WorkspaceTransaction } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'

export function etagOf(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`
}

/** Whether the client has the body (RFC 9110): a weak comparison with each entity tag of the list; `*` fits every body. */
export function isKnown(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  return (
    ifNoneMatch.trim() === '*' ||
    ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
  )
}

/** Reads what a change is compared with by If-Match, as its GET presents it; null where it does not exist. */
export type Resource = (transaction: WorkspaceTransaction, request: FastifyRequest) => Promise<object | null>

/** Documents the header. isTagRefused reads it. */
export const IfMatchHeader = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      description:
        'ETag from your last read. If the resource has changed since then, the request fails with 412 and changes nothing.',
    }),
  ),
})

/** RFC 9110: a strong comparison with each entity tag of the list; `*` fits everything that exists. */
export function isTagRefused({ headers }: FastifyRequest, etag: string): boolean {
  const header = headers['if-match']
  if (header === undefined || header.trim() === '*') return false
  return !header.split(',').some((tag) => tag.trim() === etag)
}
