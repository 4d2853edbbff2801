import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort, startNode } from '@automation/launcher'
import { sealLink } from '@automation/process/sign-in'
import t from 'tap'
import { goodToken, openUpstream, secret } from './fixtures/console.js'

const entry = fileURLToPath(new URL('../src/server.js', import.meta.url))

t.test('without a secret there is no console: the process reports it and exits', async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [entry], {
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  })
  t.equal(status, 1)
  t.match(stderr, /CONSOLE_SECRET is required/)
})

t.test('the process serves, counts sign-ins, logs no token or link, and ends on SIGTERM', async (t) => {
  const upstream = await openUpstream(t)
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const log = `${t.testdir()}/console.log`
  const env = {
    CONSOLE_SECRET: secret,
    CONSOLE_URL: url,
    CONSOLE_PORT: `${port}`,
    CONSOLE_API_URL: upstream.url,
    METRICS_PORT: '0',
    LOG_LEVEL: 'trace',
  }
  const process = await startNode({ name: 'console', entry, env, log })
  t.teardown(() => process.stop())
  const post = (path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify(body),
    })
  const key = await sealLink(secret, goodToken, 60)
  const entered = await post('/session/link', { key })
  t.equal(entered.status, 204)
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  t.equal((await post('/session/link', { key })).status, 401)
  t.equal((await post('/session/token', { token: 'a wrong token' })).status, 401)
  t.equal((await fetch(`${url}/api/events`, { headers: { cookie } })).status, 200)
  t.equal((await fetch(`${url}/w/x/today`)).status, 200)
  const metrics = await (await fetch(`http://127.0.0.1:${process.metricsPort}/metrics`)).text()
  t.match(metrics, /automation_console_sign_ins_total\{result="succeeded"\} 1/)
  t.match(metrics, /automation_console_sign_ins_total\{result="failed"\} 2/)
  process.kill('SIGTERM')
  t.strictSame(await process.exited, { code: 0, signal: null })
  const logged = await readFile(log, 'utf8')
  t.match(logged, /"msg":"sign-in failed"/)
  for (const hidden of [goodToken, 'a wrong token', key, cookie.split('=')[1] ?? ''])
    t.notMatch(logged, hidden)
})
