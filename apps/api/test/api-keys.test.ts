import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { createApiKeyVerifier } from '../src/access/verify-api-key.js'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import {
  type Answer,
  type Api,
  type Question,
  ruleBody,
  rules,
  startApi,
  type Workspace,
} from './fixtures/api.js'

interface Key {
  id: string
  name: string
  scopes: string[]
  state: string
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}
type NewKey = Key & { key: string }

const api = await startApi(t)
const keys = '/api/developer/v1/api-keys'
const receipts = '/api/developer/v1/webhook-receipts'
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const refused = { status: 401, body: { error: 'Authentication required' } }
const denied = { status: 403, body: { error: 'Access denied' } }
const statusAndBody = ({ status, body }: Answer) => ({ status, body })

async function makeKey({ call }: Workspace, scopes = ['admin']): Promise<NewKey> {
  const { status, body } = await call<NewKey>('POST', keys, { body: { name: 'A key', scopes } })
  if (status !== 201) throw new Error(`No key was made: ${status} ${JSON.stringify(body)}`)
  return body
}
const askWith = (token: string, question: Question = {}, { call }: Api = api) =>
  call('GET', rules, { token, ...question })

t.test('a key is shown once, is stored as its SHA-256, and works at once', async (t) => {
  const workspace = await api.makeWorkspace()
  const answer = await workspace.call<NewKey>('POST', keys, {
    body: { name: 'CI', scopes: ['rules:read', 'receipts:read'], expiresAt: '2999-12-31T00:00:00+02:00' },
  })
  t.equal(answer.status, 201)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(answer.headers.location, `${keys}/${answer.body.id}`)
  const { key, ...rest } = answer.body
  t.match(key, new RegExp(`^ark_${rest.id}_[A-Za-z0-9_-]{43}$`))
  t.match(rest.createdAt, timestamp)
  t.strictSame(
    { ...rest, id: '', createdAt: '' },
    {
      id: '',
      name: 'CI',
      scopes: ['rules:read', 'receipts:read'],
      state: 'active',
      createdAt: '',
      expiresAt: '2999-12-30T22:00:00.000Z',
      revokedAt: null,
      lastUsedAt: null,
    },
  )
  t.strictSame((await workspace.call('GET', keys)).body, { data: [rest], nextCursor: null })
  t.equal((await askWith(key)).status, 200)

  const row = await workspace.database.apiKey.findUniqueOrThrow({ where: { id: rest.id } })
  t.strictSame(Buffer.from(row.hash), createHash('sha256').update(key).digest())
  const secret = key.slice(-43)
  const [stored] = await api.app.database.system.$queryRawUnsafe<{ text: string }[]>(
    `SELECT (SELECT string_agg(k::text, ' ') FROM api_keys k) || (SELECT string_agg(a::text, ' ') FROM audit_entries a) AS text`,
  )
  t.match(stored?.text, rest.id)
  t.notMatch(stored?.text, secret, 'nothing of its text is stored')
  t.notMatch(stored?.text, Buffer.from(secret, 'base64url').toString('hex'))
})

