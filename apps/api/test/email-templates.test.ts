import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { type Answer, type Question, roles, startApi, type Workspace } from './fixtures/api.js'

interface Template {
  id: string
  name: string
  text: string | null
  html: string | null
  createdAt: string
  updatedAt: string
}
interface Faults {
  errors: { field: string; message: string }[]
}

const api = await startApi(t)
const path = '/api/email-templates'
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const notFound = { status: 404, body: { error: 'Email template not found' } }
const denied = { status: 403, body: { error: 'Access denied' } }
const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const fieldsOf = ({ status, body }: Answer) => [
  status,
  ...((body as Faults).errors ?? []).map(({ field }) => field).sort(),
]
const listOf = ({ body }: Answer) => (body as { emailTemplates: Template[] }).emailTemplates

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<Template> {
  const { status, body } = await call('POST', path, {
    body: { name: newId(), text: 'Hi {{name}}', ...fields },
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body as Template
}

t.test('a template is created, read, changed and deleted, with entries in the audit log', async (t) => {
  const { call, users } = await api.makeWorkspace()
  const created = await call('POST', path, { body: { name: 'welcome', text: 'Hi {{name}}' } })
  t.match(created, {
    status: 201,
    body: { name: 'welcome', text: 'Hi {{name}}', html: null, createdAt: timestamp, updatedAt: timestamp },
  })
  const template = created.body as Template
  t.equal(created.headers.location, `${path}/${template.id}`)
  t.same(Object.keys(template).sort(), ['createdAt', 'html', 'id', 'name', 'text', 'updatedAt'])
  t.same(statusAndBody(await call('GET', `${path}/${template.id}`)), { status: 200, body: template })
  t.same(statusAndBody(await call('GET', `${path}/${template.id.toUpperCase()}`)), {
    status: 200,
    body: template,
  })

  const changed = await call('PUT', `${path}/${template.id}`, { body: { html: '<b>Hi</b>', text: null } })
  t.match(changed, { status: 200, body: { id: template.id, name: 'welcome', text: null, html: '<b>Hi</b>' } })
  const after = changed.body as Template
  t.ok(after.updatedAt > template.updatedAt)
  t.equal(after.createdAt, template.createdAt)
  for (const body of [{}, { html: '<b>Hi</b>' }, { name: 'welcome', text: null }])
    t.same(statusAndBody(await call('PUT', `${path}/${template.id}`, { body })), { status: 200, body: after })

  t.match(await call('DELETE', `${path}/${template.id}`), { status: 204, body: undefined })
  for (const method of ['GET', 'DELETE'] as const)
    t.same(statusAndBody(await call(method, `${path}/${template.id}`)), notFound)
  const { body } = await call<{ data: object[] }>('GET', '/api/developer/v1/audit-log')
  const entry = { subject: template.id, actor: `user:${users.admin}` }
  matchLists(t, body.data, [
    { ...entry, action: 'email_template.deleted', details: { name: 'welcome' } },
    { ...entry, action: 'email_template.updated', details: { name: 'welcome', changed: ['text', 'html'] } },
    { ...entry, action: 'email_template.created', details: { name: 'welcome' } },
  ])
  t.equal(body.data.length, 3, 'a change without an effect has no entry')
})

t.test('each change has a later time than the one before, even if the clock goes back', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call, database } = workspace
  const { id } = await create(workspace)
  const ahead = new Date(Date.now() + 3_600_000)
  await database.emailTemplate.update({ where: { id }, data: { updatedAt: ahead } })
  const { body } = await call<Template>('PUT', `${path}/${id}`, { body: { text: 'later' } })
  t.ok(Date.parse(body.updatedAt) > ahead.getTime())
})

t.test('the list is newest first, in pages, by name, and without the texts', async (t) => {
  const workspace = await api.makeWorkspace()
  const names = ['Alpha', 'beta 100%', 'Beta_x', 'gamma']
  for (const name of names) await create(workspace, { name })
  const all = await workspace.call('GET', path)
  t.same(
    listOf(all).map(({ name }) => name),
    names.toReversed(),
  )
  t.equal((all.body as { nextCursor: unknown }).nextCursor, null)
  for (const template of listOf(all))
    t.same(Object.keys(template).sort(), ['createdAt', 'id', 'name', 'updatedAt'])
  const first = await workspace.call<{ nextCursor: string }>('GET', `${path}?limit=3`)
  t.equal(listOf(first).length, 3)
  const second = await workspace.call('GET', `${path}?limit=3&cursor=${first.body.nextCursor}`)
  matchLists(t, second, { body: { emailTemplates: [{ name: 'Alpha' }], nextCursor: null } })
  const found = async (q: string) =>
    listOf(await workspace.call('GET', `${path}?q=${encodeURIComponent(q)}`)).map(({ name }) => name)
  t.same(await found('BETA'), ['Beta_x', 'beta 100%'])
  t.same(await found('%'), ['beta 100%'])
  t.same(await found('_'), ['Beta_x'])
  t.same(await found('\\'), [])
  for (const query of ['limit=0', 'limit=251', 'cursor=x', 'q=%00', `q=${'x'.repeat(201)}`])
    t.equal((await workspace.call('GET', `${path}?${query}`)).status, 400, query)
})

