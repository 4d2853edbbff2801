import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'

export const publicRoot = fileURLToPath(new URL('../public/', import.meta.url))

/** Of the element, which pages of other sites load: it has no secret, and knows nobody. */
const ofAnySite = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }

/** The files of the page: those with a digest in their name never change, and the page itself is asked for each time. */
export const pageRoutes: FastifyPluginAsync = async (app) => {
  const page = await readFile(`${publicRoot}index.html`, 'utf8')
  await app.register(fastifyStatic, {
    root: publicRoot,
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      const isForever = path.includes('/assets/')
      reply.header('cache-control', isForever ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  // After the headers that every response gets.
  const onSend = async (_request: FastifyRequest, reply: FastifyReply) => void reply.headers(ofAnySite)
  app.get('/embed.js', { onSend }, (_request, reply) => reply.sendFile('embed.js'))
  for (const path of ['/', '/enter', '/join', '/sign-in', '/w/*'])
    app.get(path, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(page),
    )
}
