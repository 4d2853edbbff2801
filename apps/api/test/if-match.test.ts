import { newId } from '@automation/database'
import t from 'tap'
import { type Call, ruleBody, rules, startApi } from './fixtures/api.js'

const api = await startApi(t)
const developer = '/api/developer/v1'
const refused = 'It has changed since you read it: read it again, and retry with its new ETag'

const { id, call, database } = await api.makeWorkspace()
const create = async (path: string, body: object) =>
  `${path}/${(await call<{ id: string }>('POST', path, { body })).body.id}`
const hook = { url: 'https://example.com/hook', eventTypes: ['rule.paused'] }
const member = `${developer}/members/grace-${newId()}`
await call('PUT', member, { body: { role: 'viewer' } })

/** What has no version: its path, and two changes. */
const resources: [path: string, method: 'PUT' | 'PATCH', mine: object, theirs: object][] = [
  [await create('/api/email-templates', { name: 'One', text: 'x' }), 'PATCH', { text: 'y' }, { text: 'z' }],
  [await create('/api/email-templates', { name: 'Two', text: 'x' }), 'PUT', { text: 'y' }, { text: 'z' }],
  [await create(`${developer}/subscriptions`, hook), 'PATCH', { isActive: false }, { description: 'Ours' }],
  [member, 'PUT', { role: 'editor' }, { role: 'operator' }],
  [`${developer}/workspaces/${id}`, 'PATCH', { name: 'Mine' }, { name: 'Theirs' }],
]

const change = (method: Parameters<Call>[0], path: string, tag: string, body?: object) =>
  call(method, path, { body, headers: { 'if-match': tag } })
const tagOf = async (path: string) => String((await call('GET', path)).headers.etag)

for (const [path, method, mine, theirs] of resources)
  t.test(`${method} ${path.replace(/[^/]+$/, ':id')} applies to what its caller has seen`, async (t) => {
    const seen = await tagOf(path)
    t.match(seen, /^"[\w-]{43}"$/)
    t.equal(await tagOf(path), seen, 'another read has the same')
    const { status, headers } = await call(method, path, { body: theirs })
    t.equal(status, 200)
    const now = await tagOf(path)
    t.not(now, seen)
    t.equal(headers.etag, now, 'the response to a change has the new one')
    const { body: before } = await call<object>('GET', path)
    const late = await change(method, path, seen, mine)
    t.strictSame(
      [late.status, late.body, late.headers['x-error-code']],
      [412, { error: refused }, 'version_conflict'],
    )
    t.strictSame((await call('GET', path)).body, before, 'nothing changed')
    t.equal((await change(method, path, `"other", ${now}`, mine)).status, 200)
    t.match((await call('GET', path)).body, mine)
    t.equal((await change(method, path, '*', theirs)).status, 200)
  })

t.test('of two changes of what both have seen, one is made', async (t) => {
  const path = await create('/api/email-templates', { name: 'Raced', text: 'x' })
  const tag = await tagOf(path)
  const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`)
  const answers = await Promise.all(texts.map((text) => change('PATCH', path, tag, { text })))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(412)])
})

t.test('a deletion, too', async (t) => {
  for (const [path] of resources.filter(([path]) => !path.includes('/workspaces/'))) {
    t.equal((await change('DELETE', path, '"other"')).status, 412, path)
    const { status, headers } = await change('DELETE', path, await tagOf(path))
    t.strictSame([status, headers.etag], [204, undefined], path)
    t.equal((await change('DELETE', path, '*')).status, 404, path)
  }
})

t.test('a member who is not there yet matches nothing, and is not added', async (t) => {
  const before = await database.member.count()
  for (const tag of ['*', '"other"'])
    t.equal((await change('PUT', `${developer}/members/new-${newId()}`, tag, { role: 'viewer' })).status, 412)
  t.equal(await database.member.count(), before)
})

t.test('an operation that would ignore If-Match refuses it, and does nothing', async (t) => {
  const rule = ruleBody()
  const cases: [method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object][] = [
    ['POST', rules, rule],
    ['POST', '/api/events', { eventType: 'LEAD_CREATED', data: {} }],
    ['PATCH', '/api/event-types/PAYMENT_FAILED', { description: 'x' }],
    ['DELETE', `${developer}/api-keys/${newId()}`],
  ]
  for (const [method, path, body] of cases) {
    const answer = await change(method, path, '"1"', body)
    t.strictSame([answer.status, answer.body], [400, { error: 'This operation accepts no If-Match' }], path)
  }
  t.equal(await database.rule.count(), 0)
  t.equal((await change('GET', rules, '"1"')).status, 200, 'a read overwrites nothing')
})
