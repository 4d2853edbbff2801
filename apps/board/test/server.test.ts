import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { startNode } from '@automation/launcher'
import t from 'tap'
import { authorize, login, settings } from './fixtures/board.js'

const entry = fileURLToPath(new URL('../src/server.js', import.meta.url))

t.test('without a login there is no board: the process reports it and exits', async (t) => {
  const env = { PATH: process.env.PATH, REDIS_URL: settings.REDIS_URL }
  const { status, stderr } = spawnSync(process.execPath, [entry], { env, encoding: 'utf8' })
  t.equal(status, 1)
  t.match(stderr, /BOARD_PASSWORD is required/)
  t.notMatch(stderr, / at /)
})

t.test('the process serves, logs writes and failed logins but no secret, and ends on SIGTERM', async (t) => {
  const log = `${t.testdir()}/board.log`
  const env = {
    ...settings,
    REDIS_URL: settings.REDIS_URL ?? '',
    LOG_LEVEL: 'trace',
    BOARD_WRITES: 'true',
    BOARD_PORT: '0',
  }
  const board = await startNode({ name: 'board', entry, env, log })
  t.teardown(() => board.stop())
  const url = `http://127.0.0.1:${board.port}`
  t.equal((await fetch(url, { headers: authorize() })).status, 200)
  const wrong = authorize({ ...login, password: 'not the password' })
  t.equal((await fetch(url, { headers: wrong })).status, 401)
  const job = `${url}/api/queues/automation/none/promote`
  t.equal((await fetch(job, { method: 'PUT', headers: authorize() })).status, 404)
  board.kill('SIGTERM')
  t.strictSame(await board.exited, { code: 0, signal: null })
  const logged = await readFile(log, 'utf8')
  t.match(logged, /"msg":"login failed"/)
  t.match(logged, /"method":"PUT".*"msg":"write request"/)
  for (const secret of [settings.BOARD_PASSWORD, 'not the password', authorize().authorization.slice(6)])
    t.notMatch(logged, secret)
})
