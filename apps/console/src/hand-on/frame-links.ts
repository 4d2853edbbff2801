import { finished } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { askApi, openApi, prefixOf, type Refuse, refuseExcess } from './ask-api.js'
import { readApiPath } from './read-path.js'
import { arrivingSlots, frameSlots, Slots } from './slots.js'

/** As the API accepts it: a secret. */
const maxBytes = 4_096

/**
 * Hands on what a frame asks before it has a token: the exchange of its link, and who may frame it. Anybody can ask that. So it has slots of its own, and
 * gets no token; a secret is read before it has a slot, as the forms of decisions are.
 */
export const frameLinkRoutes: FastifyPluginAsync<{ apiUrl: string }> = async (app, { apiUrl }) => {
  const api = openApi(apiUrl, frameSlots)
  const slots = new Slots(frameSlots)
  const arriving = new Slots(arrivingSlots)
  app.addHook('onClose', async () => api.destroy())
  // Without a token the API says what may be kept: nothing of this.
  app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'))
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return
    const place = arriving.take(request.ip, 'secret')
    // The rest of it is not read.
    if (typeof place === 'string') return refuseExcess(reply.header('connection', 'close'), place)
    finished(request.raw, { writable: false }, place)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: maxBytes },
    (_request, secret, done) => done(null, secret),
  )
  app.post('/:id/open', handOn)
  app.get('/:id/frame', handOn)

  async function handOn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const target = readApiPath(request.url, `${app.prefix}/`)
    if (typeof target === 'string') return refuse(reply, 404, 'Not found')
    const { id } = request.params as { id: string }
    const slot = slots.take(request.ip, `session ${id.toLowerCase()}`)
    if (typeof slot === 'string') return refuseExcess(reply, slot)
    finished(reply.raw, slot)
    const path = `${prefixOf(apiUrl)}${target.path}${target.query}`
    return askApi(api, { request, reply, path, bearer: undefined, isWaiting: false, refuse })
  }
}

const refuse: Refuse = (reply, status, error) => reply.status(status).send({ error })