t.test('the fields of a new key are validated, and all faults are reported', async (t) => {
  const { call } = await api.makeWorkspace()
  const good = { name: 'x', scopes: ['admin'] }
  const past = new Date(Date.now() - 1_000).toISOString()
  const cases: [body: unknown, fields: string[]][] = [
    [{}, ['name', 'scopes']],
    [{ name: '', scopes: [], expiresAt: past }, ['expiresAt', 'name', 'scopes']],
    [{ name: 5, scopes: 'admin', expiresAt: 5 }, ['expiresAt', 'name', 'scopes']],
    [{ ...good, name: 'x'.repeat(201) }, ['name']],
    [{ ...good, name: 'a\0b' }, ['name']],
    [{ ...good, name: '\udc00' }, ['name']],
    [{ ...good, scopes: ['admin', 'root'] }, ['scopes[1]']],
    [{ ...good, scopes: ['admin', 'admin'] }, ['scopes']],
    [{ ...good, scopes: [null, 'Admin', ['admin']] }, ['scopes[0]', 'scopes[1]', 'scopes[2]']],
    [
      { ...good, id: newId(), key: 'ark_x', hash: '', workspaceId: newId() },
      ['hash', 'id', 'key', 'workspaceId'],
    ],
    ...[
      '',
      past,
      'tomorrow',
      '2999-02-30',
      '2999-01-01T00:00:00',
      '9'.repeat(400),
      '9999-12-31T23:59:59-23:59',
    ].map((expiresAt): [unknown, string[]] => [{ ...good, expiresAt, x: 1 }, ['expiresAt', 'x']]),
    [{ ...good, expiresAt: null }, ['expiresAt']],
  ]
  for (const [body, fields] of cases) {
    const answer = await call<{ errors: { field: string; message: string }[] }>('POST', keys, { body })
    t.equal(answer.status, 422, JSON.stringify(body))
    t.strictSame(answer.body.errors?.map(({ field }) => field).sort(), fields, JSON.stringify(body))
  }
  for (const body of [undefined, '', '[]', 'null', '"x"', '{'])
    t.equal((await call('POST', keys, { body })).status, 400, `${body}`)
  for (const expiresAt of ['2999-01-01', '9999-12-31', '2999-12-31T23:59:59.999999999Z']) {
    const made = await call<NewKey>('POST', keys, { body: { ...good, expiresAt } })
    t.equal(made.status, 201, expiresAt)
    t.equal((await askWith(made.body.key)).status, 200)
  }
})

t.test('a revoked key is refused from the next request on, by every process', async (t) => {
  const workspace = await api.makeWorkspace()
  const second = await startApi(t)
  const { id, key } = await makeKey(workspace)
  for (const process of [api, second]) t.equal((await askWith(key, {}, process)).status, 200)
  const revoked = await workspace.call('DELETE', `${keys}/${id}`)
  t.strictSame(statusAndBody(revoked), { status: 204, body: undefined })
  for (const process of [api, second]) t.strictSame(statusAndBody(await askWith(key, {}, process)), refused)
  t.equal((await workspace.call('DELETE', `${keys}/${id}`)).status, 204, 'again changes nothing')
  const { body } = await workspace.call<{ data: Key[] }>('GET', keys)
  matchLists(t, body.data, [{ id, state: 'revoked', revokedAt: timestamp }])
  t.strictSame(statusAndBody(await workspace.call('DELETE', `${keys}/${newId()}`)), {
    status: 404,
    body: { error: 'API key not found' },
  })
})

t.test('a key may revoke itself', async (t) => {
  const { id, key } = await makeKey(await api.makeWorkspace())
  t.equal((await api.call('DELETE', `${keys}/${id.toUpperCase()}`, { token: key })).status, 204)
  t.strictSame(statusAndBody(await askWith(key)), refused)
})

t.test('an expired key is refused', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, key } = await makeKey(workspace)
  const expire = (expiresAt: Date) => workspace.database.apiKey.update({ where: { id }, data: { expiresAt } })
  await expire(new Date(Date.now() + 60_000))
  t.equal((await askWith(key)).status, 200)
  await expire(new Date(Date.now() - 1))
  t.strictSame(statusAndBody(await askWith(key)), refused)
  matchLists(t, (await workspace.call('GET', keys)).body, { data: [{ state: 'expired' }] })
  t.equal((await workspace.call('DELETE', `${keys}/${id}`)).status, 204)
  matchLists(t, (await workspace.call('GET', keys)).body, { data: [{ state: 'revoked' }] })
})

