import { readFile } from 'node:fs/promises'
import { createOperatorKey, createWorkspace, revokeOperatorKey } from '@automation/access'
import { ownerOf } from '@automation/admission'
import { newId } from '@automation/database'
import t from 'tap'
import { type Answer, mint, type Question, rules, startApi } from './fixtures/api.js'
import { createResolver, readOperations } from './fixtures/security/operations.js'
import { sampleBody } from './fixtures/security/sample-body.js'

const { api, document, operations } = await readOperations(() => startApi(t))
const { database } = api.app
const operator = { database, actor: 'cli:root' }
const workspaces = '/api/developer/v1/workspaces'

interface Created {
  id: string
  name: string
  plan: string
  counts?: { rules: number; members: number; apiKeys: number }
  apiKey?: { id: string; key: string | null; scopes: string[]; warnings?: object[] }
}

async function makeKey() {
  const { id, key } = await createOperatorKey(operator, 'sign-up')
  const ask = <Body = Created>(
    method: Parameters<typeof api.call>[0],
    path = '',
    question: Question = {},
  ): Promise<Answer<Body>> => api.call<Body>(method, `${workspaces}${path}`, { token: key, ...question })
  return { id, key, ask, create: (body: object, headers = {}) => ask('POST', '', { body, headers }) }
}

const customer = { name: 'Customer 17', adminUserId: 'ada' }

t.test(
  'an operator’s key creates a workspace with its admin and first key, and the key posts events',
  async (t) => {
    const { id, create } = await makeKey()
    const apiKey = { name: 'backend', scopes: ['rules:run'] }
    const { status, headers, body } = await create({ ...customer, plan: 'enterprise', apiKey })
    t.equal(status, 201)
    t.equal(headers.location, `${workspaces}/${body.id}`)
    t.match(body, { name: 'Customer 17', plan: 'enterprise', apiKey: { ...apiKey, state: 'active' } })
    const posted = await api.call('POST', '/api/events', {
      token: body.apiKey?.key ?? '',
      body: { eventType: 'LEAD_CREATED', data: {} },
      headers: { prefer: 'respond-async' },
    })
    t.equal(posted.status, 202)
    const own = database.forWorkspace(body.id)
    t.match(await own.member.findMany(), [{ userId: 'ada', role: 'admin' }])
    const actor = `operator_key:${id}`
    t.match(await own.auditEntry.findMany({ orderBy: { id: 'asc' } }), [
      { actor, action: 'workspace.created', details: { adminUserId: 'ada' } },
      { actor, action: 'api_key.created', subject: body.apiKey?.id },
    ])
    t.notMatch(JSON.stringify(await own.auditEntry.findMany()), /ark_/)
  },
)

t.test('each such workspace is an owner of its own, and there is no limit of their number', async (t) => {
  const { create } = await makeKey()
  const made = [await create(customer), await create(customer)].map(({ body }) => body.id)
  const rows = await database.system.workspace.findMany({ where: { id: { in: made } } })
  t.strictSame(
    rows.map(({ id, createdBy }) => ownerOf({ workspaceId: id, createdBy })).sort(),
    made.map((id) => `workspace:${id}`).sort(),
    'as of the command line',
  )
})

t.test('a repeat with the same Idempotency-Key creates nothing, and has the key no more', async (t) => {
  const { create, ask } = await makeKey()
  const key = newId()
  const headers = { 'idempotency-key': key }
  const wish = { ...customer, apiKey: { name: 'backend', scopes: ['rules:run'] } }
  const [first, second] = await Promise.all([create(wish, headers), create(wish, headers)])
  const answers = [first, second]
  t.strictSame(
    answers.map(({ status }) => status),
    [201, 201],
  )
  t.equal(first.body.id, second.body.id)
  const keys = answers.map(({ body }) => body.apiKey?.key ?? null)
  t.equal(keys.filter((text) => text !== null).length, 1)
  const replay = await create(wish, headers)
  t.equal(replay.headers['idempotent-replayed'], 'true')
  t.match(replay.body, { id: first.body.id, apiKey: { key: null, warnings: [{ field: 'key' }] } })
  t.equal((await create({ ...wish, name: 'Other' }, headers)).status, 422)
  t.equal((await ask('GET', `/${first.body.id}`)).body.counts?.apiKeys, 1)
  const stored = await database.system.idempotencyKey.findMany({ where: { key } })
  t.notMatch(JSON.stringify(stored), /ark_[0-9a-f]/)
  const other = await makeKey()
  t.not((await other.create(wish, headers)).body.id, first.body.id, 'another key has repeats of its own')
})

