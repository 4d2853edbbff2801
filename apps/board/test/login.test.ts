import t, { type Test } from 'tap'
import { authorize, login, startBoard } from './fixtures/board.js'

/** Has a base path, so that paths outside of it are tested, too. */
const start = (t: Test) => startBoard(t, { BOARD_BASE_PATH: '/ops' })

t.test('without the login nothing is shown: no pages, files, data or unknown paths', async (t) => {
  const { ask } = await start(t)
  const wrong = [
    undefined,
    'Basic',
    'Basic !',
    `Bearer ${login.password}`,
    ...[
      { ...login, password: `${login.password}!` },
      { ...login, password: '' },
      { ...login, user: 'eve' },
      { user: '', password: '' },
    ].map((credentials) => authorize(credentials).authorization),
  ]
  const paths = ['/ops', '/ops/queue/automation', '/ops/static/favicon.ico', '/ops/api/queues', '/', '/else']
  for (const [i, authorization] of wrong.entries()) {
    const headers = authorization === undefined ? {} : { authorization }
    for (const [j, path] of paths.entries()) {
      const answer = await ask(path, { headers, remoteAddress: `10.${i}.${j}.1` })
      t.equal(answer.statusCode, 401, `${path} with ${authorization}`)
      t.match(answer.headers['www-authenticate'], /^Basic realm=/)
      t.strictSame(answer.json(), { error: 'Authentication required' })
    }
  }
  const write = await ask('/ops/api/queues/pause', { method: 'PUT', headers: {} })
  t.equal(write.statusCode, 401)
})

t.test('with the login everything is shown', async (t) => {
  const { ask } = await start(t)
  for (const path of ['/ops', '/ops/', '/ops/queue/automation', '/ops/static/favicon.ico', '/ops/api/queues'])
    t.equal((await ask(path)).statusCode, 200, path)
  for (const path of ['/', '/else', '/ops/static/else', '/ops/static/..%2findex.ejs'])
    t.equal((await ask(path)).statusCode, 404, path)
})

t.test('after ten failures a client must wait, even with the right password; others need not', async (t) => {
  const { ask } = await start(t)
  const guess = () => ask('/ops', { headers: authorize({ ...login, password: 'a guess of length' }) })
  for (let i = 0; i < 10; i++) t.equal((await guess()).statusCode, 401)
  const refused = await ask('/ops')
  t.equal(refused.statusCode, 429)
  const waitSeconds = Number(refused.headers['retry-after'])
  t.ok(waitSeconds > 0 && waitSeconds <= 60, `${waitSeconds}`)
  t.equal((await ask('/ops', { remoteAddress: '10.0.0.2' })).statusCode, 200)
  t.equal((await ask('/healthz', { headers: {} })).statusCode, 200, 'probes go on')
})

t.test('a request without credentials is not a failed login', async (t) => {
  const { ask } = await start(t)
  for (let i = 0; i < 20; i++) await ask('/ops', { headers: {} })
  t.equal((await ask('/ops')).statusCode, 200)
})
