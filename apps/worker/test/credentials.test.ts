import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type CredentialToPut, putCredential } from '@automation/access'
import { executionIdOf, newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t, { type Test } from 'tap'
import { type Credentials, createCredentials } from '../src/effects/credentials/find-credentials.js'
import { createHarness, type Harness } from './fixtures/harness.js'
import { serve } from './fixtures/outbound.js'

const value = 'tok_1234567890'
const hosts = ['127.0.0.1']

function put(
  harness: Pick<Harness, 'database' | 'workspaceId' | 'sealer'>,
  name: string,
  credential: CredentialToPut,
) {
  const { database, workspaceId, sealer } = harness
  return putCredential({ database, workspaceId, actor: 'test' }, sealer, name, credential)
}

/** @returns the id of the execution, of the only active rule */
async function beginCall(harness: Harness, action: object): Promise<string> {
  await harness.own.rule.updateMany({ data: { isActive: false } })
  const ruleId = await harness.createRule([action])
  // The worker is told of it.
  await harness.own.workspace.update({
    where: { id: harness.workspaceId },
    data: { rulesVersion: { increment: 1 } },
  })
  return harness.trigger(ruleId)
}

async function runCall(harness: Harness, action: object, status: 'succeeded' | 'failed' = 'succeeded') {
  const execution = await harness.untilStatus(await beginCall(harness, action), 'succeeded', 'failed')
  if (execution.status !== status) throw new Error(`It has ${execution.status}: ${execution.error}`)
  return execution
}

const webhook = (url: string, config: object = {}) => ({ type: 'SEND_WEBHOOK', config: { url, ...config } })
const authorized = (url: string, text: string) => webhook(url, { headers: { authorization: text } })

t.test('a call sends a credential, and what is stored has its name only', async (t) => {
  const harness = await createHarness(t)
  const server = await serve(t, (request, response) => {
    const echo = { authorization: request.headers.authorization, url: request.url }
    response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(echo))
  })
  await put(harness, 'CRM', { value, hosts })
  harness.startWorker()
  const action = authorized(
    `${server.url}/{{credentials.CRM}}?key={{credentials.CRM}}`,
    'Token {{credentials.CRM}}',
  )
  const { results, error } = await runCall(harness, action, 'failed')
  matchLists(t, server.calls, [
    { url: `/${value}?key=${value}`, headers: { authorization: `Token ${value}` } },
  ])
  t.equal(error, 'HTTP 403')
  const body = JSON.stringify({
    authorization: 'Token {{credentials.CRM}}',
    url: '/{{credentials.CRM}}?key={{credentials.CRM}}',
  })
  t.match(results, [{ output: { statusCode: 403, body } }])
  const { lastUsedAt } = await harness.own.credential.findFirstOrThrow({ where: { name: 'CRM' } })
  t.ok(lastUsedAt)
})

t.test('what nobody sees at the ends of a value is not sent', async (t) => {
  const harness = await createHarness(t)
  const server = await serve(t)
  await put(harness, 'CRM', { value: `\ufeff${value}\u200b`, hosts })
  await t.rejects(put(harness, 'CRM', { value: 'tok\u200ben-1234', hosts }), {
    message: 'Must not have invisible characters',
  })
  await t.rejects(put(harness, 'LOGIN', { kind: 'basic', username: 'a', password: 'a\u0085b', hosts }), {
    message: 'Must not have line breaks or other control characters',
  })
  await t.rejects(put(harness, 'CRM', { value: '\ufeffabc', hosts }), {
    message: 'Must have at least 4 characters that can be seen',
  })
  harness.startWorker()
  await runCall(harness, authorized(server.url, '{{credentials.CRM}}'))
  matchLists(t, server.calls, [{ headers: { authorization: value } }])
})

