import { finished } from 'node:stream'
import { writePage } from '@automation/process/server'
import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { askApi, openApi, prefixOf } from './ask-api.js'
import { readApiPath } from './read-path.js'
import { readWhole } from './read-whole.js'
import { Slots, usualSlots } from './slots.js'

/** As the API accepts it: a reason, and two short fields. */
const maxFormBytes = 16_384

/**
 * Hands the links of decisions on to the API, for people without an account: nobody has to be signed in, and the API gets no token. Whatever
 * goes wrong is a page.
 *
 *   place to arrive ──▶ whole form, at most 16 KiB ──▶ slot of the address ──▶ API ──▶ page handed back ──▶ slot free
 *
 * The links of a workspace have as many slots as a session: somebody who keeps their own workspace busy takes the slots of no other.
 */
export const decisionLinkRoutes: FastifyPluginAsync<{ apiUrl: string }> = async (app, { apiUrl }) => {
  const api = openApi(apiUrl, usualSlots)
  const slots = new Slots(usualSlots)
  app.addHook('onClose', async () => api.destroy())
  const type = 'application/x-www-form-urlencoded'
  readWhole(app, { type, maxBytes: maxFormBytes, refuse: refuseExcess })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { statusCode: status = 500 } = error
    if (status >= 500) request.log.error({ err: error }, 'the page of a decision failed')
    return refuse(reply, status, 'This did not work. Open the link again.')
  })
  // A link is opened from anywhere, and its form has a token of its own.
  const config = { acceptsOtherSites: true }
  app.route({ method: ['GET', 'HEAD', 'POST'], url: '/*', config, handler: handOn })

  async function handOn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const target = readApiPath(request.url, `${app.prefix}/`)
    if (typeof target === 'string') return refuse(reply, 404, 'This link is not complete.')
    const slot = slots.take(request.ip, workspaceOf(target.path))
    if (typeof slot === 'string') return refuseExcess(reply, slot)
    finished(reply.raw, slot)
    const path = `${prefixOf(apiUrl)}${target.path}${target.query}`
    return askApi(api, { request, reply, path, isCacheable: true, refuse })
  }
}

/** The path is `/decide/<workspace>/…`. */
function workspaceOf(path: string): string {
  return `workspace ${path.split('/')[2]?.toLowerCase()}`
}

function refuseExcess(reply: FastifyReply, of: 'user' | 'address' | 'all'): FastifyReply {
  reply.header('retry-after', '1')
  if (of === 'all') return refuse(reply, 503, 'Too many people decide at the moment. Try again in a moment.')
  const who = of === 'user' ? 'for decisions of this workspace' : 'from your network'
  return refuse(reply, 429, `There are too many requests ${who}. Try again in a moment.`)
}

function refuse(reply: FastifyReply, status: number, sentence: string): FastifyReply {
  return reply
    .status(status)
    .type('text/html; charset=utf-8')
    .send(writePage('Try again', [`<p class="wait" role="status">${sentence}</p>`]))
}
