import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { startRedis } from '@automation/launcher'
import t from 'tap'
import { createLocalBuckets } from '../src/rate-limit/token-bucket.js'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import {
  type Answer,
  type Api,
  configOf,
  mint,
  type Question,
  ruleBody,
  rules,
  startApi,
} from './fixtures/api.js'

// One token a minute: no test lasts long enough to get one back, however slow the machine.
const small = {
  RATE_LIMIT_ANONYMOUS: '1/3',
  RATE_LIMIT_AUTHENTICATED: '1/5',
  RATE_LIMIT_ENTERPRISE: '1/8',
}

const limited = { status: 429, body: { error: 'Rate limit exceeded' } }
const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const isLet = ({ status }: Answer) => status !== 429

/** How many of some calls, one after another, are let through before the first that is not. */
async function countLet(calls: number, ask: () => Promise<Answer>): Promise<number> {
  for (let count = 0; count < calls; count++) if (!isLet(await ask())) return count
  return calls
}

function headersOf({ headers }: Answer) {
  return {
    limit: Number(headers['x-ratelimit-limit']),
    remaining: Number(headers['x-ratelimit-remaining']),
    reset: Number(headers['x-ratelimit-reset']),
  }
}

const from = ({ call }: Api, remoteAddress: string, question: Question = {}) =>
  call('GET', rules, { remoteAddress, ...question })

t.test('the default limits are those of the interface', async (t) => {
  const unset = { RATE_LIMIT_ANONYMOUS: '', RATE_LIMIT_AUTHENTICATED: '', RATE_LIMIT_ENTERPRISE: undefined }
  t.strictSame(configOf(unset).rateLimits, {
    anonymous: { perMinute: 10, burst: 15 },
    authenticated: { perMinute: 60, burst: 100 },
    enterprise: { perMinute: 300, burst: 500 },
    workspace: {
      standard: { perMinute: 600, burst: 1_000 },
      enterprise: { perMinute: 3_000, burst: 5_000 },
    },
    creator: {
      standard: { perMinute: 1_800, burst: 3_000 },
      enterprise: { perMinute: 9_000, burst: 15_000 },
    },
  })
  t.match(
    configOf({ RATE_LIMIT_AUTHENTICATED: '100/200', RATE_LIMIT_ENTERPRISE: '100/300' }).rateLimits,
    {
      workspace: {
        standard: { perMinute: 1_000, burst: 2_000 },
        enterprise: { perMinute: 1_000, burst: 3_000 },
      },
      creator: {
        standard: { perMinute: 3_000, burst: 6_000 },
        enterprise: { perMinute: 3_000, burst: 9_000 },
      },
    },
    'higher limits of callers raise those above them',
  )
  t.strictSame(configOf({ RATE_LIMIT_ANONYMOUS: '7/9' }).rateLimits.anonymous, { perMinute: 7, burst: 9 })
  for (const figure of ['0/5', '5/0', '5', '/', '5/', 'a/b', '-1/5', '1.5/5', '1e3/5', '5/5/5', '5 /5'])
    for (const name of ['RATE_LIMIT_ANONYMOUS', 'RATE_LIMIT_AUTHENTICATED', 'RATE_LIMIT_ENTERPRISE'])
      t.throws(() => configOf({ [name]: figure }), new RegExp(name), `${name}=${figure}`)
})