t.test('basic is a header, and a chat has the URL that its credential says', async (t) => {
  const harness = await createHarness(t)
  const server = await serve(t)
  await put(harness, 'LOGIN', { kind: 'basic', username: 'ada', password: 'secret: 1', hosts })
  // People may choose words with joiners, and a soft hyphen.
  const [username, password] = [
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    'a\u00ad\u0915\u094d\u200d\u0937',
  ]
  await put(harness, 'PERSIAN', { kind: 'basic', username, password, hosts })
  await put(harness, 'CHAT', { value: `${server.url}/services/T0/B0`, hosts })
  harness.startWorker()
  await runCall(harness, authorized(`${server.url}/`, '{{credentials.LOGIN}}'))
  await runCall(harness, authorized(`${server.url}/`, '{{credentials.PERSIAN}}'))
  await runCall(harness, {
    type: 'SEND_NOTIFICATION',
    config: { url: '{{credentials.CHAT}}', text: 'Hi' },
  })
  matchLists(t, server.calls, [
    { headers: { authorization: `Basic ${Buffer.from('ada:secret: 1').toString('base64')}` } },
    { headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` } },
    { url: '/services/T0/B0', body: '{"text":"Hi"}' },
  ])
})

t.test(
  'a call that a credential does not allow is not made, and its error names the credential',
  async (t) => {
    const harness = await createHarness(t)
    const other = await createHarness(t)
    const server = await serve(t)
    await put(harness, 'CRM', { value, hosts: ['api.example.com'] })
    await put(harness, 'CHAT', { value: `http://${value}.example.com/`, hosts })
    await put(harness, 'NO_URL', { value, hosts })
    await put(harness, 'LOGIN', { kind: 'basic', username: 'ada', password: value, hosts })
    await put({ ...harness, workspaceId: other.workspaceId }, 'THEIRS', { value, hosts })
    harness.startWorker()
    const chat = (name: string) => ({
      type: 'SEND_NOTIFICATION',
      config: { url: `{{credentials.${name}}}`, text: 'Hi' },
    })
    const cases: [action: object, error: string][] = [
      [authorized(server.url, '{{credentials.GONE}}'), 'The workspace has no credential named GONE'],
      [authorized(server.url, '{{credentials.THEIRS}}'), 'The workspace has no credential named THEIRS'],
      [
        authorized(server.url, '{{credentials.CRM}}'),
        'The credential CRM may not be sent to the host of this URL',
      ],
      [chat('CHAT'), 'The credential CHAT may not be sent to the host of this URL'],
      [chat('NO_URL'), 'The URL cannot be read'],
      [
        authorized(server.url, 'x {{credentials.LOGIN}}'),
        'The credential LOGIN is of kind basic: it has to be the whole value of a header',
      ],
    ]
    for (const [action, error] of cases) {
      const execution = await runCall(harness, { ...action, retry: { attempts: 3, delay: '1s' } }, 'failed')
      t.equal(execution.error, error)
      t.notMatch(JSON.stringify(execution.results), /tok_/)
      t.equal((execution.results as { failures: number }[])[0]?.failures, 1, 'no attempt can help')
    }
    t.same(server.calls, [])
  },
)

t.test('credentials of one name are of their workspace alone, however alike the ids are', async (t) => {
  const ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const harness = await createHarness(t, { ENCRYPTION_KEY })
  const { database } = harness
  const id = newId()
  // Each differs from the first in one digit: at the start, between, and at the end.
  const others = [0, 10, 20, 35].map(
    (at) => id.slice(0, at) + (id[at] === '1' ? '2' : '1') + id.slice(at + 1),
  )
  const wanted: { workspaceId: string; name: string; secret: string }[] = []
  for (const workspaceId of [id, ...others]) {
    await database.system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
    for (const name of ['CRM', 'CRM_2']) {
      const secret = `${name} of ${workspaceId}`
      await put({ ...harness, workspaceId }, name, { value: secret, hosts })
      wanted.push({ workspaceId, name, secret })
    }
  }
  const find = async (credentials: Credentials, { secret, ...one }: (typeof wanted)[number]) => {
    const found = await credentials.find(one)
    return 'parts' in found && found.parts.value === secret
  }
  const credentials = createCredentials(database, ENCRYPTION_KEY)
  const together = await Promise.all(wanted.map((one) => find(credentials, one)))
  t.strictSame(together, Array(10).fill(true), 'found by one statement')
  for (const one of wanted) t.ok(await find(credentials, one), `then ${one.secret}`)
})

t.test('without TLS a credential goes only where the operator has opened an address', async (t) => {
  const harness = await createHarness(t, { OUTBOUND_ALLOW: '127.0.0.1/32' })
  const server = await serve(t, undefined, '127.0.0.1')
  await put(harness, 'CRM', { value, hosts: ['127.0.0.1', '1.1.1.1'] })
  harness.startWorker()
  await runCall(harness, authorized(server.url, '{{credentials.CRM}}'))
  const { error } = await runCall(harness, authorized('http://1.1.1.1/', '{{credentials.CRM}}'), 'failed')
  t.equal(error, 'Credentials are sent over https only')
})

t.test('a credential that is deleted or replaced while a call waits is so at the next attempt', async (t) => {
  const harness = await createHarness(t)
  const server = await serve(t, (_request, response) => response.writeHead(500).end())
  await put(harness, 'CRM', { value, hosts })
  harness.startWorker()
  harness.startSweeper()
  const action = { ...authorized(server.url, '{{credentials.CRM}}'), retry: { attempts: 10, delay: '1s' } }
  const ruleId = await harness.createRule([action])
  const id = await harness.trigger(ruleId)
  await harness.untilStatus(id, 'retrying')
  await put(harness, 'CRM', { value: 'tok_next', hosts })
  while (server.calls.at(-1)?.headers.authorization !== 'tok_next') await setTimeout(50)
  // As after an edit of the rule, whose waiting executions keep their version.
  await harness.own.credential.deleteMany()
  const { error } = await harness.untilStatus(id, 'failed')
  t.equal(error, 'The workspace has no credential named CRM')
})

t.test('a value that a header cannot carry, or a key that is gone, is a sentence', async (t) => {
  const harness = await createHarness(t)
  const server = await serve(t)
  await put(harness, 'GREEK', { value: 'κωδικός', hosts })
  const { id } = await harness.own.credential.findFirstOrThrow()
  await put(harness, 'BROKEN', { value, hosts })
  await harness.own.credential.updateMany({
    where: { id: { not: id } },
    data: { sealed: Buffer.alloc(60) },
  })
  harness.startWorker()
  const greek = await runCall(harness, authorized(server.url, '{{credentials.GREEK}}'), 'failed')
  t.match(greek.error, /invalid authorization header/)
  const broken = await runCall(harness, authorized(server.url, '{{credentials.BROKEN}}'), 'failed')
  t.equal(broken.error, 'The credential BROKEN cannot be decrypted with this ENCRYPTION_KEY')
  t.same(server.calls, [])
})

t.test('a response that is cut keeps no part of a secret', async (t) => {
  const harness = await createHarness(t)
  const long = `tok_${'wxyz'.repeat(200)}`
  const server = await serve(t, ({ url }, response) => {
    const head = url === '/1' ? 'x'.repeat(990) : ''
    response.writeHead(400, { 'content-type': 'text/plain' }).end(head + long.repeat(url === '/1' ? 1 : 200))
  })
  await put(harness, 'CRM', { value: long, hosts })
  harness.startWorker()
  for (const path of ['/1', '/2']) {
    const { results } = await runCall(harness, authorized(server.url + path, '{{credentials.CRM}}'), 'failed')
    t.notMatch(JSON.stringify(results), /wxyz/)
    t.match(JSON.stringify(results), /\{\{cred/)
  }
})

t.test('a redirect that repeats a credential names it only', async (t) => {
  const harness = await createHarness(t)
  const server = await serve(t, ({ url }, response) =>
    response
      .writeHead(302, { location: `https://other.example.com/?back=${encodeURIComponent(url ?? '')}` })
      .end(),
  )
  await put(harness, 'CRM', { value: 'a b/c&d=e', hosts })
  harness.startWorker()
  const { error } = await runCall(harness, webhook(`${server.url}/?k={{credentials.CRM}}`), 'failed')
  t.match(error, 'https://other.example.com/?back=%2F%3Fk%3D{{credentials.CRM}}')
})

t.test('a receiver that repeats a part of a URL that is a credential names it only', async (t) => {
  const harness = await createHarness(t)
  const path = '/api/webhooks/1234567890/XyZ-9%20token?wait=abcd'
  const parts = [
    path,
    path.slice(1),
    '1234567890',
    'XyZ-9%20token',
    'XyZ-9 token',
    'wait=abcd',
    path.split('?')[0],
  ]
  const echoes = ['', ...parts].map((part) => `Cannot POST ${part}`)
  const server = await serve(t, ({ url }, response) => {
    const { length } = server.calls
    if (length > echoes.length) response.writeHead(301, { location: `https://other.example.com${url}` }).end()
    else
      response.writeHead(404, { 'content-type': 'text/plain' }).end(length === 1 ? url : echoes[length - 1])
  })
  await put(harness, 'CHAT', { value: server.url.replace('http:', 'HTTP:') + path, hosts })
  harness.startWorker()
  const chat = { type: 'SEND_NOTIFICATION', config: { url: '{{credentials.CHAT}}', text: 'Hi' } }
  for (const _ of echoes) {
    const { results } = await runCall(harness, chat, 'failed')
    t.match(JSON.stringify(results), /\{\{credentials\.CHAT\}\}/)
    t.notMatch(JSON.stringify(results), /1234567890|XyZ|abcd/)
  }
  const { error } = await runCall(harness, chat, 'failed')
  t.match(
    error,
    'redirects are not followed; this one leads to https://other.example.com{{credentials.CHAT}}',
  )
})

t.test(
  'a captured number that repeats a credential has its name, and 4 KiB are those that are stored',
  async (t) => {
    const harness = await createHarness(t)
    const server = await serve(t, (_request, response) => {
      const echoed = { pin: 48_151_623, list: [48_151_623, 7], many: '48151623'.repeat(500), other: 'x' }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(echoed))
    })
    await put(harness, 'PIN', { value: '48151623', hosts })
    harness.startWorker()
    const capture = { pin: 'body.pin', list: 'body.list', many: 'body.many', other: 'body.other' }
    const config = { capture, headers: { 'x-pin': '{{credentials.PIN}}' } }
    const { results } = await runCall(harness, webhook(server.url, config))
    const [{ captured, warnings } = {}] = results as { captured?: object; warnings?: string[] }[]
    t.strictSame(captured, { pin: '{{credentials.PIN}}', list: ['{{credentials.PIN}}', 7], other: 'x' })
    t.strictSame(warnings, ['capture.many: the values of a response may have at most 4 KiB together'])
  },
)

t.test('a captured value that repeats a credential has its name', async (t) => {
  const harness = await createHarness(t)
  const server = await serve(t, ({ headers }, response) => {
    const echoed = { text: `got ${headers.authorization}`, list: [{ [String(headers.authorization)]: 1 }] }
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-echo': String(headers.authorization) })
      .end(JSON.stringify(echoed))
  })
  await put(harness, 'CRM', { value, hosts })
  harness.startWorker()
  const capture = { text: 'body.text', list: 'body.list', header: 'headers.x-echo' }
  const config = { capture, headers: { authorization: '{{credentials.CRM}}' } }
  const { results } = await runCall(harness, webhook(server.url, config))
  const captured = {
    text: 'got {{credentials.CRM}}',
    list: [{ '{{credentials.CRM}}': 1 }],
    header: '{{credentials.CRM}}',
  }
  t.match(results, [{ captured }])
  t.notMatch(JSON.stringify(results), /tok_/)
})

t.test('the name of a credential in event data or in a captured value is text like any other', async (t) => {
  const harness = await createHarness(t)
  const name = '{{credentials.CRM}}'
  const server = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-echo': name })
    response.end(JSON.stringify({ text: name, list: [name] }))
  })
  await put(harness, 'CRM', { value, hosts })
  await put(harness, 'CHAT', { value: `${server.url}/chat`, hosts })
  harness.startWorker()
  const capture = { text: 'body.text', list: 'body.list', header: 'headers.x-echo' }
  const config = {
    url: `${server.url}/?data={{text}}&captured={{captured.text}}`,
    headers: { 'x-data': '{{text}}', 'x-captured': '{{captured.header}}', 'x-key': name },
    body: { data: '{{text}}', captured: '{{captured.list}}', '{{text}}': 1 },
  }
  const ruleId = await harness.createRule([
    webhook(server.url, { capture }),
    { type: 'SEND_WEBHOOK', config },
    {
      type: 'SEND_NOTIFICATION',
      config: { url: '{{credentials.CHAT}}', format: 'text', text: '{{text}} {{captured.text}}' },
    },
    { type: 'CREATE_TASK', config: { title: '{{text}} {{captured.text}}' } },
  ])
  const event = { ...harness.newEvent(), data: { text: name } }
  await harness.inbox.accept(event)
  await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded')
  const [, sent, chat] = server.calls
  t.match(sent?.headers, { 'x-data': name, 'x-captured': name, 'x-key': value })
  t.equal(decodeURIComponent(sent?.url ?? ''), `/?data=${name}&captured=${name}`)
  t.match(JSON.parse(sent?.body ?? ''), { data: name, captured: [name] })
  t.match(chat?.url, '/chat')
  t.notMatch(JSON.stringify([sent?.url, sent?.body, chat]), value)
  t.equal((await harness.own.task.findFirstOrThrow()).title, `${name} ${name}`)
})

interface Idp {
  credential: CredentialToPut
  /** The bodies of the requests for tokens. */
  requests: { body: string; authorization: string | undefined }[]
}

/** An endpoint that grants `token-1`, `token-2` and so on. */
async function serveTokens(t: Test, more: object = {}, delayMs = 0): Promise<Idp> {
  const requests: Idp['requests'] = []
  const server = await serve(t, async (_request, response) => {
    const call = server.calls.at(-1)
    requests.push({ body: call?.body ?? '', authorization: call?.headers.authorization })
    const granted = {
      access_token: `token-${requests.length}`,
      token_type: 'Bearer',
      expires_in: 3600,
      ...more,
    }
    await setTimeout(delayMs)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(granted))
  })
  const credential: CredentialToPut = {
    kind: 'oauth2',
    tokenUrl: `${server.url}/token`,
    clientId: 'client:1',
    clientSecret: 'secret-of-client',
    scope: 'write',
    hosts,
  }
  return { credential, requests }
}

t.test('a token is requested once, sealed, and used until it is refused', async (t) => {
  const harness = await createHarness(t)
  const { credential, requests } = await serveTokens(t)
  let accepted = 'Bearer token-1'
  const server = await serve(t, ({ headers }, response) =>
    response.writeHead(headers.authorization === accepted ? 200 : 401).end(headers.authorization),
  )
  await put(harness, 'API', credential)
  harness.startWorker()
  const action = authorized(server.url, '{{credentials.API}}')
  for (let times = 0; times < 3; times++) await runCall(harness, action)
  matchLists(t, requests, [
    {
      body: 'grant_type=client_credentials&scope=write',
      authorization: `Basic ${Buffer.from('client%3A1:secret-of-client').toString('base64')}`,
    },
  ])
  const row = await harness.own.credential.findFirstOrThrow()
  t.ok(row.token)
  t.notMatch(Buffer.from(row.token ?? []).toString('latin1'), /token-1/)

  // By then the worker looks the credential up again, and finds the first token.
  await setTimeout(1_100)
  accepted = 'Bearer token-2'
  const { results } = await runCall(harness, action)
  t.equal(requests.length, 2)
  const [first, second] = server.calls.slice(-2)
  t.equal(first?.headers['idempotency-key'], second?.headers['idempotency-key'])
  t.equal((results as { attempts: object[] }[])[0]?.attempts.length, 1, 'within one attempt')

  accepted = 'nobody'
  const failed = await runCall(harness, action, 'failed')
  t.equal(failed.error, 'HTTP 401')
  t.equal(requests.length, 3, 'and no fourth')
  t.equal(
    server.calls.at(-2)?.headers.authorization,
    'Bearer token-2',
    'the token of before is not tried again',
  )
  t.notMatch(JSON.stringify(failed.results), /token-|secret/)
})

t.test('of many calls on two workers at once, one requests the token', async (t) => {
  const harness = await createHarness(t)
  const { credential, requests } = await serveTokens(t, {}, 300)
  const server = await serve(t)
  await put(harness, 'API', { ...credential, clientAuthentication: 'body' })
  for (let workers = 0; workers < 2; workers++) harness.startWorker()
  const ruleId = await harness.createRule([authorized(server.url, '{{credentials.API}}')])
  const ids = await Promise.all(Array.from({ length: 40 }, () => harness.trigger(ruleId)))
  await Promise.all(ids.map((id) => harness.untilStatus(id, 'succeeded')))
  matchLists(t, requests, [
    { body: 'grant_type=client_credentials&scope=write&client_id=client%3A1&client_secret=secret-of-client' },
  ])
  t.strictSame(new Set(server.calls.map(({ headers }) => headers.authorization)), new Set(['Bearer token-1']))
})

t.test('a worker that dies with the lease of a token holds nobody up for longer than that', async (t) => {
  const harness = await createHarness(t)
  const { credential, requests } = await serveTokens(t)
  const server = await serve(t)
  await put(harness, 'API', credential)
  // As a worker leaves it that was killed during its request.
  const hold = (ms: number) =>
    harness.own.credential.updateMany({
      data: { tokenLease: newId(), tokenLeaseUntil: new Date(Date.now() + ms) },
    })
  await hold(3_600_000)
  harness.startWorker()
  harness.startSweeper()
  const action = { ...authorized(server.url, '{{credentials.API}}'), timeoutMs: 500 }
  const impatient = await runCall(harness, action, 'failed')
  t.equal(impatient.error, 'Timed out after 500 ms, without an access token')
  t.match(impatient.results, [{ attempts: [{ error: impatient.error }] }])
  t.same([requests, server.calls], [[], []], 'nobody was asked for a token, and nobody was called')
  const retry = { attempts: 20, backoff: 'constant', delayMs: 300 }
  const id = await beginCall(harness, { ...action, timeoutMs: 2_000, retry })
  await harness.untilStatus(id, 'retrying')
  await hold(-1)
  const retried = await harness.untilStatus(id, 'succeeded')
  const [{ attempts = [] } = {}] = retried.results as { attempts: { error?: string }[] }[]
  t.equal(attempts[0]?.error, 'Timed out after 2000 ms, without an access token')
  t.equal(requests.length, 1)
  t.strictSame(new Set(server.calls.map(({ headers }) => headers.authorization)), new Set(['Bearer token-1']))
})

t.test('a lease lasts 15 seconds, and a token that comes after it replaces none', async (t) => {
  const harness = await createHarness(t)
  const server = await serve(t)
  const answers: ((name: string) => void)[] = []
  const idp = await serve(t, async (_request, response) => {
    const name = await new Promise<string>((resolve) => answers.push(resolve))
    const granted = { access_token: name, token_type: 'Bearer', expires_in: 3600 }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(granted))
  })
  const requested = async (count: number) => {
    while (answers.length < count) await setTimeout(20)
  }
  const parts = { kind: 'oauth2' as const, clientId: 'c', clientSecret: 'secret-of-client', hosts }
  await put(harness, 'API', { ...parts, tokenUrl: `${idp.url}/token` })
  for (let workers = 0; workers < 2; workers++) harness.startWorker()
  const ruleId = await harness.createRule([authorized(server.url, '{{credentials.API}}')])
  const [{ before } = {}] = await harness.database.system.$queryRaw<
    { before: Date }[]
  >`SELECT now() AS before`
  const slow = await harness.trigger(ruleId)
  await requested(1)
  const [{ least, most } = {}] = await harness.database.system.$queryRaw<{ least: number; most: number }[]>`
    SELECT extract(epoch FROM token_lease_until - now())::float8 AS least,
           extract(epoch FROM token_lease_until - ${before})::float8 AS most FROM credentials
    WHERE workspace_id = ${harness.workspaceId}::uuid`
  t.ok(Number(least) <= 15 && Number(most) >= 15, `${least} to ${most} s`)
  const token = () => harness.own.credential.findFirstOrThrow()
  // A worker that sleeps longer than that.
  await harness.own.credential.updateMany({ data: { tokenLeaseUntil: new Date(Date.now() - 1) } })
  const calls = [slow]
  for (; answers.length < 2; await setTimeout(50)) calls.push(await harness.trigger(ruleId))
  answers[1]?.('token-of-the-next')
  while ((await token()).tokenId === null) await setTimeout(20)
  const { tokenId } = await token()
  answers[0]?.('token-too-late')
  await harness.untilStatus(slow, 'succeeded')
  t.equal((await token()).tokenId, tokenId)
  for (const id of calls) await harness.untilStatus(id, 'succeeded')
  await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  t.equal(server.calls.at(-1)?.headers.authorization, 'Bearer token-of-the-next')
  t.equal(answers.length, 2)
})

