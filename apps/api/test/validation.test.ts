import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, methods, ruleBody, rules, startApi, task } from './fixtures/api.js'

interface Fault {
  field: string
  message: string
}

const api = await startApi(t)
const workspace = await api.makeWorkspace()
const { call } = workspace
const created = await call<Rule>('POST', rules, { body: ruleBody() })
const one = `${rules}/${created.body.id}`
const templates = '/api/email-templates'
const template = { name: 'welcome', text: 'Hello {{name}}' }
const stored = await call<{ id: string }>('POST', templates, { body: template })
const letter = `${templates}/${stored.body.id}`
const retryAll = '/api/executions/retry'
const dryRun = (data: unknown) => ({ data, dryRun: true })
const clause = { field: 'a', operator: 'equals', value: 1 }
const mail = { to: 'a@b.org', subject: 's', template: 't' }
const nest = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth)

/** Checks the shape of a 422. @returns the fields, sorted, so that repeated faults show */
function fieldsOf({ status, body }: Answer): string[] | string {
  const { errors, ...rest } = (body ?? {}) as { errors?: Fault[] }
  if (status !== 422 || !Array.isArray(errors) || Object.keys(rest).length > 0)
    return `${status} ${JSON.stringify(body)}`
  const isExact = errors.every(
    (fault) =>
      Object.keys(fault).sort().join() === 'field,message' &&
      typeof fault.field === 'string' &&
      typeof fault.message === 'string' &&
      fault.message !== '',
  )
  return isExact ? errors.map(({ field }) => field).sort() : JSON.stringify(errors)
}

const isError = ({ body }: Answer) =>
  typeof (body as { error?: unknown } | undefined)?.error === 'string' &&
  Object.keys(body as object).join() === 'error'

t.test('a body over the limit is a 413: 256 KiB for a rule, BODY_LIMIT elsewhere', async (t) => {
  const rule = JSON.stringify(ruleBody({ description: 'é' }))
  const spaces = (bytes: number, json: string) => json + ' '.repeat(bytes - Buffer.byteLength(json))
  const data = JSON.stringify(dryRun({ x: 'é' }))
  const ofRule = 'The body is larger than 262144 bytes'
  const ofOthers = 'The body is larger than 1048576 bytes'
  const cases = [
    ['POST', rules, spaces(262_144, rule), 201],
    ['POST', rules, spaces(262_145, rule), 413],
    ['PUT', one, spaces(262_144, rule), 200],
    ['PUT', one, spaces(262_145, rule), 413],
    ['POST', `${one}/execute`, spaces(1_048_576, data), 200],
    ['POST', `${one}/execute`, spaces(1_048_577, data), 413],
    ['POST', `${rules}/trigger/NOPE`, spaces(1_048_576, '{"data":{}}'), 400],
    ['POST', `${rules}/trigger/NOPE`, spaces(1_048_577, '{"data":{}}'), 413],
    ['POST', templates, spaces(1_048_576, JSON.stringify(template)), 409],
    ['POST', templates, spaces(1_048_577, JSON.stringify(template)), 413],
  ] as const
  for (const [method, path, body, status] of cases) {
    const answer = await call(method, path, { body })
    t.equal(answer.status, status, `${method} ${path} with ${body.length} bytes`)
    if (status === 413) t.strictSame(answer.body, { error: body.length < 1_048_576 ? ofRule : ofOthers })
  }
  const small = await startApi(t, { BODY_LIMIT: '2048' })
  const place = await small.makeWorkspace()
  t.equal((await place.call('POST', rules, { body: spaces(2_048, rule) })).status, 201)
  t.match(await place.call('POST', rules, { body: spaces(2_049, rule) }), {
    status: 413,
    body: { error: 'The body is larger than 2048 bytes' },
  })
})

t.test('a body that is not JSON is a 400', async (t) => {
  const bodies = [
    '{',
    '{"name":}',
    "{'name':'x'}",
    '{"name":"x",}',
    '{} {}',
    'name=x',
    '\0',
    '{"name":"a\0b"}',
    '{"name":"a\nb"}',
    '{"n":01}',
    '{"n":NaN}',
    '{"n":"\\x"}',
    '[',
    '['.repeat(10_240),
    '{"a":'.repeat(5_000),
    ' ',
    Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
    Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
  ]
  for (const body of bodies)
    for (const path of [rules, `${rules}/trigger/LEAD_CREATED`]) {
      const answer = await call('POST', path, { body })
      if (answer.status !== 400 || !isError(answer))
        t.fail(`${path} ${String(body).slice(0, 20)}: ${answer.status}`)
    }
})

t.test('an empty body with a JSON content type is accepted if the body is optional or unused', async (t) => {
  const { body: rule } = await call<Rule>('POST', rules, { body: ruleBody() })
  const path = `${rules}/${rule.id}`
  t.equal((await call('PATCH', `${path}/toggle`, { body: '' })).status, 200)
  t.equal((await call('PATCH', `${path}/toggle`)).status, 200)
  t.equal((await call('POST', `${path}/clone`, { body: '' })).status, 201)
  t.equal((await call('POST', `${path}/clone`, { body: {} })).status, 201)
  t.equal((await call('GET', path, { body: '' })).status, 200)
  const restored = [undefined, '', {}].map((body) => call('POST', `${path}/versions/1/restore`, { body }))
  t.strictSame(
    (await Promise.all(restored)).map(({ status }) => status),
    [200, 200, 200],
  )
  for (const body of [undefined, '', {}]) {
    t.equal((await call('POST', `${letter}/preview`, { body })).status, 200)
    const nobodys = `/api/executions/${newId()}/retry`
    t.equal((await call('POST', nobodys, { body })).status, 404, 'which comes after the body')
    t.equal((await call('POST', `/api/events/${newId()}/replay`, { body })).status, 404)
  }
  t.equal((await call('DELETE', path, { body: '' })).status, 204)
})

