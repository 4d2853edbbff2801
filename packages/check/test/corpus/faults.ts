import type { Code, ObservedFields } from '@automation/check'
import type { CheckedRule, Condition, FieldKind } from '@automation/engine'
import { contradictions, redundancies, tautologies } from './fault-conditions.js'
import type { Random } from './random.js'

/** A set of rules with one fault in it. */
export interface Planted {
  readonly rules: CheckedRule[]
  readonly code: Code
  /** The rule that has it, and where it is about others, theirs. */
  readonly rule: number
  readonly others: readonly number[]
  readonly path?: string
  readonly observed?: ObservedFields
  /** A type of which there is no event. */
  readonly unseen?: string
}

type Plant = (random: Random, rules: CheckedRule[]) => Omit<Planted, 'rules' | 'code'>

const unseen = 'DEAL_LOST'

const plants: Record<Code, Plant> = {
  never_matches: (random, rules) =>
    addRule(random, rules, withNoise(random, random.pick(contradictions)(random))),
  dead_since: (random, rules) =>
    addRule(random, rules, [
      { field: 'seenAt', operator: 'within_last', value: random.pick(['24h', '7d', '60d']) },
      { field: 'seenAt', operator: 'before', value: random.pick(['2025-06-01', '2024-01-31T10:00:00Z']) },
    ]),
  never_first(random, rules) {
    const [index, rule] = pickRule(random, rules)
    const group = `group-${random.below(1e6)}`
    const order = random.below(100)
    const more: Condition = { field: 'region', operator: 'equals', value: `r${random.below(9)}` }
    rules[index] = { ...rule, group, order }
    const later = { ...rule, name: 'Later', conditions: [...rule.conditions, more], group }
    rules.push({ ...later, order: order + random.below(3) })
    return { rule: rules.length - 1, others: [index] }
  },
  always_true: (random, rules) => addRule(random, rules, [random.pick(tautologies)(random)]),
  implied(random, rules) {
    const [strong, weak] = random.pick(redundancies)(random)
    return { ...addRule(random, rules, [strong, weak]), path: 'conditions[1]' }
  },
  unreachable_action(random, rules) {
    const found = addRule(random, rules, [{ field: 'score', operator: 'greater_than', value: 80 }])
    const when = random.pick<Condition>([
      { field: 'score', operator: 'less_than', value: 20 + random.below(50) },
      { field: 'score', operator: 'not_exists' },
      { field: 'score', operator: 'is_true' },
      {
        all: [
          { field: 'vip', operator: 'is_true' },
          { field: 'score', operator: 'equals', value: random.below(80) },
        ],
      },
    ])
    const rule = rules[found.rule] as CheckedRule
    rules[found.rule] = {
      ...rule,
      actions: [...rule.actions, { ...task(`Second ${random.below(1e6)}`), when }],
    }
    return { ...found, path: 'actions[1].when' }
  },
  duplicate(random, rules) {
    const [index, rule] = pickRule(random, rules)
    const conditions = rule.conditions
      .toReversed()
      .map((condition) => (random.chance(0.3) ? { not: { not: condition } } : condition))
    rules.push({ ...rule, name: 'Copy', conditions })
    return { rule: rules.length - 1, others: [index] }
  },
  contained(random, rules) {
    const [index, rule] = pickRule(random, rules)
    const more: Condition = { field: 'region', operator: 'equals', value: `r${random.below(9)}` }
    const action = { ...rule.actions[0] } as CheckedRule['actions'][number]
    rules.push({
      ...rule,
      name: 'Narrow',
      conditions: [...rule.conditions, more],
      actions: [action, task(`Own ${random.below(1e6)}`)],
    })
    return { rule: rules.length - 1, others: [index] }
  },
  overlap(random, rules) {
    const [index, rule] = pickRule(random, rules)
    const conditions = random.pick<Condition[]>([
      [{ field: 'region', operator: 'in', value: ['r1', 'r2'] }],
      [
        { field: 'region', operator: 'starts_with', value: 'r' },
        { field: 'age', operator: 'between', value: [18, 30] },
      ],
      [
        {
          any: [
            { field: 'age', operator: 'less_than', value: 18 },
            { field: 'region', operator: 'exists' },
          ],
        },
      ],
    ])
    const first = rule.conditions.length === 0 ? [] : conditions
    rules[index] = {
      ...rule,
      conditions: rule.conditions.length === 0 ? [{ field: 'phone', operator: 'exists' }] : rule.conditions,
    }
    rules.push({ ...rule, name: 'Other', conditions: first.length > 0 ? first : conditions })
    return { rule: rules.length - 1, others: [index] }
  },
  loop: plantLoop,
  unknown_zone(random, rules) {
    const found = addRule(random, rules, [])
    const timezone = random.pick(['BST', 'AST', 'Mars/Base'])
    rules[found.rule] = { ...(rules[found.rule] as CheckedRule), schedule: { cron: '0 9 * * *', timezone } }
    return { ...found, path: 'schedule.timezone' }
  },
  unknown_field: (random, rules) =>
    observe(
      addRule(random, rules, [{ field: random.pick(['scor', 'Status', 'lead.nam']), operator: 'exists' }]),
      'conditions[0]',
    ),
  unseen_value: (random, rules) =>
    observe(
      addRule(random, rules, [
        { field: 'status', operator: 'equals', value: random.pick(['New', 'one', 'gone']) },
      ]),
      'conditions[0]',
    ),
  mixed_kinds: (random, rules) =>
    observe(
      addRule(random, rules, [
        random.pick<Condition>([
          { field: 'tags', operator: 'greater_than', value: 5 },
          { field: 'score', operator: 'less_than', value: 8 },
        ]),
      ]),
      'conditions[0]',
    ),
  number_as_time: (random, rules) =>
    observe(
      addRule(random, rules, [
        random.pick<Condition>([
          { field: 'sentAt', operator: 'within_last', value: '7d' },
          { field: 'sentAt', operator: 'after', value: '2026-01-01' },
        ]),
      ]),
      'conditions[0]',
    ),
  unseen_placeholder(random, rules) {
    const found = addRule(random, rules, [])
    const rule = rules[found.rule] as CheckedRule
    rules[found.rule] = {
      ...rule,
      actions: [task(`Call {{${random.pick(['emial', 'stauts', 'nobody'])}}} ${random.below(1e6)}`)],
    }
    return observe(found, 'actions[0].config.title')
  },
  unseen_event_type(random, rules) {
    const found = addRule(random, rules, [])
    const rule = rules[found.rule] as CheckedRule
    const wait = { eventType: unseen, match: { id: `{{id}}${random.below(1e6)}` }, then: 'stop' } as const
    rules[found.rule] = { ...rule, actions: [{ type: 'WAIT', config: { duration: '1d', for: wait } }] }
    return { ...observe(found, 'actions[0].config.for.eventType'), unseen }
  },
  unusable_credential(random, rules) {
    const found = addRule(random, rules, [])
    const rule = rules[found.rule] as CheckedRule
    const [host, text] = random.pick([
      ['crm.example.com', 'Token {{credentials.GONE}}'],
      ['other.example.com', '{{credentials.CRM}}'],
      ['crm.example.com', 'x {{credentials.LOGIN}}'],
    ] as const)
    const config = { url: `https://${host}/${random.below(1e6)}`, headers: { authorization: text } }
    rules[found.rule] = { ...rule, actions: [{ type: 'SEND_WEBHOOK', config }] }
    return { ...found, path: 'actions[0].config.headers.authorization' }
  },
  doubtful_form(random, rules) {
    if (random.chance(0.3)) {
      const value = random.pick([1_767_225_600, 1_767_225_600_000])
      const condition = random.pick<Condition>([
        { field: 'createdAt', operator: 'not_equals', value: String(value) },
        { field: 'lead.due_date', operator: 'greater_than', value },
      ])
      return { ...addRule(random, rules, [condition]), path: 'conditions[0].value' }
    }
    const found = addRule(random, rules, [])
    const rule = rules[found.rule] as CheckedRule
    const path = random.pick(['title', 'description'])
    const text = random.pick(['{{lead.name | default:friend}}', 'To {{else}}', '{{this.name}}'])
    const config = { title: `Call ${random.below(1e6)}`, [path]: text }
    rules[found.rule] = { ...rule, actions: [{ type: 'CREATE_TASK', config }] }
    return { ...found, path: `actions[0].config.${path}` }
  },
}

