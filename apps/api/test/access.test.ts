import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mintToken } from '@automation/access'
import { newId } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import {
  type Answer,
  type Api,
  jwtSecret,
  mint,
  type Question,
  ruleBody,
  rules,
  startApi,
  type Workspace,
} from './fixtures/api.js'
import { drawOneIn } from './fixtures/draw-one-in.js'
import { checkForeignChange } from './fixtures/foreign-change.js'
import {
  asymmetric,
  claims,
  encode,
  type Forge,
  forgeGood,
  hmac,
  nowSeconds,
  oddClaims,
} from './fixtures/forge.js'
import { storeExecution } from './fixtures/history.js'
import { developer } from './fixtures/routes/developer-routes.js'
import { newTypeName, routes, templates } from './fixtures/routes/index.js'
import { fillBody, fillPath, type Ids, nameIds } from './fixtures/routes/route.js'
import { readOperations } from './fixtures/security/operations.js'

const { api, operations } = await readOperations(() => startApi(t))
const workspace = await api.makeWorkspace()
const user = workspace.users.viewer

const refused = { status: 401, body: { error: 'Authentication required' } }
const denied = { status: 403, body: { error: 'Access denied' } }
const statusAndBody = ({ status, body }: Answer) => ({ status, body })

async function ask(headers: NonNullable<Question['headers']>, { call } = api): Promise<Answer> {
  return call('GET', rules, { workspace: workspace.id, headers })
}
const askWith = (token: string, ofApi?: Api) => ask({ authorization: `Bearer ${token}` }, ofApi)

t.test('a valid token is accepted, with a leeway of 60 s in both directions', async (t) => {
  const now = nowSeconds()
  t.intercept(Date, 'now', { value: () => now * 1_000 })
  const good = {
    'as it is minted': await mint(user),
    'forged to the letter': forgeGood({}, claims(user)),
    'with a type': forgeGood({ typ: 'JWT' }, claims(user)),
    'just expired': forgeGood({}, claims(user, { exp: now - 50 })),
    'not quite valid yet': forgeGood({}, claims(user, { nbf: now + 50 })),
    'valid since long': forgeGood({}, claims(user, { nbf: 0 })),
    'with half a second': forgeGood({}, claims(user, { exp: now + 600.5 })),
    'for several audiences': forgeGood({}, claims(user, { aud: ['other', 'automation-rules'] })),
    'without iat': forgeGood({}, claims(user, { iat: undefined })),
    'with claims of others': forgeGood({}, claims(user, { jti: 1, roles: ['admin'], workspace: null })),
    'with a key id': forgeGood({ kid: '../../etc/passwd' }, claims(user)),
  }
  for (const [title, token] of Object.entries(good)) t.equal((await askWith(token)).status, 200, title)
})

t.test('the times of a token are checked on every call', async (t) => {
  const now = nowSeconds()
  let at = now * 1_000
  t.intercept(Date, 'now', { value: () => at })
  const ending = forgeGood({}, claims(user, { exp: now - 55 }))
  const beginning = forgeGood({}, claims(user, { nbf: now + 65 }))
  t.equal((await askWith(ending)).status, 200)
  t.strictSame(statusAndBody(await askWith(beginning)), refused)
  at += 6_000
  t.strictSame(statusAndBody(await askWith(ending)), refused, 'over since then')
  t.equal((await askWith(beginning)).status, 200, 'valid since then')
})

