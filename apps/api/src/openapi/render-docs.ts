import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import reference from '@scalar/fastify-api-reference'
import Fastify from 'fastify'
import { docsDirectory } from '../docs-directory.js'
import { etagOf } from '../etag.js'
import {
  cachingHeaders,
  type DocsPage,
  type DocsPath,
  referencePaths,
  schemaPath,
  textPages,
} from './docs-pages.js'
import { renderTextPage } from './render-text-page.js'

// What the thread of render-in-thread.ts does.

/** No part of the page contacts another host. */
const fromHereAlone = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
} as const

const headerNames = [
  'content-type',
  'content-disposition',
  'access-control-allow-origin',
  'access-control-allow-methods',
] as const

/**
 * Renders what /docs serves. Scalar's plugin does all of it again for each request: the YAML takes 0.1 s, and the script is a new copy
 * of 3.5 MB. So it runs in an app that nobody can reach, which is asked once. The document is the file that is made of the routes (`npm run openapi`; the
 * tests compare it): to make it takes 0.2 s of the process.
 */
export async function renderDocs(): Promise<Record<DocsPath, DocsPage>> {
  const document = JSON.parse(await readFile(new URL('openapi.json', docsDirectory), 'utf8'))
  const renderer = Fastify()
  await renderer.register(reference, {
    routePrefix: '/docs',
    configuration: { content: document, ...fromHereAlone },
  })
  const pages: Partial<Record<DocsPath, DocsPage>> = {}
  for (const path of referencePaths) pages[path] = await renderReference(renderer, path)
  for (const name of textPages)
    pages[`/docs/${name}`] = await pageOf(Buffer.from(await renderTextPage(name)), {
      'content-type': 'text/html; charset=utf-8',
    })
  pages[schemaPath] = await pageOf(await readFile(new URL('rules.schema.json', docsDirectory)), {
    'content-type': 'application/json; charset=utf-8',
    'access-control-allow-origin': '*',
  })
  await renderer.close()
  return pages as Record<DocsPath, DocsPage>
}

async function renderReference(
  renderer: ReturnType<typeof Fastify>,
  path: (typeof referencePaths)[number],
): Promise<DocsPage> {
  const { statusCode, headers, rawPayload: body } = await renderer.inject(path)
  if (statusCode !== 200) throw new Error(`${path} could not be rendered`)
  const own = headerNames.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, String(headers[name])]],
  )
  return pageOf(body, Object.fromEntries(own))
}

async function pageOf(body: Buffer, own: Record<string, string>): Promise<DocsPage> {
  const headers = { ...own, ...cachingHeaders, vary: 'accept-encoding' }
  const compressed = await promisify(gzip)(body, { level: 9 })
  return {
    plain: { body, headers: { ...headers, etag: etagOf(body) } },
    gzip: { body: compressed, headers: { ...headers, 'content-encoding': 'gzip', etag: etagOf(compressed) } },
  }
}
