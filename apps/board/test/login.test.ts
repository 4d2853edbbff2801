import { startPatientClock } from '@automation/launcher/patient-clock'
import t from 'tap'
import { authorize, login, startBoard } from './fixtures/board.js'

t.test('without the login nothing is shown: no pages, files, data or unknown paths', async (t) => {
  const { ask } = await startBoard(t)
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
  const paths = ['/', '/queue/automation', '/static/favicon.ico', '/api/queues', '/else']
  for (const [i, authorization] of wrong.entries()) {
    const headers = authorization === undefined ? {} : { authorization }
    for (const [j, path] of paths.entries()) {
      const answer = await ask(path, { headers, remoteAddress: `10.${i}.${j}.1` })
      t.equal(answer.statusCode, 401, `${path} with ${authorization}`)
      t.match(answer.headers['www-authenticate'], /^Basic realm=/)
      t.strictSame(answer.json(), { error: 'Authentication required' })
    }
  }
  const write = await ask('/api/queues/pause', { method: 'PUT', headers: {} })
  t.equal(write.statusCode, 401)
})

t.test('with the login everything is shown', async (t) => {
  const { ask } = await startBoard(t)
  for (const path of ['/', '/queue/automation', '/static/favicon.ico', '/api/queues'])
    t.equal((await ask(path)).statusCode, 200, path)
  for (const path of ['/else', '/static/else', '/static/..%2findex.ejs'])
    t.equal((await ask(path)).statusCode, 404, path)
})

t.test(
  'after ten failures of a client the right password passes after a delay, and others pass at once',
  async (t) => {
    const { ask } = await startBoard(t)
    // All of one IPv6 network.
    const from = (suffix: number) => ({ remoteAddress: `2001:db8:1:2::${suffix}` })
    const wrong = authorize({ ...login, password: 'a guess of length' })
    const guess = async (suffix: number) => (await ask('/', { headers: wrong, ...from(suffix) })).statusCode
    const logIn = async (suffix: number) => (await ask('/', from(suffix))).statusCode
    for (let i = 0; i < 10; i++) t.equal(await guess(i), 401)
    const startedAt = performance.now()
    const clock = startPatientClock()
    const late = logIn(10)
    const guesses = Promise.all(Array.from({ length: 5 }, (_, i) => guess(11 + i)))
    const refused = await ask('/', from(16))
    t.equal(refused.statusCode, 429, 'six at a time are delayed')
    t.equal(refused.headers['retry-after'], '3')
    t.equal((await ask('/', { remoteAddress: '2001:db8:1:3::1' })).statusCode, 200)
    t.equal((await ask('/healthz', { headers: {}, ...from(17) })).statusCode, 200, 'probes go on')
    t.ok(clock() < 2_900, `${clock()} ms`)
    t.equal(await late, 200)
    t.ok(performance.now() - startedAt > 2_900, 'it was delayed')
    t.strictSame(await guesses, [401, 401, 401, 401, 401])
  },
)

t.test('a request without credentials is not a failed login', async (t) => {
  const { ask } = await startBoard(t)
  for (let i = 0; i < 20; i++) await ask('/', { headers: {} })
  t.equal((await ask('/')).statusCode, 200)
})
