import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Notes the length of a body that has arrived. @throws a 429 refusal where large bodies take all the memory that they may */
    noteBody(request: FastifyRequest, length: number): void
  }
  interface FastifyRequest {
    /** The length of its body. */
    bodyLength: number
    /** Who pays for it; undefined for a small one, and from the response on. */
    bodyOwner: string | undefined
  }
}

/** A body up to this length costs nothing. Parsed, a body takes several times its length. */
const smallLength = 65_536
/** How many owners must work together to take all of it. */
const owners = 4

/**
 * Limits the bodies that are parsed and not yet responded to: some hundred of a megabyte would end a small process. A workspace has
 * a quarter of it, and so has an address whose caller is not known.
 */
export default fp<{ bodiesInFlightBytes: number }>(
  async (app, { bodiesInFlightBytes: limit }) => {
    const share = Math.floor(limit / owners)
    const taken = new Map<string, number>()
    let total = 0
    app.decorateRequest('bodyLength', 0)
    app.decorateRequest('bodyOwner', undefined)
    app.decorate('noteBody', (request: FastifyRequest, length: number) => {
      request.bodyLength = length
      if (length <= smallLength) return
      const owner = ownerOf(request)
      const ofOwner = taken.get(owner) ?? 0
      const isFull = ofOwner > 0 && ofOwner + length > share
      if (isFull || (total > 0 && total + length > limit)) {
        app.metrics.bodiesRefused.inc()
        throw refusals.tooManyBodies(limit, share)
      }
      request.bodyOwner = owner
      taken.set(owner, ofOwner + length)
      total += length
    })
    // Fastify calls onResponse for no request whose caller has hung up before the response.
    app.addHook('onSend', (request, _reply, _payload, done) => {
      const { bodyOwner, bodyLength } = request
      // A response that fails on its way is sent a second time.
      request.bodyOwner = undefined
      if (bodyOwner !== undefined) {
        const left = (taken.get(bodyOwner) ?? 0) - bodyLength
        if (left > 0) taken.set(bodyOwner, left)
        else taken.delete(bodyOwner)
        total -= bodyLength
      }
      done()
    })
  },
  { name: 'body-budget', dependencies: ['metrics'] },
)

function ownerOf({ caller, params, ip }: FastifyRequest): string {
  return caller?.workspaceId ?? (params as { workspaceId?: string }).workspaceId ?? ip
}
