import { type CheckedRule, checkRules, codes, type Finding, type ObservedFields } from '@automation/check'
import { type Condition, findOperator, Judging, type ObservedField } from '@automation/engine'
import t from 'tap'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const task = { type: 'CREATE_TASK', config: { title: 'Call' } } as const
const mail = { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello', template: 'hello' } } as const

t.test('each code has its finding, with a sentence, a path and a witness', async (t) => {
  t.match(find([rule([clause('score', 'gt', 80), clause('score', 'lt', 50)])]), [
    {
      code: 'never_matches',
      severity: 'error',
      message:
        'Never runs: score is above 80 and score is below 50 cannot hold together (conditions[0] and conditions[1]).',
      witness: null,
    },
  ])
  t.match(find([rule([clause('at', 'within_last', '24h'), clause('at', 'before', '2026-01-31')])]), [
    { code: 'dead_since', message: /^Has not run since 2026-01-31T23:59:59.999Z, and never will again/ },
  ])
  t.match(find([rule([{ any: [clause('vip', 'exists'), clause('vip', 'not_exists')] }])]), [
    { code: 'always_true', path: 'conditions' },
  ])
  t.match(find([rule([clause('score', 'gt', 80), clause('score', 'gt', 50)])]), [
    {
      code: 'implied',
      path: 'conditions[1]',
      message: 'score is above 50 says nothing new: score is above 80 is asked already (conditions[0]).',
    },
  ])
  t.match(
    find([{ ...rule([clause('score', 'gt', 80)]), actions: [{ ...mail, when: clause('score', 'lt', 10) }] }]),
    [{ code: 'unreachable_action', path: 'actions[0].when' }],
  )
})

t.test('rules that mail the same address are compared, with an event for which both do', async (t) => {
  const hot = rule([clause('score', 'gt', 80)], 'Hot leads')
  t.match(find([hot, rule([clause('score', 'gt', 80)], 'Copy')]), [
    {
      code: 'duplicate',
      rule: { index: 1, name: 'Copy' },
      others: [{ index: 0, name: 'Hot leads', path: 'actions[0]' }],
      witness: { data: { email: 'ada@example.com' } },
    },
  ])
  const all = {
    ...rule([], 'All leads'),
    actions: [mail, { type: 'CREATE_TASK' as const, config: { title: 'Look' } }],
  }
  t.match(find([all, hot]), [
    {
      code: 'contained',
      message: 'Whenever this runs, "All leads" runs too, and both mail {{email}}.',
      others: [{ name: 'All leads' }],
    },
  ])
  const german = rule([clause('country', 'equals', 'DE')], 'German leads')
  t.match(find([hot, german]), [
    { code: 'overlap', severity: 'info', witness: { type: 'LEAD_CREATED', data: { country: 'DE' } } },
  ])
  t.same(find([hot, { ...german, isActive: false }]), [], 'an inactive rule does nothing')
  t.same(find([hot, rule([clause('score', 'lt', 20)])]), [], 'rules that exclude one another do not')
})

t.test('a circle of EMIT_EVENT is found where its data can go round', async (t) => {
  const emit = (eventType: string, data?: object) =>
    ({ type: 'EMIT_EVENT', config: { eventType, ...(data && { data }) } }) as CheckedRule['actions'][number]
  const one = {
    ...rule([clause('stage', 'equals', 'won')], 'One'),
    trigger: 'DEAL_WON',
    actions: [emit('DEAL_CREATED', { id: '{{id}}', stage: 'won' })],
  }
  const two = {
    ...rule([clause('id', 'exists')], 'Two'),
    trigger: 'DEAL_CREATED',
    actions: [emit('DEAL_WON', { stage: '{{stage}}' })],
  }
  t.match(find([one, two]), [
    {
      code: 'loop',
      severity: 'error',
      message: /"One" → DEAL_CREATED → "Two" → DEAL_WON → "One"/,
      others: [{ name: 'Two' }],
      witness: { type: 'DEAL_WON', data: { stage: 'won' } },
    },
  ])
  const ends = { ...two, actions: [emit('DEAL_WON', { stage: 'done' })] }
  t.same(find([one, ends]), [], 'where the data ends it, there is no loop')
})

t.test('an action is done only where no action before it fails', async (t) => {
  const post = {
    type: 'SEND_NOTIFICATION',
    config: { url: 'https://chat.example.com/', text: '{{text}}' },
  } as const
  const update = (data?: Record<string, unknown>) =>
    ({ type: 'EMIT_EVENT', config: { eventType: 'LEAD_UPDATED', ...(data && { data }) } }) as const
  const chain = (actions: CheckedRule['actions'], conditions: Condition[] = [], name = 'Chain') => [
    { name, trigger: 'LEAD_UPDATED', conditions, actions },
  ]
  t.same(find(chain([mail, update({ id: '{{id}}' })])), [], 'the next event has no address')
  t.same(find(chain([mail, update()], [clause('email', 'not_exists')])), [], 'none has')
  t.match(find(chain([{ ...mail, continueOnError: true }, update({ id: '{{id}}' })])), [{ code: 'loop' }])
  t.match(find(chain([mail, update({ email: '{{lead.email}}', lead: '{{lead}}' })])), [
    { code: 'loop', witness: { data: { email: 'ada@example.com', lead: { email: 'ada@example.com' } } } },
  ])
  t.match(find(chain([mail, post, update({ email: '{{email}}', text: '{{id}}', id: '{{id}}' })])), [
    { code: 'loop', witness: { data: { email: 'ada@example.com', text: 'x', id: 'x' } } },
  ])

  const [one] = chain([mail], [], 'One') as [CheckedRule]
  const [second] = chain([post, mail], [], 'Second') as [CheckedRule]
  const both = { email: 'ada@example.com', text: 'x' }
  for (const rules of [
    [one, second],
    [second, one],
  ])
    t.match(
      find(rules),
      [
        {
          code: 'contained',
          rule: { name: 'Second' },
          message: 'Whenever this runs, "One" runs too, and both mail {{email}}.',
          witness: { data: both },
        },
      ],
      'the other way round it is not so',
    )
  const hot = { ...one, conditions: [clause('score', 'gt', 80)] }
  t.match(find([second, hot]), [{ code: 'overlap', witness: { data: both } }], 'the text may be missing')
  const patient = { ...second, actions: [{ ...post, continueOnError: true }, mail] }
  t.match(find([patient, hot]), [{ code: 'contained', rule: { name: 'One' } }])
  t.match(find([second, { ...second, name: 'Copy' }]), [{ code: 'duplicate' }])
  const never = { ...second, conditions: [clause('text', 'not_exists')] }
  t.same(find([one, never]), [], 'it never mails')
  const named = { ...one, actions: [{ ...mail, config: { ...mail.config, subject: '{{name}}' } }] }
  t.match(find([named, hot]), [{ code: 'overlap' }], 'a subject may be missing')
})

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
        'score is text in 20,000 of 48,210 events, and "007" is no number: greater_than takes it for missing.',
      ],
    ]),
  )
})

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
    checkRules([{ ...rule(conditions), actions: [task] }], {
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

t.test('a rule set without faults has no findings', async (t) => {
  t.same(
    find([
      rule([
        clause('score', 'gt', 80),
        clause('country', 'in', ['DE', 'AT']),
        clause('name', 'matches', '^A'),
      ]),
    ]),
    [],
  )
  t.same(find([rule([])]), [], 'a rule without conditions runs for every event on purpose')
})

t.test('what is beyond a cap is not known, and no finding', async (t) => {
  const parts = Array.from({ length: 14 }, (_, n) => clause('name', 'contains', `part ${n}`))
  const result = checkRules([rule([...parts, clause('name', 'not_contains', 'part 3')])], { now })
  t.same(result.findings, [])
  t.match(result.notKnown, [{ code: 'never_matches', rule: { index: 0 } }])
})

t.test('operators that are taken for opposites are opposites', async (t) => {
  const pairs = {
    not_equals: ['equals', 1],
    not_between: ['between', [1, 2]],
    not_in: ['in', [1, 'a']],
    not_contains: ['contains', 'a'],
    not_matches: ['matches', 'a'],
    not_exists: ['exists'],
    is_not_empty: ['is_empty'],
  }
  for (const [negative, [positive, value]] of Object.entries(pairs)) {
    for (const actual of [undefined, null, '', 'a', 1, 1.5, '1', true, [], ['a'], {}, { a: 1 }]) {
      const judge = (name: string) => findOperator(name)?.compile(value)(actual, new Judging(0))
      t.not(judge(negative), judge(positive as string), `${negative} of ${JSON.stringify(actual)}`)
    }
  }
  t.equal(Object.keys(codes).length, 14)
})

function find(rules: CheckedRule[]): Finding[] {
  return checkRules(rules, { now }).findings
}

function rule(conditions: Condition[], name = 'A rule'): CheckedRule {
  return { name, trigger: 'LEAD_CREATED', conditions, actions: [mail] }
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
