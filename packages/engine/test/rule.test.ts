import t from 'tap'
import { Type } from 'typebox'
import { actionDefinitions } from '../src/actions/index.js'
import { eventTypes, isEventType } from '../src/event-types.js'
import { operators } from '../src/operators/index.js'
import { Actions, Conditions, RuleDescription, RuleName } from '../src/rule.js'
import { compileShape } from '../src/shape/compile-shape.js'

const Body = Type.Object(
  {
    name: RuleName,
    description: Type.Optional(RuleDescription),
    conditions: Type.Optional(Conditions),
    actions: Type.Optional(Actions),
  },
  { additionalProperties: false },
)

const findFaults = compileShape(Body)

function listFaults(body: unknown): string[] {
  return findFaults(body).map(({ field, message }) => `${field}: ${message}`)
}

const task = { type: 'CREATE_TASK', config: { title: 't' } }
const clause = { field: 'a', operator: 'equals', value: 1 }

t.test('a valid rule has no faults', async (t) => {
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
  for (const body of bodies) t.strictSame(listFaults(body), [])
})

t.test('each fault in a condition is reported once, with its path', async (t) => {
  const cases: [unknown, string[]][] = [
    [5, [': Must be an object']],
    [[], [': Must be an object']],
    [{}, ['.field: Required', '.operator: Required']],
    [{ field: 5 }, ['.field: Must be a string', '.operator: Required']],
    [{ field: '', operator: 'exists' }, ['.field: Must have at least 1 character']],
    [
      { field: 'a', operator: 'resembles', value: 1 },
      ['.operator: Unknown operator. All: /docs/rules#clauses'],
    ],
    [
      { field: 'a', operator: '__proto__', value: 1 },
      ['.operator: Unknown operator. All: /docs/rules#clauses'],
    ],
    [{ field: 'a', operator: 'GT', value: 1 }, ['.operator: Unknown operator. All: /docs/rules#clauses']],
    [{ field: 'a', operator: 5, value: 1 }, ['.operator: Unknown operator']],
    [{ field: 'a', operator: 'equals' }, ['.value: Required']],
    [
      { field: 'a', operator: 'equals', value: [] },
      ['.value: Must be a string or a number or true or false or null'],
    ],
    [{ field: 'a', operator: 'equals', value: {} }, ['.value.field: Required']],
    [{ field: 'a', operator: 'gt', value: { field: 5 } }, ['.value.field: Must be a string']],
    [
      { field: 'a', operator: 'gt', value: { field: 'b', note: 1 } },
      ['.value.note: Unknown field. All: field'],
    ],
    [{ field: 'a', operator: 'gt', value: { root: '' } }, ['.value.root: Must have at least 1 character']],
    [
      { field: 'a', operator: 'gt', value: { root: 'b', field: 'b' } },
      ['.value.field: Unknown field. All: root'],
    ],
    [{ field: 'a', operator: 'between', value: { field: 'b' } }, ['.value: Must be a list']],
    [{ some: 'items' }, ['.that: Required']],
    [{ some: 5, that: [] }, ['.some: Must be a string', '.that: Must have at least 1 item']],
    [{ every: '', that: clause }, ['.every: Must have at least 1 character', '.that: Must be a list']],
    [{ none: 'items', that: [{}] }, ['.that[0].field: Required', '.that[0].operator: Required']],
    [{ some: 'items', that: [clause], every: 'items' }, ['.every: Unknown field. All: some, that']],
    [{ some: 'items', that: [clause], field: 'a' }, ['.field: Unknown field. All: some, that']],
    [{ count: 'items' }, ['.operator: Required', '.value: Required']],
    [{ count: 'items', operator: 'contains', value: 1 }, ['.operator: Must be one of 12 values']],
    [{ count: 'items', operator: 'gt', value: '3' }, ['.value: Must be an integer']],
    [{ count: 'items', operator: 'gt', value: 1.5 }, ['.value: Must be an integer']],
    [
      { count: 'items', operator: 'gt', value: -1, that: [] },
      ['.that: Must have at least 1 item', '.value: Must be at least 0'],
    ],
    [{ field: 'a', operator: 'gt', value: '80' }, ['.value: Must be a number']],
    [{ field: 'a', operator: 'exists', value: 1 }, ['.value: Unknown field. This operator accepts no value']],
    [{ field: 'a', operator: 'in', value: 5 }, ['.value: Must be a list']],
    [{ field: 'a', operator: 'starts_with', value: 5 }, ['.value: Must be a string']],
    [{ field: 'a', operator: 'between', value: [1] }, ['.value: Must have at least 2 items']],
    [
      { field: 'a', operator: 'in', value: [1, {}, []] },
      [
        '.value[1]: Must be a string or a number or true or false or null',
        '.value[2]: Must be a string or a number or true or false or null',
      ],
    ],
    [{ field: 'a', operator: 'contains_any', value: [] }, ['.value: Must have at least 1 item']],
    [
      { field: 'a', operator: 'matches', value: 'a'.repeat(1001) },
      ['.value: Must have at most 1000 characters'],
    ],
    [{ ...clause, note: 'x' }, ['.note: Unknown field. All: field, operator, value']],
    [{ all: [] }, ['.all: Must have at least 1 item']],
    [{ any: 5 }, ['.any: Must be a list']],
    [{ not: [] }, ['.not: Must be an object']],
    [{ not: {} }, ['.not.field: Required', '.not.operator: Required']],
    [{ all: [clause], field: 'a' }, ['.field: Unknown field. All: all']],
    [{ all: [clause], any: [clause] }, ['.any: Unknown field. All: all']],
    [
      { all: [clause, { any: [{ not: { field: 'a', operator: 'is_true', value: 1 } }, 7] }] },
      [
        '.all[1].any[0].not.value: Unknown field. This operator accepts no value',
        '.all[1].any[1]: Must be an object',
      ],
    ],
  ]
  for (const [condition, faults] of cases) {
    const at = (place: string) => faults.map((fault) => `${place}${fault}`)
    t.strictSame(listFaults({ name: 'x', conditions: [condition] }), at('conditions[0]'))
    t.strictSame(listFaults({ name: 'x', actions: [{ ...task, when: condition }] }), at('actions[0].when'))
  }
})

