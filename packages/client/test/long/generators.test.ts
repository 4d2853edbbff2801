import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const client = fileURLToPath(new URL('../../../', import.meta.url))
const programs = `${client}node_modules/.bin`
const document = fileURLToPath(new URL('../../../../../docs/openapi.json', import.meta.url))
const nouns = ['Action', 'Condition', 'EventToTrigger', 'Execution', 'Rule', 'RuleToCreate', 'TriggerResult']

t.test('a program type-checks against the types of openapi-typescript with its defaults', async (t) => {
  const directory = t.testdir()
  await run(`${programs}/openapi-typescript`, [document, '--output', `${directory}/generated.ts`])
  await writeFile(
    `${directory}/nouns.ts`,
    `import type { components } from './generated.js'\n${nouns
      .map((noun) => `export type ${noun} = components['schemas']['${noun}']\n`)
      .join('')}`,
  )
  await copy('program', directory)
  t.equal(await check(directory), '')
})

t.test('a program type-checks against the types and functions of @hey-api/openapi-ts', async (t) => {
  const directory = t.testdir()
  // It brings a hundred packages, which nothing else needs: they are fetched for this test.
  const packages = ['@hey-api/openapi-ts@0.92.0', 'typescript@5.9.3'].flatMap((name) => ['--package', name])
  await run('npx', [
    ...['--yes', ...packages, 'openapi-ts'],
    ...['--input', document, '--output', `${directory}/hey-api`],
    ...['--silent', '--no-log-file'],
  ])
  await writeFile(`${directory}/nouns.ts`, `export type { ${nouns.join(', ')} } from './hey-api/index.js'\n`)
  await copy('program', directory)
  await copy('sdk', directory)
  t.equal(await check(directory), '')
})

/** The programs are texts here: this package does not compile them, since the types do not exist yet. */
async function copy(name: string, directory: string): Promise<void> {
  const source = `${client}test/fixtures/generators/${name}.ts.txt`
  await writeFile(`${directory}/${name}.ts`, await readFile(source))
}

/** @returns the errors of the compiler */
async function check(directory: string): Promise<string> {
  const options = { noEmit: true, strict: true, exactOptionalPropertyTypes: false, types: [] as string[] }
  const compilerOptions = {
    ...options,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'preserve',
    moduleResolution: 'bundler',
  }
  await writeFile(`${directory}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['**/*.ts'] }))
  return run(`${programs}/tsc`, ['--project', directory]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
}