t.test('it reads names and counts of all workspaces, page by page', async (t) => {
  const { ask } = await makeKey()
  const workspace = await api.makeWorkspace()
  t.match((await ask('GET', `/${workspace.id}`)).body, {
    name: 'Tests',
    counts: { rules: 0, members: 4, apiKeys: 0 },
  })
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '?limit=2' : `?limit=2&cursor=${cursor}`
    const { status, body } = await ask<{ data: Created[]; nextCursor: string | null }>('GET', query)
    t.equal(status, 200)
    t.ok(body.data.length <= 2)
    for (const one of body.data) t.type(one.counts?.members, 'number')
    seen.push(...body.data.map(({ id }) => id))
    cursor = body.nextCursor
  }
  const all = await database.system.workspace.findMany({ select: { id: true }, orderBy: { id: 'asc' } })
  t.strictSame(
    seen,
    all.map(({ id }) => id),
  )
  t.equal((await ask('GET', `/${newId()}`)).status, 404)
  t.equal((await ask('GET', '/no-uuid')).status, 404)
  t.equal((await ask('GET', '?cursor=garbage')).status, 400)
})

t.test('a page of ten thousand workspaces has a hundred', async (t) => {
  const { ask } = await makeKey()
  const data = Array.from({ length: 10_000 }, (_, index) => ({ id: newId(), name: `Many ${index}` }))
  await database.system.workspace.createMany({ data })
  const page = await ask<{ data: Created[]; nextCursor: string | null }>('GET', '?limit=250')
  t.equal(page.body.data.length, 100)
  t.type(page.body.nextCursor, 'string')
  await database.system.workspace.deleteMany({ where: { id: { in: data.map(({ id }) => id) } } })
})

t.test('every other operation is 403 for it, whatever workspace the header names', async (t) => {
  const { key } = await makeKey()
  const workspace = await api.makeWorkspace()
  const mine = ['GET', 'POST'].map((method) => `${method} ${workspaces}`).concat(`GET ${workspaces}/{id}`)
  const closed = operations.filter(({ isOpen, title }) => !isOpen && !mine.includes(title))
  t.ok(closed.length > 80)
  for (const { method, path, title, body } of closed)
    for (const named of [undefined, workspace.id]) {
      const answer = await api.call(method, path.replaceAll(/\{\w+\}/g, workspace.id), {
        token: key,
        workspace: named,
        ...(body && { body: sampleBody(body, createResolver(document)) }),
      })
      t.match(answer, { status: 403, body: { error: 'Access denied' } }, `${title} ${named ?? ''}`)
      t.match(answer.headers['www-authenticate'], /names and counts/)
    }
  const page = await api.call('GET', workspaces, { token: key, workspace: workspace.id })
  t.equal(page.status, 200, 'the header changes nothing where it may')
})

t.test('a revoked key is refused at the next request, and what it has made stays', async (t) => {
  const { id, create, ask } = await makeKey()
  const { body } = await create(customer)
  const revoked = await revokeOperatorKey(operator, id)
  t.match(revoked, { state: 'revoked', revokedBy: 'cli:root' })
  t.match(await create(customer), { status: 401, body: { error: 'Authentication required' } })
  t.equal((await ask('GET')).status, 401)
  t.match(await revokeOperatorKey({ ...operator, actor: 'cli:other' }, id), { revokedBy: 'cli:root' })
  t.equal(await database.system.workspace.count({ where: { id: body.id } }), 1)
  await t.rejects(revokeOperatorKey(operator, newId()), { code: 'api_key_not_found' })
})

t.test('texts that are no such key are 401, and tell nothing', async (t) => {
  const { id, key } = await makeKey()
  const forged = [
    `opk_${newId()}_${'A'.repeat(43)}`,
    `opk_${id}_${'A'.repeat(43)}`,
    key.replace('opk_', 'ark_'),
    `${key}A`,
    key.slice(0, -1),
    key.toUpperCase(),
    'opk_',
  ]
  for (const token of forged)
    t.match(await api.call('GET', workspaces, { token }), {
      status: 401,
      headers: { 'www-authenticate': /unknown, expired or revoked|malformed/ },
    })
})

