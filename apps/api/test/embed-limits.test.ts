import { newId } from '@automation/database'
import t from 'tap'
import { type Answer, type Api, rules, startApi } from './fixtures/api.js'
import { makeSession, open, sessions } from './fixtures/embed.js'

const host = await startApi(t)
// One token a minute: no test lasts long enough to get one back, however slow the machine.
const small = { RATE_LIMIT_ANONYMOUS: '1/3', RATE_LIMIT_AUTHENTICATED: '1/4' }
const office = '203.0.113.9'
const none = { status: 404, headers: { 'x-error-code': 'embed_session_not_found' } }
const refused = { status: 429, headers: { 'x-error-code': 'rate_limited', 'retry-after': /^[1-9]/ } }

type Ask = (remoteAddress?: string) => Promise<Answer>

const frameOf =
  ({ call }: Api, id: string): Ask =>
  (remoteAddress = office) =>
    call('GET', `${sessions}/${id}/frame`, { remoteAddress })
const openOf =
  ({ call }: Api, id: string, body: unknown): Ask =>
  (remoteAddress = office) =>
    call('POST', `${sessions}/${id}/open`, { remoteAddress, body })

/** The size of the bucket that a response describes, and what is left in it. */
const bucketOf = ({ headers }: Answer) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining'].map((name) => Number(headers[name]))
const statusesOf = (answers: Answer[]) => [...new Set(answers.map(({ status }) => status))].sort()

t.test('fifty users behind one address open their frames at once', async (t) => {
  const api = await startApi(t, { RATE_LIMIT_ANONYMOUS: '', RATE_LIMIT_AUTHENTICATED: '' })
  const workspace = await host.makeWorkspace()
  const made = await Promise.all(Array.from({ length: 50 }, () => makeSession(workspace)))
  const framed = await Promise.all(made.map(({ id }) => frameOf(api, id)()))
  t.strictSame(statusesOf(framed), [200], 'the header')
  const opened = await Promise.all(made.map(({ id, secret }) => openOf(api, id, { secret })()))
  t.strictSame(statusesOf(opened), [200], 'the token')
  const unknown = await Promise.all(Array.from({ length: 20 }, () => frameOf(api, newId())()))
  t.strictSame(statusesOf(unknown), [404, 429], 'ids that are unknown')
  const [first] = made
  t.equal((await frameOf(api, first?.id ?? '')()).status, 200, 'they refuse nobody who has a session')
})

t.test('what names no live session, or has no right secret, draws from its address', async (t) => {
  const api = await startApi(t, { ...small, RATE_LIMIT_AUTHENTICATED: '1/50' })
  const workspace = await host.makeWorkspace()
  const [live, ended, used] = [
    await makeSession(workspace),
    await makeSession(workspace),
    await makeSession(workspace),
  ]
  await workspace.call('DELETE', `${sessions}/${ended.id}`)
  t.equal((await open(host, used)).status, 200)
  const tooLarge = { secret: 'x'.repeat(5_000) }
  const ways: [title: string, expected: object, ask: Ask][] = [
    ['an unknown id', none, frameOf(api, newId())],
    ['what is no id', none, frameOf(api, 'x')],
    ['a session that has ended', none, frameOf(api, ended.id)],
    ['an unknown id that is opened', none, openOf(api, newId(), { secret: live.secret })],
    ['a wrong secret', none, openOf(api, live.id, { secret: used.secret })],
    ['a secret that was used', none, openOf(api, used.id, { secret: used.secret })],
    ['a body without a secret', { status: 422 }, openOf(api, live.id, {})],
    ['a body that is not JSON', { status: 400 }, openOf(api, live.id, '{')],
    ['a body that is too large', { status: 413 }, openOf(api, live.id, tooLarge)],
  ]
  for (const [index, [title, expected, ask]] of ways.entries()) {
    const address = `198.51.100.${index}`
    for (const left of [2, 1, 0]) {
      const answer = await ask(address)
      t.match(answer, expected, title)
      t.strictSame(bucketOf(answer), [3, left], title)
    }
    const beyond = await ask(address)
    t.match(beyond, refused, title)
    t.strictSame(bucketOf(beyond), [3, 0], title)
    t.match(await frameOf(api, newId())(address), refused, `${title}: the bucket of all strangers there`)
    t.equal((await frameOf(api, live.id)(address)).status, 200, `${title}: a live session is asked about`)
  }
  const opened = await openOf(api, live.id, { secret: live.secret })('198.51.100.0')
  t.equal(opened.status, 200, 'no guess has used the link up')
})

