import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const entry = fileURLToPath(new URL('../src/main.js', import.meta.url))

async function bench(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH: '/nowhere', NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, errors }
}

t.test('a benchmark that meets an error ends with exit code 1, says so and writes no figures', async (t) => {
  const json = `${t.testdir()}/results.json`
  const { code, errors } = await bench(['compare', '--json', json], { N8N_DIR: '/nowhere' })
  t.equal(code, 1)
  t.match(errors, 'n8n is neither on the PATH nor in N8N_DIR')
  t.match(errors, 'The benchmark "compare" has failed')
  await t.rejects(access(json))
})

t.test('an invalid argument ends with exit code 2', async (t) => {
  const { code, errors } = await bench(['events', '--seconds', 'many'])
  t.equal(code, 2)
  t.match(errors, '--seconds many is not a number above 0')
})

t.test('an unreadable file of results is an error, and is not replaced', async (t) => {
  const json = `${t.testdir({ 'results.json': 'no JSON' })}/results.json`
  const { code } = await bench(['compare', '--json', json], { N8N_DIR: '/nowhere' })
  t.equal(code, 1)
})
