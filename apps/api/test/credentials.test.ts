import { createSealer } from '@automation/access'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { startApi } from './fixtures/api.js'

const api = await startApi(t)
const path = '/api/developer/v1/credentials'
const rules = '/api/automation-rules'
const value = 'tok_1234567890'
const hosts = ['crm.example.com']

const callWith = (credential: string, url = 'https://crm.example.com/leads') => ({
  name: 'Calls',
  trigger: 'LEAD_CREATED',
  actions: [
    {
      type: 'SEND_WEBHOOK',
      config: { url, headers: { authorization: `Token {{credentials.${credential}}}` } },
    },
  ],
})

t.test('a credential is set, listed and replaced, and no response contains its value', async (t) => {
  const { call, database, id } = await api.makeWorkspace()
  const created = await call('PUT', `${path}/CRM`, { body: { value, hosts: ['CRM.example.com.'] } })
  t.match(created, { status: 201, body: { name: 'CRM', kind: 'text', hosts, lastUsedAt: null } })
  const { createdAt, updatedAt } = created.body as Record<string, unknown>
  t.equal(createdAt, updatedAt, 'one clock has both')
  const again = await call('PUT', `${path}/CRM`, { body: { value: 'tok_another', hosts } })
  t.match(again, { status: 200, body: { name: 'CRM', kind: 'text', hosts } })
  const body = { kind: 'basic', username: 'ada', password: value, hosts }
  const basic = await call('PUT', `${path}/A`, { body })
  const list = await call('GET', path)
  t.match(list, { status: 200, body: { data: [{ name: 'A' }, { name: 'CRM' }], nextCursor: null } })
  const one = await call('GET', `${path}/CRM`)
  t.strictSame(one.body, again.body)
  for (const answer of [created, again, basic, list, one]) t.notMatch(JSON.stringify(answer), /tok_/)
  const stored = JSON.stringify(await database.credential.findMany())
  t.notMatch(stored, /tok_/)
  t.notMatch(stored, Buffer.from(value).toString('base64').slice(0, 12))
  const { sealed, ...row } = await database.credential.findFirstOrThrow({ where: { name: 'CRM' } })
  const context = `credential/${id}/${row.id}`
  t.match(JSON.parse(createSealer(api.config.encryptionKey).open(sealed, context).toString()), {
    value: 'tok_another',
  })
})

t.test('the audit log names what was done, without a value', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const one of [value, 'tok_another']) await call('PUT', `${path}/CRM`, { body: { value: one, hosts } })
  await call('DELETE', `${path}/CRM`)
  const { body } = await call<{ data: object[] }>('GET', '/api/developer/v1/audit-log?limit=3')
  matchLists(t, body.data, [
    { action: 'credential.deleted', subject: 'CRM' },
    { action: 'credential.updated', subject: 'CRM', details: { kind: 'text', hosts } },
    { action: 'credential.created', subject: 'CRM', details: { kind: 'text', hosts } },
  ])
  t.notMatch(JSON.stringify(body), /tok_/)
})

t.test('everybody with a role reads the names, and only an admin changes them', async (t) => {
  const { call, callAs } = await api.makeWorkspace()
  await call('PUT', `${path}/CRM`, { body: { value, hosts } })
  t.match(await callAs('viewer')('GET', path), { status: 200, body: { data: [{ name: 'CRM' }] } })
  for (const role of ['viewer', 'operator', 'editor'] as const) {
    t.equal((await callAs(role)('PUT', `${path}/CRM`, { body: { value, hosts } })).status, 403)
    t.equal((await callAs(role)('DELETE', `${path}/CRM`)).status, 403)
  }
})