t.test('a content type other than JSON is a 415', async (t) => {
  const refused = [
    'text/plain',
    'text/json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'multipart/form-data',
    'application/jsonp',
    'application/json-seq',
    'application/vnd.api+json',
    'json',
    ';',
    '/',
    '*/*',
    'application/json, text/plain',
    'application / json',
  ]
  const taken = [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
  ]
  const body = JSON.stringify(ruleBody())
  for (const type of refused) {
    const answer = await call('POST', rules, { body, headers: { 'content-type': type } })
    t.equal(answer.status, 415, type)
    if (!isError(answer)) t.fail(JSON.stringify(answer.body))
  }
  t.equal((await call('POST', rules, { body, headers: { 'content-type': undefined } })).status, 415)
  for (const type of taken)
    t.equal((await call('POST', rules, { body, headers: { 'content-type': type } })).status, 201, type)
})

t.test('a missing field is Required, and all faults are reported at once', async (t) => {
  const required = (...fields: string[]) => fields.map((field) => ({ field, message: 'Required' }))
  const cases: [body: object, expected: Fault[]][] = [
    [{}, required('name', 'trigger', 'actions')],
    [{ trigger: 'LEAD_CREATED', actions: [task] }, required('name')],
    [{ name: 'x', actions: [task] }, required('trigger')],
    [{ name: 'x', trigger: 'LEAD_CREATED' }, required('actions')],
    [ruleBody({ actions: [{}] }), required('actions[0].type', 'actions[0].config')],
    [ruleBody({ actions: [{ config: {} }] }), required('actions[0].type')],
    [ruleBody({ actions: [task, { type: 'SEND_EMAIL' }] }), required('actions[1].config')],
    [
      ruleBody({ actions: [task, { type: 'SEND_EMAIL', config: {} }] }),
      required('actions[1].config.to', 'actions[1].config.subject', 'actions[1].config.template'),
    ],
    [ruleBody({ conditions: [{}] }), required('conditions[0].field', 'conditions[0].operator')],
    [ruleBody({ conditions: [clause, { field: 'a', operator: 'gt' }] }), required('conditions[1].value')],
    [
      ruleBody({ conditions: [{ any: [{ not: {} }] }] }),
      required('conditions[0].any[0].not.field', 'conditions[0].any[0].not.operator'),
    ],
  ]
  const byField = (a: Fault, b: Fault) => a.field.localeCompare(b.field)
  for (const [body, expected] of cases) {
    const answer = await call('POST', rules, { body })
    t.equal(answer.status, 422)
    const { errors } = answer.body as { errors: Fault[] }
    t.strictSame({ errors: errors.sort(byField) }, { errors: expected.sort(byField) }, JSON.stringify(body))
  }
  const execute = await call('POST', `${one}/execute`, { body: {} })
  t.strictSame(execute.body, { errors: required('data') })
  const trigger = await call('POST', `${rules}/trigger/LEAD_CREATED`, { body: {} })
  t.strictSame(trigger.body, { errors: required('data') })
})

const longName = 'x'.repeat(201)
const serverSet = {
  id: newId(),
  workspaceId: newId(),
  version: 1,
  executionCount: 0,
  successCount: 0,
  failureCount: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  lastError: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}

