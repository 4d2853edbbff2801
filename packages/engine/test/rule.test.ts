import { sharedSchemas } from '@automation/engine'
import Fastify from 'fastify'
import t from 'tap'
import { Type } from 'typebox'
import { actionDefinitions } from '../src/actions/index.js'
import { eventTypes, isEventType } from '../src/event-types.js'
import { operators } from '../src/operators/index.js'
import { Actions, Conditions, RuleDescription, RuleName } from '../src/rule.js'

const Body = Type.Object(
  {
    name: RuleName,
    description: Type.Optional(RuleDescription),
    conditions: Type.Optional(Conditions),
    actions: Type.Optional(Actions),
  },
  { additionalProperties: false },
)

// The Ajv settings with which these schemas report each fault once.
const customOptions = {
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  discriminator: true,
  allowUnionTypes: true,
  strictTypes: true,
  keywords: ['patternError'],
}

interface SchemaFault {
  instancePath: string
  keyword: string
  params: Record<string, unknown>
}

function buildApp() {
  const app = Fastify({ ajv: { customOptions } })
  for (const schema of sharedSchemas) app.addSchema(schema)
  app.post('/', { schema: { body: Body }, attachValidation: true }, async (request) =>
    (request.validationError?.validation ?? [])
      // An `if` only repeats the fault of its branch.
      .filter((error: SchemaFault) => error.keyword !== 'if')
      .map(({ instancePath, keyword, params }: SchemaFault) => {
        const name = params.missingProperty ?? params.additionalProperty ?? params.tag
        return `${instancePath}${name === undefined ? '' : `/${name}`} ${keyword}`.slice(1)
      }),
  )
  return app
}

const task = { type: 'CREATE_TASK', config: { title: 't' } }
const clause = { field: 'a', operator: 'equals', value: 1 }

t.test('a valid rule has no faults', async (t) => {
  const app = buildApp()
  t.teardown(() => app.close())
  const mail = { to: 'a@b.c', subject: 's', template: 't' }
  const bodies = [
    { name: 'x', actions: [task] },
    { name: '🦜'.repeat(200), conditions: [], description: '' },
    { name: 'x', actions: Array(20).fill(task) },
    {
      name: 'x'.repeat(200),
      conditions: [
        clause,
        { all: [clause, { any: [{ not: clause }] }] },
        { field: 'a', operator: 'neq', value: null },
        { field: 'a', operator: 'gt', value: { field: 'b' } },
        { some: 'items', that: [clause, { field: '.', operator: 'in', value: { root: 'b' } }] },
        { not: { every: 'items', that: [{ any: [clause] }] } },
        { none: 'items', that: [clause] },
        { count: 'items', operator: 'gte', value: 3 },
        { count: 'items', that: [clause], operator: 'equals', value: 0 },
      ],
      actions: [
        { ...task, when: { not: { all: [clause] } }, continueOnError: true, timeoutMs: 100 },
        {
          type: 'CREATE_TASK',
          config: { title: 't', dueIn: '24h', description: '', assigneeId: 'u', priority: 'high' },
        },
        {
          type: 'SEND_EMAIL',
          config: { ...mail, cc: 'c', bcc: 'b', replyTo: 'r', variables: { a: { b: [1] } } },
        },
        {
          type: 'SEND_WEBHOOK',
          config: {
            url: 'u',
            method: 'PUT',
            headers: { 'X-A': 'b' },
            body: [1, { a: null }],
            timeoutMs: 30_000,
          },
        },
        { type: 'SEND_NOTIFICATION', config: { url: 'u', text: 't' }, retry: { attempts: 1 } },
        { type: 'WAIT', config: { duration: '{{n}}h' }, when: clause },
        { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } },
        { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: '{{a}}' } },
        {
          type: 'EMIT_EVENT',
          config: { eventType: 'DEAL_WON', data: { a: ['{{b}}'] } },
          retry: { attempts: 20, backoff: 'linear', delayMs: 0, maxDelayMs: 86_400_000 },
          onUncertain: 'stop',
        },
      ],
    },
  ]
  for (const body of bodies) t.same((await app.inject({ method: 'POST', url: '/', body })).json(), [])
})