t.test('each fault in an action is reported once, with its path', async (t) => {
  const otherName =
    "Must have another name: at most 100 letters, digits and !#$%&'*+.^_`|~-, and none of these, which the service sets: host, content-length, transfer-encoding, connection, keep-alive, proxy-connection, proxy-authorization, te, trailer, upgrade, expect, idempotency-key, webhook-id, webhook-timestamp, webhook-signature"
  const hook = (config: object) => ({ type: 'SEND_WEBHOOK', config: { url: 'u', ...config } })
  const cases: [unknown, string[]][] = [
    [null, [': Must be an object']],
    [{}, ['.config: Required', '.type: Required']],
    [{ config: {} }, ['.type: Required']],
    [{ type: 'LAUNCH', config: {} }, ['.type: Unknown type. All: /docs/rules#actions']],
    [
      { type: 'create_task', config: {} },
      ['.type: Unknown type. Nearest: CREATE_TASK. All: /docs/rules#actions'],
    ],
    [{ type: 'CREATE_TASK' }, ['.config: Required']],
    [{ type: 'CREATE_TASK', config: 'x' }, ['.config: Must be an object']],
    [
      { type: 'SEND_EMAIL', config: {} },
      ['to', 'subject', 'template'].map((key) => `.config.${key}: Required`),
    ],
    [
      { ...task, config: { title: '', dueIn: 5, who: 1 } },
      [
        '.config.who: Unknown field. All: title, dueIn, description, assigneeId, priority',
        '.config.title: Must have at least 1 character',
        '.config.dueIn: Must be a string',
      ],
    ],
    [
      { ...task, config: { title: 't', priority: 'huge' } },
      ['.config.priority: Must be one of low, normal, high, urgent'],
    ],
    [
      { ...task, continueOnError: 1, timeoutMs: 99, id: 1 },
      [
        '.id: Unknown field. Only the server sets it',
        '.continueOnError: Must be true or false',
        '.timeoutMs: Must be at least 100',
      ],
    ],
    [{ ...task, timeoutMs: 30_001 }, ['.timeoutMs: Must be at most 30000']],
    [
      hook({ method: 'HEAD', timeoutMs: 30_001 }),
      [
        '.config.method: Must be one of POST, PUT, PATCH, GET, DELETE',
        '.config.timeoutMs: Must be at most 30000',
      ],
    ],
    [
      hook({ headers: { 'a b': 'x', c: 'd\r\ne: f', g: 5 } }),
      [
        `.config.headers.a b: ${otherName}`,
        '.config.headers.c: Must have only characters of ISO 8859-1 and no line break: a header carries no others',
        '.config.headers.g: Must be a string',
      ],
    ],
    [
      { type: 'SEND_EMAIL', config: { to: 'a', subject: 's', template: 't', variables: [] } },
      ['.config.variables: Must be an object'],
    ],
    [{ ...task, retry: 3 }, ['.retry: Must be an object']],
    [{ ...task, retry: {} }, ['.retry.attempts: Required']],
    [
      { ...task, retry: { attempts: 0, delayMs: -1, maxDelayMs: 86_400_001 } },
      [
        '.retry.attempts: Must be at least 1',
        '.retry.delayMs: Must be at least 0',
        '.retry.maxDelayMs: Must be at most 86400000',
      ],
    ],
    [
      { ...task, retry: { attempts: 21, delayMs: 86_400_001, maxDelayMs: 0.5 } },
      [
        '.retry.attempts: Must be at most 20',
        '.retry.delayMs: Must be at most 86400000',
        '.retry.maxDelayMs: Must be an integer',
      ],
    ],
    [
      { ...task, retry: { attempts: 2, backoff: 'none', jitter: false } },
      [
        '.retry.jitter: Unknown field. All: attempts, backoff, delayMs, maxDelayMs',
        '.retry.backoff: Must be one of constant, linear, exponential',
      ],
    ],
    [{ ...task, onUncertain: 'ignore' }, ['.onUncertain: Must be one of retry, stop']],
    [
      { type: 'WAIT', config: { duration: 5, until: 18, at: '18:00' } },
      [
        '.config.at: Unknown field. All: duration, until, offset, for, decision, time',
        '.config.duration: Must be a string',
        '.config.until: Must be a string',
      ],
    ],
    [{ type: 'WAIT', config: { duration: '' } }, ['.config.duration: Must have at least 1 character']],
    [{ type: 'EMIT_EVENT', config: {} }, ['.config.eventType: Required']],
    [
      { type: 'EMIT_EVENT', config: { eventType: '{{type}}', data: [1], depth: 0 } },
      [
        '.config.depth: Unknown field. All: eventType, forEach, where, data',
        '.config.eventType: Must begin with a capital letter, and have 2 to 64 capital letters, digits and underscores',
        '.config.data: Must be an object or a string',
      ],
    ],
    ...['text', '', ' {{a}}', '{{a}}{{b}}', '{{a'].map((data): [unknown, string[]] => [
      { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data } },
      ['.config.data: Must be an object, or one placeholder that leads to an object'],
    ]),
  ]
  for (const [action, faults] of cases) {
    const expected = faults.map((fault) => `actions[0]${fault}`)
    t.strictSame(listFaults({ name: 'x', actions: [action] }), expected, JSON.stringify(action))
  }
  const limits: [unknown, string[]][] = [
    [{ name: 'x', actions: [] }, ['actions: Must have at least 1 item']],
    [{ name: 'x', actions: Array(21).fill(task) }, ['actions: Must have at most 20 items']],
    [
      { name: '', description: 'x'.repeat(2001), actions: [task] },
      ['name: Must have at least 1 character', 'description: Must have at most 2000 characters'],
    ],
    [
      { name: 'x'.repeat(201), conditions: {} },
      ['name: Must have at most 200 characters', 'conditions: Must be a list'],
    ],
  ]
  for (const [body, faults] of limits) {
    t.strictSame(listFaults(body), faults)
  }
})