t.test('a burst of exactly 15, 100 or 500 requests is accepted', async (t) => {
  const api = await startApi(t, {
    RATE_LIMIT_ANONYMOUS: '1/15',
    RATE_LIMIT_AUTHENTICATED: '1/100',
    RATE_LIMIT_ENTERPRISE: '1/500',
  })
  const standard = await api.makeWorkspace()
  const enterprise = await api.makeWorkspace('enterprise')
  const callers: [burst: number, status: number, ask: () => Promise<Answer>][] = [
    [15, 401, () => api.call('GET', rules)],
    [100, 404, () => standard.call('GET', `${rules}/x`)],
    [500, 404, () => enterprise.call('GET', `${rules}/x`)],
  ]
  for (const [burst, status, ask] of callers) {
    const answers = await Promise.all(Array.from({ length: burst + 20 }, ask))
    const let_ = answers.filter(isLet)
    t.equal(let_.length, burst)
    t.ok(let_.every((answer) => answer.status === status))
    const remaining = let_.map((answer) => headersOf(answer).remaining).sort((a, b) => b - a)
    t.strictSame(
      remaining,
      Array.from({ length: burst }, (_, index) => burst - 1 - index),
      'each response has the remaining tokens',
    )
    for (const refused of [...answers.filter((answer) => !isLet(answer)), await ask()]) {
      t.strictSame(statusAndBody(refused), limited)
      const { limit, remaining, reset } = headersOf(refused)
      t.strictSame({ limit, remaining }, { limit: burst, remaining: 0 })
      t.match(refused.headers['retry-after'], /^[1-9]\d*$/)
      const retryAfter = Number(refused.headers['retry-after'])
      t.ok(
        retryAfter <= 60 && reset > 60 * (burst - 1) && reset <= 60 * burst,
        `${retryAfter} s, full in ${reset} s`,
      )
    }
  }
})

t.test('a refused request has no effect, and the others continue', async (t) => {
  const api = await startApi(t, { RATE_LIMIT_AUTHENTICATED: '1/2' })
  const { callAs, call, database } = await api.makeWorkspace()
  const create = () => callAs('editor')<Rule>('POST', rules, { body: ruleBody() })
  t.strictSame([(await create()).status, (await create()).status, (await create()).status], [201, 201, 429])
  t.equal(await database.rule.count(), 2)
  t.equal((await call('GET', rules)).status, 200, 'another user of the same workspace')
})

t.test(
  'every response has the limit, the remaining tokens and the time until the bucket is full',
  async (t) => {
    const api = await startApi(t, {
      BODY_LIMIT: '1024',
      RATE_LIMIT_ANONYMOUS: '1/50',
      RATE_LIMIT_AUTHENTICATED: '1/90',
    })
    const { call, tokens, id } = await api.makeWorkspace()
    const created = await call<Rule>('POST', rules, { body: ruleBody() })
    const one = `${rules}/${created.body.id}`
    let left = { anonymous: 50, admin: 89 }
    const cases = [
      [200, 'GET', rules, {}],
      [200, 'HEAD', rules, {}],
      [200, 'GET', `${rules}/health`, {}],
      [200, 'POST', `${one}/execute`, { body: { data: {}, dryRun: true } }],
      [202, 'POST', `${one}/execute`, { body: { data: {} }, headers: { prefer: 'respond-async' } }],
      [200, 'PATCH', `${one}/toggle`, {}],
      [400, 'GET', rules, { workspace: undefined }],
      [400, 'GET', `${rules}?limit=0`, {}],
      [400, 'POST', rules, { body: '{' }],
      [400, 'POST', rules, { body: '[]' }],
      [400, 'POST', `${rules}/trigger/NOPE`, { body: { data: {} } }],
      [401, 'GET', rules, { token: undefined }],
      [401, 'GET', rules, { token: 'x' }],
      [401, 'POST', rules, { token: undefined, body: {} }],
      [403, 'GET', rules, { workspace: newId() }],
      [404, 'GET', '/nothing', {}],
      [404, 'GET', '/nothing', { token: undefined }],
      [404, 'GET', `${rules}/x`, {}],
      [404, 'GET', `${rules}/${newId()}`, {}],
      [405, 'PUT', rules, {}],
      [405, 'OPTIONS', one, { token: undefined }],
      [412, 'PUT', one, { body: {}, headers: { 'if-match': '"9"' } }],
      [413, 'POST', rules, { body: 'x'.repeat(2_000) }],
      [413, 'POST', rules, { token: undefined, body: 'x'.repeat(2_000) }],
      [415, 'POST', rules, { body: 'x', headers: { 'content-type': 'text/plain' } }],
      [422, 'POST', rules, { body: {} }],
      [422, 'POST', rules, { body: { name: '\0' } }],
      [204, 'DELETE', one, {}],
    ] as const
    for (const [status, method, path, question] of cases) {
      const answer = await call(method, path, question)
      const title = `${method} ${path.slice(0, 60)}`
      t.equal(answer.status, status, title)
      const isAdmin = !('token' in question)
      left = isAdmin ? { ...left, admin: left.admin - 1 } : { ...left, anonymous: left.anonymous - 1 }
      const { limit, remaining, reset } = headersOf(answer)
      const expected = isAdmin
        ? { limit: 90, remaining: left.admin }
        : { limit: 50, remaining: left.anonymous }
      t.strictSame({ limit, remaining }, expected, title)
      t.ok(Number.isInteger(reset) && reset > 0 && reset <= 60 * limit, title)
      t.equal(answer.headers['retry-after'], undefined)
    }
    for (const path of ['/%zz', `${rules}/${'x'.repeat(300)}`]) {
      const answer = await api.call('GET', path, { token: tokens.admin, workspace: id })
      t.ok(answer.headers['x-ratelimit-limit'], `also ${path.slice(0, 40)}`)
    }
  },
)

