import { hash } from 'node:crypto'
import { keyHours, type RequestKey } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'

export const keyPattern = '^[ -~]{1,255}$'
const keySyntax = new RegExp(keyPattern)

/** Describes the header; it is checked here, after the body, since it comes after it in the order of refusals. */
export const IdempotencyHeader = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: keyPattern,
      description: `A key that the caller chooses. The workspace keeps it for ${keyHours} hours. A repeat of the request with the same key has no effect and returns the stored response with \`Idempotent-Replayed: true\`.`,
    }),
  ),
})

/**
 * What names the request, where its caller has given it a name. Two are the same by route, its parameters and the body
 * as JSON: blanks do not matter, the order of keys does.
 *
 * @throws a 400 refusal for a key that cannot be one
 */
export function readRequestKey(request: FastifyRequest): RequestKey | undefined {
  const key = request.headers['idempotency-key'] as string | undefined
  if (key === undefined) return undefined
  if (!keySyntax.test(key)) throw refusals.badIdempotencyKey()
  const { routeOptions, params, body, workspace } = request
  const requestHash = hashRequest(request.method, routeOptions.url, params, body)
  return { workspaceId: workspace.id, key, requestHash }
}

/** What two requests have in common that are the same. @param url of the route, parameters not filled in */
export function hashRequest(method: string, url: string | undefined, params: unknown, body: unknown): string {
  return hash('sha256', JSON.stringify([method, url, params, body]), 'hex')
}
