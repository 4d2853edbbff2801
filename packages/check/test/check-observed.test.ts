import { checkRules, type ObservedFields } from '@automation/check'
import type { CheckedRule, Condition, ObservedField } from '@automation/engine'
import t from 'tap'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const task = { type: 'CREATE_TASK', config: { title: 'Call' } } as const

t.test('stored events give findings with counts and a suggestion', async (t) => {
  const observed: ObservedFields = {
    events: 48_210,
    hasMorePaths: false,
    fields: [
      field('score', { number: 28_000, text: 20_000 }, [['007', 9_000]], { distinct: 90, share: 0.998 }),
      field('status', { text: 48_210 }, [
        ['new', 43_871],
        ['won', 4_339],
      ]),
      field('email', { text: 48_210 }, [], { distinct: 48_000 }),
    ],
  }
  const seen = rule([clause('scor', 'exists'), clause('status', 'equals', 'New'), clause('score', 'gt', 3)])
  const actions = [{ type: 'CREATE_TASK' as const, config: { title: '{{emial}}' } }]
  const { findings } = checkRules([{ ...seen, actions }], { now, findObserved: () => observed })
  t.same(
    new Map(findings.map(({ code, message }) => [code, message])),
    new Map<string, string>([
      ['unknown_field', 'scor was in none of 48,210 LEAD_CREATED events. Did you mean score (in 99.8 %)?'],
      [
        'unseen_value',
        'status was never "New" in 48,210 LEAD_CREATED events; seen: "new" 91 %, "won" 9 %. Did you mean "new"?',
      ],
      [
        'unseen_placeholder',
        '{{emial}} was in none of 48,210 LEAD_CREATED events. Did you mean email (in 100 %)?',
      ],
      [
        'mixed_kinds',
        'score is text in 20,000 of 48,210 events. It counts as missing for greater_than, because "007" is not a number.',
      ],
    ]),
  )
})

t.test('a WAIT for events that nobody sends, or for a field that they lack, is a finding', (t) => {
  const none: ObservedFields = { events: 0, hasMorePaths: false, fields: [] }
  const some = (events: number) => ({ ...none, events, fields: [field('id', { number: events })] })
  const awaiting = (eventType: string, path: string): CheckedRule['actions'][number] => ({
    type: 'WAIT',
    config: { duration: '1d', for: { eventType, match: { [path]: '{{id}}' }, then: 'stop' } },
  })
  const find = (actions: CheckedRule['actions'], leads = 1_000, more: CheckedRule[] = []) => {
    const findObserved = (type: string) =>
      ({ LEAD_CREATED: some(leads), DEAL_WON: some(500), DEAL_LOST: none })[type]
    const { findings } = checkRules([{ ...rule([]), actions }, ...more], { now, findObserved })
    return findings
      .filter(({ code }) => code === 'unseen_event_type' || code === 'unknown_field')
      .map(({ code, path, message }) => [code, path, message])
  }
  t.strictSame(find([awaiting('DEAL_LOST', 'id'), awaiting('DEAL_WON', 'id')]), [
    [
      'unseen_event_type',
      'actions[0].config.for.eventType',
      'There are 1,000 LEAD_CREATED events and none of type DEAL_LOST, and no rule emits one. Without one, time ends the WAIT.',
    ],
  ])
  t.strictSame(find([awaiting('DEAL_WON', 'dealId')]), [
    ['unknown_field', 'actions[0].config.for.match', 'dealId was in none of 500 DEAL_WON events.'],
  ])
  t.strictSame(find([awaiting('DEAL_LOST', 'id')], 19), [], 'hardly anything was sent yet')
  t.strictSame(find([awaiting('TAG_ADDED', 'id')]), [], 'its events were not looked at')
  const emitting = {
    ...rule([], 'Other'),
    actions: [{ type: 'EMIT_EVENT' as const, config: { eventType: 'DEAL_LOST' } }],
  }
  t.strictSame(find([awaiting('DEAL_LOST', 'id')], 1_000, [emitting]), [])
  t.end()
})