t.test('a caller without a token is identified by its address: IPv6 by its /64', async (t) => {
  const api = await startApi(t, small)
  t.equal(await countLet(5, () => from(api, '192.0.2.1')), 3)
  t.ok(isLet(await from(api, '192.0.2.2')), 'another address')
  t.ok(!isLet(await from(api, '::ffff:192.0.2.1')), 'the same one, mapped into IPv6')

  t.equal(await countLet(5, () => from(api, '2001:db8:1:2::1')), 3)
  for (const neighbour of [
    '2001:db8:1:2::2',
    '2001:db8:1:2:ffff:ffff:ffff:ffff',
    '2001:0DB8:0001:0002:0:0:0:3',
  ])
    t.ok(!isLet(await from(api, neighbour)), neighbour)
  for (const stranger of ['2001:db8:1:3::1', '2001:db8:1::2', '::1'])
    t.ok(isLet(await from(api, stranger)), stranger)
  for (let host = 0; host < 3; host++) await from(api, `fe80::${host}%eth0`)
  t.ok(!isLet(await from(api, 'fe80::9%eth0')), 'with a zone too')
})

t.test('X-Forwarded-For is ignored unless it comes from a trusted proxy', async (t) => {
  const forwarded = (value: string) => ({
    headers: { 'x-forwarded-for': value, 'x-real-ip': value, forwarded: `for=${value}` },
  })
  const direct = await startApi(t, small)
  let host = 0
  for (const peer of ['127.0.0.1', '10.0.0.1', '::1', '203.0.113.1']) {
    const spoof = () => from(direct, peer, forwarded(`198.51.100.${++host}`))
    t.equal(await countLet(5, spoof), 3, `without TRUST_PROXY from ${peer}`)
  }

  const proxied = await startApi(t, { ...small, TRUST_PROXY: '10.0.0.0/8, fd00::/8' })
  const through = (value: string, proxy = '10.1.2.3') => from(proxied, proxy, forwarded(value))
  t.equal(
    await countLet(5, () => from(proxied, '203.0.113.1', forwarded(`198.51.100.${++host}`))),
    3,
    'a stranger',
  )
  t.equal(await countLet(5, () => through('192.0.2.1')), 3, 'the client behind the proxy')
  t.ok(!isLet(await through('192.0.2.1', 'fd00::5')), 'behind any of its proxies')
  t.ok(!isLet(await through('1.1.1.1, 192.0.2.1')), 'even if it claims other addresses')
  t.ok(!isLet(await through('192.0.2.1, 10.9.9.9')), 'also behind two')
  t.ok(isLet(await through('192.0.2.2')), 'another client')
  t.equal(await countLet(5, () => through(`2001:db8:1:2::${++host}`)), 3, 'IPv6 by its /64')
  const port = () => 40_000 + ++host
  t.equal(
    await countLet(5, () => through(`192.0.2.7:${port()}`)),
    3,
    'with a port, as gateways of Azure write',
  )
  for (const same of ['192.0.2.7', `192.0.2.7:${port()}, 10.9.9.9:443`, ' 192.0.2.7:1 ,10.9.9.9'])
    t.ok(!isLet(await through(same)), same)
  t.equal(await countLet(5, () => through(`[2001:db8:7:7::1]:${port()}`)), 3)
  for (const same of ['2001:db8:7:7::1', '[2001:db8:7:7::1]', '[2001:db8:7:7::2]:1'])
    t.ok(!isLet(await through(same)), same)
  const odd = [
    '',
    ' ',
    ',',
    'unknown',
    '_hidden',
    '999.1.1.1',
    '192.0.2.9:80',
    '[2001:db8::1]:80',
    'fe80::1%eth0',
    '::',
    '\u00e9',
    'x'.repeat(10_000),
    Array(500).fill('10.0.0.1').join(),
  ]
  for (const value of odd)
    t.match(String((await through(value)).status), /^4(01|29)$/, `${value.slice(0, 30)} is no fault of ours`)
})

