import { newId } from '@automation/database'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'
import { addressOf, idAt, storeEvent, storeExecution, storeRule } from './fixtures/history.js'

const api = await startApi(t)
const developer = '/api/developer/v1'
const minute = 60_000

interface Listed {
  id: string
  status?: string
  ruleId?: string | null
  subscriptionId?: string | null
  type?: string
  eventType?: string
}

interface Page {
  nextCursor: string | null
}

async function list({ call }: Workspace, path: string, noun: string) {
  const { status, body } = await call<Record<string, Listed[]> & Page>('GET', path)
  return status === 200 ? (body[noun] ?? []) : status
}

const idsOf = (found: Listed[] | number) => (typeof found === 'number' ? found : found.map(({ id }) => id))

t.test('a list links each page to the next one, with its own filters', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  for (let n = 0; n < 5; n++) await call('POST', rules, { body: ruleBody({ name: `"<${n}>"` }) })
  for (let n = 0; n < 5; n++) await storeEvent(workspace)
  const paths = [
    [`${rules}?limit=2&q=%3C`, 'rules'],
    [`${rules}/summaries?limit=2`, 'rules'],
    ['/api/events?limit=2&eventType=LEAD_CREATED', 'events'],
    [`${developer}/audit-log?limit=2&action=rule.created`, 'data'],
  ] as const
  for (const [path, noun] of paths) {
    const seen: string[] = []
    let next: string | undefined = path
    while (next !== undefined) {
      const { body, headers }: Answer<Record<string, Listed[]> & Page> = await call('GET', next)
      seen.push(...(body[noun] ?? []).map(({ id }) => id))
      const link: string | undefined = /^<([^>]+)>; rel="next"$/.exec(String(headers.link))?.[1]
      t.equal(link === undefined, body.nextCursor === null, path)
      next = link
    }
    t.equal(new Set(seen).size, 5, path)
    t.equal(seen.length, 5, path)
  }
})

t.test('each list says with nextCursor where it ends', async (t) => {
  const { call } = await api.makeWorkspace()
  const paths = [
    `${rules}?limit=1`,
    '/api/events/samples',
    '/api/tasks',
    ...['api-keys', 'signing-secrets', 'credentials', 'subscriptions', 'members', 'workspaces'].map(
      (name) => `${developer}/${name}`,
    ),
  ]
  for (const path of paths) {
    const { body, headers } = await call<Page>('GET', path)
    t.equal(body.nextCursor, null, path)
    t.equal(headers.link, undefined, path)
  }
})

t.test('a list that is short enough to be read as a whole has pages, too', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const name of ['A', 'B', 'C'])
    await call('PUT', `${developer}/credentials/${name}`, { body: { value: 'secret', hosts: ['x.io'] } })
  const read = async (query: string) =>
    (await call<{ data: { name: string }[] } & Page>('GET', `${developer}/credentials?${query}`)).body
  const first = await read('limit=2')
  t.strictSame(
    first.data.map(({ name }) => name),
    ['A', 'B'],
  )
  t.match(await read(`limit=2&cursor=${first.nextCursor}`), { data: [{ name: 'C' }], nextCursor: null })
  await call('DELETE', `${developer}/credentials/B`)
  const rest = await read(`cursor=${first.nextCursor}`)
  t.match(
    rest,
    { data: [{ name: 'C' }], nextCursor: null },
    'the page begins after the place of a row that is gone',
  )
  for (const name of ['api-keys', 'signing-secrets', 'subscriptions', 'members', 'workspaces'])
    t.equal((await call('GET', `${developer}/${name}?limit=1`)).status, 200, name)
})

t.test('rules are filtered by the name of their field, trigger', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace, { trigger: 'DEAL_WON' })
  await storeRule(workspace)
  for (const query of ['trigger=DEAL_WON', 'eventType=DEAL_WON', 'trigger=DEAL_WON&eventType=DEAL_WON'])
    t.strictSame(idsOf(await list(workspace, `${rules}?${query}`, 'rules')), [rule.id], query)
  t.match(await workspace.call('GET', `${rules}?trigger=DEAL_WON&eventType=LEAD_CREATED`), {
    status: 400,
    body: { error: 'Query parameter trigger must be the same as eventType' },
  })
  t.match(await workspace.call('GET', `${rules}?trigger=DEAL_WIN`), {
    status: 400,
    body: { error: /^Query parameter trigger must be an event type\. Nearest: DEAL_WON/ },
  })
})

