import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { mintToken } from '@automation/access'
import { newId, openDatabase } from '@automation/database'
import { makeTemporaryDirectory, startProduct } from '@automation/launcher'
import { readSigningKey, signWebhook } from '@automation/webhooks'
import pg from 'pg'
import t, { type Test } from 'tap'
import { until } from './fixtures/product.js'
import { openTraceCollector } from './fixtures/trace-collector.js'

/** What nobody may read anywhere but in Postgres, each recognised by a text of its own. */
const word = (name: string) => `canary-${name}-${randomBytes(9).toString('hex')}`
const jwtSecret = word('jwt-secret-of-enough-length')
const encryptionKey = randomBytes(32).toString('base64')
const smtpPassword = word('smtp')
// The password first: of a row that it refuses Postgres tells the beginning of each column.
const data = { password: word('event'), nested: { token: word('nested') }, email: 'ada@example.com' }
const templateText = word('template')
const headerText = word('header')
const bodyText = word('webhook-body')
const brokenText = word('broken-body')
const credential = `${word('credential')}/+ "&`

const collector = await openTraceCollector()
const directory = await makeTemporaryDirectory()
const plenty = '1000000/1000000'
const product = await startProduct({
  directory: directory.path,
  durable: false,
  preparedPostgres: process.env.TEST_POSTGRES,
  env: {
    JWT_SECRET: jwtSecret,
    ENCRYPTION_KEY: encryptionKey,
    SMTP_URL: `smtp://mailer:${smtpPassword}@127.0.0.1:1`,
    LOG_LEVEL: 'trace',
    METRICS_PORT: '0',
    ...collector.env,
    OUTBOUND_ALLOW: '127.0.0.0/8',
    OUTBOUND_PORTS: '1-65535',
    RATE_LIMIT_ANONYMOUS: plenty,
    RATE_LIMIT_AUTHENTICATED: plenty,
    RATE_LIMIT_ENTERPRISE: plenty,
  },
})
t.teardown(async () => {
  await product.stop()
  await directory.remove()
  collector.close()
})
const baseUrl = product.apis[0]?.baseUrl ?? ''
const token = await mintToken({ secret: jwtSecret, userId: 'tester', expiresInSeconds: 600 })
const workspaceId = newId()
const database = openDatabase(product.databaseUrl, 2)
await database.system.workspace.create({
  data: { id: workspaceId, name: 'Test', members: { create: { userId: 'tester', role: 'admin' } } },
})
await database.close()

/** All that Redis gets: keys, values, jobs and messages, including those that are removed later. */
let redisTraffic = ''
const { hostname, port, password } = new URL(product.redisUrl)
// By hand: the monitor of ioredis stumbles over what scripts do.
const monitor = connect(Number(port), hostname).setEncoding('latin1')
monitor.on('data', (text: string) => {
  redisTraffic += text
})
monitor.write(`AUTH ${password}\r\nMONITOR\r\n`)
t.teardown(() => monitor.destroy())

/** Refusals, which may contain the reason and nothing else. */
const refusals: string[] = []

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaceId,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (response.status >= 400) refusals.push(`${response.status} ${text}`)
  return { status: response.status, text }
}

async function create(path: string, body: unknown): Promise<Record<string, string>> {
  const { status, text } = await call('POST', path, body)
  if (status !== 201) throw new Error(`${status} ${text}`)
  return JSON.parse(text) as Record<string, string>
}

