import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { writeApi } from './write-api.js'

// Writes src/api.ts from docs/openapi.json; with --check it only tells whether that is true.
const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const path = `${root}packages/client/src/api.ts`

const document = JSON.parse(await readFile(`${root}docs/openapi.json`, 'utf8'))
const api = format(writeApi(document))

if (process.argv.includes('--check')) {
  if ((await readFile(path, 'utf8').catch(() => '')) !== api) {
    console.error('packages/client/src/api.ts is out of date: run npm run openapi and commit it')
    process.exitCode = 1
  }
} else {
  await writeFile(path, api)
}

/** As biome would have it, so that it reads, and passes, like what people have written. */
function format(text: string): string {
  const { status, stdout, stderr } = spawnSync(
    `${root}node_modules/.bin/biome`,
    ['format', `--stdin-file-path=${path}`],
    { cwd: root, input: text, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`What was written is no TypeScript: ${stderr}`)
  return stdout
}
