import t from 'tap'
import { planOne } from './fixtures/plan-one.js'

const url = 'https://example.com/'

/** Every field that holds a text, with a config around it. */
const fields: [type: Parameters<typeof planOne>[0], config: (text: string) => object, path: string[]][] = [
  ['CREATE_TASK', (title) => ({ title }), ['title']],
  ['CREATE_TASK', (assigneeId) => ({ title: 'x', assigneeId }), ['assigneeId']],
  ['CREATE_TASK', (description) => ({ title: 'x', description }), ['description']],
  ['SEND_EMAIL', (subject) => ({ to: 'a@b.io', subject, template: 'x' }), ['subject']],
  ['SEND_EMAIL', (template) => ({ to: 'a@b.io', subject: 'x', template }), ['template']],
  ['SEND_NOTIFICATION', (text) => ({ url, text }), ['text']],
  ['SEND_NOTIFICATION', (text) => ({ url, text, format: 'discord' }), ['text']],
  ['SEND_WEBHOOK', (value) => ({ url, headers: { 'x-id': value, other: 'x' } }), ['headers', 'x-id']],
]

t.test('a lone placeholder in a text field writes numbers and booleans as text', async (t) => {
  for (const [type, config, path] of fields)
    for (const v of [10023, 0, 42.5, true, false]) {
      const planned = planOne(type, config('{{v}}'), { v })
      t.equal(planned.fault, undefined, `${type} ${path} ${v}`)
      t.equal(
        path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], planned.config),
        String(v),
      )
    }
  t.strictSame(planOne('CREATE_TASK', { title: 'Order {{v}}' }, { v: 7 }).config, { title: 'Order 7' })
  t.strictSame(planOne('CREATE_TASK', { title: '{{v | default:7}}' }, {}).config, { title: '7' })
})

t.test(
  'a lone placeholder in a text field fails for lists and objects, with its name and kind',
  async (t) => {
    for (const [type, config, path] of fields) {
      const field = ['config', ...path].join('.')
      t.match(
        planOne(type, config('{{lead.v}}'), { lead: { v: ['a'] } }).fault,
        `${field} must be a string: {{lead.v}} is a list`,
      )
      t.match(
        planOne(type, config('{{v}}'), { v: {} }).fault,
        `${field} must be a string: {{v}} is an object`,
      )
    }
    const { fault } = planOne(
      'SEND_WEBHOOK',
      { url, headers: { a: '{{no}}', 'x~b': 'x', b: '{{v}}' } },
      { v: [] },
    )
    t.equal(
      fault,
      'config.headers.b must be a string: {{v}} is a list',
      'only the placeholder of that header is named',
    )
  },
)

t.test(
  'a value that does not fit a header or the data of an event fails with a plain sentence',
  async (t) => {
    for (const v of ['日本', 'a\nb', 'token\r\n', 'a\0']) {
      const { fault } = planOne('SEND_WEBHOOK', { url, headers: { 'x-id': 'a {{v}}' } }, { v })
      t.equal(
        fault,
        'config.headers.x-id must have only characters of ISO 8859-1 and no line break: a header carries no others',
      )
    }
    const { fault } = planOne('EMIT_EVENT', { eventType: 'DEAL_CREATED', data: '{{v}}' }, { v: '{"a":1}' })
    t.equal(fault, 'config.data must be an object, or one placeholder that leads to an object')
  },
)

t.test('null and missing values are no text in a text field', async (t) => {
  t.equal(
    planOne('CREATE_TASK', { title: '{{v}}' }, { v: null }).fault,
    'config.title must have at least 1 character: {{v}} is null',
  )
  t.equal(
    planOne('CREATE_TASK', { title: '{{v}}' }, {}).fault,
    'config.title must have at least 1 character: {{v}} is missing',
  )
  t.strictSame(planOne('CREATE_TASK', { title: 'x', description: '{{v}}' }, { v: null }), {
    config: { title: 'x', description: '' },
    fault: undefined,
    warnings: [],
  })
})

t.test('bodies, variables and emitted data keep the type of a lone placeholder', async (t) => {
  const v = { list: [1, true, null], text: '7' }
  for (const value of [7, true, null, v, [v]]) {
    const body = { whole: '{{v}}', deep: [{ a: '{{v}}' }] }
    const filled = { whole: value, deep: [{ a: value }] }
    t.strictSame(planOne('SEND_WEBHOOK', { url, body }, { v: value }).config.body, filled)
    t.strictSame(planOne('SEND_WEBHOOK', { url, body: '{{v}}' }, { v: value }).config.body, value)
    t.strictSame(
      planOne('SEND_EMAIL', { to: 'a@b.io', subject: 'x', template: 'x', variables: body }, { v: value })
        .config.variables,
      filled,
    )
    t.strictSame(
      planOne('EMIT_EVENT', { eventType: 'DEAL_WON', data: body }, { v: value }).config.data,
      filled,
    )
  }
})
