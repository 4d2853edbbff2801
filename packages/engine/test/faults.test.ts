import fc from 'fast-check'
import t from 'tap'
import { findRuleFaults } from '../src/faults/faults.js'
import { maxPlaceholders } from '../src/templates/placeholder.js'
import { draws } from './fixtures/draws.js'

const task = { type: 'CREATE_TASK', config: { title: 't' } }
const clause = { field: 'a', operator: 'is_true' }
const fieldsOf = (definition: object) => findRuleFaults(definition).map(({ field }) => field)

t.test('the fault of a clause has the path of its field or value, in groups and in when, too', async (t) => {
  const cases: [unknown, string][] = [
    [{ field: 'a..b', operator: 'exists' }, 'field'],
    [{ field: 'a[x]', operator: 'equals', value: 1 }, 'field'],
    [{ field: 'a', operator: 'matches', value: '(' }, 'value'],
    [{ field: 'a', operator: 'not_matches', value: 'a(?!b)' }, 'value'],
    [{ field: 'a', operator: 'between', value: [2, 1] }, 'value'],
    [{ field: 'a', operator: 'not_between', value: [2, 1] }, 'value'],
    [{ field: 'a', operator: 'before', value: 'tomorrow' }, 'value'],
    [{ field: 'a', operator: 'after', value: '2026-02-30' }, 'value'],
    [{ field: 'a', operator: 'after', value: '2026-01-01T10:00:00' }, 'value'],
    [{ field: 'a', operator: 'within_last', value: '7 days' }, 'value'],
    [{ field: 'a', operator: 'within_next', value: '367d' }, 'value'],
  ]
  for (const [faulty, key] of cases) {
    const definition = {
      conditions: [clause, faulty, { all: [clause, { any: [{ not: faulty }] }] }],
      actions: [task, { ...task, when: faulty }],
    }
    t.same(
      fieldsOf(definition),
      [`conditions[1].${key}`, `conditions[2].all[1].any[0].not.${key}`, `actions[1].when.${key}`],
      JSON.stringify(faulty),
    )
  }
})

t.test('the fault of a text has its path in the config', async (t) => {
  const hook = (config: object) => ({
    actions: [task, { type: 'SEND_WEBHOOK', config: { url: 'https://x.io', ...config } }],
  })
  const mail = (config: object) => ({
    actions: [{ type: 'SEND_EMAIL', config: { to: 'a@b.c', subject: 's', template: 't', ...config } }],
  })
  const wait = (duration: string) => ({ actions: [task, { type: 'WAIT', config: { duration } }] })
  const waitFor = (config: object) => ({ actions: [{ type: 'WAIT', config }] })
  const emit = (data: unknown) => ({
    actions: [task, { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data } }],
  })
  const due = (dueIn: string) => ({ actions: [{ type: 'CREATE_TASK', config: { title: 't', dueIn } }] })
  const cases: [object, string[]][] = [
    [hook({ body: { items: [1, 2, { name: '{{a | shout}}' }] } }), ['actions[1].config.body.items[2].name']],
    [hook({ headers: { 'X-A': '{{' } }), ['actions[1].config.headers.X-A']],
    [hook({ url: '{{' }), ['actions[1].config.url']],
    [hook({ url: 'ftp://x.io' }), ['actions[1].config.url']],
    [hook({ url: 'http://' }), ['actions[1].config.url']],
    [hook({ url: 'http:x.io' }), ['actions[1].config.url']],
    [hook({ url: 'javascript:alert(1)' }), ['actions[1].config.url']],
    [hook({ url: 'HTTPS://x.io:8443/{{a}}?q={{b | urlencode}}' }), []],
    [hook({ url: '{{a}}' }), []],
    [
      mail({ to: 'a@b.c, d@e.f', cc: 'a', bcc: 'a@b@c', replyTo: 'a@b.c\r\nBcc: d@e.f' }),
      ['actions[0].config.to', 'actions[0].config.cc', 'actions[0].config.bcc', 'actions[0].config.replyTo'],
    ],
    [mail({ to: '{{a}}@x.io', cc: 'ä+1@bücher.example' }), []],
    [mail({ variables: { a: ['{{a..b}}'] } }), ['actions[0].config.variables.a[0]']],
    [due('24 hours'), ['actions[0].config.dueIn']],
    [due('0h'), ['actions[0].config.dueIn']],
    [due('53w'), ['actions[0].config.dueIn']],
    [due('366d'), []],
    [due('{{hours}}h'), []],
    [wait('1 hour'), ['actions[1].config.duration']],
    [wait('367d'), ['actions[1].config.duration']],
    [wait('{{'), ['actions[1].config.duration']],
    [wait('90m'), []],
    [wait('{{n | default: 2}}h'), []],
    [waitFor({}), ['actions[0].config.duration']],
    [waitFor({ duration: '1h', until: '2027-03-01' }), ['actions[0].config.until']],
    [waitFor({ duration: '1h', offset: '1h' }), ['actions[0].config.offset']],
    ...['18:00', '2027-02-30', '2027-03-01T09:00:00', '1772355600', '1 March 2027', '{{'].map(
      (until): [object, string[]] => [waitFor({ until }), ['actions[0].config.until']],
    ),
    ...['2027-03-01', '2027-03-01T09:00:00+01:00', '{{renewalDate}}', '{{day}}T09:00:00Z'].map(
      (until): [object, string[]] => [waitFor({ until, offset: '-3d' }), []],
    ),
    ...['3 days', '- 3d', '-0d', '+367d', '--3d'].map((offset): [object, string[]] => [
      waitFor({ until: '{{renewalDate}}', offset }),
      ['actions[0].config.offset'],
    ]),
    // Its schema reports the fault.
    [emit('text'), []],
    [emit('{{a..b}}'), ['actions[1].config.data']],
    [emit({ lead: { name: '{{a | shout}}' } }), ['actions[1].config.data.lead.name']],
    [emit({ lead: '{{lead}}' }), []],
    [emit('{{lead}}'), []],
  ]
  for (const [definition, fields] of cases) t.same(fieldsOf(definition), fields, JSON.stringify(definition))
})