/** Fields of a rule, and where each fault of them lies. They hold for create and update alike. */
const faultyFields: [fields: Record<string, unknown>, paths: string[]][] = [
  [{ name: '' }, ['name']],
  [{ name: '🦜'.repeat(201) }, ['name']],
  [{ name: 5 }, ['name']],
  [{ description: null }, ['description']],
  [{ trigger: ['LEAD_CREATED'] }, ['trigger']],
  [{ isActive: 'true' }, ['isActive']],
  [{ conditions: {} }, ['conditions']],
  [{ conditions: [clause, []] }, ['conditions[1]']],
  [{ conditions: [{ ...clause, field: 'a..b' }] }, ['conditions[0].field']],
  [{ conditions: [{ ...clause, operator: 'roughly' }] }, ['conditions[0].operator']],
  [{ conditions: [{ ...clause, operator: 'constructor' }] }, ['conditions[0].operator']],
  [{ conditions: [{ ...clause, operator: 'exists' }] }, ['conditions[0].value']],
  [{ conditions: [{ ...clause, operator: 'greater_than', value: '5' }] }, ['conditions[0].value']],
  [{ conditions: [{ ...clause, operator: 'between', value: [2, 1] }] }, ['conditions[0].value']],
  [{ conditions: [{ ...clause, operator: 'matches', value: '(' }] }, ['conditions[0].value']],
  [{ conditions: [{ ...clause, 'a/b~c': 1 }] }, ['conditions[0].a/b~c']],
  [{ conditions: [{ all: [clause], any: [clause] }] }, ['conditions[0].any']],
  [
    { conditions: [{ any: [clause, { all: [{ not: { ...clause, x: 1 } }] }] }] },
    ['conditions[0].any[1].all[0].not.x'],
  ],
  [{ conditions: Array(51).fill(clause) }, ['conditions']],
  [{ actions: [] }, ['actions']],
  [{ actions: Array(21).fill(task) }, ['actions']],
  [{ actions: [task, 5] }, ['actions[1]']],
  [{ actions: [{ ...task, type: 'LAUNCH' }] }, ['actions[0].type']],
  [{ actions: [{ ...task, type: '__proto__x' }] }, ['actions[0].type']],
  [{ actions: [{ ...task, extra: 1 }] }, ['actions[0].extra']],
  [{ actions: [{ ...task, timeoutMs: 99 }] }, ['actions[0].timeoutMs']],
  [{ actions: [{ ...task, timeoutMs: '100' }] }, ['actions[0].timeoutMs']],
  [{ actions: [{ ...task, retry: {} }] }, ['actions[0].retry.attempts']],
  [
    { actions: [{ ...task, retry: { attempts: 0, delayMs: '1s', jitter: true } }] },
    ['actions[0].retry.attempts', 'actions[0].retry.delayMs', 'actions[0].retry.jitter'],
  ],
  [{ actions: [{ ...task, when: { ...clause, operator: 'x' } }] }, ['actions[0].when.operator']],
  [
    { actions: [{ type: 'SEND_EMAIL', config: { ...mail, variables: { a: ['', '{{b'] } } }] },
    ['actions[0].config.variables.a[1]'],
  ],
  [
    { actions: [{ type: 'SEND_NOTIFICATION', config: { url: 'https://x.org' } }] },
    ['actions[0].config.text'],
  ],
  [{ actions: [{ type: 'WAIT', config: { duration: '367d' } }] }, ['actions[0].config.duration']],
  [{ actions: [{ type: 'EMIT_EVENT', config: { eventType: 'NOPE' } }] }, ['actions[0].config.eventType']],
  [
    { actions: [{ type: 'EMIT_EVENT', config: { eventType: 'rule.updated' } }] },
    ['actions[0].config.eventType'],
  ],
  [
    { actions: [{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: 'all of it' } }] },
    ['actions[0].config.data'],
  ],
  [
    {
      actions: [{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: { a: ['{{b'] }, ruleId: 'x' } }],
    },
    ['actions[0].config.data.a[0]', 'actions[0].config.ruleId'],
  ],
  [{ extra: 1, toString: 1 }, ['extra', 'toString']],
  [serverSet, Object.keys(serverSet)],
  [{ name: longName, trigger: 'NOPE' }, ['name', 'trigger']],
  [
    {
      name: 5,
      isActive: null,
      extra: true,
      conditions: [{ ...clause, field: 5 }, { any: [{ field: 'a', operator: 'gt' }] }],
      actions: [
        { ...task, config: { titel: 'x' } },
        { type: 'SEND_EMAIL', config: { ...mail, subject: '{{' } },
      ],
    },
    [
      'actions[0].config.titel',
      'actions[0].config.title',
      'actions[1].config.subject',
      'conditions[0].field',
      'conditions[1].any[0].value',
      'extra',
      'isActive',
      'name',
    ],
  ],
]

t.test('create and update report each fault of a rule once, with its path', async (t) => {
  for (const [fields, paths] of faultyFields) {
    const title = JSON.stringify(fields).slice(0, 120)
    const post = await call('POST', rules, { body: ruleBody(fields) })
    t.strictSame(fieldsOf(post), [...paths].sort(), `POST ${title}`)
    const put = await call('PUT', one, { body: fields })
    t.strictSame(fieldsOf(put), [...paths].sort(), `PUT ${title}`)
  }
  t.strictSame((await call('GET', one)).headers.etag, '"2"', 'and nothing was changed')
})

t.test('all valid forms of an action are stored unchanged', async (t) => {
  const emit = (config: object = {}) => ({
    type: 'EMIT_EVENT',
    config: { eventType: 'DEAL_WON', ...config },
  })
  const actions = [
    ...['1s', '366d', '52w', '{{days}}d'].map((duration) => ({ type: 'WAIT', config: { duration } })),
    emit(),
    emit({ data: {} }),
    emit({ data: { lead: '{{lead}}', list: ['{{a}}', 1, null] } }),
    emit({ data: '{{lead}}' }),
    ...[1, 20].map((attempts) => ({ ...task, retry: { attempts } })),
    ...['constant', 'linear', 'exponential'].map((backoff) => ({
      ...task,
      retry: { attempts: 3, backoff },
    })),
    { ...task, retry: { attempts: 3, delayMs: 0, maxDelayMs: 0 } },
    { ...task, retry: { attempts: 3, backoff: 'linear', delayMs: 86_400_000, maxDelayMs: 86_400_000 } },
    ...['retry', 'stop'].map((onUncertain) => ({ ...task, onUncertain })),
    ...[100, 30_000].map((timeoutMs) => ({ ...task, timeoutMs })),
    {
      ...emit(),
      retry: { attempts: 2 },
      onUncertain: 'stop',
      timeoutMs: 100,
      continueOnError: true,
      when: clause,
    },
  ]
  const { status, body } = await call<Rule>('POST', rules, { body: ruleBody({ actions }) })
  t.equal(status, 201, JSON.stringify(body))
  t.strictSame(body.actions, actions)
  const path = `${rules}/${body.id}`
  t.strictSame(
    (await call<Rule>('PUT', path, { body: { actions: actions.toReversed() } })).body.actions,
    actions.toReversed(),
  )
  const version = await call<Rule>('GET', `${path}/versions/1`)
  t.strictSame(version.body.actions, actions)
})

t.test('an unknown field is reported also beside an unknown operator or action type', async (t) => {
  const answer = await call('POST', rules, {
    body: ruleBody({
      conditions: [{ ...clause, operator: 'roughly', extra: 1 }],
      actions: [{ ...task, type: 'LAUNCH', extra: 1 }],
    }),
  })
  t.strictSame(fieldsOf(answer), [
    'actions[0].extra',
    'actions[0].type',
    'conditions[0].extra',
    'conditions[0].operator',
  ])
})