/** Of the workspace. */
export const credentials = [
  { name: 'CRM', kind: 'text', hosts: ['crm.example.com'] },
  { name: 'LOGIN', kind: 'basic', hosts: ['crm.example.com'] },
]

export const plantedCodes = Object.keys(plants) as Code[]

/** A random rule set with a fault of the kind. */
export function plantFault(random: Random, code: Code): Planted {
  const rules = Array.from({ length: 2 + random.below(6) }, (_, index) => cleanRule(random, index))
  return { ...plants[code](random, rules), code, rules }
}

/** A rule whose effect no other rule has. */
export function cleanRule(random: Random, index: number): CheckedRule {
  const clauses: Condition[] = [
    { field: 'score', operator: 'greater_than', value: random.below(90) },
    { field: 'status', operator: 'equals', value: random.pick(['new', 'won', 'lost']) },
    { field: 'country', operator: 'in', value: random.some(['DE', 'AT', 'CH', 'FR']) },
    {
      any: [
        { field: 'tags', operator: 'contains', value: 'vip' },
        { field: 'amount', operator: 'gte', value: random.below(5_000) },
      ],
    },
    { field: 'email', operator: 'ends_with', value: '@acme.com' },
    { field: 'lead.name', operator: 'is_not_empty' },
    { not: { field: 'owner', operator: 'equals', value: 'grace' } },
    { field: 'createdAt', operator: 'within_last', value: '30d' },
  ]
  return {
    name: `Rule ${index}`,
    trigger: 'LEAD_CREATED',
    conditions: random.some(clauses),
    actions: [task(`Call {{lead.name}} ${index} ${random.below(1e9)}`)],
  }
}

