import { hash } from 'node:crypto'
import { isUuid } from '@automation/database'
import { keyHours, type RequestKey } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'

export const keyPattern = '^[ -~]{1,255}$'
const keySyntax = new RegExp(keyPattern)

/** Documents the header. readRequestKey checks it, since in the order of refusals it comes after the body. */
export const IdempotencyHeader = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: keyPattern,
      description: `A key that the caller chooses. The workspace keeps it for ${keyHours} hours. A repeat of the request with the same key has no effect and returns the stored response with \`Idempotent-Replayed: true\`.`,
    }),
  ),
})

/**
 * Reads the idempotency key of a request; undefined where it has none. Two requests are the same where the route, its parameters and
 * the body as JSON are equal: white space does not count, the order of keys does.
 *
 * @throws a 400 refusal for an invalid key
 */
export function readRequestKey(request: FastifyRequest): RequestKey | undefined {
  const key = request.headers['idempotency-key'] as string | undefined
  if (key === undefined) return undefined
  if (!keySyntax.test(key)) throw refusals.badIdempotencyKey()
  const { routeOptions, params, body, workspace } = request
  const requestHash = hashRequest(request.method, routeOptions.url, params, body)
  return { workspaceId: workspace.id, key, requestHash }
}

/**
 * Finds the key of a request that was done before; undefined where it was not. A repeat is never refused because something that it names
 * is gone since then. Where the request was not done before, faults of its key come after that refusal.
 */
export async function findUsedKey(request: FastifyRequest): Promise<RequestKey | undefined> {
  const { headers, server } = request
  if (!keySyntax.test((headers['idempotency-key'] ?? '') as string)) return undefined
  const key = readRequestKey(request) as RequestKey
  const known = await server.keptResponses.find(key)
  return known?.requestHash === key.requestHash ? key : undefined
}

/** Hashes a request: equal requests have equal hashes. @param url of the route, with the names of parameters */
export function hashRequest(method: string, url: string | undefined, params: unknown, body: unknown): string {
  return hash('sha256', JSON.stringify([method, url, canonicalParams(params), body]), 'hex')
}

/** A route finds the same row by an id in either case. */
function canonicalParams(params: unknown): object {
  const entries = Object.entries(params as Record<string, string>)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isUuid(value) ? value.toLowerCase() : value]),
  )
}
