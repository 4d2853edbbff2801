import { newId } from '@automation/database'
import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'
import { limited, openSession } from './fixtures/embed.js'
import { addressOf, storeEvent, storeExecution } from './fixtures/history.js'

const api = await startApi(t)
const all = ['rules', 'executions', 'events', 'decisions', 'tasks']
const secret = 'canary-of-other-rules'

/** A workspace with two rules, of two types, each with events, executions and tasks; and a session of the first rule. */
async function makeSite(wished: object = {}) {
  const workspace = await api.makeWorkspace()
  const { call, database, id: workspaceId } = workspace
  const create = async (fields: Record<string, unknown>) =>
    (await call<{ id: string; trigger: string }>('POST', rules, { body: ruleBody(fields) })).body
  const plant = async (fields: object, type: string, data: object) => {
    const rule = await create({ trigger: type, ...fields })
    const event = await storeEvent(workspace, { type, data, ruleIds: [rule.id] })
    const execution = await storeExecution(workspace, event, rule.id)
    const task = newId()
    await database.task.create({
      data: {
        ...{ id: task, workspaceId, executionId: execution.id, actionIndex: 0, ruleId: rule.id },
        ...{ title: JSON.stringify(data), priority: 'normal', createdAt: new Date() },
      },
    })
    return { rule, event, execution, task }
  }
  const own = await plant({}, 'LEAD_CREATED', { name: 'own' })
  const other = await plant({ name: secret }, 'DEAL_WON', { name: secret })
  /** Of the type of the own rule, and of another one. */
  const neighbour = await create({ name: secret })
  const beside = await storeExecution(workspace, own.event, neighbour.id)
  const session = await openSession(api, workspace, {
    pages: all,
    rule: own.rule.id,
    publish: true,
    ...wished,
  })
  return { workspace, own, other, neighbour, beside, session: session.call, id: session.id }
}

t.test('a session of one rule reads its rule, its history and the events of its trigger', async (t) => {
  const { own, session } = await makeSite()
  const { id } = own.rule
  for (const path of [
    `${rules}/${id}`,
    `${rules}/${id}/versions`,
    `${rules}/${id}/versions/1`,
    `${rules}/rollouts`,
    `/api/events/${own.event.id}`,
    `/api/events/${own.event.id}/why`,
    `/api/executions/${own.execution.id}`,
    `/api/tasks/${own.task}`,
    '/api/events/samples',
    '/api/event-types/LEAD_CREATED/fields',
    '/api/vocabulary',
    '/api/me',
  ])
    t.equal((await session('GET', path)).status, 200, path)
})

t.test('its lists have nothing else, whatever the filter says', async (t) => {
  const { own, other, neighbour, beside, session } = await makeSite()
  const lists: [path: string, name: string, ids: string[]][] = [
    ['/api/events', 'events', [own.event.id]],
    ['/api/events/samples', 'events', [own.event.id]],
    ['/api/executions', 'executions', [own.execution.id]],
    ['/api/tasks', 'tasks', [own.task]],
    ['/api/decisions', 'decisions', []],
    [`${rules}/rollouts`, 'rules', []],
  ]
  for (const [path, name, ids] of lists) {
    const { status, body } = await session<Record<string, { id: string }[]>>('GET', path)
    t.equal(status, 200, path)
    t.strictSame(
      body[name]?.map((one) => one.id),
      ids,
      path,
    )
    for (const query of [
      `ruleId=${other.rule.id}`,
      `ruleId=${neighbour.id}`,
      `ruleId=${own.rule.id}&ruleId=${other.rule.id}`,
    ])
      t.not((await session('GET', `${path}?${query}`)).status, 200, `${path}?${query}`)
    t.equal((await session('GET', `${path}?ruleId=${own.rule.id.toUpperCase()}`)).status, 200, path)
  }
  for (const path of ['/api/events', '/api/events/samples']) {
    t.match(await session('GET', `${path}?eventType=DEAL_WON`), limited)
    t.equal((await session('GET', `${path}?eventType=LEAD_CREATED`)).status, 200)
  }
  const { body } = await session<{ executions: { id: string }[] }>(
    'GET',
    `/api/executions?eventId=${own.event.id}`,
  )
  t.strictSame(
    body.executions.map(({ id }) => id),
    [own.execution.id],
    'not that of the neighbour',
  )
  t.not(beside.id, own.execution.id)
  const search = (fields: object) =>
    session<{ events: { id: string }[] }>('POST', '/api/events/search', {
      body: { conditions: [], ...fields },
    })
  t.strictSame(
    (await search({})).body.events.map(({ id }) => id),
    [own.event.id],
  )
  t.strictSame((await search({ q: 'canary' })).body.events, [])
  for (const fields of [{ type: 'DEAL_WON' }, { eventType: 'DEAL_WON' }])
    t.match(await search(fields), limited)
})

