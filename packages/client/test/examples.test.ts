import { execFile, spawnSync } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeTemporaryDirectory } from '@automation/launcher'
import t from 'tap'
import { createClient } from '../src/create-client.js'
import { startOwnProduct } from './fixtures/product.js'

const run = promisify(execFile)
const examples = fileURLToPath(new URL('../../../../examples', import.meta.url))

t.test('the clients of the examples follow docs/openapi.json', async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [`${examples}/generate.mjs`, '--check'], {
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
})

t.test('the Go example passes what its client takes, also where there is no Go to compile it', async (t) => {
  const [program, source] = await Promise.all(
    ['main.go', 'rules/rules.go'].map((path) => readFile(`${examples}/go/${path}`, 'utf8')),
  )
  const calls = [...(program ?? '').matchAll(/\bclient\.(\w+)\(/g)]
  t.ok(calls.length >= 4, `${calls.length} calls`)
  for (const { 0: call, 1: name, index } of calls) {
    const signature = new RegExp(`^func \\(c \\*Client\\) ${name}\\(([^)]*)\\)`, 'm').exec(source ?? '')
    const taken = countArguments(`${signature?.[1]})`)
    t.equal(countArguments((program ?? '').slice(index + call.length)), taken, `${name}`)
  }
})

/** Up to the bracket that closes the list. */
function countArguments(text: string): number {
  let depth = 0
  let commas = 0
  for (const [part] of text.matchAll(/"[^"]*"|[({[]|[)}\]]|,/g)) {
    if ('({['.includes(part)) depth++
    else if (')}]'.includes(part) && depth-- === 0) break
    else if (part === ',' && depth === 0) commas++
  }
  return commas + 1
}

const languages = [
  { name: 'Python', directory: 'python', program: 'python3', args: ['send_event.py'], version: '--version' },
  { name: 'Go', directory: 'go', program: 'go', args: ['run', '.'], version: 'version' },
]

for (const { name, directory, program, args, version } of languages) {
  const isThere = spawnSync(program, [version]).status === 0
  const skip = isThere
    ? !process.env.TEST_LONG && 'only the long run has it'
    : `${program} is not on this machine: examples/${directory} was not run`
  t.test(`the ${name} example runs against the product`, { skip }, async (t) => {
    const { options } = await startOwnProduct(t)
    const client = createClient(options)
    const { key } = await client.developer.apiKeys.create({ name: 'CI', scopes: ['rules:write'] })
    // A copy, because Python and Go write beside their sources.
    const copy = await makeTemporaryDirectory()
    t.teardown(copy.remove)
    await cp(`${examples}/${directory}`, copy.path, { recursive: true })
    const { stdout } = await run(program, args, {
      cwd: copy.path,
      env: {
        ...process.env,
        RULES_URL: options.baseUrl,
        RULES_API_KEY: key,
        GOFLAGS: '-mod=mod',
        GOPROXY: 'off',
      },
    })
    t.match(stdout, /succeeded/)
    t.match(stdout, /Call Ada/)
    t.match(stdout, /^refused: .*400.*Invalid trigger type/m)
    const tasks = await client.tasks.list().all()
    t.same(
      tasks.map(({ title }) => title),
      ['Call Ada'],
      'the event happened once',
    )
  })
}