t.test('a viewer reads and previews, an editor writes, and an API key has its scopes', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace)
  for (const role of roles) {
    const call = workspace.callAs(role)
    const mayWrite = role === 'editor' || role === 'admin'
    t.equal((await call('GET', path)).status, 200, role)
    t.equal((await call('GET', `${path}/${id}`)).status, 200, role)
    t.equal((await call('POST', `${path}/${id}/preview`, { body: {} })).status, 200, role)
    const writes = [
      await call('POST', path, { body: { name: role, text: 'x' } }),
      await call('PUT', `${path}/${id}`, { body: { text: role } }),
      await call('DELETE', `${path}/${(await create(workspace)).id}`),
    ]
    if (mayWrite)
      t.same(
        writes.map(({ status }) => status),
        [201, 200, 204],
        role,
      )
    else for (const answer of writes) t.same(statusAndBody(answer), denied, role)
  }
  for (const [scope, status] of [
    ['rules:read', 403],
    ['rules:write', 201],
    ['receipts:read', 403],
  ] as const) {
    const key = await workspace.call<{ key: string }>('POST', '/api/developer/v1/api-keys', {
      body: { name: scope, scopes: [scope] },
    })
    const question = { token: key.body.key, workspace: undefined }
    const body = { name: scope, text: 'x' }
    t.equal((await workspace.call('POST', path, { ...question, body })).status, status, scope)
    t.equal(
      (await workspace.call('GET', path, question)).status,
      scope === 'receipts:read' ? 403 : 200,
      scope,
    )
  }
  t.match(await api.call('GET', path), { status: 401, body: { error: 'Authentication required' } })
})

t.test('a template of another workspace is unknown, as is an invalid id', async (t) => {
  const [own, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const { id } = await create(other, { name: 'theirs' })
  const calls: ['GET' | 'PUT' | 'DELETE' | 'POST', string, Question?][] = [
    ['GET', ''],
    ['PUT', '', { body: { text: 'mine' } }],
    ['DELETE', ''],
    ['POST', '/preview', { body: {} }],
  ]
  for (const [method, tail, question] of calls) {
    for (const unknown of [id, newId(), 'x', '%00'])
      t.same(statusAndBody(await own.call(method, `${path}/${unknown}${tail}`, question)), notFound, method)
  }
  t.same(listOf(await own.call('GET', path)), [])
  await create(own, { name: 'theirs' })
  t.equal((await other.call<Template>('GET', `${path}/${id}`)).body.text, 'Hi {{name}}')
})

t.test('all faults are reported at once, and nothing is stored', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const many = 'x'.repeat(100_001)
  const cases: [unknown, (number | string)[]][] = [
    [{}, [422, 'name', 'text']],
    [{ name: 'a' }, [422, 'text']],
    [{ name: 'a', text: null, html: null }, [422, 'text']],
    [{ name: '', text: '' }, [422, 'name', 'text']],
    [{ name: 'x'.repeat(201), text: many, html: many }, [422, 'html', 'name', 'text']],
    [{ name: 5, text: 5, html: [] }, [422, 'html', 'name', 'text']],
    [{ name: 'a', text: '{{', html: '{{a | shout}}', subject: 's' }, [422, 'html', 'subject', 'text']],
    [{ name: 'a', text: '{{a}}'.repeat(201) }, [422, 'text']],
    [{ name: 'a\0', text: 'b\0', html: '\ud800' }, [422, 'html', 'name', 'text']],
    [[], [400]],
    ['"x"', [400]],
    [undefined, [400]],
  ]
  const { id } = await create(workspace, { name: 'stays' })
  for (const [body, expected] of cases) {
    const headers = { 'content-type': 'application/json' }
    const name = JSON.stringify(body)?.slice(0, 80)
    t.same(fieldsOf(await call('POST', path, { body, headers })), expected, name)
    const onPut = expected.filter((field) => !(field === 'name' && name === '{}'))
    const isFine = name === '{}' || name === '{"name":"a"}'
    t.same(fieldsOf(await call('PUT', `${path}/${id}`, { body, headers })), isFine ? [200] : onPut, name)
    if (isFine) await call('PUT', `${path}/${id}`, { body: { name: 'stays' } })
  }
  matchLists(t, await call('POST', path, { body: { name: 'a', html: '<p>{{a..b}}</p>' } }), {
    status: 422,
    body: { errors: [{ field: 'html', message: 'Has a placeholder without a field path: {{a..b}}' }] },
  })
  matchLists(t, await call('PUT', `${path}/${id}`, { body: { text: null } }), {
    status: 422,
    body: { errors: [{ field: 'text', message: 'Required if there is no html' }] },
  })
  matchLists(t, listOf(await call('GET', path)), [{ id, name: 'stays' }])
  t.equal(listOf(await call('GET', path)).length, 1)
})

