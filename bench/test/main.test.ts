import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const entry = fileURLToPath(new URL('../src/main.js', import.meta.url))

async function bench(...args: string[]) {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH: '/nowhere', NODE_OPTIONS: '', N8N_DIR: '/nowhere' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { code, output, errors }
}

t.test('a benchmark that meets an error ends with exit code 1, says so and writes no figures', async (t) => {
  const json = `${t.testdir()}/results.json`
  const { code, errors } = await bench('compare', '--json', json)
  t.equal(code, 1)
  t.match(errors, 'n8n is neither on the PATH nor in N8N_DIR')
  t.match(errors, 'The benchmark "compare" has failed')
  await t.rejects(access(json))
})

t.test('an invalid argument ends with exit code 2 and the usage', async (t) => {
  const { code, errors } = await bench('events', '--seconds', 'many')
  t.equal(code, 2)
  t.match(errors, '--seconds many is not a number above 0')
  t.match(errors, /\n {2}events +from a caller's request/)
})

t.test('--help lists the benchmarks', async (t) => {
  const { code, output } = await bench('--help')
  t.equal(code, 0)
  t.match(output, /\n {2}sustained +events at fixed rates.* \(1 × 300 s\)/)
})