t.test(
  'what conditions on items read of the event is looked for, and the fields of the items are not',
  async (t) => {
    const observed: ObservedFields = {
      events: 1_000,
      hasMorePaths: false,
      fields: [field('items', { list: 1_000 }), field('limit', { number: 1_000 }, [], { distinct: 400 })],
    }
    const above = (root: string) =>
      ({ field: 'price', operator: 'greater_than', value: { root } }) as Condition
    const conditions = [{ some: 'items', that: [above('limit'), above('limt')] } as Condition]
    const config = { eventType: 'TAG_ADDED', forEach: 'items', where: [above('limmit')], data: {} }
    const actions = [{ type: 'EMIT_EVENT' as const, config }]
    const { findings } = checkRules([{ ...rule(conditions), actions }], { now, findObserved: () => observed })
    t.match(findings, [
      {
        code: 'unknown_field',
        path: 'conditions[0].that[1].value',
        message: /^limt was in none.*Did you mean limit/,
      },
      { code: 'unknown_field', path: 'actions[0].config.where[0].value', message: /^limmit was in none/ },
    ])
    t.equal(findings.length, 2)
  },
)

t.test('nothing is said of what a survey of events cannot list', async (t) => {
  const deep = 'a.b.c.d.e.f.g.h'
  const observed: ObservedFields = {
    events: 1_000,
    hasMorePaths: false,
    fields: [
      field('tags', { list: 1_000 }, [['vip', 900]]),
      field('items', { list: 1_000 }),
      field('items[0]', { object: 1_000 }),
      field('items[0].price', { number: 1_000 }, [], { distinct: 400 }),
      ...deep.split('.').map((_, n, keys) => field(keys.slice(0, n + 1).join('.'), { object: 1_000 })),
      field('note', { text: 1_000 }, [[`${'x'.repeat(199)}…`, 1_000]]),
      field('nick', { null: 1_000 }),
      field('plan', { text: 1_000 }, [['pro', 990]], { isDistinctAtLeast: true }),
    ],
  }
  const codesOf = (...conditions: Condition[]) =>
    checkRules([rule(conditions)], {
      now,
      findObserved: () => observed,
    }).findings.map(({ code }) => code)
  const long = 'x'.repeat(300)
  t.same(
    codesOf(
      clause('tags[0]', 'equals', 'gold'),
      clause('items[7].price', 'gt', 3),
      clause(`${deep}.i`, 'exists'),
      clause('note', 'equals', long),
      clause('nick', 'equals', null),
      clause('plan', 'equals', 'free'),
    ),
    [],
  )
  t.same(codesOf(clause('items[0].prise', 'gt', 3)), ['unknown_field'])
  t.same(codesOf(clause('status.name', 'exists')), ['unknown_field'])
  const capped = { ...observed, hasMorePaths: true }
  const { findings } = checkRules([rule([clause('status', 'exists')])], { now, findObserved: () => capped })
  t.same(findings, [], 'with more paths than are listed, none is unknown')
})

t.test('a path that goes on below a list leads to nothing, and the advice names an index', async (t) => {
  const observed: ObservedFields = {
    events: 2,
    hasMorePaths: true,
    fields: [
      field('items', { list: 2 }),
      field('items[0]', { object: 2 }),
      field('items[0].sku', { text: 2 }, [['a', 2]]),
      field('lead', { object: 2 }),
      field('lead.tags', { list: 1, null: 1 }),
      field('mixed', { list: 1, object: 1 }),
      field('mixed.sku', { text: 1 }, [['a', 1]]),
    ],
  }
  const none = (path: string, end: string) => `${path} was in none of 2 LEAD_CREATED events, since ${end}.`
  const messages = (conditions: Condition[], title = 'x') =>
    checkRules([{ ...rule(conditions), actions: [{ type: 'CREATE_TASK', config: { title } }] }], {
      now,
      findObserved: () => observed,
    }).findings.map(({ code, message }) => `${code} ${message}`)
  const item = 'items is a list: the path needs the index of an item, such as items[0].sku'
  t.same(messages([clause('items.sku', 'equals', 'a')]), [`unknown_field ${none('items.sku', item)}`])
  t.same(messages([clause('items.sku', 'not_exists')]), [`unknown_field ${none('items.sku', item)}`])
  t.match(messages([clause('items.length', 'gt', 2)]), [/^unknown_field .*has no length here/])
  t.match(messages([clause('lead.tags.name', 'exists')]), [/lead\.tags\[0\]\.name\.$/])
  t.match(messages([], 'Call {{items.sku}}'), [/^unseen_placeholder {{items.sku}} was in none of 2 /])
  const fine = [
    'items[0].sku',
    'items[3].sku',
    'items.1.sku',
    'items',
    'mixed.sku',
    'mixed.price',
    'other.sku',
  ]
  for (const path of fine) t.same(messages([clause(path, 'exists')]), [], path)
})

