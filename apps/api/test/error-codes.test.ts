import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { errorCodes } from '../src/error-codes.js'

// That each refusal has a code of its status is checked at every refusal that a test makes (fixtures/api.ts).

const root = new URL('../../../../', import.meta.url)
const sources = await Promise.all(
  ['apps/api/src', 'packages/access/src', 'packages/rules/src', 'packages/process/src/server'].map(
    readSources,
  ),
)
const source = sources.flat().join('\n')

async function readSources(directory: string): Promise<string[]> {
  const names = await readdir(new URL(directory, root), { recursive: true })
  const files = names.filter((name) => name.endsWith('.ts') && !/(error-codes|refused)\.ts$/.test(name))
  return Promise.all(files.map((name) => readFile(new URL(`${directory}/${name}`, root), 'utf8')))
}

t.test('a code is in snake case, has one sentence, and is sent by somebody', async (t) => {
  t.ok(source.includes("'rule_not_found'"), 'the sources were read')
  for (const [code, [status, meaning]] of Object.entries(errorCodes)) {
    t.match(code, /^[a-z]+(_[a-z]+)*$/)
    t.ok(status >= 400 && status < 600, code)
    t.match(meaning, /^[A-Z].*[^.]$/, code)
    t.ok(source.includes(`'${code}'`), `${code} is sent`)
  }
})
