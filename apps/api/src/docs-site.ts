import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDocuments } from './docs/read-documents.js'
import { docsDirectory } from './docs-directory.js'

// npm run docs: writes site/pages and site/chapters.json from docs/, which VitePress then makes a site of.

const site = new URL('../site/', docsDirectory)
const chapters = await readDocuments()
await rm(new URL('pages/', site), { recursive: true, force: true })
for (const { address, markdown } of chapters.flatMap(({ documents }) => documents)) {
  const file = fileURLToPath(new URL(`pages/${address || 'index'}.md`, site))
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, markdown)
}
await cp(new URL('images/', docsDirectory), new URL('pages/public/images/', site), { recursive: true })
const list = chapters.map(({ title, documents }) => ({
  title,
  documents: documents.map(({ address, title }) => ({ address, title })),
}))
await writeFile(new URL('chapters.json', site), JSON.stringify(list))
