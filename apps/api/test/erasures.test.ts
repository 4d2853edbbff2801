import t from 'tap'
import { startApi, type Workspace } from './fixtures/api.js'
import { storeEvent, storeExecution, storeRule } from './fixtures/history.js'

const api = await startApi(t)
const path = '/api/developer/v1/erasures'
const email = 'ada@example.com'
const body = { path: 'contact.email', value: email }

interface Counted {
  events: number
  executions: number
  tasks: number
  unfinished: { events: number; executions: number; filter: { ids: string[] } }
  atLeast?: true
  dryRun: true
}

/** Stores an event with one execution. */
async function store(workspace: Workspace, status: 'succeeded' | 'failed' | 'waiting', data: object) {
  const { id: ruleId } = await storeRule(workspace)
  const event = await storeEvent(workspace, { ruleIds: [ruleId], data })
  const execution = await storeExecution(workspace, event, ruleId, { status })
  return { id: event.id, executionId: execution.id, ruleId }
}

/** Counts again where the time of a count was over, as it may be on a busy machine. */
async function count({ call }: Workspace): Promise<Counted> {
  for (;;) {
    const { body: counted } = await call<Counted>('POST', path, { body })
    if (!counted.atLeast) return counted
  }
}

t.test('a dry run counts, and an erasure is made by a user who is an admin alone', async (t) => {
  const workspace = await api.makeWorkspace()
  const { executionId } = await store(workspace, 'succeeded', { contact: [{ email }, { email: 'b@x.y' }] })
  await store(workspace, 'succeeded', { contact: { email: 'Ada@example.com' } })
  await store(workspace, 'succeeded', { email })
  const other = await api.makeWorkspace()
  await store(other, 'succeeded', { contact: { email } })
  t.strictSame(await count(workspace), {
    ...{ events: 1, executions: 1, tasks: 0, dryRun: true },
    unfinished: { events: 0, executions: 0, filter: { ids: [] } },
  })
  t.equal(await workspace.database.erasure.count(), 0)
  t.ok(executionId)

  const real = { ...body, dryRun: false }
  for (const role of ['viewer', 'operator', 'editor'] as const) {
    t.match(await workspace.callAs(role)('POST', path, { body: real }), { status: 403 }, role)
    t.match(await workspace.callAs(role)('GET', path), { status: 403 }, role)
  }
  const key = await workspace.call<{ key: string }>('POST', '/api/developer/v1/api-keys', {
    body: { name: 'k', scopes: ['admin'] },
  })
  const asKey = { token: key.body.key, body: real, workspace: undefined }
  t.match(await api.call('POST', path, asKey), { status: 403 }, 'an API key')
  t.equal(await workspace.database.erasure.count(), 0)

  const made = await workspace.call<{ id: string }>('POST', path, { body: real })
  t.match(made, {
    status: 201,
    headers: { location: `${path}/${made.body.id}` },
    body: { path: 'contact.email', status: 'running', createdBy: `user:${workspace.users.admin}` },
  })
  const one = await workspace.call('GET', `${path}/${made.body.id}`)
  t.strictSame(one.body, made.body)
  t.match((await workspace.call('GET', path)).body, { data: [{ id: made.body.id }], nextCursor: null })
  t.match(await other.call('GET', `${path}/${made.body.id}`), { status: 404 })
  const log = await workspace.call('GET', '/api/developer/v1/audit-log?action=erasure.created')
  t.match(log.body, { data: [{ subject: made.body.id, details: { path: 'contact.email' } }] })
  for (const said of [one, log, made]) t.notMatch(JSON.stringify(said), email)
  const row = await workspace.database.erasure.findFirstOrThrow()
  t.notMatch(Buffer.from(row.sealed).toString('latin1'), 'ada', 'it is sealed')
})

