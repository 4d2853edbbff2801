import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'

const api = await startApi(t)
const workspace = await api.makeWorkspace()
const { call } = workspace

t.test('an unknown query parameter is refused, and the nearest known one is named', async (t) => {
  const cases: [path: string, error: string][] = [
    [
      `${rules}?name=Hot`,
      'Query parameter name is unknown. All: limit, cursor, eventType, trigger, isActive, mode, label, q',
    ],
    [
      '/api/executions?type=LEAD_CREATED',
      'Query parameter type is unknown. Nearest: eventType. All: limit, cursor, ruleId, subscriptionId, eventType, from, to, error, eventId, status, recipient, excerpt',
    ],
    [`${rules}/health?x=1`, 'Query parameter x is unknown. This operation has none'],
    [`${rules}/attention?limit=1`, 'Query parameter limit is unknown. This operation has none'],
    ['/api/vocabulary?limit=1', 'Query parameter limit is unknown. This operation has none'],
  ]
  for (const [path, error] of cases) {
    const { status, body } = await call('GET', path)
    t.strictSame([status, body], [400, { error }], path)
  }
})

t.test('a parameter that the body has is refused with the place of it', async (t) => {
  const { body: rule } = await call<{ id: string }>('POST', rules, { body: ruleBody() })
  const body = { data: { name: 'Ada' } }
  for (const path of [`${rules}/trigger/LEAD_CREATED`, `${rules}/${rule.id}/execute`]) {
    const error = 'Query parameter dryRun is unknown. dryRun is a field of the body'
    const refused = await call('POST', `${path}?dryRun=true`, { body })
    t.strictSame([refused.status, refused.body], [400, { error }], path)
  }
  const { body: events } = await call<{ events: object[] }>('GET', '/api/events')
  t.strictSame(events.events, [], 'nothing ran')
})

t.test(
  'the query is checked after token, role and body, also where the handler formats the faults',
  async (t) => {
    const path = `${rules}?x=1`
    t.equal((await api.call('POST', path, { workspace: workspace.id, body: {} })).status, 401)
    t.equal((await workspace.callAs('viewer')('POST', path, { body: {} })).status, 403)
    t.equal((await call('POST', path, { body: {} })).status, 422)
    const { status, body } = await call('POST', path, { body: ruleBody() })
    t.strictSame([status, body], [400, { error: 'Query parameter x is unknown. This operation has none' }])
    t.equal((await call<{ rules: object[] }>('GET', rules)).body.rules.length, 1, 'nothing was created')
  },
)

t.test('probes and deliveries ignore parameters that others add', async (t) => {
  t.equal((await api.call('GET', '/healthz?from=lb')).status, 200)
  const path = `/api/incoming-webhooks/shop/${workspace.id}?utm=1`
  t.match((await api.call('POST', path, { body: {} })).body, { error: /^Header X-Idempotency-Key/ })
})

t.test('eventType is the filter of every list', async (t) => {
  await call('POST', rules, { body: ruleBody({ name: 'Won', trigger: 'DEAL_WON' }) })
  const names = async (query: string) => {
    const { body } = await call<{ rules: { name: string }[] }>('GET', `${rules}?${query}`)
    return body.rules.map(({ name }) => name)
  }
  t.strictSame(await names('eventType=DEAL_WON'), ['Won'])

  const accepted = { headers: { prefer: 'respond-async' }, body: { data: {} } }
  await call('POST', `${rules}/trigger/DEAL_WON`, accepted)
  await call('POST', `${rules}/trigger/TAG_ADDED`, accepted)
  const types = async (query: string) => {
    const { body } = await call<{ events: { type: string }[] }>('GET', `/api/events?${query}`)
    return body.events.map(({ type }) => type)
  }
  t.strictSame(await types('eventType=DEAL_WON'), ['DEAL_WON'])
  t.equal((await call('GET', '/api/executions?eventType=DEAL_WON')).status, 200)

  const replay = await call('POST', '/api/events/replay', { body: { filter: { eventType: 'DEAL_WON' } } })
  t.equal(replay.status, 200)
})

t.test('an unknown event type names the nearest', async (t) => {
  t.strictSame((await call('GET', '/api/events?eventType=LEAD_CREATE')).body, {
    error: 'Query parameter eventType must be an event type. Nearest: LEAD_CREATED',
  })
})
