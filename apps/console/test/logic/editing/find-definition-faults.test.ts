import t from 'tap'
import { findDefinitionFaults } from '../../../pages/logic/editing/find-definition-faults.js'
import { evaluateDefinition } from '../../../pages/logic/evaluate-definition.js'

const actions = [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }]
const rule = { name: 'Hot leads', description: '', trigger: 'LEAD_CREATED', conditions: [], actions }
const find = (...conditions: object[]) => findDefinitionFaults({ ...rule, conditions } as never)
const clause = (operator: string, value?: unknown, field = 'score') => ({ field, operator, value })

t.test('an emptied number, a word for a time and an empty list are faults of their field', async (t) => {
  t.match(find(clause('greater_than', null)), [
    { field: 'conditions[0].value', message: 'Must be a number', isUnfinished: true },
  ])
  t.match(find(clause('greater_than')), [
    { field: 'conditions[0].value', message: 'Required', isUnfinished: true },
  ])
  t.match(find(clause('before', 'tomorrow')), [
    { field: 'conditions[0].value', message: /^Must be an ISO 8601 date/, isUnfinished: false },
  ])
  t.match(find(clause('in', [])), [{ field: 'conditions[0].value', message: 'Must have at least 1 item' }])
  t.match(find(clause('between', [5, 1])), [{ field: 'conditions[0].value', message: /low at most high/ }])
  t.match(find(clause('equals', { a: 1 })), [{ field: 'conditions[0].value' }])
  t.match(find(clause('contains_any', { field: 'tags' })), [{ field: 'conditions[0].value' }])
  t.match(find({ some: 'items', that: [{ every: 'tags', that: [clause('equals', 1)] }] }), [
    { field: 'conditions[0].that[0].every', message: /list within a list/ },
  ])
  t.match(find(clause('nothing', 1)), [{ field: 'conditions[0].operator' }])
  t.match(find(clause('exists', undefined, '')), [
    { field: 'conditions[0].field', message: 'Must have at least 1 character', isUnfinished: true },
  ])
  t.match(find({ any: [clause('equals', 1), { not: clause('starts_with', '') }] }), [
    {
      field: 'conditions[0].any[1].not.value',
      message: 'Must have at least 1 character',
      isUnfinished: true,
    },
  ])
})

t.test(
  'a list that is not chosen, an odd number of items and another field are faults of their chips',
  async (t) => {
    const list = (changes: object) => ({ count: 'items', operator: 'gte', value: 3, ...changes })
    t.match(find({ some: '', that: [clause('equals', 1, '')] }), [
      { field: 'conditions[0].some', message: 'Must have at least 1 character', isUnfinished: true },
      { field: 'conditions[0].that[0].field', isUnfinished: true },
    ])
    t.match(find({ every: 'items', that: [] }), [{ field: 'conditions[0].that' }])
    for (const value of [1.5, -1, 1_000_001, '3'])
      t.match(find(list({ value })), [{ field: 'conditions[0].value', isUnfinished: false }])
    t.match(find(list({ value: null })), [{ field: 'conditions[0].value', isUnfinished: true }])
    t.match(find(list({ operator: 'contains' })), [{ field: 'conditions[0].operator' }])
    t.match(find(clause('equals', { field: '' })), [
      { field: 'conditions[0].value.field', message: 'Must have at least 1 character', isUnfinished: true },
    ])
    t.match(find(clause('equals', { root: 'limit' })), [{ field: 'conditions[0].value.root' }])
    t.match(find({ some: 'items', that: [clause('equals', { root: '' })] }), [
      { field: 'conditions[0].that[0].value.root', isUnfinished: true },
    ])
  },
)

t.test('what the service takes has no fault', async (t) => {
  const fine = [
    clause('greater_than', 80),
    clause('between', [1, 5]),
    clause('in', ['DE']),
    clause('equals', ''),
    clause('exists'),
    clause('within_last', '3d'),
    clause('greater_than', { field: 'limit' }),
    { some: 'items', that: [clause('greater_than', { root: 'limit' })] },
    { count: 'items', operator: 'gt', value: 1 },
    { all: [clause('gt', 1), { any: [clause('is_true')] }] },
  ]
  t.strictSame(find(...fine), [])
})

t.test('conditions with a fault have no result, neither a match nor a miss', async (t) => {
  const samples = [{ id: '1', data: { score: 95 }, acceptedAt: null }]
  const evaluate = (condition: object) =>
    evaluateDefinition({ ...rule, conditions: [condition] as never, actions: actions as never }, samples, 0)
  const emptied = evaluate(clause('greater_than', null))
  t.strictSame(emptied.verdicts, [])
  t.match(emptied.faults, [{ field: 'conditions[0].value' }])
  t.strictSame(evaluate(clause('before', 'tomorrow')).verdicts, [])
  t.equal(evaluate(clause('greater_than', 80)).verdicts.length, 1)
})

t.test('an action that is not complete has a fault, and none of the conditions has', async (t) => {
  const draft = {
    ...rule,
    conditions: [clause('exists')],
    actions: [{ type: 'CREATE_TASK', config: { title: '' } }, {}],
  }
  t.match(findDefinitionFaults(draft as never), [
    { field: 'actions[0].config.title', message: 'Must have at least 1 character', isUnfinished: true },
    { field: 'actions[1].config', message: 'Required', isUnfinished: true },
    { field: 'actions[1].type', message: 'Required', isUnfinished: true },
  ])
})

t.test('limits, a schedule, a group, labels and a name have the faults of the service', async (t) => {
  const tell = (changes: object) =>
    findDefinitionFaults({ ...rule, ...changes } as never).map(({ field, message }) => `${field}: ${message}`)
  t.strictSame(tell({}), [])
  const collect = { at: { cron: 'monday 8:00', timezone: '' } }
  t.match(tell({ perKey: { key: '{{owner}}', atMost: { runs: 1, per: '7d' }, collect } }), [
    'perKey.atMost: Must be omitted with collect',
    /^perKey.collect.at.cron: Must have five fields/,
    /^perKey.collect.at.timezone: Must be an IANA time zone/,
  ])
  t.match(tell({ trigger: 'SCHEDULE', schedule: { cron: '0 25 * * *', timezone: 'UTC' } }), [
    /^schedule.cron: /,
  ])
  t.strictSame(tell({ trigger: 'SCHEDULE' }), ['schedule: Required with the trigger SCHEDULE'])
  t.strictSame(tell({ group: 'sales', order: null }), ['order: Required with a group'])
  t.strictSame(tell({ name: '' }), ['name: Must have at least 1 character'])
  t.match(tell({ labels: ['a', 'a'] }), ['labels: Must have no item twice'])
  t.match(tell({ trigger: 'LEAD_CREATD' }), [/^trigger: Invalid trigger type/])
})