t.test('what has not ended of a chain keeps an erasure from beginning, too', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await store(workspace, 'succeeded', { contact: { email } })
  const child = await store(workspace, 'waiting', { other: 1 })
  await workspace.database.event.update({ where: { id: child.id }, data: { rootId: id, causedBy: id } })
  t.strictSame(await count(workspace), {
    ...{ events: 1, executions: 1, tasks: 0, dryRun: true },
    unfinished: { events: 0, executions: 1, filter: { ids: [child.executionId] } },
  })
  t.match(await workspace.call('POST', path, { body: { ...body, dryRun: false } }), { status: 409 })
  await workspace.database.event.update({ where: { id: child.id }, data: { doneAt: null } })
  t.match((await count(workspace)).unfinished, {
    events: 1,
    executions: 1,
  })
})

t.test('bad input is refused, and says which field', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const [wrong, field] of [
    [{ ...body, path: 'a..b' }, 'path'],
    [{ ...body, path: '[0]' }, 'path'],
    [{ ...body, path: '' }, 'path'],
    [{ ...body, value: '' }, 'value'],
    [{ ...body, value: 'a\0b' }, 'value'],
    [{ ...body, value: '\ud800' }, 'value'],
    [{ ...body, value: { a: 1 } }, 'value'],
    [{ ...body, value: null }, 'value'],
    [{ ...body, value: true }, 'value'],
    [{ ...body, value: '[erased]' }, 'value'],
    [{ ...body, value: 'x'.repeat(501) }, 'value'],
    [{ path: 'a' }, 'value'],
    [{ ...body, more: 1 }, 'more'],
  ] as const) {
    const answer = await call<{ errors: { field: string }[] }>('POST', path, { body: wrong })
    t.match(answer, { status: 422, body: { errors: [{ field }] } }, JSON.stringify(wrong))
  }
  for (const value of ['a', 7, -0.5, '"\\\u0001', 'é'])
    t.match(await call('POST', path, { body: { ...body, value } }), { status: 200, body: { events: 0 } })
})

t.test(
  'while executions of such events have not ended it is refused, and a dry run names them',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call } = workspace
    const { executionId } = await store(workspace, 'waiting', { contact: { email } })
    const { unfinished } = await count(workspace)
    t.strictSame(unfinished, { events: 0, executions: 1, filter: { ids: [executionId] } })
    const real = { ...body, dryRun: false }
    t.match(await call('POST', path, { body: real }), {
      status: 409,
      headers: { 'x-error-code': 'erasure_unfinished' },
    })
    const cancelled = { filter: unfinished.filter, dryRun: false }
    t.match(await call('POST', '/api/executions/cancel', { body: cancelled }), { body: { cancelled: 1 } })
    t.match(await call('POST', path, { body: real }), { status: 201 })
  },
)

t.test('at most ten of a workspace are in progress', async (t) => {
  const { call } = await api.makeWorkspace()
  for (let n = 0; n < 10; n++)
    t.match(await call('POST', path, { body: { ...body, dryRun: false } }), { status: 201 })
  t.match(await call('POST', path, { body: { ...body, dryRun: false } }), {
    status: 409,
    headers: { 'x-error-code': 'limit_reached' },
  })
})

t.test('an erased event says so, and is neither replayed nor retried', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call, database } = workspace
  const { id, executionId } = await store(workspace, 'failed', { contact: { email: '[erased]' } })
  const erasedAt = new Date('2026-11-01T10:00:00.000Z')
  const said = { erasedAt: erasedAt.toISOString() }
  t.notOk('erasedAt' in ((await call('GET', `/api/events/${id}`)).body as object))
  await database.event.update({ where: { id }, data: { erasedAt } })
  t.match((await call('GET', `/api/events/${id}`)).body, said)
  t.match((await call('GET', '/api/events')).body, { events: [{ id, ...said }] })
  t.match((await call('GET', `/api/events/${id}/why`)).body, said)
  const refused = { status: 409, headers: { 'x-error-code': 'event_erased' } }
  t.match(await call('POST', `/api/events/${id}/replay`), refused)
  t.match(await call('POST', `/api/executions/${executionId}/retry`), refused)
  t.match((await call('POST', '/api/events/replay', { body: { filter: { ids: [id] } } })).body, {
    matched: 0,
  })
  t.match((await call('POST', '/api/executions/retry', { body: { filter: { ids: [executionId] } } })).body, {
    matched: 0,
    refused: 1,
  })
})
