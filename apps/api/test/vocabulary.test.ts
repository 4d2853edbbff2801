import { actionDefinitions, defaultWorkLimits, eventTypes } from '@automation/engine'
import { useScheme } from '@automation/webhooks'
import { Ajv } from 'ajv'
import t from 'tap'
import { eventsOfDelivery } from '../src/routes/incoming-webhooks/events-of-delivery.js'
import { rules, startApi } from './fixtures/api.js'

const api = await startApi(t)
const workspace = await api.makeWorkspace()

interface Vocabulary {
  eventTypes: { type: string; example: object }[]
  operators: { name: string; aliases: string[]; value: object | null; example: { value?: unknown } }[]
  quantifiers: { example: { condition: object } }[]
  filters: { name: string; example: { template: string } }[]
  actions: { type: string; config: object; placeholders: string[]; example: object }[]
  actionFields: { name: string }[]
  limits: { name: string; value: number }[]
}

t.test('a viewer reads the vocabulary, and nobody without a token does', async (t) => {
  const { status, body } = await workspace.callAs('viewer')<Vocabulary>('GET', '/api/vocabulary')
  t.equal(status, 200)
  t.strictSame(
    body.eventTypes.map(({ type }) => type),
    eventTypes,
  )
  t.strictSame(
    body.actions.map(({ type }) => type),
    actionDefinitions.map(({ type }) => type),
  )
  t.strictSame(
    body.actionFields.map(({ name }) => name),
    ['name', 'when', 'continueOnError', 'timeoutMs', 'retry', 'onUncertain'],
  )
  t.equal((await api.call('GET', '/api/vocabulary')).status, 401)
})

t.test('its schemas are JSON schemas that accept its examples', async (t) => {
  const { body } = await workspace.call<Vocabulary>('GET', '/api/vocabulary')
  const ajv = new Ajv({ strict: false })
  for (const { type, config, example, placeholders } of body.actions) {
    t.ok(ajv.validate(config, example), `${type} ${ajv.errorsText()}`)
    t.ok(placeholders.length > 0)
  }
  for (const { name, value, example } of body.operators)
    if (value === null) t.notOk('value' in example, name)
    else t.ok(ajv.validate(value, example.value), name)
})

t.test('everything that the vocabulary lists can be saved in a rule', async (t) => {
  const { body } = await workspace.call<Vocabulary>('GET', '/api/vocabulary')
  const clauses = body.operators.flatMap(({ name, aliases, example }) =>
    [name, ...aliases].map((operator) => ({
      field: 'it',
      operator,
      ...('value' in example && { value: example.value }),
    })),
  )
  const lists = body.quantifiers.map(({ example }) => example.condition)
  // A rule has at most 20 actions and 50 conditions.
  const texts = body.filters.map(({ example }) => ({
    type: 'SEND_NOTIFICATION',
    config: { url: 'https://x.io', text: `A ${example.template}` },
  }))
  const actions = body.actions.map(({ type, example }) => ({ type, config: example }))
  for (const rule of [
    { trigger: 'LEAD_CREATED', conditions: clauses, actions },
    { trigger: 'LEAD_CREATED', conditions: lists, actions },
    ...body.eventTypes.flatMap(({ type }) =>
      [texts.slice(0, 20), texts.slice(20)].map((actions) => ({ trigger: type, actions })),
    ),
  ]) {
    const answer = await workspace.call('POST', rules, { body: { name: 'All', ...rule } })
    t.equal(answer.status, 201, JSON.stringify(answer.body))
  }
})

t.test('the example of WEBHOOK_RECEIVED has the fields of a real one', async (t) => {
  const { body } = await workspace.call<Vocabulary>('GET', '/api/vocabulary')
  const { example } = body.eventTypes.find(({ type }) => type === 'WEBHOOK_RECEIVED') ?? { example: {} }
  const { payload } = example as { payload: unknown }
  const delivery = { workspaceId: workspace.id, provider: 'billing', body: Buffer.from('1') } as never
  const signed = { inUse: useScheme('automation', {}), secret: { settings: null } } as never
  const { events } = await eventsOfDelivery(signed, delivery, 'r', { payload }, api.app.eventTypes)
  t.strictSame(Object.keys(example), Object.keys(events[0]?.data ?? {}))
})

t.test('its limits are those that the service enforces', async (t) => {
  const small = await startApi(
    t,
    { BODY_LIMIT: '4096' },
    { workLimits: { ...defaultWorkLimits, rule: 20_000 } },
  )
  const { call } = await small.makeWorkspace()
  const { body } = await call<Vocabulary>('GET', '/api/vocabulary')
  const limitOf = (name: string) => body.limits.find((limit) => limit.name === name)?.value ?? 0
  t.strictSame([limitOf('event'), limitOf('ruleWork')], [4_096, 20_000])
  const clause = { field: 'a', operator: 'exists' }
  const task = { type: 'CREATE_TASK', config: { title: 'x' } }
  const save = async (fields: object) =>
    (
      await workspace.call('POST', rules, {
        body: { name: 'x', trigger: 'LEAD_CREATED', actions: [task], ...fields },
      })
    ).status
  for (const [name, make] of Object.entries<(size: number) => object>({
    clauses: (size) => ({ conditions: Array(size).fill(clause) }),
    actions: (size) => ({ actions: Array(size).fill(task) }),
    nesting: (size) => ({
      conditions: [
        Array(size)
          .fill(0)
          .reduce((inner: object) => ({ not: inner }), clause),
      ],
    }),
    path: (size) => ({ conditions: [{ ...clause, field: 'a'.repeat(size) }] }),
    placeholders: (size) => ({
      actions: [{ type: 'SEND_WEBHOOK', config: { url: 'https://x.io', body: Array(size).fill('{{a}}') } }],
    }),
    filters: (size) => ({ actions: [{ ...task, config: { title: `{{a${'|upper'.repeat(size)}}}` } }] }),
    duration: (size) => ({ actions: [{ type: 'WAIT', config: { duration: `${size}d` } }] }),
  })) {
    t.strictSame([await save(make(limitOf(name))), await save(make(limitOf(name) + 1))], [201, 422], name)
  }
})

t.test('the vocabulary is not sent again to a client that has it', async (t) => {
  const { headers } = await workspace.call('GET', '/api/vocabulary')
  t.match(headers, { 'cache-control': 'private, max-age=300', etag: /^"[\w-]{43}"$/ })
  const again = await workspace.call('GET', '/api/vocabulary', {
    headers: { 'if-none-match': String(headers.etag) },
  })
  t.strictSame([again.status, again.body], [304, undefined])
})