t.test('the limit of clauses holds for the whole rule also when only a part of it is updated', async (t) => {
  const actions = [{ ...task, when: { any: Array(30).fill(clause) } }]
  const conditions = Array(30).fill(clause)
  const whole = await call('POST', rules, { body: ruleBody({ conditions, actions }) })
  t.equal(whole.status, 422, 'too many at once')
  const { body: rule } = await call<Rule>('POST', rules, { body: ruleBody({ conditions }) })
  t.equal(
    (await call('PUT', `${rules}/${rule.id}`, { body: { actions } })).status,
    422,
    'too many in two steps',
  )
})

t.test('an unknown trigger is a 400 if the shape is valid', async (t) => {
  const invalid = { error: 'Invalid trigger type' }
  for (const trigger of [
    'NOPE',
    '',
    'lead_created',
    'LEAD_CREATED ',
    'toString',
    '__proto__',
    'x'.repeat(5_000),
  ]) {
    const post = await call('POST', rules, { body: ruleBody({ trigger }) })
    t.strictSame([post.status, post.body], [400, invalid], `POST ${trigger.slice(0, 20)}`)
    const put = await call('PUT', one, { body: { trigger } })
    t.strictSame([put.status, put.body], [400, invalid])
    if (trigger === '') continue
    const path = `${rules}/trigger/${encodeURIComponent(trigger)}`
    const posted = await call('POST', path, { body: { data: {} } })
    t.strictSame([posted.status, posted.body], [400, invalid], `trigger ${trigger.slice(0, 20)}`)
    const listed = await call('GET', `${rules}?eventType=${encodeURIComponent(trigger)}`)
    t.equal(listed.status, 400)
  }
  const posted = await call('POST', `${rules}/trigger/LEAD%5FCREATED%00`, { body: { data: {} } })
  t.strictSame([posted.status, posted.body], [400, invalid])
})

t.test('the bodies of execute and trigger have data and their own fields, and no others', async (t) => {
  const both: [body: object, paths: string[]][] = [
    [{ data: [] }, ['data']],
    [{ data: null }, ['data']],
    [{ data: 'x' }, ['data']],
    [{ data: {}, extra: 1, ruleId: 'x' }, ['extra', 'ruleId']],
    [{ extra: 1 }, ['data', 'extra']],
  ]
  const dryRuns: typeof both = [
    [{ data: {}, dryRun: 'true' }, ['dryRun']],
    [{ data: 5, dryRun: null }, ['data', 'dryRun']],
  ]
  for (const [body, paths] of [...both, ...dryRuns])
    for (const path of [`${one}/execute`, `${rules}/trigger/LEAD_CREATED`])
      t.strictSame(fieldsOf(await call('POST', path, { body })), paths, JSON.stringify(body))
})

t.test('NUL and half characters are a 422 at their path, in values and in keys', async (t) => {
  for (const bad of ['\\u0000', '\\ud800', 'x\\udc00y', '\\udc00\\ud800', '😀\\ud83d']) {
    const cases: [path: string, json: string, field: string][] = [
      [rules, `{"name":"${bad}","trigger":"LEAD_CREATED","actions":[${JSON.stringify(task)}]}`, 'name'],
      [one, `{"description":"a${bad}"}`, 'description'],
      [one, `{"trigger":"${bad}"}`, 'trigger'],
      [
        one,
        `{"conditions":[{"field":"a","operator":"in","value":["x","${bad}"]}]}`,
        'conditions[0].value[1]',
      ],
      [one, `{"actions":[{"type":"CREATE_TASK","config":{"title":"${bad}"}}]}`, 'actions[0].config.title'],
      [`${one}/execute`, `{"data":{"a":[{"b":"${bad}"}]},"dryRun":true}`, 'data.a[0].b'],
      [`${rules}/trigger/LEAD_CREATED`, `{"data":{"a":"${bad}"}}`, 'data.a'],
    ]
    for (const [path, body, field] of cases) {
      const answer = await call(path === one ? 'PUT' : 'POST', path, { body })
      t.strictSame(fieldsOf(answer), [field], `${path} ${body}`)
    }
    const key = await call('POST', `${one}/execute`, { body: `{"data":{"a":{"k${bad}":1}},"dryRun":true}` })
    t.equal(key.status, 422, `key ${bad}`)
    matchLists(t, fieldsOf(key), [/^data\.a\.k/])
    t.equal((await call('POST', rules, { body: `{"k${bad}":1}` })).status, 422)
  }
  const whole = await call('POST', `${one}/execute`, { body: dryRun({ '😀': '\u0001\u007f\ufffe\uffff😀' }) })
  t.equal(whole.status, 200, 'every other character is taken')
})

t.test('text that cannot be stored is reported together with the other faults', async (t) => {
  const answer = await call('POST', rules, { body: { name: 'a\0', description: 5, extra: 1 } })
  t.strictSame(fieldsOf(answer), ['actions', 'description', 'extra', 'name', 'trigger'])
})