t.test('any invalid token is a 401', async (t) => {
  const good = await mint(user)
  const [header = '', payload = '', signature = ''] = good.split('.')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const forged: [title: string, token: string][] = [
    ...oddClaims(user).map(([title, head, body]) => [title, forgeGood(head, body)] as [string, string]),
    ['alg none without signature', `${encode({ alg: 'none' })}.${payload}.`],
    ['alg None', `${encode({ alg: 'None' })}.${payload}.`],
    ['alg none with a signature', `${encode({ alg: 'none' })}.${payload}.${signature}`],
    ['no signature', `${header}.${payload}.`],
    ['HS384', hmac(jwtSecret, 'sha384', 'HS384')({}, claims(user))],
    ['HS512', hmac(jwtSecret, 'sha512', 'HS512')({}, claims(user))],
    ['HS512 that says HS256', hmac(jwtSecret, 'sha512')({}, claims(user))],
    ['RS256 with the shared secret', hmac(jwtSecret, 'sha256', 'RS256')({}, claims(user))],
    ['RS256 of a key of its own', asymmetric('RS256', 'mine', privateKey)({}, claims(user))],
    ['ES256 with the shared secret', hmac(jwtSecret, 'sha256', 'ES256')({}, claims(user))],
    ['another secret', hmac(`${jwtSecret}.`)({}, claims(user))],
    ['an empty secret', hmac('')({}, claims(user))],
    ['a secret brought along', hmac('x')({ jwk: { kty: 'oct', k: encode('x') } }, claims(user))],
    [
      'keys to be fetched',
      hmac('x')({ jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' }, claims(user)),
    ],
    ['signature of another payload', `${header}.${encode(claims(workspace.users.admin))}.${signature}`],
    ['signature of another header', `${encode({ alg: 'HS256', typ: 'JWT', x: 1 })}.${payload}.${signature}`],
    ['signature cut', good.slice(0, -2)],
    ['signature turned', `${header}.${payload}.${[...signature].reverse().join('')}`],
    ['signature empty but for padding', `${header}.${payload}.=`],
    ['padding behind the signature', `${good}=`],
    ['characters of no alphabet behind it', `${good}!`],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${good}.${signature}`],
    ['five parts', `${good}.${signature}.${signature}`],
    ['an empty payload', `${header}..${signature}`],
    ['dots', '..'],
    ['one dot', '.'],
    ['garbage', 'garbage'],
    ['an API key of nobody', `ark_${newId()}_${'A'.repeat(43)}`],
    ['the secret itself', encode(jwtSecret)],
    ['undefined', 'undefined'],
    ['huge garbage', 'x'.repeat(1_000_000)],
    ['huge payload', forgeGood({}, claims(user, { aud: 'other', x: 'x'.repeat(1_000_000) }))],
    ['dots without end', '.'.repeat(100_000)],
    ['control characters', '\u0001\u007f'],
    ['no ASCII', 'é.ü.🦜'],
  ]
  t.ok(forged.length >= 40)
  for (const attempt of ['at first', 'again'])
    for (const [title, token] of forged)
      t.strictSame(statusAndBody(await askWith(token)), refused, `${title}, ${attempt}`)
})

t.test('each secret of JWT_SECRET verifies tokens, and a removed one does not any more', async (t) => {
  const nextSecret = 'the next secret of tests with more than 32 characters'
  const [old, next] = [hmac(jwtSecret), hmac(nextSecret)]
  const steps: [title: string, value: string, accepted: Forge[]][] = [
    ['before', jwtSecret, [old]],
    ['the next one is added', `${jwtSecret},${nextSecret}`, [old, next]],
    ['the next one comes first', `${nextSecret}, ${jwtSecret}`, [next, old]],
    ['the old one is removed', nextSecret, [next]],
  ]
  const tokens = new Map([old, next].map((forge) => [forge, forge({}, claims(user))]))
  for (const [title, JWT_SECRET, accepted] of steps) {
    const own = await startApi(t, { JWT_SECRET })
    for (const [forge, token] of tokens)
      for (const attempt of ['at first', 'again']) {
        const { status } = await askWith(token, own)
        t.equal(status, accepted.includes(forge) ? 200 : 401, `${title}, ${attempt}`)
      }
    for (const [oddTitle, head, body] of oddClaims(user).slice(0, 3))
      for (const forge of accepted)
        t.strictSame(statusAndBody(await askWith(forge(head, body), own)), refused, `${title}: ${oddTitle}`)
    for (const secret of [jwtSecret, nextSecret, JWT_SECRET]) {
      const other = hmac(secret, 'sha512', 'HS512')({}, claims(user))
      t.strictSame(statusAndBody(await askWith(other, own)), refused, `${title}: another algorithm`)
    }
    const minted = await mintToken({ secret: JWT_SECRET, userId: user, expiresInSeconds: 60 })
    t.equal((await askWith(minted, own)).status, 200, `${title}: a minted token`)
  }
})

t.test('the Authorization header is one Bearer token, or a 401', async (t) => {
  const good = await mint(user)
  const bad = [
    undefined,
    '',
    ' ',
    'Bearer',
    'Bearer ',
    good,
    `Token ${good}`,
    `Bearer${good}`,
    `Bearer:${good}`,
    `Bearer\t${good}`,
    `BearerBearer ${good}`,
    `Bearer Bearer ${good}`,
    `Bearer "${good}"`,
    `Bearer ${good}, Bearer ${good}`,
    `Bearer ${good} ${good}`,
    `Bearer x${good}`,
    `Basic ${Buffer.from(`user:${good}`).toString('base64')}`,
    `Bearer ${encodeURIComponent('a b')}`,
    [`Bearer ${good}`, 'Bearer x'],
    ['Bearer x', `Bearer ${good}`],
  ]
  for (const authorization of bad)
    t.strictSame(statusAndBody(await ask({ authorization })), refused, String(authorization).slice(0, 40))
  for (const elsewhere of [
    { cookie: `token=${good}` },
    { 'x-api-key': good },
    { 'proxy-authorization': `Bearer ${good}` },
  ])
    t.strictSame(statusAndBody(await ask(elsewhere)), refused, Object.keys(elsewhere).join())
  const query = await api.call('GET', `${rules}?access_token=${good}`, { workspace: workspace.id })
  t.strictSame(statusAndBody(query), refused, 'a token in the URL is none')
  for (const scheme of ['bearer', 'BEARER', 'Bearer '])
    t.equal(
      (await ask({ authorization: `${scheme} ${good}` })).status,
      200,
      'the scheme is no matter of case',
    )
})

interface KeySet {
  url: string
  requests: number
  answer: RequestListener
  close(): Promise<void>
}

async function serveKeys(t: Test, answer: RequestListener): Promise<KeySet> {
  const server = createServer((request, response) => {
    keySet.requests++
    keySet.answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const keySet: KeySet = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys.json`,
    requests: 0,
    answer,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  t.teardown(() => keySet.close())
  return keySet
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')
const otherEd = generateKeyPairSync('ed25519')
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publish = (kid: string, { publicKey }: { publicKey: KeyObject }) => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
})
const publicKeys = [
  publish('rsa', rsa),
  publish('ed', ed),
  publish('ec', ec),
  { kty: 'oct', kid: 'shared', k: encode(jwtSecret) },
]
const answerKeys: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: publicKeys }))
}
const withKeySet = (t: Test, url: string) => startApi(t, { JWT_SECRET: undefined, JWKS_URL: url })

