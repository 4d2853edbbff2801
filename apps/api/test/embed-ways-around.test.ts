import t from 'tap'
import { ruleBody, rules, startApi, task, type Workspace } from './fixtures/api.js'
import { limited, makeKey, makeSession, open, openSession, sessions } from './fixtures/embed.js'
import { addressOf, storeEvent, storeExecution } from './fixtures/history.js'

// Each is a way around `allow`, `rule`, `publish` or the end of a session by an operation that the session may call.

const api = await startApi(t)
const pages = ['rules', 'executions', 'events', 'decisions', 'tasks']
const webhook = { type: 'SEND_WEBHOOK', config: { url: 'https://example.com' } }
const later = { prefer: 'respond-async' }
const withoutWebhooks = { allow: { triggers: ['LEAD_CREATED', 'LEAD_UPDATED'], actions: ['CREATE_TASK'] } }

async function create(
  { call }: Pick<Workspace, 'call'>,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await call<{ id: string }>('POST', rules, { body: ruleBody(fields) })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.id
}

async function makeSite(wished: object = {}) {
  const workspace = await api.makeWorkspace()
  const { call, id } = await openSession(api, workspace, { pages, publish: true, ...wished })
  return { workspace, session: call, id }
}

t.test('an event of a type that is not allowed is not replayed, though no rule runs', async (t) => {
  const { workspace, session } = await makeSite(withoutWebhooks)
  const event = await storeEvent(workspace, { type: 'DEAL_WON' })
  const answer = await session<{ error: string }>('POST', `/api/events/${event.id}/replay`, {
    headers: later,
  })
  t.match(answer, limited)
  t.match(answer.body.error, /DEAL_WON: it is not in allow\.triggers/)
  t.equal(await workspace.database.event.count(), 1, 'a WAIT of others would end by it')
  const own = await storeEvent(workspace, { type: 'LEAD_CREATED' })
  t.equal((await session('POST', `/api/events/${own.id}/replay`, { headers: later })).status, 202)
})

t.test('no rule gets in before a rule of others that is not allowed', async (t) => {
  const { workspace, session } = await makeSite(withoutWebhooks)
  await create(workspace, { actions: [webhook], group: 'g', order: 10 })
  const own = await create(workspace)
  const beside = await create(workspace, { trigger: 'LEAD_UPDATED', group: 'g', order: 1 })
  const place = { group: 'g', order: 1 }
  const ways = {
    create: () => session('POST', rules, { body: ruleBody(place) }),
    inactive: () => session('POST', rules, { body: ruleBody({ ...place, isActive: false }) }),
    patch: () => session('PATCH', `${rules}/${own}`, { body: place }),
    trigger: () => session('PATCH', `${rules}/${beside}`, { body: { trigger: 'LEAD_CREATED' } }),
    promote: async () => {
      t.equal((await session('PUT', `${rules}/${own}/draft`, { body: ruleBody(place) })).status, 200)
      return session('POST', `${rules}/${own}/draft/promote`)
    },
  }
  for (const [way, ask] of Object.entries(ways)) {
    const answer = await ask()
    t.match(answer, limited, way)
    t.match((answer.body as { error: string }).error, /group g/, way)
  }
  const mixed = await create(workspace, { group: 'g', order: 20 })
  t.match(await session('PATCH', `${rules}/${mixed}`, { body: { order: 1 } }), limited, 'another place in it')
  t.match(await session('POST', `${rules}/${mixed}/clone`), limited)
  t.equal((await session('PATCH', `${rules}/${mixed}`, { body: { name: 'Mine' } })).status, 200, 'all else')
  await create(workspace, { group: 'allowed', order: 10 })
  t.equal(
    (await session('PATCH', `${rules}/${own}`, { body: { group: 'allowed', order: 1 } })).status,
    200,
    'a group without such a rule',
  )
})