t.test('every operator has a branch with all its names', async (t) => {
  for (const name of operators.flatMap((operator) => [operator.name, ...operator.aliases])) {
    const [unknown, ...others] = listFaults({
      name: 'x',
      conditions: [{ field: 'a', operator: name, nope: 1 }],
    })
    t.equal(unknown, 'conditions[0].nope: Unknown field. All: field, operator, value', name)
    t.ok(
      others.every((fault) => fault === 'conditions[0].value: Required'),
      name,
    )
  }
})

t.test('operators whose values have one title take the same values', async (t) => {
  const shapes = new Map<unknown, string>()
  for (const { name, value, compareTwo } of operators) {
    const title = (value as { title?: string } | undefined)?.title
    const shape = JSON.stringify([value, compareTwo !== undefined])
    t.equal(shape, shapes.get(title) ?? shape, name)
    shapes.set(title, shape)
  }
})

t.test('no catalogue contains a name twice', async (t) => {
  t.equal(new Set(eventTypes).size, 27)
  t.ok(isEventType('WEBHOOK_RECEIVED'))
  for (const name of ['lead_created', 'LEAD_CREATED ', '__proto__', '']) t.notOk(isEventType(name), name)
  t.equal(new Set(actionDefinitions.map(({ type }) => type)).size, actionDefinitions.length)
})
