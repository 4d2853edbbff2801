import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { acceptsGzip } from '../accepts-gzip.js'
import { cachingHeaders, type Docs, shortAddresses } from '../docs/docs-pages.js'
import { renderInThread } from '../docs/render-in-thread.js'
import { refusals } from '../errors.js'
import { isKnown } from '../etag.js'
import { limitationOf } from '../rate-limit/rate-limit.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route serves files of the documentation, for which an address has a bucket of its own. */
    isDocs?: boolean
  }
}

/**
 * Serves the documentation, the API reference and the OpenAPI document, to everybody. All of it is read and rendered at the first request; after that, a
 * request costs what its bytes cost.
 */
export default fp(
  async (app) => {
    let rendered: Promise<Docs> | undefined

    /** On a busy host the first reader waits longer than a request may take. */
    function findDocs(request: FastifyRequest): Promise<Docs> {
      app.liftDeadline(request)
      rendered ??= renderInThread().catch((error) => {
        rendered = undefined
        throw refusals.unavailable(error)
      })
      return rendered
    }

    const route = {
      method: 'GET',
      config: { isOpen: true, isDocs: true },
      schema: { hide: true },
      onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
        await app.consumeToken(request, reply)
        const limitation = limitationOf(request)
        if (limitation) throw limitation
      },
    } as const

    app.route({ ...route, url: '/', handler: (_request, reply) => redirect(reply, 'docs/', 302) })
    app.route({
      ...route,
      url: '/llms.txt',
      handler: (_request, reply) => redirect(reply, 'docs/llms.txt', 302),
    })
    for (const url of ['/docs', '/docs/*'])
      app.route({
        ...route,
        url,
        handler: async (request, reply) => {
          const [path = ''] = request.url.split('?', 1)
          const { pages, missing } = await findDocs(request)
          const page = pages[path]
          const target = page === undefined ? findAddress(path, pages) : undefined
          if (target !== undefined) return redirect(reply.headers(cachingHeaders), target, 301)
          if (page === undefined)
            return reply.status(404).type('text/html; charset=utf-8').send(missing.plain.body)
          const { body, headers } = acceptsGzip(request) ? page.gzip : page.plain
          reply.headers(headers)
          return isKnown(request.headers['if-none-match'], headers.etag)
            ? reply.status(304).send()
            : reply.send(body)
        },
      })
  },
  { name: 'docs', dependencies: ['deadline', 'openapi', 'rate-limit', 'not-found'] },
)

/** curl shows the text, and follows no redirect by itself. */
function redirect(reply: FastifyReply, target: string, status: 301 | 302): FastifyReply {
  return reply
    .status(status)
    .header('location', target)
    .type('text/plain; charset=utf-8')
    .send(`See ${target}\n`)
}

/** The page for which an address is another way to write it. */
function findAddress(path: string, pages: Docs['pages']): string | undefined {
  const short = shortAddresses[path]
  if (short !== undefined) return short
  const bare = path.replace(/(\/|\/index)?(\.html)?$/, '')
  return [bare, `${bare}/`].find((address) => address !== path && address in pages)
}