t.test('with a key set, only RS256 and EdDSA are accepted', async (t) => {
  const keySet = await serveKeys(t, answerKeys)
  const own = await withKeySet(t, keySet.url)
  const forgeRsa = asymmetric('RS256', 'rsa', rsa.privateKey)
  const forgeEd = asymmetric('EdDSA', 'ed', ed.privateKey)
  for (const forge of [forgeRsa, forgeEd]) {
    t.equal((await askWith(forge({}, claims(user)), own)).status, 200)
    t.equal(
      (await askWith(forge({ typ: 'at+jwt' }, claims(user, { exp: nowSeconds() - 50 })), own)).status,
      200,
    )
    t.equal((await askWith(forge({}, claims(user, { nbf: nowSeconds() + 50 })), own)).status, 200)
    for (const [title, header, payload] of drawOneIn(3, oddClaims(user))) {
      t.strictSame(statusAndBody(await askWith(forge(header, payload), own)), refused, title)
    }
  }
  t.equal(keySet.requests, 1, 'keys are fetched once')

  const pem = rsa.publicKey.export({ format: 'pem', type: 'spki' }).toString()
  const forged: [title: string, token: string][] = [
    ['HS256', await mint(user)],
    ['HS256 by the key that is in the set', hmac(jwtSecret)({ kid: 'shared' }, claims(user))],
    ['HS256 with the public key for a secret', hmac(pem)({ kid: 'rsa' }, claims(user))],
    ['RS256 with the public key for a secret', hmac(pem, 'sha256', 'RS256')({ kid: 'rsa' }, claims(user))],
    ['RS512', asymmetric('RS512', 'rsa', rsa.privateKey)({}, claims(user))],
    ['ES256', asymmetric('ES256', 'ec', ec.privateKey)({}, claims(user))],
    ['EdDSA by an RSA key id', asymmetric('EdDSA', 'rsa', ed.privateKey)({}, claims(user))],
    ['another RSA key', asymmetric('RS256', 'rsa', otherRsa.privateKey)({}, claims(user))],
    ['another Ed25519 key', asymmetric('EdDSA', 'ed', otherEd.privateKey)({}, claims(user))],
    [
      'a key brought along',
      asymmetric('RS256', 'rsa', otherRsa.privateKey)({ jwk: publish('rsa', otherRsa) }, claims(user)),
    ],
    ['an unknown key id', asymmetric('RS256', 'nobody', rsa.privateKey)({}, claims(user))],
    ['a key id that is no text', asymmetric('RS256', 'rsa', rsa.privateKey)({ kid: { a: 1 } }, claims(user))],
    ['alg none', `${encode({ alg: 'none', kid: 'rsa' })}.${encode(claims(user))}.`],
    ['garbage', 'a.b.c'],
    ['dots', '..'],
  ]
  for (const [title, token] of forged) t.strictSame(statusAndBody(await askWith(token, own)), refused, title)

  await keySet.close()
  t.equal(
    (await askWith(forgeRsa({}, claims(user)), own)).status,
    200,
    'known keys are used while the key set is away',
  )
})