t.test('32 levels and 20,000 nodes are accepted, and one more is a 422', async (t) => {
  const execute = (data: string) => call('POST', `${one}/execute`, { body: `{"data":${data},"dryRun":true}` })
  // The body and its data are two levels; the body, data, dryRun and the list four nodes.
  t.equal((await execute(`{"a":${nest(30)}}`)).status, 200)
  t.equal((await execute(`{"a":${nest(31)}}`)).status, 422)
  t.equal((await execute(nest(31, '{"a":', '}').replace(':}', ':1}'))).status, 200)
  t.equal((await execute(nest(32, '{"a":', '}').replace(':}', ':1}'))).status, 422)
  t.equal((await execute(`{"a":[${Array(19_996).fill(0)}]}`)).status, 200)
  t.equal((await execute(`{"a":[${Array(19_997).fill(0)}]}`)).status, 422)
  for (const depth of [1_000, 5_000, 100_000]) {
    t.equal((await execute(`{"a":${nest(depth)}}`)).status, 422, `${depth} levels`)
    const trigger = await call('POST', `${rules}/trigger/LEAD_CREATED`, {
      body: `{"data":{"a":${nest(depth)}}}`,
    })
    t.equal(trigger.status, 422)
    t.equal(typeof fieldsOf(trigger), 'object')
    const conditions = `${'{"not":'.repeat(depth)}${JSON.stringify(clause)}${'}'.repeat(depth)}`
    const isSmall = conditions.length < 260_000
    const put = await call('PUT', one, { body: `{"conditions":[${conditions}]}` })
    t.equal(put.status, isSmall ? 422 : 413)
    t.match(await call('POST', rules, { body: nest(depth) }), { status: /^(400|422)$/ })
  }
})

t.test('keys with names of inherited properties are ordinary keys or refused, never a 500', async (t) => {
  const bodies = [
    '{"data":{"__proto__":{"admin":true}},"dryRun":true}',
    '{"__proto__":{"data":{}},"data":{},"dryRun":true}',
    '{"data":{"constructor":{"prototype":{"x":1}}},"dryRun":true}',
    '{"data":{"constructor":"x","toString":1,"hasOwnProperty":null,"then":{}},"dryRun":true}',
    '{"data":{"":{"":0}},"dryRun":true}',
    '{"data":{"a":1e400,"b":-1e400,"c":123456789012345678901234567890,"d":-0},"dryRun":true}',
    '{"data":{"length":-1,"0":"x"},"dryRun":true}',
  ]
  for (const body of bodies) {
    const answer = await call('POST', `${one}/execute`, { body })
    t.match(String(answer.status), /^(200|400|422)$/, body)
    t.match(String((await call('POST', rules, { body })).status), /^4/)
    const event = await call('POST', `${rules}/trigger/LEAD_CREATED`, { body })
    t.equal(event.status, answer.status, body)
  }
  const own = await call('POST', `${one}/execute`, { body: bodies[3] })
  t.equal(own.status, 200)
  t.equal(({} as { admin?: unknown }).admin, undefined)
})

t.test('an invalid query value or cursor is a 400', async (t) => {
  const page = [
    'limit=0',
    'limit=251',
    'limit=-1',
    'limit=1.5',
    'limit=abc',
    'limit=',
    'limit=1e400',
    'limit=Infinity',
    'limit=NaN',
    'limit=1&limit=2',
    'limit=%00',
    'limit[]=1&limit=',
    'cursor=',
    'cursor=x',
    'cursor=%00',
    `cursor=${newId()}`,
    `cursor=${Buffer.from('no id').toString('base64url')}`,
    `cursor=${'A'.repeat(10_000)}`,
    `cursor=${Buffer.from(`${newId()}'`).toString('base64url')}`,
    'cursor=a&cursor=b',
  ]
  const ofRules = [
    'isActive=yes',
    'isActive=1',
    'isActive=',
    'isActive=TRUE',
    'isActive=true&isActive=false',
    'eventType=',
    'eventType=NOPE',
    'eventType=LEAD_CREATED&eventType=LEAD_CREATED',
    'eventType=%00',
    'q=%00',
    'q=a%00b',
    `q=${'x'.repeat(10_000)}`,
    'q=a&q=b',
  ]
  const ofTasks = ['ruleId=x', 'ruleId=', 'executionId=%00', `ruleId=${newId()}&ruleId=${newId()}`]
  const ofTemplates = ['q=%00', 'q=a&q=b', `q=${'x'.repeat(201)}`]
  // Each list reads its page by the same function.
  const somePage = page.filter((_, index) => index % 5 === 0)
  const refused = [
    ...[...page, ...ofRules].map((query) => `${rules}?${query}`),
    ...[...somePage, ...ofTasks].map((query) => `/api/tasks?${query}`),
    ...['executionId=x', 'ruleId=x', 'status=%00'].map((query) => `/api/decisions?${query}`),
    ...[...somePage, ...ofTemplates].map((query) => `${templates}?${query}`),
    ...[`${one}/versions`, '/api/events', '/api/executions'].flatMap((path) =>
      somePage.map((query) => `${path}?${query}`),
    ),
  ]
  for (const path of refused) {
    const answer = await call('GET', path)
    t.equal(answer.status, 400, path.slice(0, 80))
    if (!isError(answer)) t.fail(JSON.stringify(answer.body))
  }
  const explain = await call('POST', `${one}/execute?explain=maybe`, { body: dryRun({}) })
  t.equal(explain.status, 400)
  t.equal((await call('GET', `/api/executions/${newId()}?explain=maybe`)).status, 400)
  for (const query of [
    'q=%ED%A0%80',
    'q=%zz',
    'q=%',
    '%00=1',
    '__proto__=1',
    'constructor[prototype]=1',
    '&&=&',
    '?',
  ])
    for (const path of [rules, '/api/events'])
      t.ok((await call('GET', `${path}?${query}`)).status < 500, `${path}?${query}`)
})