t.test('each fault in a condition is reported once, with its path', async (t) => {
  const app = buildApp()
  t.teardown(() => app.close())
  const cases: [unknown, string[]][] = [
    [5, ['type']],
    [[], ['type']],
    [{}, ['/field required', '/operator discriminator']],
    [{ field: 5 }, ['/field type', '/operator discriminator']],
    [{ field: '', operator: 'exists' }, ['/field minLength']],
    [{ field: 'a', operator: 'resembles', value: 1 }, ['/operator discriminator']],
    [{ field: 'a', operator: '__proto__', value: 1 }, ['/operator discriminator']],
    [{ field: 'a', operator: 'GT', value: 1 }, ['/operator discriminator']],
    [{ field: 'a', operator: 5, value: 1 }, ['/operator discriminator']],
    [{ field: 'a', operator: 'equals' }, ['/value required']],
    [{ field: 'a', operator: 'equals', value: [] }, ['/value type']],
    [{ field: 'a', operator: 'equals', value: {} }, ['/value/field required']],
    [{ field: 'a', operator: 'gt', value: { field: 5 } }, ['/value/field type']],
    [{ field: 'a', operator: 'gt', value: { field: 'b', note: 1 } }, ['/value/note additionalProperties']],
    [{ field: 'a', operator: 'gt', value: { root: '' } }, ['/value/root minLength']],
    [{ field: 'a', operator: 'gt', value: { root: 'b', field: 'b' } }, ['/value/field additionalProperties']],
    [{ field: 'a', operator: 'between', value: { field: 'b' } }, ['/value type']],
    [{ some: 'items' }, ['/that required']],
    [{ some: 5, that: [] }, ['/some type', '/that minItems']],
    [{ every: '', that: clause }, ['/every minLength', '/that type']],
    [{ none: 'items', that: [{}] }, ['/that/0/field required', '/that/0/operator discriminator']],
    [{ some: 'items', that: [clause], every: 'items' }, ['/every additionalProperties']],
    [{ some: 'items', that: [clause], field: 'a' }, ['/field additionalProperties']],
    [{ count: 'items' }, ['/operator required', '/value required']],
    [{ count: 'items', operator: 'contains', value: 1 }, ['/operator enum']],
    [{ count: 'items', operator: 'gt', value: '3' }, ['/value type']],
    [{ count: 'items', operator: 'gt', value: 1.5 }, ['/value type']],
    [{ count: 'items', operator: 'gt', value: -1, that: [] }, ['/that minItems', '/value minimum']],
    [{ field: 'a', operator: 'gt', value: '80' }, ['/value type']],
    [{ field: 'a', operator: 'exists', value: 1 }, ['/value false schema']],
    [{ field: 'a', operator: 'in', value: 5 }, ['/value type']],
    [{ field: 'a', operator: 'starts_with', value: 5 }, ['/value type']],
    [{ field: 'a', operator: 'between', value: [1] }, ['/value minItems']],
    [{ field: 'a', operator: 'in', value: [1, {}, []] }, ['/value/1 type', '/value/2 type']],
    [{ field: 'a', operator: 'contains_any', value: [] }, ['/value minItems']],
    [{ field: 'a', operator: 'matches', value: 'a'.repeat(1001) }, ['/value maxLength']],
    [{ ...clause, note: 'x' }, ['/note additionalProperties']],
    [{ all: [] }, ['/all minItems']],
    [{ any: 5 }, ['/any type']],
    [{ not: [] }, ['/not type']],
    [{ not: {} }, ['/not/field required', '/not/operator discriminator']],
    [{ all: [clause], field: 'a' }, ['/field additionalProperties']],
    [{ all: [clause], any: [clause] }, ['/any additionalProperties']],
    [
      { all: [clause, { any: [{ not: { field: 'a', operator: 'is_true', value: 1 } }, 7] }] },
      ['/all/1/any/0/not/value false schema', '/all/1/any/1 type'],
    ],
  ]
  for (const [condition, faults] of cases) {
    const expected = (root: string) =>
      faults.map((fault) => `${root}${fault.startsWith('/') ? '' : ' '}${fault}`).sort()
    const inConditions = await app.inject({
      method: 'POST',
      url: '/',
      body: { name: 'x', conditions: [condition] },
    })
    t.same(inConditions.json<string[]>().sort(), expected('conditions/0'), JSON.stringify(condition))
    const actions = [{ ...task, when: condition }]
    const inWhen = await app.inject({ method: 'POST', url: '/', body: { name: 'x', actions } })
    t.same(inWhen.json<string[]>().sort(), expected('actions/0/when'))
  }
})

