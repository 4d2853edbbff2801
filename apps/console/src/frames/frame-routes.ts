import { readFile } from 'node:fs/promises'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { consoleHeaders } from '../guard/security-headers.js'
import { publicRoot } from '../pages.js'
import { FrameOrigins } from './frame-origins.js'

/**
 * The page of an embed session, `/embed/<id>` and all below. The path names the session, since a server never sees the fragment: only
 * origins that the workspace of a live session or the operator has listed may frame it. Opened by anybody else it is the same page. No browser keeps it:
 * an origin may be listed no more.
 */
export const frameRoutes: FastifyPluginAsync<{ apiUrl: string; url: URL }> = async (app, { apiUrl, url }) => {
  const page = await readFile(`${publicRoot}embed.html`, 'utf8')
  const known = new FrameOrigins(apiUrl)
  app.addHook('onClose', () => known.close())
  app.decorateRequest('frameOrigins', undefined)
  // After the headers that every response gets.
  app.addHook('onSend', async ({ frameOrigins }, reply) => {
    if (frameOrigins === undefined || frameOrigins.length === 0) return
    reply.headers(consoleHeaders({ url }, frameOrigins)).removeHeader('x-frame-options')
  })
  for (const path of ['/:id', '/:id/*']) app.get(path, send)

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { id } = request.params as { id: string }
    request.frameOrigins = await known.find(id, request.ip)
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(page)
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Those that may frame the page of this request. */
    frameOrigins: readonly string[] | undefined
  }
}