// security/matrix.test.ts asks every operation for one malformed id.
t.test('an invalid id gets the same response as an unknown one', async (t) => {
  const fresh = `${rules}/${(await call<Rule>('POST', rules, { body: ruleBody() })).body.id}`
  const ids = [
    newId(),
    '00000000-0000-0000-0000-000000000000',
    'x',
    '5',
    'null',
    '%00',
    `${newId()}%00`,
    `${newId()}x`,
    `%20${newId()}`,
    `{${newId()}}`,
    newId().replaceAll('-', ''),
    '%F0%9F%A6%9C',
    "'%20OR%201=1--",
    '..%2f..',
    'x'.repeat(100),
    'x'.repeat(101),
    'x'.repeat(5_000),
    '%00'.repeat(200),
  ]
  for (const id of ids)
    for (const [method, path, error] of [
      ['GET', rules, 'Automation rule not found'],
      ['DELETE', rules, 'Automation rule not found'],
      ['GET', '/api/events', 'Event not found'],
      ['GET', '/api/executions', 'Execution not found'],
      ['GET', templates, 'Email template not found'],
    ] as const) {
      const answer = await call(method, `${path}/${id}`)
      t.strictSame([answer.status, answer.body], [404, { error }], `${method} ${path} ${id.slice(0, 60)}`)
    }
  for (const version of ['0', '2', '01', '-1', '1.0', 'x', '%00', '9'.repeat(400)])
    for (const [method, url] of [
      ['GET', `${fresh}/versions/${version}`],
      ['POST', `${fresh}/versions/${version}/restore`],
    ] as const) {
      const answer = await call(method, url)
      t.strictSame(
        [answer.status, answer.body],
        [404, { error: 'Version not found' }],
        `${method} ${version}`,
      )
    }
})

t.test('an unknown path is a 404, with or without a token', async (t) => {
  const paths = [
    '/api',
    '/api/',
    '/api/automation-rule',
    '/API/automation-rules',
    `${one}/nothing`,
    `${one}/toggle/again`,
    `${rules}/trigger/LEAD_CREATED/x`,
    `/api/events/${newId()}/retry`,
    `/api/executions/${newId()}/replay`,
    `${one}/versions/1/nothing`,
    `${letter}/send`,
    '/api/email-template',
    '/favicon.ico',
    '/api/automation-rules%2Fhealth',
    '/..%2f..%2fetc/passwd',
    `/${'x/'.repeat(2_000)}`,
    `/${'x'.repeat(50_000)}`,
    '/*',
  ]
  for (const path of paths)
    for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
      const answer = await call(method, path)
      const anonymous = await api.call(method, path)
      t.strictSame(
        [answer.status, answer.body],
        [404, { error: 'Not found' }],
        `${method} ${path.slice(0, 60)}`,
      )
      t.strictSame([anonymous.status, anonymous.body], [404, { error: 'Not found' }])
    }
})

t.test('a path that exists for other methods is a 405 with Allow', async (t) => {
  const { paths = {} } = api.app.swagger() as { paths?: Record<string, object> }
  const documented = Object.entries(paths).map(([path, operations]): [string, string[]] => [
    path.replace(/\{\w+\}/g, 'x'),
    Object.keys(operations).map((method) => method.toUpperCase()),
  ])
  const alike: [string, string[]][] = [
    [`${rules}/`, ['GET', 'POST']],
    [one, ['DELETE', 'GET', 'PATCH', 'PUT']],
    [`${rules}/trigger/LEAD_CREATED`, ['POST']],
  ]
  t.ok(documented.length > 40)
  for (const [path, known] of [...documented, ...alike]) {
    const allowed = [...known, ...(known.includes('GET') ? ['HEAD'] : [])].sort()
    for (const method of methods.filter((method) => !allowed.includes(method))) {
      const answer = await call(method, path, { body: '{}' })
      t.equal(answer.status, 405, `${method} ${path}`)
      t.strictSame(String(answer.headers.allow).split(', ').sort(), allowed)
      if (method !== 'HEAD') t.ok(isError(answer))
    }
  }
})

t.test('a URL that cannot be decoded is a 400 with our error body', async (t) => {
  for (const path of [
    '/%zz',
    `${rules}/%`,
    `${rules}/%E0%A4%A`,
    `${rules}/trigger/%ED%A0%80`,
    '/%ff',
    `${one}/%c0%80`,
  ]) {
    const answer = await call('GET', path)
    t.match(String(answer.status), /^40[04]$/, path)
    t.ok(isError(answer), JSON.stringify(answer.body))
  }
})