t.test('a delivery names its subscription, and is found by it', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const [subscriptionId, rule] = [newId(), await storeRule(workspace)]
  const address = { ...addressOf(subscriptionId), type: 'rule.paused', ruleIds: [subscriptionId] }
  const delivery = await storeEvent(workspace, address)
  const ofRule = await storeEvent(workspace, { ruleIds: [rule.id] })
  await storeExecution(workspace, delivery, subscriptionId)
  const run = await storeExecution(workspace, ofRule, rule.id)
  await storeEvent(other, address)
  for (const noun of ['events', 'executions']) {
    const path = `/api/${noun}?subscriptionId=${subscriptionId}`
    const found = await list(workspace, path, noun)
    t.match(
      found,
      [{ id: delivery.id, ruleId: subscriptionId, subscriptionId, eventType: 'rule.paused' }],
      path,
    )
    t.strictSame(await list(workspace, `/api/${noun}?subscriptionId=${rule.id}`, noun), [], 'no rule')
    t.strictSame(await list(workspace, `${path}&ruleId=${rule.id}`, noun), [], 'both')
    t.equal(await list(workspace, `/api/${noun}?subscriptionId=x`, noun), 400)
    t.match(await workspace.call('GET', `/api/${noun}/${delivery.id}`), {
      status: 200,
      body: { ruleId: subscriptionId, subscriptionId },
    })
  }
  t.match(await list(workspace, `/api/events?eventType=LEAD_CREATED`, 'events'), [
    { id: ofRule.id, type: 'LEAD_CREATED', eventType: 'LEAD_CREATED', ruleId: null, subscriptionId: null },
  ])
  t.match(await list(workspace, '/api/executions', 'executions'), [{ id: run.id, subscriptionId: null }])
  const body = { filter: { subscriptionId: newId() } }
  t.match(await workspace.call('POST', '/api/events/replay', { body }), { status: 200, body: { matched: 0 } })
  t.match(
    await workspace.call('POST', '/api/executions/retry', { body: { filter: { subscriptionId: 'x' } } }),
    {
      status: 422,
      body: { errors: [{ field: 'filter.subscriptionId' }] },
    },
  )
})

t.test('a search accepts eventType and type', async (t) => {
  const workspace = await api.makeWorkspace()
  const event = await storeEvent(workspace, { type: 'DEAL_WON', data: { n: 1 } })
  await storeEvent(workspace, { data: { n: 1 } })
  const search = (body: object) =>
    workspace.call<{ events: Listed[] }>('POST', '/api/events/search', { body: { conditions: [], ...body } })
  for (const body of [
    { eventType: 'DEAL_WON' },
    { type: 'DEAL_WON' },
    { eventType: 'DEAL_WON', type: 'DEAL_WON' },
  ])
    t.strictSame(idsOf((await search(body)).body.events), [event.id])
  t.match(await search({ eventType: 'DEAL_WON', type: 'LEAD_CREATED' }), {
    status: 422,
    body: { errors: [{ field: 'type', message: 'Must be the same as eventType' }] },
  })
  t.match(await search({ eventType: 'DEAL_WIN' }), { status: 400, body: { error: 'Invalid trigger type' } })
})

t.test('executions are found by whom their calls reached', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const rule = await storeRule(workspace)
  const reached = async (n: number, targets: object[], fields: object = {}, owner = workspace) => {
    const acceptedAt = new Date(Date.now() - n * minute)
    const event = await storeEvent(owner, { id: idAt(acceptedAt), acceptedAt, ruleIds: [rule.id] })
    const results = targets.map((target) => ({ action: 'SEND_EMAIL', status: 'success', ...target }))
    const { id } = await storeExecution(owner, event, rule.id, { results, ...fields })
    return id
  }
  const both = await reached(1, [
    { to: ['grace@example.com', 'Ada@Example.com'] },
    { to: ['hooks.example.org'] },
  ])
  const failed = await reached(2, [{ status: 'failed', to: ['ada@example.com'] }], { status: 'failed' })
  // Neither an error nor a warning is a recipient.
  await reached(3, [{ error: 'ada@example.com' }, { to: [], warnings: ['hooks.example.org'] }])
  await reached(4, [{ to: ['ada@example.com'] }], {}, other)
  const find = async (query: string) => idsOf(await list(workspace, `/api/executions?${query}`, 'executions'))
  t.strictSame(await find('recipient=ADA@example.com'), [both, failed])
  t.strictSame(await find('recipient=hooks.example'), [both])
  t.strictSame(await find('recipient=ada@&status=failed'), [failed])
  t.strictSame(await find('recipient=ada@&status=pending'), [])
  t.strictSame(await find(`recipient=ada@&ruleId=${newId()}`), [])
  t.strictSame(await find('recipient=nobody@'), [])
  const first = await workspace.call<{ executions: Listed[] } & Page>(
    'GET',
    '/api/executions?recipient=ada@&limit=1',
  )
  t.match(first.body, { executions: [{ id: both }], nextCursor: String })
  t.strictSame(await find(`recipient=ada@&limit=1&cursor=${first.body.nextCursor}`), [failed])
  for (const wrong of ['', '%00', 'x'.repeat(201)]) t.equal(await find(`recipient=${wrong}`), 400, wrong)
})

