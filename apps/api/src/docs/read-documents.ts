import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { docsDirectory } from '../docs-directory.js'

export interface Chapter {
  title: string
  documents: Document[]
}

/** A page of the documentation. */
export interface Document {
  /** Below /docs/, such as `guides/recipes`; the start page has none. */
  address: string
  title: string
  /** Its first sentence. */
  summary: string
  /** Its links lead to `/<address>`, or to `/<file>` of docs/. A link that leads out of the documentation is only its text. */
  markdown: string
}

/** Reads the pages that docs/pages.json lists, in its order. */
export async function readDocuments(): Promise<Chapter[]> {
  const list = JSON.parse(await readFile(new URL('pages.json', docsDirectory), 'utf8')) as Record<
    string,
    string[]
  >
  const addresses = new Map(
    Object.values(list).flatMap((files) => files.map((file) => [file, addressOf(file)])),
  )
  const chapters = Object.entries(list).map(async ([title, files]) => ({
    title,
    documents: await Promise.all(files.map((file) => readDocument(file, addresses))),
  }))
  return Promise.all(chapters)
}

/** `README.md` is the page of its directory. */
function addressOf(file: string): string {
  return file
    .replace(/^\.\.\//, '')
    .replace(/\.md$/, '')
    .replace(/(^|\/)README$/, '')
    .toLowerCase()
}

async function readDocument(file: string, addresses: Map<string, string>): Promise<Document> {
  const text = (await readFile(new URL(file, docsDirectory), 'utf8')).replace(/<!--.*?-->\n/g, '')
  const markdown = outsideOfCode(text, (part) =>
    part.replace(/!?\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (link, label, href) => {
      const target = findTarget(file, href, addresses)
      return target === undefined ? label : link.replace(`](${href})`, `](${target})`)
    }),
  )
  const [, title = file] = /^# (.+)$/m.exec(markdown) ?? []
  return { address: addresses.get(file) ?? '', title, summary: summaryOf(markdown), markdown }
}

/** undefined for a file that is not served. */
function findTarget(file: string, href: string, addresses: Map<string, string>): string | undefined {
  if (/^(\w+:|#)/.test(href)) return href
  // What the API serves beside the documents, such as its reference.
  if (href.startsWith('/docs/')) return href.slice('/docs'.length)
  const [path = '', anchor] = href.split('#')
  const target = posix.join(posix.dirname(file), path)
  const address = addresses.get(target)
  const suffix = anchor === undefined ? '' : `#${anchor}`
  if (address !== undefined) return `/${address}${suffix}`
  return isServedFile(target) ? `/${target}` : undefined
}

/** Of docs/: schemas, vectors, alerts and pictures. */
export const isServedFile = (path: string): boolean =>
  /^(?!pages\.json$)[\w/-]+(\.[\w-]+)*\.(json|yml|png|svg)$/.test(path)

function outsideOfCode(markdown: string, change: (text: string) => string): string {
  // A label may have code, so a link is found before inline code is left out.
  const fences = markdown.split(/(^ *```[\s\S]*?^ *```$)/m)
  return fences.map((part, index) => (index % 2 === 0 ? change(part) : part)).join('')
}

function summaryOf(markdown: string): string {
  const [paragraph = ''] = markdown
    .split('\n\n')
    .filter((part) => /^(?!```)[\w"*`]/.test(part.replace(/^# .+\n/, '')))
  const text = paragraph
    .replace(/^# .+\n/, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
  return /^.*?[.?!](?= |$)/.exec(text)?.[0] ?? text
}
