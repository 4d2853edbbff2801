import { subscribe } from 'node:diagnostics_channel'
import { actionDefinitions, sharedSchemas } from '@automation/engine'
import { RuleFileSchema } from '@automation/rules'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'

const schemas: [of: string, schema: unknown][] = [
  ['shared', sharedSchemas],
  ['files of rules', RuleFileSchema],
  ...actionDefinitions.map(({ type, config }): [string, unknown] => [type, config]),
]
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url, schema }) => {
    schemas.push([`${method} ${url}`, [schema?.body, schema?.querystring]])
  })
})
const api = await startApi(t)
const workspace = await api.makeWorkspace()

/** The schemas of texts or of objects by name that have a regular expression and no sentence. */
function findMute(node: unknown): unknown[] {
  if (typeof node !== 'object' || node === null) return []
  const { pattern, patternProperties, additionalProperties, patternError } = node as Record<string, unknown>
  const isMute =
    typeof pattern === 'string' || (patternProperties !== undefined && additionalProperties === false)
  return [
    ...(isMute && patternError === undefined ? [node] : []),
    ...Object.values(node).flatMap((part) => findMute(part)),
  ]
}

t.test('each pattern that a body, a query or a file may miss has its sentence', async (t) => {
  t.ok(schemas.length > 100, `${schemas.length} schemas`)
  for (const [of, schema] of schemas) {
    const mute = findMute(schema)
    if (mute.length > 0) t.fail(`${of}: ${JSON.stringify(mute)}`)
  }
})

t.test('a message says what a pattern asks for, and never shows it', async (t) => {
  const action = (type: string, config: object) => ({ actions: [{ type, config }] })
  const hours = { days: 'mon-fri', from: '9:00', to: '17:00', timezone: 'UTC' }
  const call = (headers: object) => action('SEND_WEBHOOK', { url: 'https://a.example', headers })
  const reserved =
    /^Must have another name: .* none of these, which the service sets: host, .*idempotency-key/
  const cases: [path: string, body: object, field: string, message: RegExp | string][] = [
    [
      rules,
      ruleBody(action('WAIT', { duration: '1h', time: hours })),
      'actions[0].config.time.from',
      /09:00$/,
    ],
    [rules, ruleBody(call({ host: 'x' })), 'actions[0].config.headers.host', reserved],
    [
      rules,
      ruleBody(call({ 'Idempotency-Key': 'x' })),
      'actions[0].config.headers.Idempotency-Key',
      reserved,
    ],
    [
      rules,
      ruleBody(call({ 'a b': 'x' })),
      'actions[0].config.headers.a b',
      /^Must have another name: at most 100 letters/,
    ],
    [rules, ruleBody({ group: '-', order: 1 }), 'group', /^Must begin with a letter or a digit/],
    ['/api/event-types', { name: 'a' }, 'name', /^Must begin with a capital letter/],
    ['/api/developer/v1/signing-secrets', { provider: 'No' }, 'provider', /^Must be a name of lowercase/],
    [
      '/api/developer/v1/signing-secrets',
      { provider: 'github', scheme: 'github', secret: 'short' },
      'secret',
      /^Must have 8 to 512 characters/,
    ],
  ]
  for (const [path, body, field, message] of cases)
    t.match(
      await workspace.call('POST', path, { body }),
      { status: 422, body: { errors: [{ field, message }] } },
      field,
    )
  t.match(await workspace.call('GET', `${rules}?q=%00`), {
    status: 400,
    body: { error: 'Query parameter q must have no NUL' },
  })
})

t.test('what can only fail is refused when the rule is saved', async (t) => {
  const userInUrl = /^Must have no user name and no password: store them as a credential of kind basic/
  const cases: [type: string, config: object, field: string, message: RegExp | string][] = [
    ['SEND_WEBHOOK', { url: 'https://user:pass@a.example/x' }, 'url', userInUrl],
    ['SEND_WEBHOOK', { url: 'https://user@a.example/{{id}}' }, 'url', userInUrl],
    ['SEND_NOTIFICATION', { url: 'https://user:pass@a.example/x', text: 'x' }, 'url', userInUrl],
    ['WAIT', {}, 'duration', 'Required, unless there is until or decision'],
    [
      'WAIT',
      { for: { eventType: 'DEAL_WON', match: { id: '{{id}}' }, then: 'stop' } },
      'duration',
      'Required, unless there is until',
    ],
  ]
  for (const [type, config, field, message] of cases)
    t.match(
      await workspace.call('POST', rules, { body: ruleBody({ actions: [{ type, config }] }) }),
      { status: 422, body: { errors: [{ field: `actions[0].config.${field}`, message }] } },
      JSON.stringify(config),
    )
})

t.test('a secret of a provider may be any text', async (t) => {
  const body = { provider: 'github', scheme: 'github', secret: 'my github secret ü' }
  t.match(await workspace.call('POST', '/api/developer/v1/signing-secrets', { body }), { status: 201, body })
})