t.test('times are compared with the events: what is no time, and how numbers are read', async (t) => {
  const messages = (kinds: ObservedField['kindCounts'], values: [unknown, number][], more = {}) => {
    const observed = { events: 100, hasMorePaths: false, fields: [field('at', kinds, values, more)] }
    return checkRules([rule([clause('at', 'within_last', '1d')])], {
      now,
      findObserved: () => observed,
    }).findings.map(({ code, message }) => `${code} ${message}`)
  }
  t.same(messages({ text: 100 }, [['2026-03-10T12:00:00+0530', 100]]), [])
  t.same(messages({ text: 100 }, [['2026-03-10T12:00:00', 60]]), [
    'mixed_kinds at is text in 100 of 100 events. It counts as missing for within_last, because "2026-03-10T12:00:00" has no zone, so it is not a time.',
  ])
  t.same(messages({ number: 100 }, [[1_773_144_000, 60]]), [
    'number_as_time at is number in 100 of 100 events. within_last accepts 1773144000 as a time, read as Unix seconds: 2026-03-10T12:00:00.000Z.',
  ])
  t.match(
    messages({ number: 100 }, [[1_773_144_000, 60]], { smallest: 0, largest: 1_773_144_000 }),
    [
      /^mixed_kinds at is number in 100 of 100 events. It counts as missing for within_last, because 0 is too small a number for a time/,
      /^number_as_time/,
    ].reverse(),
  )
  t.match(messages({ text: 90, number: 10 }, [['2026-03-10', 90]], { smallest: 1e12, largest: 1e12 }), [
    /^number_as_time at is number in 10 of 100 events. .* milliseconds/,
  ])
})

t.test('a text or number that an operator cannot read is counted, whatever the operator', async (t) => {
  const observed = {
    events: 100,
    hasMorePaths: false,
    fields: [field('code', { text: 100 }, [['123', 60]]), field('zip', { number: 100 }, [[6535, 60]])],
  }
  const { findings } = checkRules(
    [rule([clause('code', 'contains', 3), clause('zip', 'starts_with', '65')])],
    {
      now,
      findObserved: () => observed,
    },
  )
  t.same(
    findings.map(({ code, message }) => `${code} ${message}`),
    [
      'mixed_kinds code is text in 100 of 100 events. It counts as missing for contains, because 3 is not a text, so no text contains it.',
      'mixed_kinds zip is number in 100 of 100 events, which counts as missing for starts_with.',
    ],
  )
})

function rule(conditions: Condition[], name = 'A rule'): CheckedRule {
  return { name, trigger: 'LEAD_CREATED', conditions, actions: [task] }
}

function field(
  path: string,
  kindCounts: ObservedField['kindCounts'],
  values: [value: unknown, count: number][] = [],
  more: Partial<ObservedField> = {},
): ObservedField {
  const top = values.map(([value, count]) => ({ value, count }))
  const kinds = Object.keys(kindCounts) as ObservedField['kinds']
  return { path, kinds, kindCounts, share: 1, distinct: top.length, isDistinctAtLeast: false, top, ...more }
}

function clause(field: string, operator: string, value?: unknown): Condition {
  return value === undefined ? { field, operator } : { field, operator, value }
}