t.test('a token that no key opens is replaced', async (t) => {
  const harness = await createHarness(t)
  const { credential, requests } = await serveTokens(t)
  const server = await serve(t)
  await put(harness, 'API', credential)
  await harness.own.credential.updateMany({
    data: {
      token: Buffer.alloc(60),
      tokenId: harness.workspaceId,
      tokenExpiresAt: new Date(Date.now() + 3_600_000),
    },
  })
  harness.startWorker()
  await runCall(harness, authorized(server.url, '{{credentials.API}}'))
  t.equal(requests.length, 1)
})

t.test('a faulty token endpoint is a sentence, without a secret', async (t) => {
  const harness = await createHarness(t)
  const answers: [
    name: string,
    status: number,
    headers: Record<string, string>,
    body: string,
    error: RegExp,
  ][] = [
    [
      'WRONG',
      200,
      { 'content-type': 'text/html; charset=x' },
      '<html>',
      /the response of the token endpoint \(HTTP 200, text\/html\) has no access token$/,
    ],
    ['LIST', 201, {}, '["secret-of-client"]', /\(HTTP 201\) has no access token$/],
    ['NUMBER', 200, {}, '{"access_token":1}', /has no access token$/],
    ['CRLF', 200, {}, '{"access_token":"a\\r\\nx: y"}', /has no access token that can stand in a header$/],
    ['NONE', 200, {}, '{"access_token":""}', /has no access token that can stand in a header$/],
    [
      'MAC',
      200,
      {},
      '{"access_token":"a","token_type":"MAC"}',
      /has a token of the type mac, not a bearer token$/,
    ],
    ['DPOP', 200, {}, '{"access_token":"a","token_type":"DPoP"}', /has a token of the type dpop, not/],
    ['TYPES', 200, {}, '{"access_token":"a","token_type":[]}', /has a token of an unknown type, not/],
    ['HUGE', 200, {}, `{"access_token":"${'a'.repeat(200_000)}"}`, /has no access token$/],
    [
      'SLACK',
      200,
      {},
      '{"ok":false,"error":"invalid_client"}',
      /responded with HTTP 200 \(invalid_client\)$/,
    ],
    [
      'GIT',
      200,
      {},
      'error=incorrect_client_credentials&a=secret-of-client',
      /200 \(incorrect_client_credentials\)$/,
    ],
    ['GARBLED', 200, { 'content-encoding': 'gzip' }, 'secret-of-client', /\(HTTP 200\) has no access token$/],
    ['BROKEN', 500, {}, 'secret-of-client', /the token endpoint responded with HTTP 500$/],
    ['CLIENT', 401, {}, '{"error":"invalid_client"}', /HTTP 401 \(invalid_client\)$/],
    ['ECHO', 400, {}, '{"error":"secret-of-client"}', /HTTP 400$/],
    ['MOVED', 302, { location: 'https://evil.example.com/' }, '', /HTTP 302$/],
  ]
  const idp = await serve(t, ({ url }, response) => {
    const [, status = 404, headers = {}, body = ''] = answers.find(([name]) => url === `/${name}`) ?? []
    response.writeHead(status, headers).end(body)
  })
  harness.startWorker()
  for (const [name, , , , error] of answers) {
    // Each has a destination of its own: one that fails again and again is left alone for a while.
    const server = await serve(t)
    const tokenUrl = `${idp.url}/${name}`
    await put(harness, name, {
      kind: 'oauth2',
      tokenUrl,
      clientId: 'c',
      clientSecret: 'secret-of-client',
      hosts,
    })
    const execution = await runCall(harness, authorized(server.url, `{{credentials.${name}}}`), 'failed')
    t.match(execution.error, error)
    t.match(execution.error, `No access token for the credential ${name}: `)
    t.notMatch(JSON.stringify(execution.results), /secret-of-client/)
    t.same(server.calls, [])
  }
  await put(harness, 'INNER', {
    kind: 'oauth2',
    tokenUrl: 'http://10.0.0.1/',
    clientId: 'c',
    clientSecret: 'secret',
    hosts,
  })
  const inner = await runCall(harness, authorized(idp.url, '{{credentials.INNER}}'), 'failed')
  t.match(inner.error, /^No access token for the credential INNER: Credentials are sent over https only$/)
})

