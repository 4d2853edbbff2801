import t from 'tap'
import { findRuleFaults } from '../src/faults/faults.js'
import { findCredentialWarnings, listCredentialUses } from '../src/index.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { isReady, planRule } from '../src/planning/run.js'

const webhook = (config: object) => ({
  type: 'SEND_WEBHOOK',
  config: { url: 'https://api.example.com/', ...config },
})
const chat = (config: object) => ({
  type: 'SEND_NOTIFICATION',
  config: { url: 'https://chat.example.com/', text: 'x', ...config },
})

function faultsOf(action: object): (string | undefined)[] {
  return findRuleFaults({ conditions: [], actions: [action] }).map(
    ({ field, message }) => `${field}: ${message}`,
  )
}

/** The config as it is shown, and as it is sent. */
function fill(action: object, values: Record<string, string>, data: object = {}) {
  const rule = compileRule({ conditions: [], actions: [action] } as never)
  const [planned] = planRule(rule, data, 0).actions
  if (planned === undefined || !isReady(planned)) throw new Error(JSON.stringify(planned))
  return {
    shown: planned.config,
    filled: planned.fillCredentials?.(new Map(Object.entries(values)) as never),
  }
}

t.test('a credential may stand in the URL, the headers and the body of a call', async (t) => {
  const action = webhook({
    url: 'https://api.example.com/{{credentials.A}}/x?key={{credentials.B}}&id={{id}}',
    headers: { authorization: 'Token {{credentials.A}}' },
    body: { list: [{ secret: '{{ credentials.B }}' }], id: '{{id}}' },
  })
  t.strictSame(faultsOf(action), [])
  const { shown, filled } = fill(action, { A: 'a/../b?', B: 'c&d "e"' }, { id: 7 })
  t.strictSame(shown, {
    url: 'https://api.example.com/{{credentials.A}}/x?key={{credentials.B}}&id=7',
    headers: { authorization: 'Token {{credentials.A}}' },
    body: { list: [{ secret: '{{credentials.B}}' }], id: 7 },
  })
  t.strictSame(filled, {
    config: {
      url: 'https://api.example.com/a%2F..%2Fb%3F/x?key=c%26d%20%22e%22&id=7',
      headers: { authorization: 'Token a/../b?' },
      body: { list: [{ secret: 'c&d "e"' }], id: 7 },
    },
  })
})

t.test('a credential in the text of a form is encoded, and in all other bodies it is not', async (t) => {
  const body = 'secret={{credentials.A}}&id={{id}}'
  const form = webhook({ body, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } })
  t.match(fill(form, { A: 'a&b=c' }, { id: 7 }), { shown: { body: 'secret={{credentials.A}}&id=7' } })
  t.match(fill(form, { A: 'a&b=c' }, { id: 7 }).filled, { config: { body: 'secret=a%26b%3Dc&id=7' } })
  const text = webhook({ body, headers: { 'Content-Type': 'text/plain' } })
  t.match(fill(text, { A: 'a&b=c' }, { id: 7 }).filled, { config: { body: 'secret=a&b=c&id=7' } })
})

t.test('the URL of a chat may be a credential and nothing else', async (t) => {
  const action = chat({ url: '{{credentials.SALES_CHAT}}' })
  t.strictSame(faultsOf(action), [])
  const { shown, filled } = fill(action, { SALES_CHAT: 'https://hooks.example.com/T0/B0' })
  t.match(shown, { url: '{{credentials.SALES_CHAT}}' })
  t.match(filled, { config: { url: 'https://hooks.example.com/T0/B0' } })
})

t.test('data that looks like a credential is data, wherever it stands', async (t) => {
  const data = { name: '{{credentials.B}}', chat: '{{credentials.B}}' }
  const body = { name: '{{name}}', secret: '{{credentials.A}}' }
  const { filled } = fill(
    webhook({ body, headers: { x: '{{name}}' } }),
    { A: '{{credentials.B}}', B: 'b' },
    data,
  )
  t.match(filled, {
    config: {
      headers: { x: '{{credentials.B}}' },
      body: { name: '{{credentials.B}}', secret: '{{credentials.B}}' },
    },
  })
  t.match(fill(chat({ url: '{{chat}}' }), { B: 'https://b.example.com/' }, data), {
    shown: { url: '{{credentials.B}}' },
    filled: undefined,
  })
  t.match(fill(webhook({ body: '\\{{credentials.A}}' }), { A: 'a' }), {
    shown: { body: '{{credentials.A}}' },
    filled: undefined,
  })
})

t.test(
  'a value that would lead to another path makes the action fail, without the value in the reason',
  async (t) => {
    const { filled } = fill(webhook({ url: 'https://api.example.com/a/{{credentials.A}}/b' }), { A: '..' })
    t.match(filled, { fault: 'config.url has a value . or .., which leads to another path' })
  },
)

t.test('a call without credentials has nothing to fill', async (t) => {
  t.equal(fill(webhook({ body: { id: '{{id}}' } }), {}, { id: 7 }).filled, undefined)
})

const headersOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, `{{credentials.A${n}}}`]))