t.test('an invalid token consumes from the bucket of its address, a valid one from its user’s', async (t) => {
  const api = await startApi(t, small)
  const { users, id } = await api.makeWorkspace()
  const token = await mint(users.viewer)
  const address = '192.0.2.1'
  const forged = () => from(api, address, { token: `${token.slice(0, -3)}AAA`, workspace: id })
  const good = (remoteAddress = address) => from(api, remoteAddress, { token, workspace: id })
  t.equal((await good()).status, 200)
  t.equal(await countLet(2, forged), 2)
  t.equal(await countLet(5, () => from(api, address)), 1, 'guessing and asking share the bucket')
  t.strictSame(statusAndBody(await forged()), limited)
  t.equal((await good()).status, 200, 'who has a good token is not held up by it')
  t.equal(await countLet(9, () => good('192.0.2.7')), 3, 'and has one bucket, wherever the calls come from')
  t.strictSame(statusAndBody(await good()), limited)
  t.equal((await from(api, '192.0.2.2', { token: 'x' })).status, 401, 'others are not held up either')
})

t.test('the plan of the workspace determines the bucket, for its members only', async (t) => {
  const api = await startApi(t, small)
  const standard = await api.makeWorkspace()
  const another = await api.makeWorkspace()
  const enterprise = await api.makeWorkspace('enterprise')
  const userId = standard.users.viewer
  for (const { id, database } of [another, enterprise])
    await database.member.create({ data: { workspaceId: id, userId, role: 'viewer' } })
  const token = standard.tokens.viewer
  const ask = (workspace?: string) => api.call('GET', rules, { token, workspace })
  t.equal(headersOf(await ask(enterprise.id)).limit, 8)
  t.equal(headersOf(await ask(standard.id)).limit, 5)
  t.equal(headersOf(await ask(another.id)).remaining, 3, 'two standard workspaces, one bucket')
  t.equal(headersOf(await ask()).remaining, 2, 'the same without a workspace')
  t.equal(headersOf(await ask(newId())).remaining, 1)
  t.equal(await countLet(20, () => ask(enterprise.id)), 7)

  const stranger = await mint(`stranger-${newId()}`)
  const outside = await api.call('GET', rules, { token: stranger, workspace: enterprise.id })
  t.equal(outside.status, 403)
  t.equal(headersOf(outside).limit, 5, 'a stranger gains nothing by naming it')
})