t.test('each scope allows its operations and no others', async (t) => {
  const workspace = await api.makeWorkspace()
  const { body: rule } = await workspace.call<Rule>('POST', rules, { body: ruleBody() })
  const later = { prefer: 'respond-async' }
  const data = { lead: 1 }
  const calls: Record<string, (token: string) => Promise<Answer>> = {
    receipts: (token) => api.call('GET', receipts, { token }),
    read: (token) => api.call('GET', `${rules}/${rule.id}`, { token }),
    health: (token) => api.call('GET', `${rules}/health`, { token }),
    tasks: (token) => api.call('GET', '/api/tasks', { token }),
    versions: (token) => api.call('GET', `${rules}/${rule.id}/versions`, { token }),
    events: (token) => api.call('GET', '/api/events', { token }),
    executions: (token) => api.call('GET', '/api/executions', { token }),
    templates: (token) => api.call('GET', '/api/email-templates', { token }),
    dryRun: (token) =>
      api.call('POST', `${rules}/${rule.id}/execute`, { token, body: { data, dryRun: true } }),
    execute: (token) =>
      api.call('POST', `${rules}/${rule.id}/execute`, { token, body: { data }, headers: later }),
    trigger: (token) =>
      api.call('POST', `${rules}/trigger/DEAL_WON`, { token, body: { data }, headers: later }),
    toggle: (token) => api.call('PATCH', `${rules}/${rule.id}/toggle`, { token }),
    replay: (token) => api.call('POST', '/api/events/replay', { token, body: { filter: {} } }),
    retry: (token) => api.call('POST', '/api/executions/retry', { token, body: { filter: {} } }),
    create: (token) => api.call('POST', rules, { token, body: ruleBody() }),
    update: (token) => api.call('PUT', `${rules}/${rule.id}`, { token, body: { name: 'x' } }),
    clone: (token) => api.call('POST', `${rules}/${rule.id}/clone`, { token }),
    restore: (token) => api.call('POST', `${rules}/${rule.id}/versions/1/restore`, { token }),
    makeTemplate: (token) =>
      api.call('POST', '/api/email-templates', { token, body: { name: newId(), text: 'x' } }),
    subscriptions: (token) => api.call('GET', '/api/developer/v1/subscriptions', { token }),
    keys: (token) => api.call('GET', keys, { token }),
    makeKey: (token) => api.call('POST', keys, { token, body: { name: 'x', scopes: ['admin'] } }),
    audit: (token) => api.call('GET', '/api/developer/v1/audit-log', { token }),
  }
  const reading = ['read', 'health', 'tasks', 'versions', 'events', 'executions', 'templates', 'dryRun']
  const running = [...reading, 'execute', 'trigger', 'toggle', 'replay', 'retry']
  const writing = [...running, 'create', 'update', 'clone', 'restore', 'makeTemplate']
  const allowed: [scopes: string[], calls: string[]][] = [
    [['receipts:read'], ['receipts']],
    [['rules:read'], reading],
    [['rules:run'], running],
    [['rules:write'], writing],
    [
      ['rules:read', 'receipts:read'],
      [...reading, 'receipts'],
    ],
    [['rules:read', 'rules:write', 'rules:run'], writing],
    [['admin'], Object.keys(calls)],
    [['receipts:read', 'admin'], Object.keys(calls)],
  ]
  for (const [scopes, may] of allowed) {
    const { key } = await makeKey(workspace, scopes)
    for (const [name, ask] of Object.entries(calls)) {
      const answer = await ask(key)
      if (may.includes(name)) t.ok([200, 201, 202].includes(answer.status), `${scopes} may ${name}`)
      else t.strictSame(statusAndBody(answer), denied, `${scopes} may not ${name}`)
    }
  }
})

t.test(
  'a key determines its workspace: the header is optional, and another workspace is refused',
  async (t) => {
    const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
    const { key } = await makeKey(workspace)
    const { body: rule } = await api.call<Rule>('POST', rules, { token: key, body: ruleBody() })
    t.equal(rule.workspaceId, workspace.id)
    matchLists(t, (await askWith(key)).body, { rules: [{ id: rule.id }] })
    for (const named of [workspace.id, workspace.id.toUpperCase()])
      matchLists(t, (await askWith(key, { workspace: named })).body, { rules: [{ id: rule.id }] })
    for (const named of [other.id, newId()])
      t.strictSame(statusAndBody(await askWith(key, { workspace: named })), denied)
    for (const named of ['', 'x', `${workspace.id},${workspace.id}`, 'null'])
      t.equal((await askWith(key, { headers: { 'x-workspace-id': named } })).status, 400, named)

    const theirs = await makeKey(other)
    const { body: theirRule } = await api.call<Rule>('POST', rules, { token: theirs.key, body: ruleBody() })
    for (const [method, path] of [
      ['GET', `${rules}/${theirRule.id}`],
      ['DELETE', `${rules}/${theirRule.id}`],
      ['DELETE', `${keys}/${theirs.id}`],
    ] as const)
      t.equal((await api.call(method, path, { token: key })).status, 404)
    t.equal((await askWith(theirs.key)).status, 200)
  },
)