t.test('each fault in an action is reported once, with its path', async (t) => {
  const app = buildApp()
  t.teardown(() => app.close())
  const hook = (config: object) => ({ type: 'SEND_WEBHOOK', config: { url: 'u', ...config } })
  const retryFaults = (first: string, last: string) => [
    `actions/0/retry/attempts ${first}`,
    `actions/0/retry/delayMs ${first}`,
    `actions/0/retry/maxDelayMs ${last}`,
  ]
  const cases: [unknown, string[]][] = [
    [null, ['actions/0 type']],
    [{}, ['actions/0/config required', 'actions/0/type discriminator']],
    [{ config: {} }, ['actions/0/type discriminator']],
    [{ type: 'LAUNCH', config: {} }, ['actions/0/type discriminator']],
    [{ type: 'create_task', config: {} }, ['actions/0/type discriminator']],
    [{ type: 'CREATE_TASK' }, ['actions/0/config required']],
    [{ type: 'CREATE_TASK', config: 'x' }, ['actions/0/config type']],
    [
      { type: 'SEND_EMAIL', config: {} },
      ['subject', 'template', 'to'].map((key) => `actions/0/config/${key} required`),
    ],
    [
      { ...task, config: { title: '', dueIn: 5, who: 1 } },
      [
        'actions/0/config/dueIn type',
        'actions/0/config/title minLength',
        'actions/0/config/who additionalProperties',
      ],
    ],
    [{ ...task, config: { title: 't', priority: 'huge' } }, ['actions/0/config/priority enum']],
    [
      { ...task, continueOnError: 1, timeoutMs: 99, id: 1 },
      ['actions/0/continueOnError type', 'actions/0/id additionalProperties', 'actions/0/timeoutMs minimum'],
    ],
    [{ ...task, timeoutMs: 30_001 }, ['actions/0/timeoutMs maximum']],
    [
      hook({ method: 'HEAD', timeoutMs: 30_001 }),
      ['actions/0/config/method enum', 'actions/0/config/timeoutMs maximum'],
    ],
    [
      hook({ headers: { 'a b': 'x', c: 'd\r\ne: f', g: 5 } }),
      [
        'actions/0/config/headers/a b additionalProperties',
        'actions/0/config/headers/c pattern',
        'actions/0/config/headers/g type',
      ],
    ],
    [
      { type: 'SEND_EMAIL', config: { to: 'a', subject: 's', template: 't', variables: [] } },
      ['actions/0/config/variables type'],
    ],
    [{ ...task, retry: 3 }, ['actions/0/retry type']],
    [{ ...task, retry: {} }, ['actions/0/retry/attempts required']],
    [
      { ...task, retry: { attempts: 0, delayMs: -1, maxDelayMs: 86_400_001 } },
      retryFaults('minimum', 'maximum'),
    ],
    [
      { ...task, retry: { attempts: 21, delayMs: 86_400_001, maxDelayMs: 0.5 } },
      retryFaults('maximum', 'type'),
    ],
    [
      { ...task, retry: { attempts: 2, backoff: 'none', jitter: false } },
      ['actions/0/retry/backoff enum', 'actions/0/retry/jitter additionalProperties'],
    ],
    [{ ...task, onUncertain: 'ignore' }, ['actions/0/onUncertain enum']],
    [
      { type: 'WAIT', config: { duration: 5, until: 18, at: '18:00' } },
      [
        'actions/0/config/at additionalProperties',
        'actions/0/config/duration type',
        'actions/0/config/until type',
      ],
    ],
    [{ type: 'WAIT', config: { duration: '' } }, ['actions/0/config/duration minLength']],
    [{ type: 'EMIT_EVENT', config: {} }, ['actions/0/config/eventType required']],
    [
      { type: 'EMIT_EVENT', config: { eventType: '{{type}}', data: [1], depth: 0 } },
      [
        'actions/0/config/data type',
        'actions/0/config/depth additionalProperties',
        'actions/0/config/eventType pattern',
      ],
    ],
    ...['text', '', ' {{a}}', '{{a}}{{b}}', '{{a'].map((data): [unknown, string[]] => [
      { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data } },
      ['actions/0/config/data pattern'],
    ]),
  ]
  for (const [action, faults] of cases) {
    const response = await app.inject({ method: 'POST', url: '/', body: { name: 'x', actions: [action] } })
    t.same(response.json<string[]>().sort(), faults, JSON.stringify(action))
  }
  const limits: [unknown, string[]][] = [
    [{ name: 'x', actions: [] }, ['actions minItems']],
    [{ name: 'x', actions: Array(21).fill(task) }, ['actions maxItems']],
    [
      { name: '', description: 'x'.repeat(2001), actions: [task] },
      ['description maxLength', 'name minLength'],
    ],
    [{ name: 'x'.repeat(201), conditions: {} }, ['conditions type', 'name maxLength']],
  ]
  for (const [body, faults] of limits) {
    const response = await app.inject({ method: 'POST', url: '/', body: body as object })
    t.same(response.json<string[]>().sort(), faults)
  }
})

t.test('every operator has a branch with all its names', async (t) => {
  const app = buildApp()
  t.teardown(() => app.close())
  for (const name of operators.flatMap((operator) => [operator.name, ...operator.aliases])) {
    const body = {
      name: 'x',
      conditions: [{ field: 'a', operator: name, nope: 1 }],
    }
    const faults = (await app.inject({ method: 'POST', url: '/', body })).json<string[]>()
    t.ok(faults.includes('conditions/0/nope additionalProperties'), name)
  }
})

t.test('no catalogue contains a name twice', async (t) => {
  t.equal(new Set(eventTypes).size, 27)
  t.ok(isEventType('WEBHOOK_RECEIVED'))
  for (const name of ['lead_created', 'LEAD_CREATED ', '__proto__', '']) t.notOk(isEventType(name), name)
  t.equal(new Set(actionDefinitions.map(({ type }) => type)).size, actionDefinitions.length)
})