t.test('of two faults, the earlier one in the order of checks is reported', async (t) => {
  const big = `{"name":"${'x'.repeat(1_048_600)}"}`
  const id = newId()
  const { viewer, admin } = workspace.tokens
  const other = await api.makeWorkspace()
  const base = { token: admin, workspace: workspace.id }
  const cases = [
    ['size before JSON', 413, 'POST', rules, { ...base, body: big.slice(1) }],
    ['size before token', 413, 'POST', rules, { body: big }],
    ['size before workspace', 413, 'POST', rules, { token: admin, body: big }],
    ['size before role', 413, 'POST', rules, { ...base, token: viewer, body: big }],
    ['JSON before token', 400, 'POST', rules, { body: '{' }],
    ['JSON before role', 400, 'POST', rules, { ...base, token: viewer, body: '{' }],
    ['JSON before existence', 400, 'PUT', `${rules}/${id}`, { ...base, body: '{' }],
    ['token before workspace', 401, 'GET', rules, {}],
    ['token before a malformed workspace', 401, 'GET', rules, { workspace: 'x' }],
    ['token before shape', 401, 'POST', rules, { workspace: workspace.id, body: {} }],
    ['token before existence', 401, 'GET', `${rules}/${id}`, { workspace: workspace.id }],
    ['token before existence of no UUID', 401, 'GET', `${rules}/x`, { workspace: workspace.id }],
    ['token before query', 401, 'GET', `${rules}?limit=0`, { workspace: workspace.id }],
    ['token before vocabulary', 401, 'POST', `${rules}/trigger/NOPE`, { body: { data: {} } }],
    ['workspace before membership', 400, 'GET', rules, { token: admin, workspace: 'x' }],
    ['workspace before role', 400, 'POST', rules, { token: viewer, body: ruleBody() }],
    ['workspace before shape', 400, 'POST', rules, { token: admin, body: { name: 5 } }],
    ['workspace before existence', 400, 'GET', `${rules}/${id}`, { token: admin }],
    ['membership before shape', 403, 'POST', rules, { token: admin, workspace: other.id, body: {} }],
    [
      'membership before NUL',
      403,
      'POST',
      rules,
      { token: admin, workspace: other.id, body: { name: '\0' } },
    ],
    ['membership before existence', 403, 'GET', `${rules}/${id}`, { token: admin, workspace: other.id }],
    ['membership before query', 403, 'GET', `${rules}?limit=0`, { token: admin, workspace: other.id }],
    ['role before shape', 403, 'POST', rules, { ...base, token: viewer, body: {} }],
    [
      'role before vocabulary',
      403,
      'POST',
      rules,
      { ...base, token: viewer, body: ruleBody({ trigger: 'X' }) },
    ],
    ['role before existence', 403, 'DELETE', `${rules}/${id}`, { ...base, token: viewer }],
    [
      'role before trigger',
      403,
      'POST',
      `${rules}/trigger/NOPE`,
      { ...base, token: viewer, body: { data: {} } },
    ],
    ['shape before vocabulary', 422, 'POST', rules, { ...base, body: ruleBody({ name: 5, trigger: 'X' }) }],
    ['shape before path vocabulary', 422, 'POST', `${rules}/trigger/NOPE`, { ...base, body: { data: 5 } }],
    ['shape before existence', 422, 'PUT', `${rules}/${id}`, { ...base, body: { name: 5 } }],
    ['shape before existence of no UUID', 422, 'PUT', `${rules}/x`, { ...base, body: { name: 5 } }],
    ['shape before existence in execute', 422, 'POST', `${rules}/${id}/execute`, { ...base, body: {} }],
    ['shape before version', 422, 'PUT', one, { ...base, body: { name: 5 }, headers: { 'if-match': '"9"' } }],
    ['vocabulary before existence', 400, 'PUT', `${rules}/${id}`, { ...base, body: { trigger: 'NOPE' } }],
    ['role before the shape of a filter', 403, 'POST', retryAll, { ...base, token: viewer, body: {} }],
    ['role before existence in replay', 403, 'POST', `/api/events/${id}/replay`, { ...base, token: viewer }],
    [
      'role before existence in restore',
      403,
      'POST',
      `${rules}/${id}/versions/1/restore`,
      { ...base, token: viewer },
    ],
    ['query before existence', 400, 'GET', `${rules}/${id}/versions?limit=0`, base],
    [
      'shape before existence in retry',
      422,
      'POST',
      `/api/executions/${id}/retry`,
      { ...base, body: { version: 1 } },
    ],
    [
      'shape before existence of a template',
      422,
      'PUT',
      `${templates}/${id}`,
      { ...base, body: { text: 5 } },
    ],
    [
      'shape before existence in a preview',
      422,
      'POST',
      `${templates}/x/preview`,
      { ...base, body: { data: 5 } },
    ],
    [
      'existence before version in restore',
      404,
      'POST',
      `${rules}/${id}/versions/1/restore`,
      { ...base, headers: { 'if-match': '"9"' } },
    ],
    [
      'the rule’s version before that to restore',
      412,
      'POST',
      `${one}/versions/999/restore`,
      { ...base, headers: { 'if-match': '"999"' } },
    ],
    [
      'existence before version',
      404,
      'PUT',
      `${rules}/${id}`,
      { ...base, body: {}, headers: { 'if-match': '"9"' } },
    ],
  ] as const
  for (const [title, status, method, path, question] of cases) {
    const answer = await api.call(method, path, question)
    t.equal(answer.status, status, title)
  }

  const drained = await startApi(t, { RATE_LIMIT_AUTHENTICATED: '1/1' })
  const place = await drained.makeWorkspace()
  const token = place.tokens.admin
  await drained.call('GET', rules, { token })
  t.equal((await drained.call('POST', rules, { token, body: big })).status, 413, 'size before rate')
  t.equal((await drained.call('POST', rules, { token, body: '{' })).status, 400, 'JSON before rate')
  t.equal((await drained.call('GET', rules, { token: 'x' })).status, 401, 'token before rate')
  t.equal((await drained.call('GET', rules, { token })).status, 429, 'rate before workspace')
  t.equal(
    (await drained.call('GET', rules, { token, workspace: newId() })).status,
    429,
    'rate before membership',
  )
  t.equal(
    (await drained.call('POST', rules, { token, workspace: place.id, body: {} })).status,
    429,
    'rate before shape',
  )
})