t.test('any other text is a 401: a cut, altered, combined or invented one', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, key } = await makeKey(workspace)
  const other = await makeKey(workspace)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const secret = key.slice(-43)
  const made = [
    `ark_${other.id}_${secret}`,
    `ark_${id}_${other.key.slice(-43)}`,
    `ark_${newId()}_${secret}`,
    `ark_${id.toUpperCase()}_${secret}`,
    `ark_${id.replaceAll('-', '')}_${secret}`,
    `ark_${id}_${createHash('sha256').update(key).digest('base64url')}`,
    `ark_${id}_${createHash('sha256').update(key).digest('hex')}`,
    `ark_${id}`,
    `ark_${id}_`,
    `ark__${secret}`,
    'ark_',
    'ark_ark_',
    `ARK_${id}_${secret}`,
    `${key}=`,
    `${key}A`,
    `${key}.${key}`,
    `${key}\u0001`,
    `${key}é`,
    `${key}\u00a0`,
    `x${key}`,
    `ark_${'0'.repeat(8)}-${'0'.repeat(4)}-${'0'.repeat(4)}-${'0'.repeat(4)}-${'0'.repeat(12)}_${secret}`,
    `ark_${'z'.repeat(36)}_${secret}`,
    `ark_${id}_${'A'.repeat(1_000_000)}`,
    `ark_${"'; DROP TABLE api_keys; --".padEnd(36, 'x').replaceAll(' ', '_')}_${secret}`,
    ...Array.from({ length: key.length }, (_, length) => key.slice(0, length)),
    ...Array.from({ length: key.length }, (_, index) => {
      const letters = [...alphabet].filter((letter) => letter !== key[index])
      const letter = letters[(index * 7) % letters.length]
      return `${key.slice(0, index)}${letter}${key.slice(index + 1)}`
    }),
    ...Array.from({ length: key.length }, (_, index) => key.slice(0, index) + key.slice(index + 1)),
    ...Array.from({ length: 50 }, () => `ark_${id}_${randomBytes(32).toString('base64url')}`),
  ]
  t.ok(made.length > 300)
  for (const text of made) {
    const answer = await api.call('GET', rules, { headers: { authorization: `Bearer ${text}` } })
    if (answer.status !== 401) t.fail(`${answer.status} for ${text.slice(0, 100)}`)
  }
  const [first] = made
  t.strictSame(statusAndBody(await askWith(String(first))), refused)
  t.equal((await askWith(key)).status, 200, 'the key itself is as good as ever')
  t.equal((await askWith(other.key)).status, 200)
})

t.test('concurrent requests with many keys each use their own key', async (t) => {
  const workspaces = await Promise.all(Array.from({ length: 4 }, () => api.makeWorkspace()))
  const made = await Promise.all(
    workspaces.map(async (workspace) => ({ workspace, ...(await makeKey(workspace)) })),
  )
  const asked = Array.from({ length: 60 }, (_, index) => {
    const { key, workspace } = made[index % 4] as (typeof made)[number]
    const another = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
    return { key: index % 5 === 0 ? another : key, workspace, isGood: index % 5 !== 0 }
  })
  const answers = await Promise.all(
    asked.map(({ key }) =>
      api.call<{ data: { id: string }[] }>('GET', '/api/developer/v1/workspaces', { token: key }),
    ),
  )
  for (const [index, { workspace, isGood }] of asked.entries()) {
    t.equal(answers[index]?.status, isGood ? 200 : 401)
    if (isGood) t.equal(answers[index]?.body.data[0]?.id, workspace.id)
  }
})