t.test('a session of one rule does not move it before others of its group', async (t) => {
  const workspace = await api.makeWorkspace()
  await create(workspace, { actions: [webhook], group: 'g', order: 10 })
  const own = await create(workspace, { group: 'g', order: 20 })
  const { call } = await openSession(api, workspace, { pages, publish: true, rule: own })
  const draft = ruleBody({ group: 'g', order: 1 })
  t.match(await call('PATCH', `${rules}/${own}`, { body: { order: 1 } }), limited)
  t.match(await call('PUT', `${rules}/${own}/draft`, { body: draft }), limited)
  await workspace.call('PUT', `${rules}/${own}/draft`, { body: draft })
  t.match(await call('POST', `${rules}/${own}/draft/promote`), limited)
  t.equal((await call('PATCH', `${rules}/${own}`, { body: { name: 'Mine' } })).status, 200)
  t.match(await call('GET', `${rules}/groups/g`), limited)
  t.match(await call('PUT', `${rules}/groups/g`, { body: { ruleIds: [own] } }), limited)
})

t.test('without publish, nothing that is switched off runs by a replay or a retry', async (t) => {
  const { workspace, session } = await makeSite({ publish: false })
  const off = await create(workspace, { isActive: false })
  const on = await create(workspace)
  const addressed = await storeEvent(workspace, addressOf(off, 'rule'))
  const failed = await storeExecution(workspace, await storeEvent(workspace), off, { status: 'failed' })
  for (const path of [`/api/events/${addressed.id}/replay`, `/api/executions/${failed.id}/retry`])
    t.match(await session('POST', path, { headers: later }), limited, path)
  const own = await storeEvent(workspace, addressOf(on, 'rule'))
  t.equal((await session('POST', `/api/events/${own.id}/replay`, { headers: later })).status, 202)
  const publishing = await openSession(api, workspace, { pages, publish: true })
  const replay = await publishing.call('POST', `/api/events/${addressed.id}/replay`, { headers: later })
  t.equal(replay.status, 202)
})

t.test('a session uses up no Idempotency-Key of the product, and gets none of its responses', async (t) => {
  const { workspace, session } = await makeSite()
  const post = (call: typeof session, name: string) =>
    call<{ eventId?: string }>('POST', '/api/events', {
      body: { type: 'LEAD_CREATED', data: { name } },
      headers: { ...later, 'idempotency-key': 'order-4711-paid' },
    })
  t.equal((await post(session, 'Mallory')).status, 202)
  const first = await post(workspace.call, 'Ada')
  t.equal(first.status, 202, 'the event of the product is accepted')
  t.equal((await post(session, 'Ada')).status, 422, 'its response is not handed out')
  t.equal((await post(session, 'Mallory')).headers['idempotent-replayed'], 'true', 'repeats are safe')
  const again = await openSession(api, workspace, { pages })
  const repeat = await post(again.call, 'Mallory')
  t.equal(repeat.headers['idempotent-replayed'], 'true', 'also by the next session of the user')
  const other = await openSession(api, workspace, { pages, user: { id: 'bo' } })
  t.equal((await post(other.call, 'Bo')).status, 202, 'another user has keys of their own')
  t.equal(await workspace.database.event.count(), 3)
})

t.test('the sessions of a suspended workspace do nothing, and none is made or opened', async (t) => {
  const { workspace, session, id } = await makeSite()
  const made = await makeSession(workspace)
  const { key } = await makeKey(workspace, ['embed', 'rules:read'])
  const path = `/api/developer/v1/workspaces/${workspace.id}/suspension`
  t.equal((await workspace.call('PUT', path)).status, 200)
  for (const cache of api.app.accessCaches) cache.clear()
  const suspended = { status: 403, headers: { 'x-error-code': 'workspace_suspended' } }
  t.match(await session('GET', rules), suspended)
  t.match(await session('POST', rules, { body: ruleBody() }), suspended)
  t.match(await open(api, made), { status: 404, headers: { 'x-error-code': 'embed_session_not_found' } })
  const body = { user: { id: '42' }, role: 'viewer', pages: ['rules'] }
  t.match(await api.call('POST', sessions, { token: key, body }), suspended)
  t.equal((await workspace.call('DELETE', path)).status, 200)
  for (const cache of api.app.accessCaches) cache.clear()
  t.equal((await session('GET', rules)).status, 200, `${id} goes on`)
})

