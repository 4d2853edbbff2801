import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'

const root = new URL('../../../', import.meta.url).pathname
const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'bench/README.md', 'examples/README.md'],
  ...['packages/client/README.md', 'packages/client/CHANGELOG.md'],
]

t.test('every link of the documents leads to a file, and to a heading of a document', async (t) => {
  const names = await readdir(join(root, 'docs'), { recursive: true })
  const documents = names.filter((name) => name.endsWith('.md')).map((name) => join('docs', name))
  let links = 0
  for (const page of [...pages, ...documents]) {
    const text = withoutCode(await readFile(join(root, page), 'utf8'))
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      // What the API serves beside the documents: its own test looks at those links.
      if (/^\w+:|^\/docs\//.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      await t.resolves(access(join(root, target)), `${page}: ${link}`)
      if (anchor !== undefined && target.endsWith('.md'))
        t.ok((await readAnchors(target)).has(anchor), `${page}: ${link}`)
      links++
    }
  }
  t.ok(links > 100, `${links}`)
})

/** Lists that are looked up, and not read. */
const lists = ['reference/command-line.md', 'reference/findings.md']

t.test('each page of the documentation is listed once, and is short', async (t) => {
  const chapters = JSON.parse(await readFile(join(root, 'docs/pages.json'), 'utf8')) as Record<
    string,
    string[]
  >
  const listed = Object.values(chapters).flat()
  const names = (await readdir(join(root, 'docs'), { recursive: true })).filter((name) =>
    name.endsWith('.md'),
  )
  t.strictSame(listed.filter((name) => !name.startsWith('../')).sort(), names.sort())
  for (const name of names.filter((name) => !name.startsWith('internals/') && !lists.includes(name))) {
    const { length } = (await readFile(join(root, 'docs', name), 'utf8')).split('\n')
    t.ok(length <= 205, `${name}: ${length} lines`)
  }
})

const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '')

/** The names that GitHub gives to headings. */
async function readAnchors(document: string): Promise<Set<string>> {
  const text = await readFile(join(root, document), 'utf8')
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