function task(title: string): CheckedRule['actions'][number] {
  return { type: 'CREATE_TASK', config: { title } }
}

function addRule(random: Random, rules: CheckedRule[], conditions: Condition[]) {
  const rule = { ...cleanRule(random, rules.length), conditions }
  rules.splice(random.below(rules.length + 1), 0, rule)
  return { rule: rules.indexOf(rule), others: [] }
}

function pickRule(random: Random, rules: CheckedRule[]): [number, CheckedRule] {
  const index = random.below(rules.length)
  return [index, rules[index] as CheckedRule]
}

/** Conditions that have nothing to do with the others. */
function withNoise(random: Random, conditions: Condition[]): Condition[] {
  const noise: Condition[] = [
    { field: 'phone', operator: 'exists' },
    { field: 'region', operator: 'not_equals', value: 'r7' },
    {
      any: [
        { field: 'age', operator: 'gt', value: 30 },
        { field: 'vip', operator: 'is_true' },
      ],
    },
  ]
  return random.chance(0.5)
    ? [random.pick(noise), ...conditions]
    : [...conditions, ...(random.chance(0.5) ? [random.pick(noise)] : [])]
}

/** A circle of one to four rules that pass a state on, with a field of the event. */
function plantLoop(random: Random, rules: CheckedRule[]) {
  const types = ['DEAL_CREATED', 'DEAL_WON', 'DEAL_LOST', 'DEAL_STAGE_CHANGED'].slice(0, 1 + random.below(4))
  const isWhole = random.chance(0.3)
  const first = rules.length
  types.forEach((trigger, n) => {
    const next = types[(n + 1) % types.length] as string
    const data = isWhole
      ? undefined
      : { stage: `s${(n + 1) % types.length}`, amount: '{{amount}}', lead: { id: '{{lead.id}}' } }
    const stage: Condition = isWhole
      ? { field: 'stage', operator: 'exists' }
      : { field: 'stage', operator: 'equals', value: `s${n}` }
    rules.push({
      name: `Step ${n}`,
      trigger,
      conditions: [
        stage,
        { field: 'amount', operator: 'greater_than', value: random.below(100) },
        { field: 'lead.id', operator: 'exists' },
      ],
      actions: [
        {
          type: 'EMIT_EVENT',
          config: { eventType: next, ...(data && { data }) },
        } as CheckedRule['actions'][number],
      ],
    })
  })
  return { rule: first, others: types.slice(1).map((_, n) => first + n + 1) }
}

function observe(found: { rule: number; others: number[] }, path: string) {
  const field = (name: string, kindCounts: object, values: unknown[], distinct = values.length) => ({
    path: name,
    kinds: Object.keys(kindCounts) as FieldKind[],
    kindCounts,
    share: 0.99,
    distinct,
    isDistinctAtLeast: false,
    top: values.map((value, n) => ({ value, count: 500 - n })),
  })
  const many = Array.from({ length: 10 }, (_, n) => `v${n}`)
  const observed = {
    events: 1_000,
    hasMorePaths: false,
    fields: [
      field('lead', { object: 990 }, []),
      field('score', { number: 600, text: 390 }, [10, '007', 95], 80),
      field('status', { text: 990 }, ['new', 'won', 'lost']),
      field('sentAt', { number: 990 }, [1_767_225_600, 1_795_738_423.217], 80),
      field('tags', { list: 990 }, [], 0),
      ...[
        'country',
        'amount',
        'email',
        'owner',
        'createdAt',
        'phone',
        'region',
        'age',
        'vip',
        'lead.name',
        'lead.id',
      ].map((name) => field(name, { text: 990 }, many, 500)),
    ],
  }
  return { ...found, path, observed }
}