t.test('a list costs a token for each MiB of definitions', async (t) => {
  const api = await startApi(t, small)
  const { call, id: workspaceId, database } = await api.makeWorkspace('enterprise')
  const value = 'x'.repeat(250_000)
  const conditions = [{ field: 'x', operator: 'equals', value }]
  const rule = {
    workspaceId,
    description: '',
    trigger: 'LEAD_CREATED',
    conditions,
    actions: [],
    isActive: true,
  }
  const rows = Array.from({ length: 10 }, (_, index) => ({ ...rule, id: newId(), name: `Large ${index}` }))
  await database.rule.createMany({ data: rows })
  const one = await call('GET', `${rules}?limit=1`)
  t.equal(headersOf(one).remaining, 7, 'a quarter of a MiB costs no more than the request')
  const all = await call<{ rules: unknown[] }>('GET', rules)
  t.equal(all.body.rules.length, 10)
  t.equal(headersOf(all).remaining, 4, 'two and a half MiB cost three')
  t.equal(headersOf(await call('GET', `${rules}?limit=10`)).remaining, 1, 'as a page, too')
  const refused = await call('GET', rules)
  t.match(refused, limited)
  t.ok(Number(refused.headers['retry-after']) > 0)
})

t.test('all processes share the buckets, from their first request on', async (t) => {
  const env = { ...small, QUEUE_PREFIX: `{${newId()}}` }
  const apis: Api[] = []
  const answers: Answer[] = []
  for (let process = 0; process < 6; process++) {
    const api = await startApi(t, env)
    apis.push(api)
    answers.push(await from(api, '192.0.2.1'))
  }
  t.strictSame(
    answers.map(({ status }) => status),
    [401, 401, 401, 429, 429, 429],
  )
  const rush = await Promise.all(
    apis.flatMap((api) => Array.from({ length: 5 }, () => from(api, '192.0.2.2'))),
  )
  t.equal(rush.filter(isLet).length, 3)
})

t.test('without Redis each process limits by itself, without a 5xx', async (t) => {
  const api = await startApi(t, { ...small, REDIS_URL: 'redis://127.0.0.1:1' })
  const { call, callAs } = await api.makeWorkspace()
  const enterprise = await api.makeWorkspace('enterprise')
  t.equal(await countLet(9, () => from(api, '192.0.2.1')), 3)
  t.ok(isLet(await from(api, '192.0.2.2')))
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('GET', rules)))
  t.equal(answers.filter(({ status }) => status === 200).length, 5)
  const refused = answers.filter(({ status }) => status === 429)
  t.equal(refused.length, 15)
  for (const answer of refused) {
    t.strictSame(answer.body, limited.body)
    t.match(answer.headers['retry-after'], /^[1-9]\d*$/)
    t.match(headersOf(answer), { limit: 5, remaining: 0 })
  }
  t.equal(await countLet(20, () => enterprise.call('GET', rules)), 8)

  const operator = callAs('operator')
  const prefer = { prefer: 'respond-async' }
  const trigger = await operator('POST', `${rules}/trigger/LEAD_CREATED`, {
    body: { data: {} },
    headers: prefer,
  })
  t.equal(trigger.status, 202, 'events are still accepted')
  t.equal((await operator('GET', String(trigger.headers.location))).status, 200)
  t.equal((await callAs('editor')('POST', rules, { body: ruleBody() })).status, 201)
  t.match(await api.call('GET', '/readyz'), { status: 200, body: { redis: 'away', postgres: 'ok' } })
})

