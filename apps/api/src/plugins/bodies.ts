import type { Fault } from '@automation/engine'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'
import { bodyFaults } from './validation.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Faults that schemas cannot see; undefined where there are none. */
    unstorable: Fault[] | undefined
  }
}

const maxDepth = 32
const maxNodes = 20_000
const maxReported = 20

/** Only JSON comes in, and an empty body under a JSON content type counts as none. */
export default fp(async (app) => {
  app.decorateRequest('unstorable', undefined)
  app.addHook('preHandler', ({ unstorable, validationError }, _reply, done) => {
    done(unstorable && refusals.invalid([...unstorable, ...bodyFaults(validationError ?? {})]))
  })
  app.removeAllContentTypeParsers()
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else parseJson(request, body as string, done)
  })
})

/** For a route whose body may be left out: it is then checked, and told in the document, like an empty one. */
export async function fillMissingBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}

/**
 * Notes what Postgres cannot store (NUL, half a surrogate pair), to be told together with the faults of shape.
 *
 * @throws a 422 refusal at once where the body is so deep or large that checking its shape could do harm
 */
export function noteUnstorable(request: FastifyRequest): void {
  if (typeof request.body !== 'object' || request.body === null) return
  const faults = findUnstorable(request.body)
  if (faults.length > 0) request.unstorable = faults
}

/** What Postgres cannot store, at most 20 faults. @throws a 422 refusal where the value is too deep or too large */
export function findUnstorable(body: unknown): Fault[] {
  const faults: Fault[] = []
  const pending: { value: unknown; field: string; depth: number }[] = [{ value: body, field: '', depth: 1 }]
  let nodes = 0
  // A loop with its own stack: the walk must survive any depth that JSON.parse survives.
  for (let next = pending.pop(); next && faults.length < maxReported; next = pending.pop()) {
    const { value, field, depth } = next
    if (++nodes > maxNodes)
      throw refusals.invalid([{ field, message: `Body has more than ${maxNodes} values` }])
    if (typeof value === 'string') reportText(value, field)
    if (typeof value !== 'object' || value === null) continue
    if (depth > maxDepth)
      throw refusals.invalid([{ field, message: `Nested deeper than ${maxDepth} levels` }])
    const isArray = Array.isArray(value)
    for (const [key, child] of Object.entries(value)) {
      const name = isArray ? `${field}[${key}]` : field === '' ? key : `${field}.${key}`
      if (!isArray) reportText(key, name)
      pending.push({ value: child, field: name, depth: depth + 1 })
    }
  }
  return faults

  function reportText(text: string, field: string): void {
    if (text.includes('\0'))
      faults.push({ field: field.replaceAll('\0', '\\0'), message: 'Contains a NUL character' })
    else if (!text.isWellFormed())
      faults.push({ field: field.toWellFormed(), message: 'Contains a lone surrogate' })
  }
}
