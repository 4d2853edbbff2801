import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import reference from '@scalar/fastify-api-reference'
import Fastify from 'fastify'
import { docsDirectory } from '../docs-directory.js'
import { etagOf } from '../etag.js'
import { cachingHeaders, type Docs, type DocsPage } from './docs-pages.js'
import { type Chapter, isServedFile, readDocuments } from './read-documents.js'
import { renderTextPage } from './render-text-page.js'
import { writeIndex } from './write-index.js'

// What the thread of render-in-thread.ts does.

/** No part of the page contacts another host. */
const fromHereAlone = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
} as const

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.yml': 'application/yaml; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}
/** The site's own files have a new name whenever their content changes. */
const unchanging = { 'cache-control': 'public, max-age=31536000, immutable' }
/** Programs of other pages, such as editors of rules, may read these. */
const shared = /^\/docs\/(openapi\.(json|yaml)|rules\.schema\.json|signing-vectors\.json)$/

const builtSite = new URL('../site/dist/', docsDirectory)

/** Collects what is served: paths and bodies. */
type Files = Map<string, Buffer>

/**
 * Renders what /docs serves. A site that `npm run docs` has built is served as it is. Otherwise each page is plain HTML, at the same address.
 */
export async function renderDocs(site = builtSite): Promise<Docs> {
  const chapters = await readDocuments()
  const files: Files = new Map()
  await addReference(files)
  await addDataFiles(files)
  for (const { address, markdown } of chapters.flatMap(({ documents }) => documents))
    files.set(`/docs/${address || 'index'}.md`, Buffer.from(markdown.replaceAll('](/', '](/docs/')))
  files.set('/docs/llms.txt', Buffer.from(writeIndex(chapters)))
  if (!(await addSite(files, site))) addPlainPages(files, chapters)
  const missing = files.get('/docs/404.html') ?? Buffer.from('')
  files.delete('/docs/404.html')
  const pages = [...files].map(
    async ([path, body]): Promise<[string, DocsPage]> => [
      path.replace(/(index)?\.html$/, ''),
      await pageOf(path, body),
    ],
  )
  return { pages: Object.fromEntries(await Promise.all(pages)), missing: await pageOf('.html', missing) }
}

/**
 * Scalar's plugin renders for each request: the YAML takes 0.1 s, and the script is a new copy of 3.5 MB. So it runs in an app that nobody can reach,
 * which is asked once. The document is the file that is made of the routes (`npm run openapi`; the tests compare it).
 */
async function addReference(files: Files): Promise<void> {
  const document = JSON.parse(await readFile(new URL('openapi.json', docsDirectory), 'utf8'))
  const renderer = Fastify()
  await renderer.register(reference, {
    routePrefix: '/docs/api',
    configuration: { content: document, pageTitle: 'API reference · Automation Rules', ...fromHereAlone },
  })
  for (const [from, to] of [
    ['/docs/api/', '/docs/api/index.html'],
    ['/docs/api/js/scalar.js', '/docs/api/js/scalar.js'],
    ['/docs/api/openapi.json', '/docs/openapi.json'],
    ['/docs/api/openapi.yaml', '/docs/openapi.yaml'],
  ] as const) {
    const { statusCode, payload, rawPayload } = await renderer.inject(from)
    if (statusCode !== 200) throw new Error(`${from} could not be rendered`)
    const body = to.endsWith('.html') ? addWayBack(payload) : rawPayload
    files.set(to, Buffer.from(body))
  }
  await renderer.close()
}

/** The pages, and the document that the reference reads, are one level above it. */
function addWayBack(html: string): string {
  return html
    .replace('"./openapi.json"', '"../openapi.json"')
    .replace('<html>', '<html lang="en">')
    .replace('</head>', `<link rel="icon" href="data:,"><style>${referenceStyle}</style></head>`)
    .replace('<div id="app"></div>', `${wayBack}<div id="app"><p>${untilLoaded}</p></div>`)
}

const wayBack = '<nav><a href="../">← Documentation</a></nav>'
/** Scalar replaces it. */
const untilLoaded =
  'The API reference is loading. It needs JavaScript; <a href="../openapi.json">openapi.json</a> has the same content.'
const referenceStyle = `
:root { color-scheme: light dark; --scalar-custom-header-height: 2.5rem }
body { margin: 0; font-family: system-ui, sans-serif }
nav, #app > p { padding: 0 1.5rem }
body > nav { position: sticky; top: 0; z-index: 9; height: 2.5rem; line-height: 2.5rem; background: var(--scalar-background-1, Canvas) }
body > nav a { color: var(--scalar-color-1, LinkText) }
`

async function addDataFiles(files: Files): Promise<void> {
  for (const name of await readdir(docsDirectory, { recursive: true }))
    if (isServedFile(name) && name !== 'openapi.json')
      files.set(`/docs/${name}`, await readFile(new URL(name, docsDirectory)))
}

/** @returns whether a site was built */
async function addSite(files: Files, site: URL): Promise<boolean> {
  const names = await readdir(site, { recursive: true }).catch(() => [])
  for (const name of names.filter((name) => extname(name) in types))
    files.set(`/docs/${name}`, await readFile(new URL(name, site)))
  return names.length > 0
}

function addPlainPages(files: Files, chapters: Chapter[]): void {
  for (const document of chapters.flatMap(({ documents }) => documents))
    files.set(`/docs/${document.address || 'index'}.html`, Buffer.from(renderTextPage(document, chapters)))
  files.set('/docs/404.html', Buffer.from(renderTextPage(missing, chapters, '/docs/')))
}

const missing = {
  address: '',
  title: 'There is no such page',
  summary: '',
  markdown:
    '# There is no such page\nThe address may be of another version. [The start page](/) leads to all pages.',
}

async function pageOf(path: string, body: Buffer): Promise<DocsPage> {
  const headers = {
    'content-type': types[extname(path)] ?? 'application/octet-stream',
    ...(path.startsWith('/docs/assets/') ? unchanging : cachingHeaders),
    ...(shared.test(path) && { 'access-control-allow-origin': '*' }),
    vary: 'accept-encoding',
  }
  const compressed = await promisify(gzip)(body, { level: 9 })
  return {
    plain: { body, headers: { ...headers, etag: etagOf(body) } },
    gzip: { body: compressed, headers: { ...headers, 'content-encoding': 'gzip', etag: etagOf(compressed) } },
  }
}