const developer = '/api/developer/v1'
const rules = '/api/automation-rules'
const closedPort = 'http://127.0.0.1:1/'
const { key = '' } = await create(`${developer}/api-keys`, { name: 'Key', scopes: ['admin'] })
const incoming = await create(`${developer}/signing-secrets`, { provider: 'shop' })
const ofProvider = { provider: 'pay', scheme: 'stripe', secret: word('secret-of-a-provider') }
const stripe = await create(`${developer}/signing-secrets`, ofProvider)
const outgoing = await create(`${developer}/signing-secrets`, {
  provider: '127.0.0.1',
  direction: 'outgoing',
})
const subscription = await create(`${developer}/subscriptions`, {
  url: closedPort,
  eventTypes: ['execution.failed', 'receipt.rejected'],
})
await create('/api/email-templates', { name: 'plain', text: `${templateText} {{password}}` })
/** A receiver that repeats what it gets, in all the forms that it knows. */
const echo = createServer((request, response) => {
  const got = String(request.headers['x-key'])
  const forms = [got, JSON.stringify(got), encodeURIComponent(got), Buffer.from(got).toString('base64')]
  response.writeHead(400, { 'content-type': 'text/plain' }).end(forms.join(' '))
})
await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
t.teardown(() => echo.close())
const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/`
const put = await call('PUT', `${developer}/credentials/CANARY`, { value: credential, hosts: ['127.0.0.1'] })
if (put.status !== 201) throw new Error(put.text)
await create(rules, {
  name: 'All that fails',
  trigger: 'LEAD_CREATED',
  conditions: [{ field: 'password', operator: 'exists' }],
  actions: [
    {
      type: 'SEND_EMAIL',
      config: { to: '{{email}}', subject: 'x', template: 'plain' },
      continueOnError: true,
    },
    {
      type: 'SEND_WEBHOOK',
      config: { url: closedPort, headers: { 'x-secret': headerText }, body: { password: '{{password}}' } },
      continueOnError: true,
    },
    ...[closedPort, echoUrl].map((url) => ({
      type: 'SEND_WEBHOOK',
      config: {
        url: `${url}?key={{credentials.CANARY}}`,
        headers: { 'x-key': '{{credentials.CANARY}}' },
        capture: { echoed: 'headers.content-type' },
      },
      continueOnError: true,
    })),
    { type: 'CREATE_TASK', config: { title: '{{nested.token}}' } },
  ],
})

const secrets: Record<string, string> = {
  'the secret of tokens': jwtSecret,
  'the key of secrets': encryptionKey,
  'the password of the mail server': smtpPassword,
  'an API key': key.slice(-43),
  'an incoming secret': (incoming.secret ?? '').replace('whsec_', ''),
  'the secret of a provider': ofProvider.secret,
  'an outgoing secret': (outgoing.secret ?? '').replace('whsec_', ''),
  'a subscription’s secret': (subscription.secret ?? '').replace('whsec_', ''),
  'a token': token.split('.')[2] ?? '',
  'data of an event': data.password,
  'nested data of an event': data.nested.token,
  'the text of a template': templateText,
  'a header of a rule': headerText,
  'a credential': credential.split('/')[0] ?? '',
  'a credential in Base64': Buffer.from(credential).toString('base64').slice(0, 40),
  'the body of a webhook': bodyText,
  'a body that was refused': brokenText,
}

async function deliver(body: string, isTampered = false) {
  const id = newId()
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const signature = signWebhook(readSigningKey(incoming.secret ?? ''), { id, timestamp, body })
  return call('POST', `/api/incoming-webhooks/shop/${workspaceId}`, isTampered ? `${body} ` : body, {
    'x-idempotency-key': id,
    'x-timestamp': timestamp,
    'x-signature-id': incoming.id ?? '',
    'x-signature': signature,
  })
}

const trigger = (prefer: string) => call('POST', `${rules}/trigger/LEAD_CREATED`, { data }, { prefer })

t.test('all goes wrong that can', async (t) => {
  for (const prefer of ['wait=10', 'respond-async'])
    t.match(String((await trigger(prefer)).status), /^20[02]$/)
  t.equal(
    (await deliver(JSON.stringify({ type: 'lead.created', data: { ...data, password: bodyText } }))).status,
    202,
  )
  t.equal((await deliver(JSON.stringify({ password: bodyText }), true)).status, 401)
  t.equal((await deliver(`{"password":"${bodyText}"`)).status, 400)
  t.equal((await call('POST', rules, `{"name":"${brokenText}`)).status, 400)
  t.equal(
    (await call('POST', `${rules}/trigger/LEAD_CREATED`, { data, [brokenText.slice(0, 5)]: 1 })).status,
    422,
  )
  const path = `${developer}/signing-secrets/${stripe.id}`
  t.equal((await call('PUT', path, { secret: ofProvider.secret })).status, 200)
  t.equal((await call('PUT', path, { secret: `${ofProvider.secret} ` })).status, 422)
  t.equal(
    (await call('POST', `${developer}/signing-secrets`, { ...ofProvider, scheme: 'github' })).status,
    409,
  )
  const wrong = { 'stripe-signature': `t=${Math.floor(Date.now() / 1_000)},v1=00` }
  t.equal(
    (await call('POST', `/api/incoming-webhooks/pay/${workspaceId}`, { password: bodyText }, wrong)).status,
    401,
  )
  for (const authorization of [`Bearer ${token}x`, `Bearer ${key}x`, `Basic ${jwtSecret}`])
    t.equal((await call('GET', rules, undefined, { authorization })).status, 401)
  t.equal((await call('GET', rules, undefined, { authorization: `Bearer ${key}` })).status, 200)

  const client = new pg.Client({ connectionString: product.databaseUrl })
  await client.connect()
  // Postgres tells the whole row that it refuses, in the details of its error.
  for (const table of ['events', 'tasks', 'idempotency_keys']) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT refused CHECK (false) NOT VALID`)
    await trigger('wait=1')
    await call(
      'POST',
      `${rules}/trigger/LEAD_CREATED`,
      { data },
      { 'idempotency-key': word('key'), prefer: 'wait=1' },
    )
    await deliver(JSON.stringify({ password: bodyText }))
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT refused`)
  }
  // And so it does with what it cannot find.
  for (const table of ['rules', 'email_templates', 'api_keys', 'signing_secrets']) {
    await client.query(`ALTER TABLE ${table} RENAME TO hidden`)
    await call('POST', rules, {
      name: 'x',
      trigger: 'LEAD_CREATED',
      actions: [{ type: 'CREATE_TASK', config: { title: headerText } }],
    })
    await call('POST', '/api/email-templates', { name: newId(), text: templateText })
    await call('POST', `${developer}/signing-secrets`, ofProvider)
    await call('GET', rules, undefined, { authorization: `Bearer ${key}` })
    await deliver(JSON.stringify({ password: bodyText }))
    await client.query(`ALTER TABLE hidden RENAME TO ${table}`)
  }
  t.ok(
    refusals.some((text) => text.startsWith('500')),
    'there was a 500',
  )

  await until(async () => {
    const { rows } = await client.query(
      `SELECT count(*)::int AS failed FROM executions WHERE status = 'failed'`,
    )
    return rows[0].failed >= 2
  })
  await client.end()
  product.postgres?.kill('SIGKILL')
  await product.postgres?.exited
  t.equal((await trigger('wait=1')).status, 503)
  t.equal((await deliver(JSON.stringify({ password: bodyText }))).status, 503)
  await product.restartPostgres()
})