t.test('executions are listed by every status that they have', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const rule = await storeRule(workspace)
  const at = (n: number) => new Date(Date.now() - n * minute)
  const byHand = { ruleId: rule.id, ruleIds: [rule.id] }
  const event = (n: number, fields = {}) =>
    storeEvent(workspace, { id: idAt(at(n)), acceptedAt: at(n), ...byHand, ...fields })
  const pending = await event(1, { doneAt: null, ruleIds: [] })
  const notMatched = await event(2)
  const succeeded = await event(3)
  await storeExecution(workspace, succeeded, rule.id)
  const failed = await event(4)
  await storeExecution(workspace, failed, rule.id, { status: 'failed' })
  await event(5, { quarantined: true, ruleIds: [] })
  const started = await event(6, { doneAt: null, ruleIds: [] })
  await storeExecution(workspace, started, rule.id, { status: 'running' })
  // Of all rules: it has no execution by hand.
  await storeEvent(workspace, { ruleIds: [rule.id] })
  await storeEvent(other, byHand)
  const find = async (query: string) => idsOf(await list(workspace, `/api/executions?${query}`, 'executions'))
  t.strictSame(await find('status=pending'), [pending.id])
  t.strictSame(await find('status=not_matched'), [notMatched.id])
  t.strictSame(await find('status=not_matched,failed'), [notMatched.id, failed.id])
  const all = [pending.id, notMatched.id, succeeded.id, failed.id, started.id]
  const every = 'status=pending,running,waiting,retrying,succeeded,failed,cancelled,not_matched'
  t.strictSame(await find(every), all)
  t.strictSame(await find(''), [succeeded.id, failed.id, started.id])
  for (const path of ['status=pending', 'status=not_matched'])
    for (const query of [`ruleId=${newId()}`, 'eventType=DEAL_WON', 'error=x', `from=${at(0).toISOString()}`])
      t.strictSame(await find(`${path}&${query}`), [], `${path} ${query}`)
  t.strictSame(await find(`status=not_matched&ruleId=${rule.id}&eventId=${notMatched.id}`), [notMatched.id])
  for (const [index, id] of all.entries()) {
    const { body } = await workspace.call<Listed>('GET', `/api/executions/${id}`)
    t.match((await list(workspace, `/api/executions?${every}`, 'executions')) as Listed[], {
      [index]: { id, status: body.status },
    })
  }
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = `/api/executions?limit=1&${every}${cursor && `&cursor=${cursor}`}`
    const { body }: Answer<{ executions: Listed[] } & Page> = await workspace.call('GET', path)
    seen.push(...body.executions.map(({ id }) => id))
    cursor = body.nextCursor
  }
  t.strictSame(seen, all, 'page by page')
  t.match(await workspace.call('GET', '/api/executions?status=done'), {
    status: 400,
    body: { error: /one or several of pending, .*not_matched$/ },
  })
})

