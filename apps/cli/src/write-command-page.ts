import { readFile, writeFile } from 'node:fs/promises'
import { fillCommandPage } from './command-page.js'

// npm run commands: writes the reference part of docs/reference/command-line.md.
const page = new URL('../../../../docs/reference/command-line.md', import.meta.url)
await writeFile(page, await fillCommandPage(await readFile(page, 'utf8')))