t.test('all faults of a credential are reported, and no message repeats a value', async (t) => {
  const { call } = await api.makeWorkspace()
  const cases: [body: object, fields: string[]][] = [
    [{}, ['hosts', 'value']],
    [{ value: 'abc', hosts }, ['value']],
    [{ value: `tok_1\r\nx-admin: 1`, hosts }, ['value']],
    [{ value: 'tok_\0', hosts }, ['value']],
    [{ value, hosts: [] }, ['hosts']],
    [
      { value, hosts: ['https://crm.example.com', 'a.example:8080', '*.example.com', 'a b'] },
      ['hosts[0]', 'hosts[1]', 'hosts[2]', 'hosts[3]'],
    ],
    [{ value, username: 'ada', hosts }, ['username']],
    [{ kind: 'basic', password: value, hosts }, ['username']],
    [{ kind: 'basic', username: 'a:b', hosts }, ['username']],
    [
      { kind: 'oauth2', tokenUrl: `https://ada:${value}@idp.example.com/`, hosts },
      ['clientId', 'clientSecret', 'tokenUrl'],
    ],
    [{ kind: 'oauth2', tokenUrl: `ftp://${value}`, clientId: 'a', clientSecret: value, hosts }, ['tokenUrl']],
    [{ kind: 'password', value, hosts }, ['kind']],
    [{ value, hosts, secret: value }, ['secret']],
  ]
  for (const [body, fields] of cases) {
    const answer = await call<{ errors: { field: string }[] }>('PUT', `${path}/CRM`, { body })
    t.equal(answer.status, 422, JSON.stringify(body))
    t.strictSame(answer.body.errors.map(({ field }) => field).sort(), fields, JSON.stringify(answer.body))
    t.notMatch(JSON.stringify(answer.body), /tok_/)
  }
  for (const name of ['1st', 'a.b', 'a%20b', 'x'.repeat(65), '%7B%7D'])
    t.match(await call('PUT', `${path}/${name}`, { body: { value, hosts } }), {
      status: 422,
      body: { errors: [{ field: 'name' }] },
    })
  t.match(await call('GET', path), { body: { data: { length: 0 } } })
})

t.test('a credential in use cannot be deleted, and the refusal names where', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const name of ['CRM', 'CRM2']) await call('PUT', `${path}/${name}`, { body: { value, hosts } })
  const { body: rule } = await call<{ id: string }>('POST', rules, { body: callWith('CRM') })
  const inUse = (where: string) => ({
    status: 409,
    headers: { 'x-error-code': 'credential_in_use' },
    body: { error: `The credential is in use: ${where}` },
  })
  t.match(await call('DELETE', `${path}/CRM`), inUse(`the rule "Calls" (${rule.id})`))
  t.equal(
    (await call('DELETE', `${path}/CRM2`)).status,
    204,
    'another name that begins with the same letters',
  )
  await call('PUT', `${rules}/${rule.id}`, { body: { isActive: false } })
  await call('PUT', `${rules}/${rule.id}/draft`, { body: callWith('CRM', 'https://crm.example.com/other') })
  t.match(await call('DELETE', `${path}/CRM`), inUse(`the draft of the rule "Calls" (${rule.id})`))
  await call('DELETE', `${rules}/${rule.id}/draft`)
  t.equal((await call('DELETE', `${path}/CRM`)).status, 204, 'a rule that is switched off does nothing')
  t.match(await call('DELETE', `${path}/CRM`), { status: 404, body: { error: 'Credential not found' } })
})