t.test(
  'a token is read as endpoints give it: any 2xx, JSON or a form, and a type that begins with bearer',
  async (t) => {
    const harness = await createHarness(t)
    const json = (more: object) => JSON.stringify({ access_token: 'AT', expires_in: 3600, ...more })
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answers: [name: string, status: number, headers: Record<string, string>, body: string | Buffer][] =
      [
        ['CREATED', 201, {}, json({ token_type: 'Bearer' })],
        ['BEARER-TOKEN', 200, {}, json({ token_type: 'BearerToken' })],
        ['NULL', 200, {}, json({ token_type: null })],
        ['EMPTY', 203, {}, json({ token_type: '' })],
        ['MISSING', 200, { 'content-type': 'text/html' }, json({})],
        ['MARKED', 200, {}, `\ufeff${json({})}`],
        ['FORM', 200, form, 'access_token=AT&token_type=bearer&expires_in=3600'],
        ['PLAIN', 200, { 'content-type': 'text/plain' }, 'access_token=AT&scope=&token_type=bearer'],
        ['GZIP', 200, { 'content-encoding': 'gzip' }, gzipSync(json({ token_type: 'BEARER' }))],
      ]
    const idp = await serve(t, ({ url }, response) => {
      const [, status = 404, headers = {}, body = ''] = answers.find(([name]) => url === `/${name}`) ?? []
      response.writeHead(status, headers).end(body)
    })
    const server = await serve(t)
    harness.startWorker()
    for (const [name] of answers) {
      const parts = { clientId: 'c', clientSecret: 'secret-of-client', hosts }
      await put(harness, name, { kind: 'oauth2', tokenUrl: `${idp.url}/${name}`, ...parts })
      await runCall(harness, authorized(server.url, `{{credentials.${name}}}`))
      t.equal(server.calls.at(-1)?.headers.authorization, 'Bearer AT', name)
    }
    t.equal(server.calls.length, answers.length)
  },
)