t.test('an address without tokens causes at most one statement a request', async (t) => {
  const api = await startApi(t, { ...small, RATE_LIMIT_ANONYMOUS: '1/1' })
  const { id } = await makeSession(await host.makeWorkspace())
  await frameOf(api, newId())()
  const { database } = api.app
  const { run } = database
  let count = 0
  Object.assign(database, {
    run: (...asked: Parameters<typeof run>) => {
      count++
      return run.apply(database, asked)
    },
  })
  for (const [most, ask] of [
    [1, frameOf(api, newId())],
    [0, frameOf(api, 'x')],
    [1, openOf(api, newId(), { secret: 'x' })],
    [1, openOf(api, id, { secret: 'x' })],
    [0, openOf(api, id, {})],
  ] as const) {
    count = 0
    t.match(await ask(), refused)
    t.equal(count, most)
  }
})

t.test('a session has a bucket of its own, and its link is as good after a 429', async (t) => {
  const api = await startApi(t, small)
  const [workspace, other] = [await host.makeWorkspace(), await host.makeWorkspace()]
  const [one, second, elsewhere] = [
    await makeSession(workspace),
    await makeSession(workspace),
    await makeSession(other),
  ]
  for (const left of [3, 2, 1, 0]) {
    const answer = await frameOf(api, left % 2 === 0 ? one.id : one.id.toUpperCase())(`198.51.100.${left}`)
    t.strictSame([answer.status, bucketOf(answer)], [200, [4, left]], 'from any address, in any case')
  }
  t.match(await frameOf(api, one.id)(), refused)
  const beyond = await openOf(api, one.id, { secret: one.secret })()
  t.match(beyond, refused)
  t.strictSame(bucketOf(beyond), [4, 0])
  for (const { id, secret } of [second, elsewhere])
    t.strictSame(bucketOf(await openOf(api, id, { secret })()), [4, 3], 'that of another session is full')
  t.equal((await open(host, one)).status, 200, 'the link was not used up')
})

t.test('frames share a bucket of their workspace, and take nothing from its callers', async (t) => {
  const bucket = (burst: number) => ({ perMinute: 1, burst })
  const upper = (burst: number) => ({ standard: bucket(burst), enterprise: bucket(burst) })
  const api = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/3' }, { workspace: upper(5), creator: upper(100) })
  const [workspace, other] = [await host.makeWorkspace(), await host.makeWorkspace()]
  const made = [await makeSession(workspace), await makeSession(workspace)]
  for (const left of [4, 3, 2, 1, 0]) {
    const answer = await frameOf(api, made[left % 2]?.id ?? '')()
    t.strictSame([answer.status, bucketOf(answer)], [200, [5, left]])
  }
  for (const { id } of made) t.match(await frameOf(api, id)(), refused, 'no number of sessions multiplies it')
  const question = { token: workspace.tokens.admin, workspace: workspace.id }
  const asked = await api.call('GET', rules, question)
  t.strictSame([asked.status, bucketOf(asked)], [200, [5, 4]], 'its callers')
  t.equal((await frameOf(api, (await makeSession(other)).id)()).status, 200, 'another workspace')
  t.strictSame(bucketOf(await frameOf(api, newId())()), [3, 2], 'nor from the address')
})
