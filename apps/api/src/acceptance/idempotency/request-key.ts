import { hash } from 'node:crypto'
import { isUuid } from '@automation/database'
import { keyHours, type RequestKey } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'

const pattern = '^[ -~]{1,255}$'
const keySyntax = new RegExp(pattern)

export const keyPattern = { pattern, patternError: 'be 1 to 255 printable ASCII characters' }

/** Documents the header. readRequestKey checks it, since in the order of refusals it comes after the body. */
export const IdempotencyHeader = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      ...keyPattern,
      description: `A key that the caller chooses. The workspace keeps it for ${keyHours} hours. A repeat of the request with the same key has no effect and returns the stored response with \`Idempotent-Replayed: true\`.`,
    }),
  ),
})

/**
 * Reads the idempotency key of a request; undefined where it has none. Two requests are the same where the route, its parameters and
 * the body as JSON are equal: neither white space nor the order of the names in an object counts.
 *
 * @throws a 400 refusal for an invalid key
 */
export function readRequestKey(request: FastifyRequest): RequestKey | undefined {
  const { method, routeOptions, params } = request
  return readKey(request, keyTextOf(request), () =>
    hashRequest(method, routeOptions.url, params, digestSecret(request)),
  )
}

/** The same for an event: a caller who is unsure may send it again by another route, alone or in a batch. */
export function readEventKey(
  request: FastifyRequest,
  { type, data }: { type: string; data: object },
  text = keyTextOf(request),
): RequestKey | undefined {
  const route = '/api/automation-rules/trigger/:eventType'
  return readKey(request, text, () => hashRequest('POST', route, { eventType: type }, { data }))
}

/** The key that a request has in its header; undefined where it has none. */
export function keyTextOf({ headers }: FastifyRequest): string | undefined {
  return headers['idempotency-key'] as string | undefined
}

function readKey(
  { workspace, caller }: FastifyRequest,
  text: string | undefined,
  hashOf: () => string,
): RequestKey | undefined {
  if (text === undefined) return undefined
  if (!keySyntax.test(text)) throw refusals.badIdempotencyKey()
  const user = caller?.session?.grant.user.id
  // The users of embed sessions have keys of their own: no customer uses up one of the product, or gets what is kept for it.
  const key = user === undefined ? text : `embed:${hash('sha256', user, 'hex')}:${text}`
  return { workspaceId: workspace.id, key, requestHash: hashOf() }
}

/**
 * Finds the key of a request that was done before; undefined where it was not. A repeat is never refused because something that it names
 * is gone since then. Where the request was not done before, faults of its key come after that refusal.
 *
 * @param read throws for an invalid key
 */
export async function findUsedKey(
  { server }: FastifyRequest,
  text: string | undefined,
  read: () => RequestKey | undefined,
): Promise<RequestKey | undefined> {
  const key = text !== undefined && keySyntax.test(text) ? read() : undefined
  const known = key && (await server.keptResponses.find(key))
  return known?.requestHash === key?.requestHash ? key : undefined
}

/** Hashes a request: equal requests have equal hashes. @param url of the route, with the names of parameters */
function hashRequest(method: string, url: string | undefined, params: unknown, body: unknown): string {
  return hash('sha256', JSON.stringify([method, url, canonicalParams(params), body], sortNames), 'hex')
}

/** The body. A secret that somebody has chosen could be guessed by its plain hash, in a copy of the database. */
function digestSecret({ server, body }: FastifyRequest): unknown {
  const { secret } = (body ?? {}) as { secret?: unknown }
  return typeof secret === 'string' ? { ...(body as object), secret: server.digestSecret(secret) } : body
}

/** A route finds the same row by an id in either case. */
function canonicalParams(params: unknown): object {
  const entries = Object.entries(params as Record<string, string>)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isUuid(value) ? value.toLowerCase() : value]),
  )
}

/** A library may write the names of an object in another order when it writes the same request again. */
function sortNames(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
}
