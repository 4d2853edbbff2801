import { finished } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { askApi, openApi, prefixOf, type Refuse, refuseExcess } from './ask-api.js'
import { readApiPath } from './read-path.js'
import { readWhole } from './read-whole.js'
import { frameSlots, Slots } from './slots.js'

/** As the API accepts it: a secret. */
const maxBytes = 4_096

/**
 * Hands on what a frame asks before it has a token: the exchange of its link, and who may frame it. Anybody can ask that. So it has slots of its own, and
 * gets no token.
 */
export const frameLinkRoutes: FastifyPluginAsync<{ apiUrl: string }> = async (app, { apiUrl }) => {
  const api = openApi(apiUrl, frameSlots)
  const slots = new Slots(frameSlots)
  app.addHook('onClose', async () => api.destroy())
  readWhole(app, { type: 'application/json', maxBytes, refuse: refuseExcess })
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
    return askApi(api, { request, reply, path, refuse })
  }
}

const refuse: Refuse = (reply, status, error) => reply.status(status).send({ error })
