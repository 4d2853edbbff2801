import { finished } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { arrivingSlots, Slots } from './slots.js'

interface Body {
  /** Its media type. Others are refused. */
  type: string
  maxBytes: number
  /** Who has too many bodies on their way. */
  refuse(reply: FastifyReply, of: 'user' | 'address' | 'all'): FastifyReply
}

/**
 * Lets routes read a body as a whole before they take a slot: one that never ends takes none from others. It has a place to arrive, for ten seconds at
 * most.
 */
export function readWhole(app: FastifyInstance, { type, maxBytes, refuse }: Body): void {
  const arriving = new Slots(arrivingSlots)
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return
    const place = arriving.take(request.ip, type)
    // The rest of the body is not read.
    if (typeof place === 'string') return refuse(reply.header('connection', 'close'), place)
    finished(request.raw, { writable: false }, place)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit: maxBytes }, (_request, body, done) =>
    done(null, body),
  )
}