t.test('a workspace does not see the credentials of another one', async (t) => {
  const [own, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  await other.call('PUT', `${path}/CRM`, { body: { value, hosts } })
  t.match(await own.call('GET', path), { body: { data: { length: 0 } } })
  t.equal((await own.call('GET', `${path}/CRM`)).status, 404)
  t.equal((await own.call('DELETE', `${path}/CRM`)).status, 404)
  t.equal((await own.call('PUT', `${path}/CRM`, { body: { value: 'tok_own', hosts } })).status, 201)
  t.equal((await other.call('GET', `${path}/CRM`)).status, 200)
})

t.test('validation warns of credentials with which a call would fail', async (t) => {
  const { call } = await api.makeWorkspace()
  await call('PUT', `${path}/CRM`, { body: { value, hosts } })
  await call('PUT', `${path}/LOGIN`, { body: { kind: 'basic', username: 'ada', password: value, hosts } })
  const field = 'actions[0].config.headers.authorization'
  const cases: [body: object, message: string | undefined][] = [
    [callWith('CRM'), undefined],
    [callWith('CRN'), 'No credential named CRN, so the call fails. Did you mean CRM?'],
    [
      callWith('CRM', 'https://evil.example.com/'),
      'The credential CRM may not be sent to evil.example.com, so the call fails. Its hosts: crm.example.com',
    ],
    [callWith('LOGIN'), 'The credential LOGIN is of kind basic: it has to be the whole value of a header'],
  ]
  for (const [body, message] of cases) {
    const answer = await call<{ warnings: object[] }>('POST', `${rules}/validate`, { body })
    t.equal(answer.status, 200)
    t.strictSame(answer.body.warnings, message === undefined ? [] : [{ field, message }])
  }
  t.equal((await call('POST', rules, { body: callWith('MISSING') })).status, 201, 'and a rule is saved')
})

t.test('a dry run, a trace and a version show the name of a credential', async (t) => {
  const { call } = await api.makeWorkspace()
  await call('PUT', `${path}/CRM`, { body: { value, hosts } })
  const { body: rule } = await call<{ id: string }>('POST', rules, { body: callWith('CRM') })
  const shown = 'Token {{credentials.CRM}}'
  const dry = await call('POST', `${rules}/${rule.id}/execute`, { body: { data: {}, dryRun: true } })
  t.match(JSON.stringify(dry.body), shown)
  t.match(JSON.stringify((await call('GET', `${rules}/${rule.id}/versions`)).body), shown)
  t.notMatch(JSON.stringify(dry.body), /tok_/)
})

t.test('part of a credential is changed, and the rest stays', async (t) => {
  const { call, database, id } = await api.makeWorkspace()
  const read = async () => {
    const { sealed, ...row } = await database.credential.findFirstOrThrow()
    return JSON.parse(
      createSealer(api.config.encryptionKey).open(sealed, `credential/${id}/${row.id}`).toString(),
    )
  }
  const oauth2 = { kind: 'oauth2', tokenUrl: 'https://a.example.com/token', clientId: 'c', scope: 'all' }
  await call('PUT', `${path}/API`, { body: { ...oauth2, clientSecret: value, hosts } })
  const patch = (body: object) => call('PATCH', `${path}/API`, { body })
  t.match(await patch({ clientSecret: 'tok_another' }), { status: 200, body: { kind: 'oauth2', hosts } })
  t.strictSame(await read(), { ...oauth2, clientSecret: 'tok_another', hosts })
  await database.credential.updateMany({ data: { tokenId: id } })
  t.equal((await patch({ scope: null, audience: 'crm' })).status, 200)
  const { scope: _, ...rest } = oauth2
  t.strictSame(await read(), { ...rest, audience: 'crm', clientSecret: 'tok_another', hosts })
  t.match(await database.credential.findFirst(), { tokenId: null }, 'its token was got with other values')
  const before = await read()
  const needed = { field: 'clientSecret', message: /^Must be sent, too/ }
  const refused: [body: object, fault: object][] = [
    [{ hosts: [...hosts, 'evil.example.com'] }, needed],
    [{ tokenUrl: 'https://evil.example.com/token' }, needed],
    [{ value: 'tok_of_a_text' }, { field: 'value', message: /oauth2/ }],
    [{ clientId: null }, { field: 'clientId' }],
    [{ clientSecret: 'a\nb\nc\nd' }, { field: 'clientSecret' }],
    [{}, { field: '' }],
  ]
  for (const [body, fault] of refused) t.match(await patch(body), { status: 422, body: { errors: [fault] } })
  t.strictSame(await read(), before)
  const moved = { hosts: ['other.example.com'], clientSecret: 'tok_third' }
  t.match(await patch(moved), { status: 200, body: { hosts: moved.hosts } })
  t.equal((await patch({ hosts: ['Other.example.com.'] })).status, 200, 'the same host')
  t.equal((await call('PATCH', `${path}/NONE`, { body: { value } })).status, 404)
  const { body } = await call<{ data: object[] }>('GET', '/api/developer/v1/audit-log?limit=9')
  t.match(body.data.at(-2), { action: 'credential.updated', details: { changed: ['clientSecret'] } })
  t.notMatch(JSON.stringify(body), /tok_/)
})
