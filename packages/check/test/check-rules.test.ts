import { checkRules, type Finding } from '@automation/check'
import {
  type CheckedRule,
  type Condition,
  defaultWorkLimits,
  describeVocabulary,
  Evaluation,
  findOperator,
  unlimitedBudget,
} from '@automation/engine'
import t from 'tap'
import { type Atom, Atoms } from '../src/atoms.js'
import { solve } from '../src/solve.js'
import { Space } from '../src/space.js'
import { Random } from './corpus/random.js'
import { randomClause } from './corpus/random-rules.js'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const vocabulary = describeVocabulary(defaultWorkLimits)
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
      message: 'Redundant: score is above 80 (conditions[0]) already implies score is above 50.',
    },
  ])
  t.match(
    find([{ ...rule([clause('score', 'gt', 80)]), actions: [{ ...mail, when: clause('score', 'lt', 10) }] }]),
    [{ code: 'unreachable_action', path: 'actions[0].when' }],
  )
})

t.test('a rule of a group never runs if those before it match whenever it does', async (t) => {
  const member = (name: string, order: number, ...conditions: Condition[]) => ({
    ...rule(conditions, name),
    group: 'routing',
    order,
  })
  const hot = member('Hot', 10, clause('score', 'gt', 80))
  const hotter = member('Hotter', 20, clause('score', 'gt', 90))
  t.match(find([hotter, hot]), [
    {
      code: 'never_first',
      severity: 'error',
      path: 'order',
      rule: { name: 'Hotter' },
      others: [{ name: 'Hot', path: 'order' }],
      message: 'Never runs: whenever it matches, "Hot" matches too, and comes first in the group routing.',
    },
  ])
  const cold = member('Cold', 20, clause('score', 'lte', 80))
  const numbers = member('Numbers', 30, clause('score', 'gt', 0))
  t.match(find([numbers, cold, hot]), [
    { code: 'never_first', rule: { name: 'Numbers' }, others: [{ name: 'Hot' }, { name: 'Cold' }] },
  ])
  t.match(find([member('Pool', 5), hot]), [{ code: 'never_first', rule: { name: 'Hot' } }])
  t.match(
    find([member('A', 5), member('B', 5)]),
    [{ rule: { name: 'B' }, others: [{ name: 'A' }] }],
    'the oldest',
  )
  t.strictSame(
    find([hot, cold, member('Otherwise', 90)]),
    [],
    'one without conditions at the end is otherwise',
  )
  t.strictSame(find([hot, { ...hotter, trigger: 'LEAD_UPDATED' }]), [], 'of another trigger')
  t.strictSame(find([{ ...hot, isActive: false }, hotter]), [], 'inactive rules are not asked')
})

t.test('what depends on which rule of a group runs is left open', async (t) => {
  const first = { ...rule([clause('score', 'gt', 80)], 'First'), group: 'a', order: 1 }
  const alone = rule([clause('score', 'gt', 50)], 'Alone')
  const { findings, notKnown } = checkRules([first, alone], { now })
  t.strictSame(findings, [])
  t.match(notKnown, [
    { code: 'overlap', rule: { name: 'Alone' }, reason: /depends on which rule of a group runs/ },
  ])
  const emit = { type: 'EMIT_EVENT', config: { eventType: 'LEAD_CREATED' } } as const
  const loop = checkRules([{ ...first, conditions: [], actions: [emit] }], { now })
  t.strictSame(loop.findings, [])
  t.match(loop.notKnown, [{ code: 'loop' }])
  const list = { some: 'items', that: [clause('qty', 'gt', 5)] } as Condition
  const open = checkRules(
    [
      { ...first, conditions: [list] },
      { ...first, order: 2 },
    ],
    { now },
  )
  t.ok(open.notKnown.some(({ code, rule: { index } }) => code === 'never_first' && index === 1))
  const always = { any: [clause('vip', 'exists'), clause('vip', 'not_exists')] }
  t.match(find([{ ...first, conditions: [always] }]), [{ message: /^Matches every event/ }])
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
  const passes = { id: '{{id}}', stage: 'won', note: '{{note}}' }
  const oneWhen = (when: object) => ({
    ...one,
    actions: [{ ...emit('DEAL_CREATED', passes), when } as never],
  })
  const back = { ...two, actions: [emit('DEAL_WON', passes)] }
  t.match(find([oneWhen(clause('note', 'exists')), back]), [
    { code: 'loop', witness: { data: { stage: 'won', note: String } } },
  ])
  const { findings, notKnown } = checkRules([oneWhen(clause('stage', 'equals', 'lost')), back], { now })
  const loops = [...findings, ...notKnown].filter(({ code }) => code === 'loop')
  t.same(loops, [], 'where the condition of the action ends it, there is none, either')
})