t.test('no secret is in a response, a log, a metric, a trace or in Redis', async (t) => {
  const watched = [...product.apis, ...product.workers]
  const scrapes = await Promise.all(
    watched.map(async ({ metricsPort }) => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()),
  )
  for (const text of scrapes) {
    t.match(text, /^automation_/m)
    findNone(t, 'a scrape', text)
  }
  // What waits to be sent goes when the processes do.
  await Promise.all(watched.map((process) => process.stop()))
  t.ok(collector.spans.length > 0, 'there are traces')
  findNone(t, 'the traces', collector.bodies.join('\n'))
  const logs = `${directory.path}/logs`
  const texts = await Promise.all(
    (await readdir(logs))
      .filter((name) => /^(api|worker)/.test(name))
      .map(async (name) => [name, await readFile(`${logs}/${name}`, 'utf8')] as const),
  )
  t.ok(
    texts.some(([, text]) => text.includes('request failed')),
    'the logs report failures',
  )
  t.match(redisTraffic, /publish/i, 'Redis was listened to')
  for (const [name, text] of texts) findNone(t, name, text)
  findNone(t, 'Redis', redisTraffic)
  findNone(t, 'refusals', refusals.join('\n'))
})

t.test('no table has a credential, in any form', async (t) => {
  const client = new pg.Client({ connectionString: product.databaseUrl })
  await client.connect()
  const tables = await client.query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  )
  const [text = ''] = credential.split('/')
  const forms = [
    text,
    Buffer.from(credential).toString('base64').slice(0, 40),
    Buffer.from(text).toString('hex'),
  ]
  let shown = 0
  for (const { name } of tables.rows) {
    const { rows } = await client.query(
      `SELECT coalesce(string_agg(one::text, ' '), '') AS rows FROM "${name}" one`,
    )
    for (const form of forms)
      t.notOk(rows[0].rows.includes(form), `${name} does not have ${form.slice(0, 20)}`)
    if (rows[0].rows.includes('{{credentials.CANARY}}')) shown++
  }
  t.ok(shown >= 2, 'rules and results have its name')
  await client.end()
})

t.test('each line of a log is JSON with the ids of its request, event and execution', async (t) => {
  const logs = `${directory.path}/logs`
  const lines = (
    await Promise.all(['api-1', 'worker-1'].map((name) => readFile(`${logs}/${name}.log`, 'utf8')))
  )
    .flatMap((text) => text.trim().split('\n'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const linesWith = (msg: string) => lines.filter((line) => line.msg === msg)
  const accepted = linesWith('request finished').filter(
    ({ route, statusCode }) => route === `${rules}/trigger/:eventType` && String(statusCode).startsWith('20'),
  )
  const ids = new Set(linesWith('event done').map(({ eventId }) => eventId))
  t.ok(accepted.length >= 2)
  for (const { name, requestId, eventId } of accepted)
    t.ok(name === 'api' && requestId && ids.has(eventId), 'from the request over its event to the worker')
  const recorded = linesWith('execution recorded').filter(({ status }) => status === 'failed')
  t.ok(recorded.length >= 2)
  for (const { name, eventId, executionId, ruleId } of recorded)
    t.ok(name === 'worker' && ids.has(eventId) && executionId && ruleId)
  const calls = linesWith('outbound call finished').filter(
    ({ executionId, action, result }) => executionId && action && result,
  )
  t.ok(calls.length >= 4)
  const failed = linesWith('request failed')
  t.ok(failed.length >= 4, 'three for a refused event, one for a refused key')
  for (const { requestId } of failed) t.ok(requestId)
})

function findNone(t: Test, place: string, text: string): void {
  for (const [name, secret] of Object.entries(secrets)) {
    const at = text.indexOf(secret)
    t.ok(at < 0, `${place} does not tell ${name}`, { around: text.slice(Math.max(0, at - 300), at + 50) })
  }
}
