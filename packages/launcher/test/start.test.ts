import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import t from 'tap'
import { lockDirectory } from '../src/demo/launcher-lock.js'
import { findFreePort } from '../src/servers/ports.js'
import { runStart } from './fixtures/start-demo.js'

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

t.test('a directory that must not be written is reported in one sentence', async (t) => {
  const { code, errors } = await runStart('/dev/null/data', { PORT: `${await findFreePort()}` })
  t.equal(code, 1)
  t.match(errors, /^\/dev\/null\/data cannot be used: E[A-Z]+[^\n]*\n$/)
})