t.test(
  'a circle of events of a list is found where its witness goes round, and is left open where an item decides',
  async (t) => {
    const each = (data: object) => ({
      ...rule([clause('stage', 'equals', 'won')], 'Each'),
      trigger: 'DEAL_WON',
      actions: [
        {
          type: 'EMIT_EVENT',
          config: { eventType: 'DEAL_WON', forEach: 'lines', data },
        } as CheckedRule['actions'][number],
      ],
    })
    t.match(find([each({ stage: 'won', lines: '{{lines}}' })]), [
      { code: 'loop', witness: { data: { stage: 'won', lines: [{}] } } },
    ])
    t.same(find([each({ stage: 'done' })]), [])
    const { findings, notKnown } = checkRules([each({ stage: '{{item.stage}}', lines: '{{lines}}' })], {
      now,
    })
    t.same(findings, [])
    t.match(notKnown, [{ code: 'loop' }])
  },
)

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

t.test('an operator that is the opposite of another one is its exact opposite', async (t) => {
  const opposites = vocabulary.operators.flatMap(({ name, example }) => {
    const { opposite } = findOperator(name) ?? {}
    return opposite === undefined ? [] : [{ name, opposite, value: example.value }]
  })
  t.equal(opposites.length, 7)
  for (const { name, opposite, value } of opposites) {
    for (const actual of [undefined, null, '', 'a', 1, 1.5, '1', true, [], ['a'], {}, { a: 1 }]) {
      const evaluate = (name: string) => findOperator(name)?.compile(value)(actual, new Evaluation(0))
      t.not(evaluate(name), evaluate(opposite), `${name} of ${JSON.stringify(actual)}`)
    }
  }
})

t.test('every operator occurs in the random rules', async (t) => {
  const random = new Random(1)
  const seen = new Set(
    Array.from({ length: 2_000 }, () => (randomClause(random, 'it') as { operator: string }).operator),
  )
  for (const { name } of vocabulary.operators) t.ok(seen.has(name), `${name} occurs in random-rules.ts`)
})

t.test('an operator that the check does not know leaves every question open', async (t) => {
  const divisible: Atom = {
    key: 'n divisible_by 7',
    path: 'n',
    operator: 'divisible_by',
    value: 7,
    isFilled: false,
    test: (actual) => typeof actual === 'number' && actual % 7 === 0 && actual > 100,
  }
  const space = new Space([divisible], now, unlimitedBudget())
  t.equal(solve([space.literal(divisible, false)], space).is, 'unknown', 'no value of it is known')
  t.equal(solve([space.literal(divisible, true)], space).is, 'possible')
  const positive = new Atoms().find({ field: 'n', operator: 'greater_than', value: 0 }).atom
  const both = new Space([divisible, positive], now, unlimitedBudget())
  const ask = (isNegated: boolean) =>
    solve([both.literal(divisible, isNegated), both.literal(positive, true)], both).is
  t.equal(ask(false), 'unknown')
  t.equal(ask(true), 'possible')
})

function find(rules: CheckedRule[]): Finding[] {
  return checkRules(rules, { now }).findings
}

function rule(conditions: Condition[], name = 'A rule'): CheckedRule {
  return { name, trigger: 'LEAD_CREATED', conditions, actions: [mail] }
}

function clause(field: string, operator: string, value?: unknown): Condition {
  return value === undefined ? { field, operator } : { field, operator, value }
}