t.test('limits apply to the rule as a whole', async (t) => {
  const nest = (depth: number): unknown => (depth === 0 ? clause : { not: nest(depth - 1) })
  t.same(fieldsOf({ conditions: [nest(8)] }), [])
  t.same(fieldsOf({ conditions: [nest(9)] }), [`conditions[0]${'.not'.repeat(8)}`])
  t.same(fieldsOf({ actions: [{ ...task, when: nest(9) }] }), [`actions[0].when${'.not'.repeat(8)}`])
  t.same(
    fieldsOf({ conditions: [{ all: Array(49).fill(clause) }], actions: [{ ...task, when: clause }] }),
    [],
  )
  t.same(
    fieldsOf({ conditions: [{ all: Array(49).fill(clause) }, clause], actions: [{ ...task, when: clause }] }),
    ['conditions'],
  )
  const texts = (count: number) => ({
    actions: [{ type: 'SEND_WEBHOOK', config: { body: Array(count).fill('{{a}}') } }],
  })
  t.same(fieldsOf(texts(maxPlaceholders)), [])
  t.same(fieldsOf(texts(maxPlaceholders + 1)), ['actions'])
})

t.test('a fault that a schema reports is not reported again', async (t) => {
  const definitions = [
    {},
    { conditions: 5, actions: 'x' },
    {
      conditions: [5, null, {}, { field: 5, operator: 7 }, { field: '', operator: 'exists' }],
      actions: [null, 5, {}],
    },
    {
      conditions: [
        { field: 'a', operator: 'resembles', value: '(' },
        { field: 'a', operator: 'matches', value: 5 },
      ],
    },
    {
      conditions: [
        { field: 'a', operator: 'between', value: [9] },
        { field: 'a', operator: 'before' },
      ],
    },
    {
      conditions: [
        { field: 'a'.repeat(501), operator: 'exists' },
        { field: 'a', operator: 'matches', value: '('.repeat(1001) },
      ],
    },
    { conditions: [{ all: 5 }, { any: [] }, { not: [] }] },
    {
      actions: [
        { type: 'CREATE_TASK', config: { title: 5, dueIn: '' } },
        { type: 'LAUNCH', config: { url: 'x' } },
      ],
    },
    { actions: [{ type: 'SEND_NOTIFICATION', config: { url: 'x'.repeat(2001), text: '' } }] },
  ]
  for (const definition of definitions)
    t.same(findRuleFaults(definition), [], JSON.stringify(definition).slice(0, 80))
})

t.test('any JSON can be checked, however deep', async (t) => {
  const key = fc.constantFrom(
    'conditions',
    'actions',
    'all',
    'any',
    'not',
    'field',
    'operator',
    'value',
    'type',
    'config',
    'when',
    'to',
  )
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom('a', 'matches', '(', '{{', 'SEND_EMAIL', 5, null, true),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(key, tie('json'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(json, json, (conditions, actions) =>
      findRuleFaults({ conditions, actions }).every(({ field }) => field !== ''),
    ),
    { numRuns: draws(2_000) },
  )
  const deep = (text: string) =>
    JSON.parse(
      `${text.repeat(3000)}1${text.replace(/[^[{]/g, '').replaceAll('[', ']').replaceAll('{', '}').repeat(3000)}`,
    )
  t.same(fieldsOf({ conditions: [deep('{"not":')] }), [`conditions[0]${'.not'.repeat(8)}`])
  t.equal(fieldsOf({ actions: [{ config: { body: deep('[') } }] }).length, 1)
  t.equal(fieldsOf({ actions: [{ config: deep('{"a":') }] }).length, 1)
})