t.test('the requests of the page about embedding and of support access do what they say', async (t) => {
  const { key } = await makeKey()
  const tokens: Record<string, string> = { OPERATOR_KEY: key }
  let workspace: string | undefined
  const pages = await Promise.all(
    ['guides/embed', 'operate/support-access'].map((page) =>
      readFile(new URL(`../../../../docs/${page}.md`, import.meta.url), 'utf8'),
    ),
  )
  const commands = pages.flatMap((page) => page.match(/^curl -s -X [\s\S]*?(?=^```)/gm) ?? [])
  t.equal(commands.length, 7)
  let firstKeyId = ''
  for (const command of commands) {
    const form =
      /^curl -s -X (\w+) "\$RULES_URL(\S+)" -H "Authorization: Bearer \$(\w+)"(?:[\s\S]*? -d '([^']+)')?/
    const [, method, path = '', token = '', body] = form.exec(command) ?? []
    const answer = await api.call<Created>(method as 'POST', path.replace('$FIRST_KEY_ID', firstKeyId), {
      token: tokens[token],
      ...(body !== undefined && { body: JSON.parse(body) }),
      ...(token !== 'CUSTOMER_KEY' && { workspace }),
      headers: { prefer: 'respond-async' },
    })
    const wanted = method === 'DELETE' ? [200, 204] : [201, 202]
    t.ok(wanted.includes(answer.status), `${method} ${path}: ${answer.status}`)
    if (token !== 'OPERATOR_KEY') continue
    workspace = answer.body.id
    firstKeyId = answer.body.apiKey?.id ?? ''
    const ada = await mint('ada')
    Object.assign(tokens, { CUSTOMER_KEY: answer.body.apiKey?.key, ADMIN_TOKEN: ada, RULES_TOKEN: ada })
  }
})

t.test('what it asks for is checked', async (t) => {
  const { create } = await makeKey()
  const workspace = await api.makeWorkspace()
  const first = { name: 'backend', scopes: ['rules:run'] }
  const faulty: [body: object, field: string][] = [
    [{ name: 'x' }, 'adminUserId'],
    [{ ...customer, name: '' }, 'name'],
    [{ ...customer, adminUserId: '' }, 'adminUserId'],
    [{ ...customer, apiKey: { ...first, scopes: [] } }, 'apiKey.scopes'],
    [{ ...customer, apiKey: { ...first, scopes: ['everything'] } }, 'apiKey.scopes[0]'],
    [{ ...customer, apiKey: { ...first, expiresAt: '2020-01-01' } }, 'apiKey.expiresAt'],
    [{ ...customer, createdBy: 'user:ada' }, 'createdBy'],
  ]
  for (const [body, field] of faulty) {
    const { status, body: answer } = await (await makeKey()).create(body)
    t.match({ status, answer }, { status: 422, answer: { errors: [{ field }] } }, JSON.stringify(body))
  }
  t.match(
    await workspace.call('POST', workspaces, { body: { ...customer, apiKey: first } }),
    { status: 422, body: { errors: [{ field: 'apiKey' }] } },
    'an admin gets no key of a workspace that may be another’s',
  )
  t.equal((await create({ ...customer, apiKey: { ...first, expiresAt: '2999-01-01' } })).status, 201)
})

t.test(
  'a leaked key creates twenty workspaces at once, then one in five seconds, and takes nothing from others',
  async (t) => {
    const usual = await startApi(t, { RATE_LIMIT_AUTHENTICATED: '60/100' })
    const { key } = await makeKey()
    const create = (token = key) => usual.call('POST', workspaces, { token, body: customer })
    let made = 0
    let answer = await create()
    t.equal(String(answer.headers['x-ratelimit-limit']), '100', 'of its own bucket')
    for (; answer.status === 201; answer = await create()) made++
    t.ok(made >= 20, `${made}`)
    t.match(answer, { status: 429, headers: { 'retry-after': /^[1-5]$/ } })
    t.equal((await create((await makeKey()).key)).status, 201, 'another key has a bucket of its own')
    const workspace = await usual.makeWorkspace()
    t.equal((await workspace.call('GET', rules)).status, 200)
    t.ok((await createWorkspace(operator, customer)).id, 'nor from the command line')
  },
)