t.test('tasks are filtered by assignee, priority, due date and time, and read one by one', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const at = (n: number) => new Date(Date.now() - n * minute)
  const store = async (n: number, fields: object, { id: workspaceId, database } = workspace) => {
    const row = { executionId: newId(), actionIndex: 0, ruleId: newId(), title: 'Call', priority: 'normal' }
    const id = idAt(at(n))
    await database.task.create({ data: { ...row, id, workspaceId, createdAt: at(n), ...fields } })
    return id
  }
  const [oldest, middle, newest] = [
    await store(30, { assigneeId: 'ada', priority: 'high', dueAt: at(10) }),
    await store(20, { assigneeId: 'bo', dueAt: at(-10) }),
    await store(10, { assigneeId: 'ada' }),
  ]
  const foreign = await store(20, { assigneeId: 'ada', priority: 'high', dueAt: at(10) }, other)
  const find = async (query: string) => idsOf(await list(workspace, `/api/tasks?${query}`, 'tasks'))
  t.strictSame(await find(''), [newest, middle, oldest])
  t.strictSame(await find('assigneeId=ada'), [newest, oldest])
  t.strictSame(await find('priority=high'), [oldest])
  t.strictSame(await find(`dueBefore=${at(0).toISOString()}`), [oldest])
  t.strictSame(await find(`dueBefore=${at(-20).toISOString()}&assigneeId=bo`), [middle])
  t.strictSame(await find(`from=${at(25).toISOString()}&to=${at(15).toISOString()}`), [middle])
  t.strictSame(await find(`from=${at(25).toISOString()}&assigneeId=ada`), [newest])
  for (const query of [
    'dueBefore=soon',
    'from=x',
    'to=2026-13-01',
    'ruleId=x',
    'executionId=x',
    'assigneeId=%00',
  ])
    t.equal(await find(query), 400, query)
  t.equal(await find('status=open'), 400, 'an unknown parameter is never ignored')
  t.match(await workspace.call('GET', `/api/tasks/${oldest}`), {
    status: 200,
    body: { id: oldest, assigneeId: 'ada', priority: 'high', workspaceId: workspace.id },
  })
  for (const id of [foreign, newId(), 'x'])
    t.match(await workspace.call('GET', `/api/tasks/${id}`), {
      status: 404,
      body: { error: 'Task not found' },
    })
})

t.test('a key, a secret and a member are read one by one, without what is secret', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const { call } = workspace
  const create = async (path: string, body: object) => {
    const {
      key: _,
      secret: _secret,
      ...made
    } = (await call<{ id: string; key?: string; secret?: string }>('POST', `${developer}/${path}`, { body }))
      .body
    return made
  }
  const made = [
    ['api-keys', await create('api-keys', { name: 'CI', scopes: ['rules:read'] })],
    ['signing-secrets', await create('signing-secrets', { provider: 'billing' })],
  ] as const
  for (const [path, one] of made) {
    t.strictSame((await call('GET', `${developer}/${path}/${one.id}`)).body, one)
    t.equal((await other.call('GET', `${developer}/${path}/${one.id}`)).status, 404)
    t.equal((await call('GET', `${developer}/${path}/x`)).status, 404)
    t.equal((await workspace.callAs('editor')('GET', `${developer}/${path}/${one.id}`)).status, 403)
  }
  const { viewer } = workspace.users
  t.match(await call('GET', `${developer}/members/${viewer}`), {
    status: 200,
    body: { userId: viewer, role: 'viewer' },
  })
  for (const userId of ['nobody', '%00', other.users.viewer])
    t.match(await call('GET', `${developer}/members/${userId}`), {
      status: 404,
      body: { error: 'Member not found' },
    })
})

t.test('the description of an event type can be changed, and its name cannot', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const { call, database } = workspace
  for (const one of [workspace, other])
    await one.call('POST', '/api/event-types', { body: { name: 'PAYMENT_FAILED', description: 'Old' } })
  const patch = (name: string, body: object) => call('PATCH', `/api/event-types/${name}`, { body })
  for (let times = 0; times < 2; times++)
    t.match(await patch('PAYMENT_FAILED', { description: 'New' }), {
      status: 200,
      body: { name: 'PAYMENT_FAILED', description: 'New' },
    })
  t.equal(await database.auditEntry.count({ where: { action: 'event_type.updated' } }), 1)
  t.match(await other.database.ownEventType.findMany(), [{ description: 'Old' }])
  t.match(await patch('PAYMENT_FAILED', {}), { status: 422 })
  t.match(await patch('PAYMENT_FAILED', { name: 'OTHER', description: '' }), { status: 422 })
  t.match(await patch('LEAD_CREATED', { description: 'New' }), { status: 409 })
  t.match(await patch('NOT_THERE', { description: 'New' }), { status: 404 })
  t.match(await patch('%00', { description: 'New' }), { status: 404 })
})

t.test('PATCH of an email template is its PUT', async (t) => {
  const { call } = await api.makeWorkspace()
  const { body } = await call<Rule>('POST', '/api/email-templates', { body: { name: 'Hi', text: 'Hi' } })
  t.match(await call('PATCH', `/api/email-templates/${body.id}`, { body: { text: 'Ho' } }), {
    status: 200,
    body: { id: body.id, name: 'Hi', text: 'Ho' },
  })
  t.match(await call('PATCH', `/api/email-templates/${body.id}`, { body: { txt: 'Ho' } }), { status: 422 })
})