t.test('an action does not wait for a slow token endpoint beyond its timeout', async (t) => {
  const harness = await createHarness(t)
  const { credential, requests } = await serveTokens(t, {}, 1_500)
  const server = await serve(t)
  await put(harness, 'API', credential)
  harness.startWorker()
  const action = authorized(server.url, '{{credentials.API}}')
  const { error } = await runCall(harness, { ...action, timeoutMs: 300 }, 'failed')
  t.equal(error, 'Timed out after 300 ms, without an access token')
  await runCall(harness, action)
  t.equal(requests.length, 1, 'the next call uses what was requested')
})

t.test('a token endpoint that fails does not count as a failure of the host that is called', async (t) => {
  const harness = await createHarness(t)
  const idp = await serve(t, (_request, response) => response.writeHead(500).end())
  const server = await serve(t)
  const tokenUrl = `${idp.url}/token`
  await put(harness, 'API', {
    kind: 'oauth2',
    tokenUrl,
    clientId: 'c',
    clientSecret: 'secret-of-client',
    hosts,
  })
  harness.startWorker()
  for (let times = 0; times < 6; times++) {
    const { error } = await runCall(harness, authorized(server.url, '{{credentials.API}}'), 'failed')
    t.match(error, /the token endpoint responded with HTTP 500$/)
  }
  await runCall(harness, webhook(server.url))
})

t.test('no token goes to a host that is taken away from its credential during a call', async (t) => {
  const harness = await createHarness(t)
  const { credential } = await serveTokens(t)
  const server = await serve(t, async (_request, response) => {
    await put(harness, 'API', { ...credential, hosts: ['api.example.com'] })
    response.writeHead(401).end()
  })
  await put(harness, 'API', credential)
  harness.startWorker()
  harness.startSweeper()
  const action = authorized(server.url, '{{credentials.API}}')
  const { results, error } = await runCall(
    harness,
    { ...action, retry: { attempts: 10, delay: '1s' } },
    'failed',
  )
  t.equal(error, 'The credential API may not be sent to the host of this URL')
  t.match(results, [{ attempts: [{ error: 'The credential API was changed' }] }])
  matchLists(t, server.calls, [{ headers: { authorization: 'Bearer token-1' } }])
})