t.test('what belongs to another rule is refused by its id, like what is not there', async (t) => {
  const { own, other, neighbour, beside, session, workspace } = await makeSite()
  const { body: backtest } = await workspace.call<{ id: string }>('POST', `${rules}/backtests`, {
    body: { ruleId: other.rule.id },
  })
  const asked: [method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH', path: string, body?: object][] = [
    ['GET', `${rules}/${other.rule.id}`],
    ['GET', `${rules}/${neighbour.id}`],
    ['GET', `${rules}/${other.rule.id}/versions`],
    ['GET', `${rules}/${other.rule.id}/draft`],
    ['PUT', `${rules}/${other.rule.id}/draft`, ruleBody()],
    ['PATCH', `${rules}/${other.rule.id}`, { name: 'x' }],
    ['DELETE', `${rules}/${other.rule.id}`],
    ['POST', `${rules}/${other.rule.id}/execute`, { data: {}, dryRun: true }],
    ['POST', `${rules}/${other.rule.id}/activate`],
    ['POST', `${rules}/${other.rule.id}/clone`],
    ['GET', `${rules}/backtests/${backtest.id}`],
    ['DELETE', `${rules}/backtests/${backtest.id}`],
    ['GET', `/api/events/${other.event.id}`],
    ['GET', `/api/events/${other.event.id}/why`],
    ['GET', `/api/events/${own.event.id}/why?ruleId=${neighbour.id}`],
    ['POST', `/api/events/${other.event.id}/replay`],
    ['POST', `/api/events/${own.event.id}/replay`, { rules: [neighbour.id] }],
    ['POST', `/api/events/${own.event.id}/replay`, { rules: [own.rule.id, neighbour.id] }],
    ['GET', `/api/executions/${other.execution.id}`],
    ['GET', `/api/executions/${beside.id}`],
    ['POST', `/api/executions/${other.execution.id}/retry`],
    ['POST', `/api/executions/${other.execution.id}/cancel`],
    ['PUT', `/api/executions/${other.execution.id}/acknowledgement`],
    ['POST', `/api/decisions/${other.execution.id}`, { choice: 'approve' }],
    ['GET', `/api/tasks/${other.task}`],
    ['GET', '/api/event-types/DEAL_WON/fields'],
    ['POST', `${rules}/backtests`, { ruleId: other.rule.id }],
    ['POST', `${rules}/backtests`, { definition: { trigger: 'DEAL_WON', actions: [] } }],
    ['POST', `${rules}/backtests`, { ruleId: own.rule.id, definition: { trigger: 'DEAL_WON', actions: [] } }],
    ['POST', `${rules}/validate`, ruleBody({ trigger: 'DEAL_WON' })],
  ]
  for (const [method, path, body] of asked) {
    const answer = await session(method, path, body === undefined ? {} : { body })
    t.match(answer, limited, `${method} ${path}`)
    t.notOk(JSON.stringify(answer).includes(secret), path)
  }
  for (const path of ['/api/events', '/api/executions', '/api/tasks'])
    t.match(await session('GET', `${path}/${newId()}`), limited, 'unknown ids say the same')
})

t.test('an event shows what its own rule did, and a replay runs this rule alone', async (t) => {
  const { own, neighbour, session, workspace } = await makeSite()
  const event = await session<{ results: { ruleId: string }[] }>('GET', `/api/events/${own.event.id}`)
  t.strictSame(
    event.body.results.map(({ ruleId }) => ruleId),
    [own.rule.id],
  )
  const why = await session<{ rules: { ruleId: string }[] }>('GET', `/api/events/${own.event.id}/why`)
  t.strictSame(
    why.body.rules.map(({ ruleId }) => ruleId),
    [own.rule.id],
  )
  t.ok(neighbour.id)
  for (const body of [undefined, {}, { rules: [own.rule.id] }]) {
    const headers = { prefer: 'respond-async' }
    const replay = await session('POST', `/api/events/${own.event.id}/replay`, { headers, body })
    t.equal(replay.status, 202)
  }
  const replays = await workspace.database.event.findMany({ where: { replayOf: own.event.id } })
  t.strictSame(
    replays.map(({ chosenRuleIds }) => chosenRuleIds),
    [[own.rule.id], [own.rule.id], [own.rule.id]],
  )
})