t.test('without Postgres, a valid request is a 503 with Retry-After', async (t) => {
  const away = await startApi(t, { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' })
  const question = { token: workspace.tokens.admin, workspace: workspace.id }
  for (const [method, path, body] of [
    ['GET', rules, undefined],
    ['POST', rules, ruleBody()],
    ['POST', `${rules}/trigger/LEAD_CREATED`, { data: {} }],
    ['POST', `${letter}/preview`, {}],
  ] as const) {
    const answer = await away.call(method, path, { ...question, body })
    t.equal(answer.status, 503, `${method} ${path}`)
    t.match(answer.headers['retry-after'], /^\d+$/)
    t.ok(isError(answer))
    t.ok(answer.headers['x-ratelimit-limit'])
  }
  t.equal((await away.call('GET', rules)).status, 401)
  t.equal((await away.call('GET', rules, { token: workspace.tokens.admin })).status, 400)
  t.equal((await away.call('GET', '/nothing', question)).status, 404)
  t.equal((await away.call('POST', rules, { ...question, body: '{' })).status, 400)
  t.match(await away.call('GET', '/readyz'), { status: 503, body: { status: 'unready', postgres: 'away' } })
  t.match(await away.call('GET', '/healthz'), { status: 200, body: { status: 'ok' } })
})

t.test('an internal error is a 500 with only the id of the request', async (t) => {
  const broken = await startApi(t)
  broken.app.database.readsOf = () => {
    throw new Error('the secret is in here')
  }
  const { admin } = workspace.tokens
  const answer = await broken.call('GET', rules, { token: admin, workspace: workspace.id })
  t.strictSame([answer.status, answer.body], [500, { error: 'Internal server error' }])
  t.match(answer.headers['x-request-id'], /^[\w-]{8,64}$/)
  const other = await broken.call('GET', rules, { token: admin, workspace: workspace.id })
  t.not(other.headers['x-request-id'], answer.headers['x-request-id'])
  t.notMatch(JSON.stringify(answer.headers), 'secret')
})

t.test('malformed HTTP over a real connection is refused, and never a 5xx', async (t) => {
  const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
  const { admin } = workspace.tokens
  const send = (...lines: string[]) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(lines.join('\r\n'))
    return text(socket)
  }
  const known = [
    `authorization: Bearer ${admin}`,
    `x-workspace-id: ${workspace.id}`,
    'host: localhost',
    'connection: close',
  ]
  const get = (...lines: string[]) => send(`GET ${rules}?limit=1 HTTP/1.1`, ...lines, '', '')
  const post = (body: string, ...lines: string[]) =>
    send(`POST ${rules} HTTP/1.1`, ...known, ...lines, '', body)
  const json = 'content-type: application/json'
  const rule = JSON.stringify(ruleBody())
  const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`

  const cases: [title: string, answer: Promise<string>, status: RegExp][] = [
    ['as it should be', get(...known), /200/],
    ['a very long URL', send(`GET ${rules}?q=${'x'.repeat(100_000)} HTTP/1.1`, ...known, '', ''), /4\d\d/],
    [
      'a very long token',
      get('host: x', 'connection: close', `authorization: Bearer ${'x'.repeat(100_000)}`),
      /4\d\d/,
    ],
    [
      'a token of 8 KB',
      get('host: x', 'connection: close', `authorization: Bearer ${'x'.repeat(8_000)}`),
      /401/,
    ],
    ['a bad token before the good one', get('authorization: Bearer x', ...known), /401/],
    ['a good token before a bad one', get(...known, 'authorization: Bearer x'), /200|401/],
    ['two workspaces', get(...known, `x-workspace-id: ${newId()}`), /400/],
    ['the same workspace twice', get(...known, `x-workspace-id: ${workspace.id}`), /400|200/],
    ['no host', send(`GET ${rules} HTTP/1.1`, 'connection: close', '', ''), /400/],
    ['HTTP/1.0', send(`GET ${rules} HTTP/1.0`, ...known, '', ''), /200/],
    ['no HTTP at all', send('hello', '', ''), /400/],
    ['a header with NUL', get(...known, 'x: a\0b'), /400/],
    ['a header with Latin-1', get('host: x', 'connection: close', 'authorization: Bearer é'), /401/],
    ['TRACE', send(`TRACE ${rules} HTTP/1.1`, ...known, '', ''), /405/],
    ['a method of WebDAV', send(`PROPFIND ${rules} HTTP/1.1`, ...known, '', ''), /40[45]/],
    ['an unknown method', send(`EAT ${rules} HTTP/1.1`, ...known, '', ''), /40\d/],
    ['a whole URL', send(`GET http://localhost${rules} HTTP/1.1`, ...known, '', ''), /200|40\d/],
    ['OPTIONS *', send('OPTIONS * HTTP/1.1', ...known, '', ''), /40\d/],
    ['chunks', post(`${chunk(rule)}0\r\n\r\n`, json, 'transfer-encoding: chunked'), /201/],
    [
      'chunks over the limit',
      post(`${chunk('x'.repeat(300_000))}0\r\n\r\n`, json, 'transfer-encoding: chunked'),
      /413/,
    ],
    ['a length over the limit', post('{}', json, 'content-length: 99999999999'), /413/],
    ['two lengths', post('{}', json, 'content-length: 2', 'content-length: 3'), /400/],
    ['length and chunks', post('0\r\n\r\n', json, 'content-length: 2', 'transfer-encoding: chunked'), /400/],
    ['a length that is none', post('{}', json, 'content-length: two'), /400/],
    ['two content types', post('{}', json, 'content-type: text/plain', 'content-length: 2'), /422|415/],
    ['compressed', post('\x1f\x8b', json, 'content-encoding: gzip', 'content-length: 2'), /400|415/],
    ['an unknown expectation', post('{}', json, 'expect: miracle', 'content-length: 2'), /4\d\d/],
    [
      'two If-Match',
      send(
        `PUT ${one} HTTP/1.1`,
        ...known,
        json,
        'if-match: "8"',
        'if-match: "9"',
        'content-length: 2',
        '',
        '{}',
      ),
      /412/,
    ],
  ]
  for (const [title, answer, status] of cases) {
    const [line = ''] = (await answer).split('\r\n')
    t.match(line, new RegExp(`^HTTP/1.1 (${status.source}) `), title)
  }
})