t.test('Redis may be unresponsive from the start, or for a while', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(async () => silent.close())
  const { port } = silent.address() as AddressInfo
  const [deaf, redis] = await Promise.all([
    startApi(t, { ...small, REDIS_URL: `redis://127.0.0.1:${port}` }),
    startRedis({ directory: t.testdir(), persistent: false }),
  ])
  t.teardown(() => redis.stop())
  t.equal(await countLet(9, () => from(deaf, '192.0.2.1')), 3)
  const env = { ...small, REDIS_URL: redis.url, QUEUE_PREFIX: `{${newId()}}` }
  const apis = [await startApi(t, env), await startApi(t, env)]
  const askAll = (address: string) =>
    Promise.all(apis.flatMap((api) => Array.from({ length: 5 }, () => from(api, address))))
  t.equal((await askAll('192.0.2.1')).filter(isLet).length, 3, 'one bucket for both')
  redis.kill('SIGSTOP')
  const alone = await askAll('192.0.2.2')
  t.equal(alone.filter(isLet).length, 6, 'one for each')
  t.strictSame([...new Set(alone.map(({ status }) => status))].sort(), [401, 429])
  redis.kill('SIGCONT')
  // The connection that said nothing was given up, and a new one takes a moment: until then it may be one for each.
  const lets: number[] = []
  for (let host = 3; host < 200 && lets.at(-1) !== 3; host++) {
    lets.push((await askAll(`192.0.2.${host}`)).filter(isLet).length)
    await setTimeout(50)
  }
  t.equal(lets.at(-1), 3, 'one for both again')
})

t.test('a token returns after its interval, and not earlier', async (t) => {
  const consume = createLocalBuckets()
  const buckets = [{ key: 'x', perMinute: 10, burst: 15 }]
  const draw = (time: number) => consume({ buckets, tokens: 1 }, time)
  let now = 1_795_259_345_180
  const countAt = (time: number) => {
    let count = 0
    while (!draw(time).isRefused) count++
    return count
  }
  t.equal(countAt(now), 15)
  t.equal(draw(now).waitMs, 6_000)
  t.equal(countAt(now + 5_999), 0)
  t.equal(countAt(now + 6_000), 1)
  t.equal(countAt(now + 18_000), 2)
  now += 3_600_000
  t.equal(countAt(now), 15, 'it never holds more than the burst')
  t.equal(countAt(now + 60_000), 10, 'and gains what it should in a minute')

  const api = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/3' })
  const ask = () => from(api, '192.0.2.1')
  t.equal(await countLet(10, ask), 3)
  // A minute and a half goes by for this bucket, which holds the time at which it is full.
  const key = `${api.config.queuePrefix}:rate:anonymous:192.0.2.1`
  await api.app.redis.set(key, Number(await api.app.redis.get(key)) - 90_000_000, 'KEEPTTL')
  t.equal(await countLet(10, ask), 1, 'in Redis too')
})

t.test('with any limits, a full bucket holds exactly its burst, as the first response shows', async (t) => {
  const wrong: string[] = []
  for (let perMinute = 1; perMinute <= 400; perMinute += 3)
    for (const burst of [1, 2, 3, 7, 15, 100, 499]) {
      const draw = createLocalBuckets()
      const buckets = [{ key: 'x', perMinute, burst }]
      const next = () => draw({ buckets, tokens: 1 }, 1_795_259_345_183)
      const { remaining } = next()
      if (remaining !== burst - 1) wrong.push(`${perMinute}/${burst} left ${remaining}`)
      let count = 1
      while (count <= burst && !next().isRefused) count++
      if (count !== burst) wrong.push(`${perMinute}/${burst} held ${count}`)
    }
  const api = await startApi(t, { RATE_LIMIT_ANONYMOUS: '13/100', RATE_LIMIT_AUTHENTICATED: '19/7' })
  for (let host = 1; host <= 20; host++) {
    const { remaining } = headersOf(await from(api, `192.0.2.${host}`))
    if (remaining !== 99) wrong.push(`13/100 left ${remaining} in Redis`)
    const known = headersOf(await api.call('GET', rules, { token: await mint(`user-${newId()}`) }))
    if (known.remaining !== 6) wrong.push(`19/7 left ${known.remaining} in Redis`)
  }
  t.strictSame(wrong, [])
})