t.test('a template of the maximum length is stored unchanged', async (t) => {
  const workspace = await api.makeWorkspace()
  const fields = { name: '😀'.repeat(200), text: '{{a}}'.repeat(200), html: 'ß'.repeat(100_000) }
  const { id } = await create(workspace, fields)
  t.match((await workspace.call('GET', `${path}/${id}`)).body, fields)
})

t.test('a name is unique in a workspace, even with concurrent requests', async (t) => {
  const workspace = await api.makeWorkspace()
  const body = { name: 'welcome', text: 'x' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => workspace.call('POST', path, { body })))
  t.same(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409])
  const taken = { status: 409, body: { error: 'An email template of this name exists' } }
  t.same(statusAndBody(answers.find(({ status }) => status === 409) as Answer), taken)
  const { id } = await create(workspace, { name: 'Welcome' })
  t.same(statusAndBody(await workspace.call('PUT', `${path}/${id}`, { body: { name: 'welcome' } })), taken)
})

t.test('a workspace may have 200 templates', async (t) => {
  const workspace = await api.makeWorkspace()
  const row = () => ({ id: newId(), workspaceId: workspace.id, name: newId(), text: 'x' })
  await workspace.database.emailTemplate.createMany({ data: Array.from({ length: 199 }, row) })
  const { id } = await create(workspace)
  t.same(statusAndBody(await workspace.call('POST', path, { body: { name: 'a', text: 'x' } })), {
    status: 409,
    body: { error: 'A workspace may have 200 email templates' },
  })
  t.equal((await workspace.call('PUT', `${path}/${id}`, { body: { text: 'y' } })).status, 200)
  t.equal((await workspace.call('DELETE', `${path}/${id}`)).status, 204)
  await create(workspace)
})

t.test('a preview shows the mail, and sends and stores nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace, { text: 'Hi {{name}}, {{greeting}}', html: '<p>{{name}}{{no}}</p>' })
  const preview = (body?: unknown) =>
    workspace.callAs('viewer')('POST', `${path}/${id}/preview`, body === undefined ? {} : { body })
  t.same(
    statusAndBody(
      await preview({
        data: { name: 'Ada', greeting: 'x' },
        variables: { greeting: '{{name}}', name: '<b>' },
        subject: 'For {{name}}',
      }),
    ),
    {
      status: 200,
      body: {
        subject: 'For Ada',
        text: 'Hi <b>, {{name}}',
        html: '<p>&lt;b&gt;</p>',
        warnings: ['no is missing'],
      },
    },
  )
  const empty = {
    subject: null,
    text: 'Hi , ',
    html: '<p></p>',
    warnings: ['name is missing', 'greeting is missing', 'no is missing'],
  }
  t.same((await preview()).body, empty)
  t.same((await preview({})).body, empty)
  const { id: textOnly } = await create(workspace, { text: 'Hi' })
  t.same((await workspace.call('POST', `${path}/${textOnly}/preview`)).body, {
    subject: null,
    text: 'Hi',
    html: null,
    warnings: [],
  })
  t.equal(await workspace.database.event.count(), 0)
  t.equal(
    (await workspace.call<{ data: object[] }>('GET', '/api/developer/v1/audit-log')).body.data.length,
    2,
  )
})

t.test('a preview warns of forms that are often meant otherwise', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace, {
    text: 'Hi {{name | default:friend}}',
    html: '<p>{{this.name}}</p>',
  })
  const { body } = await workspace.call<{ warnings: string[] }>('POST', `${path}/${id}/preview`, {
    body: { data: { name: 'Ada', this: { name: 'Bo' } }, subject: '{{name | default:"you"}}' },
  })
  t.strictSame(body.warnings, [
    'text: default:friend reads the field friend: a text needs quotes, default:"friend"',
    'html: {{this.name}} reads a field of the event with this name: within {{#each}} the item is {{item}}',
  ])
})

t.test('a preview reports the faults of its request', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace, { text: '{{a}}{{a}}' })
  const cases: [unknown, (number | string)[]][] = [
    [{ data: [], variables: 'x', subject: '', to: 'x' }, [422, 'data', 'subject', 'to', 'variables']],
    [{ data: [], subject: '{{' }, [422, 'data', 'subject']],
    [{ data: { a: '\0' } }, [422, 'data.a']],
    [{ data: { a: 'x'.repeat(600_000) } }, [422, 'data']],
    [[], [400]],
  ]
  for (const [body, expected] of cases)
    t.same(fieldsOf(await workspace.call('POST', `${path}/${id}/preview`, { body })), expected)
  matchLists(
    t,
    await workspace.call('POST', `${path}/${id}/preview`, { body: { data: { a: 'x'.repeat(600_000) } } }),
    {
      body: { errors: [{ message: 'renders to more than 1048576 characters' }] },
    },
  )
  const { id: broken } = await create(workspace)
  const text = '{{a | from_a_later_version}}'
  await workspace.database.emailTemplate.update({ where: { id: broken }, data: { text } })
  t.same(fieldsOf(await workspace.call('POST', `${path}/${broken}/preview`, { body: {} })), [422, 'text'])
})
