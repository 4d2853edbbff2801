import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isKnown } from '../etag.js'
import { cachingHeaders, type DocsPage, type DocsPath, docsPaths } from '../openapi/docs-pages.js'
import { renderInThread } from '../openapi/render-in-thread.js'
import { limitationOf } from '../rate-limit/rate-limit.js'

/**
 * Serves the OpenAPI document, the page that shows it, and the pages for authors of rules, to everybody. All of it is rendered from the files of
 * docs/ at the first request; after that, a request costs what its bytes cost. It consumes a token of its address: the page takes four (with the redirect), of 15 by default.
 */
export default fp(
  async (app) => {
    let pages: Promise<Record<DocsPath, DocsPage>> | undefined

    function findPages(): Promise<Record<DocsPath, DocsPage>> {
      pages ??= renderInThread().catch((error) => {
        pages = undefined
        throw error
      })
      return pages
    }

    async function consumeToken(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await app.consumeToken(request, reply)
      const limitation = limitationOf(request)
      if (limitation) throw limitation
    }

    app.route({
      method: 'GET',
      url: '/',
      config: { isOpen: true },
      schema: { hide: true },
      onRequest: consumeToken,
      handler: (_request, reply) => reply.redirect('docs/', 302),
    })

    for (const path of docsPaths) {
      app.route({
        method: 'GET',
        url: path,
        config: { isOpen: true },
        schema: { hide: true },
        onRequest: consumeToken,
        handler: async (request, reply) => {
          // The page names its script and its document relative to itself.
          if (path === '/docs/' && !/^[^?]*\/(\?|$)/.test(request.url))
            return reply.headers(cachingHeaders).redirect(path, 301)
          const page = (await findPages())[path]
          const { body, headers } = acceptsGzip(request) ? page.gzip : page.plain
          reply.headers(headers)
          return isKnown(request.headers['if-none-match'], headers.etag)
            ? reply.status(304).send()
            : reply.send(body)
        },
      })
    }
  },
  { name: 'docs', dependencies: ['openapi', 'rate-limit', 'not-found'] },
)

/** `gzip;q=0` refuses it. */
function acceptsGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(headers['accept-encoding'] ?? ''))
}