t.test('a key has its own bucket, by the plan of its workspace', async (t) => {
  // One token a minute: no test lasts long enough to get one back.
  const limited = await startApi(t, {
    RATE_LIMIT_ANONYMOUS: '1/2',
    RATE_LIMIT_AUTHENTICATED: '1/6',
    RATE_LIMIT_ENTERPRISE: '1/8',
  })
  const [standard, enterprise] = [await limited.makeWorkspace(), await limited.makeWorkspace('enterprise')]
  const [first, second] = [await makeKey(standard), await makeKey(standard)]
  const third = await makeKey(enterprise)
  const remoteAddress = '10.1.2.3'
  const countLet = async (token: string) => {
    for (let count = 0; count < 20; count++)
      if ((await askWith(token, { remoteAddress }, limited)).status === 429) return count
    return 20
  }
  t.equal(await countLet(first.key), 6)
  const over = await askWith(first.key, { remoteAddress }, limited)
  t.strictSame(statusAndBody(over), { status: 429, body: { error: 'Rate limit exceeded' } })
  t.match(over.headers['retry-after'], /^\d+$/)
  t.equal(Number(over.headers['x-ratelimit-limit']), 6)
  t.equal(await countLet(second.key), 6, 'another key of the same workspace')
  t.equal(await countLet(third.key), 8, 'a key of an enterprise workspace')
  t.equal(await countLet(standard.tokens.viewer), 6, 'a user')
  t.equal(await countLet(`${first.key.slice(0, -1)}!`), 2, 'a text that is no key is of the IP')
})

t.test('a key has the time of its last use, and refused keys do not count', async (t) => {
  const workspace = await api.makeWorkspace()
  const { key } = await makeKey(workspace, ['rules:read'])
  const list = async () => (await workspace.call<{ data: Key[] }>('GET', keys)).body.data[0]?.lastUsedAt
  await askWith(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)
  t.equal(await list(), null)
  const startedAt = Date.now()
  await askWith(key)
  const lastUsedAt = await until(async () => (await list()) ?? undefined)
  t.ok(Date.parse(lastUsedAt) >= startedAt - 1 && Date.parse(lastUsedAt) <= Date.now())
})

t.test('a workspace has at most 100 active keys, even with concurrent requests', async (t) => {
  const workspace = await api.makeWorkspace()
  const row = (fields: object = {}) => ({
    id: newId(),
    workspaceId: workspace.id,
    name: 'x',
    scopes: ['admin'],
    hash: randomBytes(32),
    ...fields,
  })
  await workspace.database.apiKey.createMany({
    data: [
      ...Array.from({ length: 98 }, () => row()),
      ...Array.from({ length: 5 }, () => row({ revokedAt: new Date() })),
      ...Array.from({ length: 5 }, () => row({ expiresAt: new Date(0) })),
    ],
  })
  const post = () => workspace.call('POST', keys, { body: { name: 'x', scopes: ['admin'] } })
  const answers = await Promise.all(Array.from({ length: 6 }, post))
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 201, 409, 409, 409, 409])
  t.match(answers.find(({ status }) => status === 409)?.body, {
    error: 'A workspace may have 100 API keys in use',
  })
})

t.test('a key is verified while the statement for an earlier key gets no response', async (t) => {
  const workspace = await api.makeWorkspace()
  const [first, second] = [await makeKey(workspace), await makeKey(workspace)]
  const { database } = api.app
  let statements = 0
  const verify = createApiKeyVerifier({
    ...database,
    run: ((...statement: Parameters<Database['run']>) =>
      ++statements === 1 ? new Promise(() => {}) : database.run(...statement)) as Database['run'],
  })
  void verify(first.key)
  await new Promise(setImmediate)
  t.match(await verify(second.key), { id: second.id })
  t.equal(statements, 2)
})

async function until<Value>(find: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    await delay(20)
  }
}