t.test('the rule cannot be made to name another type, nor to join a group, to see more', async (t) => {
  const { own, session, workspace, other } = await makeSite()
  const path = `${rules}/${own.rule.id}`
  const awaited = { eventType: 'DEAL_WON', match: { id: '{{id}}' }, then: 'go_on' }
  const waits = { type: 'WAIT', config: { duration: '1h', for: awaited } }
  const emits = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } }
  for (const fields of [
    { trigger: 'DEAL_WON' },
    { actions: [waits, ruleBody().actions[0]] },
    { actions: [emits] },
    { group: 'theirs', order: 1 },
  ]) {
    t.match(await session('PATCH', path, { body: fields }), limited, `PATCH ${JSON.stringify(fields)}`)
    t.match(
      await session('PUT', `${path}/draft`, { body: ruleBody(fields) }),
      limited,
      `draft ${JSON.stringify(fields)}`,
    )
    t.match(await session('POST', `${rules}/validate`, { body: ruleBody(fields) }), limited, 'validate')
  }
  // A colleague's draft.
  await workspace.call('PUT', `${path}/draft`, { body: ruleBody({ trigger: 'DEAL_WON' }) })
  t.match(await session('GET', `${path}/draft`), limited)
  t.match(await session('POST', `${path}/draft/promote`), limited)
  t.match(await session('GET', `/api/events/${other.event.id}`), limited)
  await workspace.call('DELETE', `${path}/draft`)
  t.equal((await session('PATCH', path, { body: { name: 'New' } })).status, 200, 'all else can be changed')
  t.equal((await session('PUT', `${path}/draft`, { body: ruleBody({ name: 'Newer' }) })).status, 200)

  const granted = await openSession(api, workspace, {
    ...{ pages: all, rule: own.rule.id, publish: true },
    allow: { triggers: ['LEAD_CREATED', 'DEAL_WON'] },
  })
  const wider = await granted.call('PATCH', path, { body: { actions: [emits] } })
  t.equal(wider.status, 200, 'unless allow.triggers has it')
})

t.test('an old version with another trigger is not restored', async (t) => {
  const { own, session, workspace } = await makeSite()
  const path = `${rules}/${own.rule.id}`
  await workspace.call('PATCH', path, { body: { trigger: 'DEAL_WON' } })
  await workspace.call('PATCH', path, { body: { trigger: 'LEAD_CREATED' } })
  t.match(await session('POST', `${path}/versions/2/restore`), limited)
  const { body } = await workspace.call<{ id: string }>('POST', `${rules}/backtests`, {
    body: { ruleId: own.rule.id, definition: { trigger: 'DEAL_WON', actions: ruleBody().actions } },
  })
  t.match(await session('GET', `${rules}/backtests/${body.id}`), limited, 'nor a report on other events read')
  const mine = await session<{ id: string }>('POST', `${rules}/backtests`, { body: { ruleId: own.rule.id } })
  t.equal(mine.status, 202)
  t.equal((await session('GET', `${rules}/backtests/${mine.body.id}`)).status, 200)
})

t.test('a session whose rule is deleted has nothing', async (t) => {
  const { own, session, workspace } = await makeSite()
  await workspace.call('DELETE', `${rules}/${own.rule.id}`)
  t.equal((await session('GET', `${rules}/${own.rule.id}`)).status, 404)
  t.match(await session('GET', '/api/events'), limited)
  t.match(await session('GET', `/api/events/${own.event.id}`), limited)
  t.match(await session('POST', '/api/events/search', { body: { conditions: [] } }), limited)
})

t.test('no session sees deliveries to subscriptions, by a filter or by an id', async (t) => {
  const { workspace } = await makeSite()
  const subscription = newId()
  await workspace.database.subscription.create({
    data: {
      ...{ id: subscription, workspaceId: workspace.id, description: '' },
      ...{ url: 'https://example.com', eventTypes: ['rule.updated'] },
    },
  })
  const address = addressOf(subscription)
  const event = await storeEvent(workspace, { type: 'rule.updated', data: { name: secret }, ...address })
  const execution = await storeExecution(workspace, event, subscription)
  const { call } = await openSession(api, workspace, { pages: all })
  for (const path of [
    `/api/events/${event.id}`,
    `/api/events/${event.id}/why`,
    `/api/executions/${execution.id}`,
    '/api/events?eventType=rule.updated',
    `/api/events?subscriptionId=${subscription}`,
    `/api/events?ruleId=${subscription}`,
    '/api/events/samples?eventType=rule.updated',
    '/api/executions?eventType=rule.updated',
    `/api/executions?subscriptionId=${subscription}`,
    `/api/executions?ruleId=${subscription}`,
    `/api/executions?eventId=${event.id}`,
    `/api/overview?ruleId=${subscription}`,
  ]) {
    const answer = await call('GET', path)
    t.match(answer, limited, path)
  }
  for (const path of ['/api/events', '/api/executions', '/api/events/samples', '/api/overview?failures=50'])
    t.notOk(JSON.stringify((await call('GET', path)).body).includes(subscription), path)
  t.match(await call('POST', `/api/executions/${execution.id}/retry`), limited)
  t.match(await call('POST', `/api/events/${event.id}/replay`), limited)
})