t.test('each misplaced credential is a fault', async (t) => {
  const inUrl = 'actions[0].config.url: Must have credentials in its path and query only'
  const whole = 'actions[0].config.url: Must have its host written out'
  const elsewhere = /: Has \{\{credentials\.A\}\}: only the URL, headers and body of SEND_WEBHOOK/
  const noData = /: Must not read credentials: they are no event data/
  const cases: [action: object, fault: string | RegExp][] = [
    [webhook({ url: 'https://{{credentials.A}}/' }), inUrl],
    [webhook({ url: 'https://{{credentials.A}}.example.com/' }), inUrl],
    [webhook({ url: 'https://api.example.com:{{credentials.A}}/' }), inUrl],
    [webhook({ url: 'https://ada:{{credentials.A}}@api.example.com/' }), inUrl],
    [webhook({ url: 'https://api.example.com/#{{credentials.A}}' }), inUrl],
    [webhook({ url: 'https://api.example.com/?a#{{x}}#{{credentials.A}}' }), inUrl],
    [webhook({ url: '{{credentials.A}}://api.example.com/' }), /config\.url: Must begin with/],
    [webhook({ url: 'https://a.io/', headers: headersOf(11) }), /Must be called with at most 10 credentials/],
    [webhook({ url: '{{credentials.A}}' }), `${whole}, as in https://api.example.com/{{credentials.A}}`],
    [webhook({ url: '{{url}}', body: '{{credentials.A}}' }), `${whole}, since a credential is sent there`],
    [
      webhook({ url: 'https://{{t}}.example.com/', body: '{{credentials.A}}' }),
      `${whole}, since a credential is sent there`,
    ],
    [chat({ url: '{{credentials.A}}/x' }), /config\.url: Must begin with/],
    [chat({ text: 'The token is {{credentials.A}}' }), elsewhere],
    [{ type: 'CREATE_TASK', config: { title: '{{credentials.A}}' } }, elsewhere],
    [
      {
        type: 'SEND_EMAIL',
        config: { to: 'a@b.c', subject: 'x', template: 't', variables: { a: ['{{credentials.A}}'] } },
      },
      elsewhere,
    ],
    [
      { type: 'EMIT_EVENT', config: { eventType: 'LEAD_CREATED', data: { a: '{{credentials.A}}' } } },
      elsewhere,
    ],
    [{ type: 'WAIT', config: { duration: '{{credentials.A}}' } }, elsewhere],
    [
      { type: 'EMIT_EVENT', config: { eventType: 'LEAD_CREATED', forEach: 'credentials.A', data: {} } },
      noData,
    ],
    [{ ...webhook({}), when: { field: 'credentials.A', operator: 'exists' } }, noData],
    [
      { ...webhook({}), when: { not: { some: 'credentials', that: [{ field: '.', operator: 'exists' }] } } },
      noData,
    ],
    [{ ...webhook({}), when: { field: 'a', operator: 'equals', value: { field: 'credentials.A' } } }, noData],
    [
      webhook({ body: '{{credentials.A | upper}}' }),
      /Has a filter on \{\{credentials\.A\}\}: a credential has none/,
    ],
    [webhook({ body: '{{name | default:credentials.A}}' }), /Has a filter default that reads a credential/],
    [
      webhook({ body: '{{credentials}}' }),
      /Has \{\{credentials\}\}, but a credential is \{\{credentials\.NAME\}\}/,
    ],
    [webhook({ body: '{{credentials.a.b}}' }), /but a credential is/],
    [webhook({ body: '{{credentials.1st}}' }), /but a credential is/],
    [webhook({ body: '{{credentials[0]}}' }), /but a credential is/],
    [chat({ text: '{{#each credentials.A}}x{{/each}}' }), /Has \{\{#each credentials\}\}/],
  ]
  for (const [action, fault] of cases) {
    const faults = faultsOf(action)
    t.equal(faults.length, 1, `${JSON.stringify(action)}: ${faults.join()}`)
    t.match(faults[0], fault)
  }
})

t.test('fields of an item may be called credentials', async (t) => {
  const that = [{ field: 'credentials.A', operator: 'exists' }]
  const config = { eventType: 'LEAD_CREATED', forEach: 'items', data: { a: '{{item.credentials.A}}' } }
  const action = { type: 'EMIT_EVENT', config, when: { some: 'items', that } }
  t.strictSame(faultsOf(action), [])
  t.strictSame(faultsOf(webhook({ body: '{{user.credentials.A}} {{credentialsA}}' })), [])
})

t.test('the uses of credentials are listed with their places', async (t) => {
  const { config } = webhook({ headers: { a: '{{credentials.A}}', b: 'x {{credentials.B}} {{name}}' } })
  t.strictSame(listCredentialUses(config, 'actions[0]'), [
    { name: 'A', isWhole: true, place: 'actions[0].config.headers.a', field: 'headers' },
    { name: 'B', isWhole: false, place: 'actions[0].config.headers.b', field: 'headers' },
  ])
})

t.test('a warning says with which credential a call would fail', async (t) => {
  const known = [
    { name: 'CRM', kind: 'text', hosts: ['api.example.com'] },
    { name: 'LOGIN', kind: 'basic', hosts: ['api.example.com'] },
  ]
  const find = (action: object) =>
    findCredentialWarnings([action] as never, known).map(({ message }) => message)
  t.strictSame(find(webhook({ url: 'https://API.example.com./{{credentials.CRM}}' })), [])
  t.strictSame(find(webhook({ headers: { a: '{{credentials.LOGIN}}' } })), [])
  t.strictSame(find(chat({ url: '{{credentials.CRM}}' })), [], 'only a worker knows where it leads')
  t.match(
    find(webhook({ url: 'https://x.example.com/{{credentials.CRM}}' }))[0],
    /may not be sent to x\.example\.com/,
  )
  t.match(
    find(webhook({ headers: { a: 'x {{credentials.LOGIN}}' } }))[0],
    /has to be the whole value of a header/,
  )
  t.match(
    find(webhook({ body: '{{credentials.CMR}}' }))[0],
    /No credential named CMR, so the call fails\. Did you mean CRM\?/,
  )
})