t.test('a token is a 503, not a 401, while no key set can be read', async (t) => {
  const gone = await serveKeys(t, answerKeys)
  await gone.close()
  const answers: Record<string, RequestListener> = {
    'a 500': (_request, response) => response.writeHead(500).end(),
    'a 404': (_request, response) => response.writeHead(404).end('{}'),
    'no JSON': (_request, response) => response.end('<html>'),
    'no key set': (_request, response) => response.end('{"keys":5}'),
    'half an answer': (request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{')
      setTimeout(() => request.socket.destroy(), 20)
    },
    'nothing for ever': () => {},
  }
  const sets = await Promise.all(
    Object.entries(answers).map(async ([title, answer]) => ({ title, keySet: await serveKeys(t, answer) })),
  )
  await Promise.all(
    [{ title: 'a closed port', keySet: gone }, ...sets].map(async ({ title, keySet }) => {
      const own = await withKeySet(t, keySet.url)
      const token = asymmetric('RS256', 'rsa', rsa.privateKey)({}, claims(user))
      const answer = await askWith(token, own)
      t.equal(answer.status, 503, title)
      t.match(answer.body, { error: String })
      t.match(answer.headers['retry-after'], /^\d+$/, `${title}: Retry-After`)
      t.ok(answer.headers['x-ratelimit-limit'], `${title}: even so the call was counted`)
      t.strictSame(statusAndBody(await ask({}, own)), refused, 'no token is a 401 all the same')
      t.strictSame(statusAndBody(await askWith('garbage', own)), refused)
    }),
  )
  const [recovering] = sets
  if (recovering === undefined) return
  const own = await withKeySet(t, recovering.keySet.url)
  const token = asymmetric('EdDSA', 'ed', ed.privateKey)({}, claims(user))
  await askWith(token, own)
  recovering.keySet.answer = answerKeys
  t.equal((await askWith(token, own)).status, 200, 'and it is good once the keys are back')
})

/** What is there to be asked for. */
async function makeIds(workspace: Workspace): Promise<Ids> {
  const { id: workspaceId, call, database } = workspace
  // There are more questions than a workspace may have rules, templates and event types.
  await database.rule.deleteMany()
  await database.emailTemplate.deleteMany()
  await database.ownEventType.deleteMany()
  await database.backtest.deleteMany()
  const { body: rule } = await call<Rule>('POST', rules, { body: ruleBody() })
  await call('PUT', `${rules}/${rule.id}`, { body: { name: 'The second version' } })
  const event = { id: newId(), workspaceId, type: 'LEAD_CREATED', data: {}, doneAt: new Date() }
  await database.event.create({ data: event })
  const now = new Date()
  const run = { ruleVersion: 1, status: 'failed', results: [], startedAt: now, finishedAt: now } as const
  const execution = newId()
  await database.execution.create({
    data: {
      id: execution,
      workspaceId,
      eventId: event.id,
      eventType: event.type,
      handlerId: rule.id,
      ...run,
    },
  })
  const seen = { handlerId: rule.id, error: '', until: now, actor: 'user:ada' }
  await database.acknowledgement.create({ data: { workspaceId, ...seen } })
  const task = newId()
  const row = { executionId: execution, actionIndex: 0, ruleId: rule.id, title: 'Call', priority: 'normal' }
  await database.task.create({ data: { id: task, workspaceId, ...row, createdAt: now } })
  const waiting = { ...event, acceptedAt: now, addresseeKind: null, addresseeId: null }
  const { id: unfinished } = await storeExecution(workspace, waiting, rule.id, { status: 'waiting' })
  const decision = { options: ['approve', 'reject'], within: '1d' }
  const asking = ruleBody({ actions: [{ type: 'WAIT', config: { decision } }] })
  const { body: askingRule } = await call<Rule>('POST', rules, { body: asking })
  const asked = await storeExecution(workspace, { ...waiting, id: newId() }, askingRule.id, {
    status: 'waiting',
  })
  const { body: guarded } = await call<Rule>('POST', rules, { body: ruleBody() })
  const guard = {
    version: 1,
    previousVersion: 1,
    maxRunsPerHour: 9,
    endsAt: new Date(Date.now() + 3_600_000),
  }
  await database.ruleGuard.create({ data: { ruleId: guarded.id, workspaceId, ...guard } })
  const group = 'routing'
  const inGroup = await call<Rule>('POST', rules, { body: ruleBody({ group, order: 1, isActive: false }) })
  const { body: drafted } = await call<Rule>('POST', rules, { body: ruleBody() })
  await call('PUT', `${rules}/${drafted.id}/draft`, { body: ruleBody({ name: 'The draft' }) })
  const { body: inactive } = await call<Rule>('POST', rules, { body: ruleBody({ isActive: false }) })
  const { body: template } = await call<{ id: string }>('POST', templates, {
    body: { name: newId(), text: 'Hello' },
  })
  const eventType = newTypeName()
  await call('POST', '/api/event-types', { body: { name: eventType } })
  // A workspace has a limited number of templates.
  await database.emailTemplate.deleteMany({ where: { id: { not: template.id } } })
  const backtest = newId()
  const subject = { draft: { ...ruleBody(), conditions: [] }, from: 0, to: 1 }
  await database.backtest.create({
    data: {
      id: backtest,
      workspaceId,
      subject,
      rangeFrom: new Date(0),
      rangeTo: new Date(1),
      pace: 'full',
      createdBy: 'cli:test',
    },
  })
  return {
    rule: rule.id,
    drafted: drafted.id,
    inactive: inactive.id,
    guarded: guarded.id,
    group,
    grouped: inGroup.body.id,
    event: event.id,
    execution,
    waiting: unfinished,
    asking: asked.id,
    template: template.id,
    task,
    eventType,
    backtest,
  }
}

/** The calls of routes that have a workspace and a role: the caller itself (me) needs neither. Those of developers are below. */
const calls = routes
  .filter(({ path }) => !path.startsWith(developer) && path !== '/api/me')
  .map((route) => ({ route, title: `${route.method} ${route.path}` }))
  .flatMap((one) => one.route.calls.map((call) => ({ ...one, call })))

t.test(
  'the list of routes has a call of each, but of those of developers and of the caller itself',
  async (t) => {
    const without = routes.filter(({ path, calls }) => calls.length === 0 && !path.startsWith(developer))
    t.strictSame(
      without.map(({ path }) => path),
      ['/api/me'],
    )
  },
)

// security/matrix.test.ts asks every operation as each role, key and stranger, and finds that what is declared is enforced.
t.test('each route declares its role', async (t) => {
  for (const { title, call } of calls) {
    const { role } = operations.find((operation) => operation.title.replace(/\/$/, '') === title) ?? {}
    const request = { body: fillBody(call, nameIds) } as FastifyRequest
    t.equal(typeof role === 'function' ? role(request) : role, call.role, title)
  }
  const forViewers = ['webhook-receipts', 'webhook-receipts/{id}', 'workspaces', 'workspaces/{id}']
  // Their names, which stand in the rules.
  forViewers.push('credentials', 'credentials/{name}')
  for (const { title, role } of operations.filter(({ path }) => path.startsWith(developer))) {
    const isForViewers = forViewers.some((path) => title === `GET ${developer}/${path}`)
    // Who accepts an invitation has no role yet.
    const isForAll =
      title === `POST ${developer}/invitations/accept` ||
      // Nor has a frame that exchanges its link, and the server that asks who may show it.
      title === `POST ${developer}/embed-sessions/{id}/open` ||
      title === `GET ${developer}/embed-sessions/{id}/frame`
    t.equal(role, isForAll ? undefined : isForViewers ? 'viewer' : 'admin', title)
  }
})

t.test('HEAD needs what GET needs', async (t) => {
  const [one, other] = [{ workspace: workspace.id, token: workspace.tokens.viewer }, await mint('stranger')]
  t.equal((await api.call('HEAD', rules, one)).status, 200)
  t.equal((await api.call('HEAD', rules, { ...one, token: other })).status, 403)
  t.equal((await api.call('HEAD', rules, { ...one, token: undefined })).status, 401)
})

t.test('a user id is compared to the letter', async (t) => {
  for (const userId of [workspace.users.admin.toUpperCase(), `${workspace.users.admin} `]) {
    const token = await mint(userId)
    const answer = await api.call('POST', rules, { token, workspace: workspace.id, body: ruleBody() })
    t.strictSame(statusAndBody(answer), denied, userId)
  }
})

t.test('a cursor of another workspace shows nothing of it', async (t) => {
  const other = await api.makeWorkspace()
  for (let n = 0; n < 2; n++) await workspace.call('POST', rules, { body: ruleBody() })
  await other.call('POST', rules, { body: ruleBody({ name: 'Mine' }) })
  const { body } = await workspace.call<{ nextCursor: string }>('GET', `${rules}?limit=1`)
  const page = await other.call<{ rules: Rule[] }>('GET', `${rules}?cursor=${body.nextCursor}`)
  t.equal(page.status, 200)
  t.ok(page.body.rules.every((rule) => rule.workspaceId === other.id))
})

t.test('no route changes a row of another workspace that it would change in its own', async (t) => {
  const [theirs, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const reads = ({ route: { method }, call }: (typeof calls)[number]) =>
    method === 'GET' || call.role === 'viewer' || isDry(fillBody(call, nameIds))
  for (const { route, title, call } of calls.filter((one) => !reads(one))) {
    const ids = await makeIds(theirs)
    const path = fillPath(route, call, ids)
    const body = fillBody(call, ids)
    // A bulk call that is about everything.
    const asked = { headers: call.headers ?? {}, body: isBulk(body) ? { filter: {}, dryRun: false } : body }
    const { foreign, own } = await checkForeignChange(t, title, { theirs, other }, (as) =>
      as.call(route.method, path, asked),
    )
    t.equal(own.status, call.status, title)
    t.equal(foreign.status, call.of === undefined ? call.status : 404, `${title} by another one`)
  }
})

const isBulk = (body: unknown) => Object.hasOwn((body ?? {}) as object, 'filter')
const isDry = (body: unknown) => isBulk(body) && (body as { dryRun?: boolean }).dryRun !== false

t.test('a user may have a different role in each workspace', async (t) => {
  const other = await api.makeWorkspace()
  await other.database.member.create({
    data: { workspaceId: other.id, userId: workspace.users.viewer, role: 'admin' },
  })
  const token = workspace.tokens.viewer
  const body = ruleBody()
  t.equal((await api.call('POST', rules, { token, body, workspace: other.id })).status, 201)
  t.equal((await api.call('POST', rules, { token, body, workspace: workspace.id })).status, 403)
})

t.test('x-workspace-id is one UUID, in any case', async (t) => {
  const { id } = workspace
  const token = workspace.tokens.admin
  const bad = [
    undefined,
    '',
    ' ',
    'x',
    '5',
    `${id} ${id}`,
    `${id},${id}`,
    `{${id}}`,
    id.replaceAll('-', ''),
    `${id}0`,
    id.slice(1),
    `${id}\0`,
    'null',
    'undefined',
    `urn:uuid:${id}`,
    [id, newId()],
  ]
  for (const workspaceId of bad) {
    const answer = await api.call('GET', rules, { token, headers: { 'x-workspace-id': workspaceId } })
    t.equal(answer.status, 400, String(workspaceId))
    t.match(answer.body, { error: /x-workspace-id/ })
  }
  const upper = await api.call<{ rules: Rule[] }>('GET', rules, { token, workspace: id.toUpperCase() })
  t.equal(upper.status, 200)
  t.strictSame(upper.body, (await workspace.call('GET', rules)).body)
  const created = await api.call<Rule>('POST', rules, {
    token,
    workspace: id.toUpperCase(),
    body: ruleBody(),
  })
  t.equal(created.body.workspaceId, id)
})
