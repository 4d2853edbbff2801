import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { lockDirectory } from '../src/demo/launcher-lock.js'
import { findFreePort } from '../src/servers/ports.js'

const start = fileURLToPath(new URL('../src/start.js', import.meta.url))

async function runStart(directory: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [start, directory], { env: { ...process.env, ...env } })
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit'), text(child.stdout)])
  return { code, errors }
}

t.test('a taken port is reported in one sentence, before anything is started', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const directory = t.testdir()
  const { code, errors } = await runStart(directory, { PORT: `${port}` })
  t.equal(code, 1)
  t.equal(errors, `Port ${port} is taken; set PORT to another one\n`)
  t.same(await readdir(directory), ['launcher.pid'], 'nothing was made')
  t.equal(await readFile(`${directory}/launcher.pid`, 'utf8'), '', 'the directory is released')
})

t.test('an invalid port is reported in one sentence', async (t) => {
  const { code, errors } = await runStart(t.testdir(), { PORT: '80a' })
  t.equal(code, 1)
  t.equal(errors, 'PORT is 80a, but must be a number from 1 to 65535\n')
})

t.test('a second start beside a running product is refused in one sentence', async (t) => {
  const directory = t.testdir()
  const { unlock } = lockDirectory(`${directory}/launcher.pid`)
  const { code, errors } = await runStart(directory, { PORT: `${await findFreePort()}` })
  unlock()
  t.equal(code, 1)
  t.equal(
    errors,
    `The product is already running as process ${process.pid}: use that one, or stop it first\n`,
  )
  t.notOk(lockDirectory(`${directory}/launcher.pid`).wasKilled)
})