t.test('many users of a workspace draw from its bucket, too', async (t) => {
  // One token a minute: no test lasts long enough to get one back.
  const bucket = { perMinute: 1, burst: 8 }
  const small = await startApi(t, {}, { workspace: { standard: bucket, enterprise: bucket } })
  const workspace = await small.makeWorkspace()
  const users = await Promise.all(['a', 'b'].map((id) => openSession(small, workspace, { user: { id } })))
  const statuses: number[] = []
  for (let count = 0; count < 5; count++)
    for (const { call } of users) statuses.push((await call('GET', rules)).status)
  t.strictSame(new Set(statuses), new Set([200, 429]))
  t.ok(statuses.filter((status) => status === 200).length <= 8)
})

t.test('a definition of any shape is refused, and is no fault of the service', async (t) => {
  const workspace = await api.makeWorkspace()
  const own = await create(workspace)
  for (const wished of [{ rule: own }, withoutWebhooks]) {
    const { call } = await openSession(api, workspace, { pages, publish: true, ...wished })
    for (const shown of [
      ...[null, [], 'x', 7, {}, { actions: null }, { actions: {} }, { actions: [null] }, { actions: ['x'] }],
      ...[{ trigger: {} }, { trigger: ['LEAD_CREATED'] }, { actions: [{ type: 'WAIT', config: null }] }],
      ...[{ actions: [{ type: 'WAIT', config: { for: null } }] }, { group: {} }, { order: 'x' }],
      { actions: [{ type: 'EMIT_EVENT', config: { eventType: ['DEAL_WON'] } }] },
    ])
      for (const [method, path, body] of [
        ['POST', `${rules}/validate`, shown],
        ['POST', `${rules}/backtests`, { ruleId: own, definition: shown }],
        ['PUT', `${rules}/${own}/draft`, shown],
        ['PATCH', `${rules}/${own}`, shown],
        ['POST', '/api/events/search', shown],
        ['POST', '/api/events', shown],
      ] as const) {
        const { status } = await call(method, path, { body: body as object })
        t.ok(status < 500, `${method} ${path} ${JSON.stringify(shown)}: ${status}`)
      }
  }
  t.match(await workspace.database.rule.findUnique({ where: { id: own } }), { trigger: 'LEAD_CREATED' })
})

t.test('an action that is allowed carries none that is not', async (t) => {
  const { workspace, session } = await makeSite(withoutWebhooks)
  const own = await create(workspace)
  for (const actions of [
    [task, { ...webhook, when: { all: [{ field: 'never', operator: 'exists' }] } }],
    [
      { ...task, continueOnError: true },
      { ...webhook, name: 'quiet' },
    ],
    Array.from({ length: 19 }, () => task).concat(webhook as never),
  ])
    t.match(await session('PATCH', `${rules}/${own}`, { body: { actions } }), limited)
})

t.test('no warning tells a session of credentials that it may not use', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const name of ['BILLING', 'CRM'])
    await workspace.call('PUT', `/api/developer/v1/credentials/${name}`, {
      body: { kind: 'text', value: 'hidden', hosts: [`${name.toLowerCase()}.internal.example`] },
    })
  const use = (name: string) => ({
    type: 'SEND_WEBHOOK',
    config: { url: 'https://other.example.com/', headers: { 'x-token': `{{credentials.${name}}}` } },
  })
  const body = ruleBody({ actions: [use('BILLING'), use('CRM'), use('UNKNOWN')] })
  for (const [allow, tells] of [
    [undefined, []],
    [{}, []],
    [{ credentials: [] }, []],
    [{ credentials: ['CRM'] }, ['crm.internal.example']],
  ] as const) {
    const { call } = await openSession(api, workspace, { pages, ...(allow && { allow }) })
    const validated = await call('POST', `${rules}/validate`, { body })
    const checked = await call('POST', `${rules}/check`, { body: { rules: [body] } })
    for (const [name, answer] of Object.entries({ validated, checked })) {
      t.equal(answer.status, 200, name)
      const text = JSON.stringify(answer.body)
      for (const host of ['billing.internal.example', 'crm.internal.example'])
        t.equal(text.includes(host), (tells as readonly string[]).includes(host), `${name}: ${host}`)
    }
  }
  const { body: seen } = await workspace.call('POST', `${rules}/validate`, { body })
  t.match(JSON.stringify(seen), /billing\.internal\.example/, 'members are told')
})
