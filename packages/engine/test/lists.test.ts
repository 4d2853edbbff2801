import fc from 'fast-check'
import t from 'tap'
import { compileCondition, compileItemConditions, normaliseConditions } from '../src/conditions/conditions.js'
import { applyChanges } from '../src/explaining/nearest-change.js'
import { explainWhy } from '../src/explaining/why.js'
import { findRuleFaults } from '../src/faults/faults.js'
import { quantifierDefinitions, quantifiers } from '../src/operators/quantifiers.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { indexRules } from '../src/planning/rule-index.js'
import { ruleHolds } from '../src/planning/run.js'
import type { ListTrace } from '../src/results/outcome.js'
import type { Condition } from '../src/rule.js'
import { Evaluation } from '../src/work/evaluation.js'
import { draws } from './fixtures/draws.js'

const actions = [{ type: 'CREATE_TASK' as const, config: { title: 'x' } }]
const sku: Condition = { field: 'sku', operator: 'equals', value: 'A' }
const many: Condition = { field: 'qty', operator: 'greater_than', value: 5 }
const odd: unknown[] = [undefined, null, [], {}, 'items', 5, true, { 0: { sku: 'A', qty: 6 }, length: 1 }]

function holds(condition: Condition, data: unknown): boolean {
  return compileCondition(condition).holds(data, new Evaluation(0))
}

function explain(condition: Condition, data: unknown): ListTrace {
  return compileCondition(condition).explain(data, new Evaluation(0), new Evaluation(0)) as ListTrace
}

function faultsOf(...conditions: unknown[]) {
  return findRuleFaults({ conditions })
}

t.test('the example of each condition on a list is true', async (t) => {
  t.same(quantifiers, ['some', 'every', 'none', 'count'])
  for (const { name, example } of quantifierDefinitions) {
    const condition = example.condition as Condition
    t.same(faultsOf(condition), [], name)
    for (const data of example.holds) t.ok(holds(condition, data), `${name} ${JSON.stringify(data)}`)
    for (const data of example.fails) t.notOk(holds(condition, data), `${name} ${JSON.stringify(data)}`)
  }
})

t.test('all conditions must hold for the same item', async (t) => {
  const some: Condition = { some: 'items', that: [sku, many] }
  const apart = {
    items: [
      { sku: 'A', qty: 1 },
      { sku: 'B', qty: 9 },
    ],
  }
  t.notOk(holds(some, apart))
  t.ok(
    holds(
      {
        all: [
          { some: 'items', that: [sku] },
          { some: 'items', that: [many] },
        ],
      },
      apart,
    ),
  )
  t.ok(holds(some, { items: [...apart.items, { sku: 'A', qty: 6 }] }))
})

t.test(
  'what is no list, and an empty one, fulfils neither `some` nor `every`, fulfils `none`, and counts 0',
  async (t) => {
    for (const items of odd) {
      const data = { items }
      const shown = JSON.stringify(items) ?? 'missing'
      t.notOk(holds({ some: 'items', that: [sku] }, data), shown)
      t.notOk(holds({ every: 'items', that: [sku] }, data), shown)
      t.ok(holds({ none: 'items', that: [sku] }, data), shown)
      t.ok(holds({ not: { every: 'items', that: [sku] } }, data), shown)
      t.ok(holds({ count: 'items', operator: 'equals', value: 0 }, data), shown)
      t.ok(holds({ count: 'items', that: [sku], operator: 'lt', value: 3 }, data), shown)
      t.notOk(holds({ count: 'items', operator: 'gte', value: 1 }, data), shown)
    }
  },
)

t.test('paths begin at the item, `.` is the item itself, and `root` reads the event', async (t) => {
  const tagged: Condition = { some: 'lead.tags', that: [{ field: '.', operator: 'starts_with', value: 'v' }] }
  t.ok(holds(tagged, { lead: { tags: ['new', 'vip'] } }))
  t.notOk(holds(tagged, { lead: { tags: ['new', 7, null] } }))
  const over: Condition = {
    some: 'lines',
    that: [{ field: 'price', operator: 'greater_than', value: { root: 'limit' } }],
  }
  t.ok(holds(over, { limit: 10, lines: [{ price: 5, limit: 1 }, { price: 11 }] }))
  t.notOk(holds(over, { limit: 10, lines: [{ price: 5, limit: 1 }] }))
  const within: Condition = {
    every: 'lines',
    that: [{ field: 'used', operator: 'less_than_or_equal', value: { field: 'limit' } }],
  }
  t.ok(holds(within, { limit: 1, lines: [{ used: 5, limit: 5 }] }))
  t.notOk(holds(within, { limit: 9, lines: [{ used: 5 }] }), 'no limit in the item')
})

t.test('`count` compares the number of items', async (t) => {
  const data = { items: [1, 7, 8, 9] }
  const that: Condition[] = [{ field: '.', operator: 'gt', value: 5 }]
  const expected: [string, number, boolean][] = [
    ['equals', 3, true],
    ['eq', 2, false],
    ['not_equals', 3, false],
    ['not_equals', 4, true],
    ['greater_than', 2, true],
    ['greater_than', 3, false],
    ['greater_than_or_equal', 3, true],
    ['greater_than_or_equal', 4, false],
    ['less_than', 4, true],
    ['less_than', 3, false],
    ['less_than_or_equal', 3, true],
    ['less_than_or_equal', 2, false],
    ['greater_than_or_equal', 0, true],
    ['less_than', 0, false],
  ]
  for (const [operator, value, verdict] of expected) {
    t.equal(holds({ count: 'items', that, operator, value }, data), verdict, `${operator} ${value}`)
    const all = { count: 'items', operator, value: value + 1 }
    t.equal(holds(all, data), verdict, `${operator} ${value + 1} of all`)
  }
})

t.test('a trace names how many items hold, and the one that decided or came nearest', async (t) => {
  const some: Condition = { some: 'items', that: [sku, many] }
  const items = [{ sku: 'B', qty: 1 }, { sku: 'A', qty: 2 }, { qty: 9 }]
  t.match(explain(some, { items }), {
    list: 'items',
    quantifier: 'some',
    items: 3,
    held: 0,
    item: 1,
    conditions: [
      { field: 'sku', verdict: true },
      { field: 'qty', actual: 2, verdict: false, distance: 3 },
    ],
    verdict: false,
  })
  t.match(explain(some, { items: [...items, { sku: 'A', qty: 6 }] }), { held: 1, item: 3, verdict: true })
  t.match(explain({ every: 'items', that: [sku] }, { items }), { held: 1, item: 0, verdict: false })
  t.match(explain({ none: 'items', that: [sku] }, { items }), { held: 1, item: 1, verdict: false })
  const count: Condition = { count: 'items', that: [sku], operator: 'gte', value: 2 }
  t.match(explain(count, { items }), { operator: 'greater_than_or_equal', expected: 2, held: 1, item: 0 })
  t.match(explain(some, { items: 'A' }), { held: 0, note: 'a text is no list, so it has no items' })
  const missing = explain(some, {})
  t.same(missing, { list: 'items', quantifier: 'some', held: 0, verdict: false })
})

t.test('why names the conditions of the nearest item, and the change that would do', async (t) => {
  const conditions: Condition[] = [{ some: 'items', that: [sku, many] }]
  const why = explainWhy({ conditions, actions }, { items: [{ sku: 'B' }, { sku: 'A', qty: 2 }] }, 0)
  t.match(why, {
    decisive: ['conditions[0].that[1]'],
    change: [{ field: 'items[1].qty', from: 2, to: 5.01 }],
  })
  const every: Condition[] = [{ every: 'items', that: [{ field: '.', operator: 'gt', value: 5 }] }]
  t.match(explainWhy({ conditions: every, actions }, { items: [9, 3, 8] }, 0), {
    decisive: ['conditions[0].that[0]'],
    change: [{ field: 'items[1]', from: 3 }],
  })
  t.match(explainWhy({ conditions: every, actions }, { items: [9, 3, 4] }, 0), {
    decisive: ['conditions[0]'],
    change: null,
  })
  t.match(explainWhy({ conditions, actions }, { item: [] }, 0), {
    decisive: ['conditions[0]'],
    change: null,
    trace: { conditions: [{ didYouMean: 'item' }] },
  })
})

t.test('operators within a list are written by their full names', async (t) => {
  t.same(
    normaliseConditions([
      { count: 'a', that: [{ not: { field: '.', operator: 'gt', value: 1 } }], operator: 'eq', value: 1 },
    ]),
    [
      {
        count: 'a',
        that: [{ not: { field: '.', operator: 'greater_than', value: 1 } }],
        operator: 'equals',
        value: 1,
      },
    ],
  )
})

t.test('faults within a list have their paths', async (t) => {
  const inner = (condition: unknown) => ({ some: 'items', that: [condition] })
  const cases: [unknown, string, RegExp][] = [
    [inner({ some: 'a', that: [sku] }), 'conditions[0].that[0].some', /list within a list/],
    [
      inner({ any: [sku, { not: { count: 'a', operator: 'gt', value: 1 } }] }),
      'conditions[0].that[0].any[1].not.count',
      /list/,
    ],
    [
      inner({ field: 'a..b', operator: 'exists' }),
      'conditions[0].that[0].field',
      /or \. for the item itself/,
    ],
    [inner({ field: 'a', operator: 'matches', value: '(' }), 'conditions[0].that[0].value', /./],
    [
      inner({ field: 'a', operator: 'gt', value: { root: 'a..b' } }),
      'conditions[0].that[0].value.root',
      /field path/,
    ],
    [{ some: 'a[', that: [sku] }, 'conditions[0].some', /field path/],
    [{ some: '.', that: [sku] }, 'conditions[0].some', /field path/],
    [{ field: '.', operator: 'exists' }, 'conditions[0].field', /field path/],
    [
      { field: 'a', operator: 'gt', value: { root: 'b' } },
      'conditions[0].value.root',
      /for conditions on the items/,
    ],
    [{ field: 'a', operator: 'gt', value: { field: '.' } }, 'conditions[0].value.field', /field path/],
  ]
  for (const [condition, field, message] of cases) t.match(faultsOf(condition), [{ field, message }], field)
  t.same(faultsOf(inner({ field: '.', operator: 'gt', value: { root: 'limit' } })), [])
})

t.test('conditions within lists count towards the limits', async (t) => {
  const full = { some: 'a', that: Array(50).fill(sku) }
  t.same(faultsOf(full), [])
  t.match(faultsOf(full, sku), [{ field: 'conditions' }])
  t.match(faultsOf(...Array(51).fill({ count: 'a', operator: 'gt', value: 1 })), [{ field: 'conditions' }])
  const nest = (depth: number): unknown => (depth === 0 ? sku : { not: nest(depth - 1) })
  t.same(faultsOf({ some: 'a', that: [nest(7)] }), [])
  t.match(faultsOf({ some: 'a', that: [nest(8)] }), [{ message: /nest/ }])
})

t.test('each item is charged with its clauses, until one decides', async (t) => {
  const spend = (condition: Condition, items: unknown[]) => {
    const evaluation = new Evaluation(0)
    compileCondition(condition).holds({ items }, evaluation)
    return evaluation.spent
  }
  const items = Array.from({ length: 1_000 }, (_, qty) => ({ sku: 'A', qty }))
  const one = { some: 'items', that: [{ field: 'qty', operator: 'equals', value: 0 }] }
  const last = { some: 'items', that: [{ field: 'qty', operator: 'equals', value: 999 }] }
  t.ok(spend(one, items) < 3)
  t.ok(spend(last, items) >= 2_000)
  t.ok(spend({ some: 'items', that: [sku, ...last.that] }, items) >= 3_000)
  t.equal(spend({ count: 'items', operator: 'gt', value: 5 }, items), 0)
})

t.test('a list that costs more than a rule may is not evaluated, and says so', async (t) => {
  const items = Array.from({ length: 20_000 }, (_, qty) => ({ sku: 'A', qty }))
  const heavy: Condition = { every: 'items', that: Array(50).fill({ field: 'sku', operator: 'exists' }) }
  const rule = compileRule({ conditions: [heavy], actions })
  const evaluation = new Evaluation(0)
  t.notOk(ruleHolds(rule, { items }, evaluation))
  t.match(evaluation.fault, /exceeds the evaluation limit of 1000000 cost units/)
  const negated = compileRule({ conditions: [{ not: heavy }], actions })
  t.notOk(ruleHolds(negated, { items }, evaluation), 'its opposite is not known either')
  t.match(explainWhy({ conditions: [heavy], actions }, { items }, 0), {
    conditionsPassed: false,
    decisive: { length: 0 },
    change: null,
    trace: { conditions: [{ verdict: false, warning: /exceeds/ }] },
  })
  const light: Condition = { none: 'items', that: [{ field: 'qty', operator: 'lt', value: 0 }, sku] }
  t.ok(ruleHolds(compileRule({ conditions: [light], actions }), { items }, evaluation))
  t.match(explain(light, { items }), { verdict: true, held: 0, items: 20_000, item: 0 })
})

t.test('no choice of paths and texts makes items cost more than they are charged', async (t) => {
  const digits = '1'.repeat(1_000)
  const data = {
    limit: digits,
    items: Array.from({ length: 1_000 }, () => ({ n: digits, at: 'Tue, 10 Mar 2026 14:00:00 +0100' })),
  }
  const hostile: Condition[] = [
    { field: 'n', operator: 'greater_than', value: { root: 'limit' } },
    { field: 'n', operator: 'equals', value: { root: 'limit' } },
    { field: 'at', operator: 'within_last', value: '1d' },
    { field: Array(250).fill('a').join('.'), operator: 'exists' },
    { field: 'n', operator: 'in', value: { root: 'items' } },
  ]
  for (const that of hostile) {
    const conditions = Array.from({ length: 50 }, () => ({ some: 'items', that: [{ all: [that] }] }))
    const evaluation = new Evaluation(0)
    const rule = compileRule({ conditions: [{ any: conditions }], actions })
    ruleHolds(rule, data, evaluation)
    const startedAt = process.cpuUsage()
    evaluation.beginRule()
    ruleHolds(rule, data, new Evaluation(0))
    const { user } = process.cpuUsage(startedAt)
    t.ok(user < 250_000, `${JSON.stringify(that)}: ${user} µs`)
  }
})

const scalar = fc.constantFrom<unknown>(0, 1, 5, '5', 'a', 'ab', true, null)
const itemField = fc.constantFrom('.', 'a', 'b', 'b.c')
const inner = fc.oneof(
  fc.record({
    field: itemField,
    operator: fc.constantFrom('equals', 'not_equals', 'contains'),
    value: scalar,
  }),
  fc.record({
    field: itemField,
    operator: fc.constantFrom('gt', 'lte'),
    value: fc.integer({ min: -1, max: 6 }),
  }),
  fc.record({
    field: itemField,
    operator: fc.constantFrom('equals', 'not_equals', 'gt', 'contains', 'not_contains'),
    value: fc.oneof(fc.record({ field: itemField }), fc.record({ root: fc.constantFrom('limit', 'items') })),
  }),
  fc.record({ field: itemField, operator: fc.constantFrom('exists', 'not_exists', 'is_empty') }),
)
const { part } = fc.letrec<{ part: Condition }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2 },
    { weight: 4, arbitrary: inner as fc.Arbitrary<Condition> },
    { weight: 1, arbitrary: fc.record({ any: fc.array(tie('part'), { minLength: 1, maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ not: tie('part') }) },
  ),
}))
const that = fc.array(part, { minLength: 1, maxLength: 3 })
const item = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 2 }),
  fc.record({ a: scalar, b: fc.oneof(scalar, fc.record({ c: scalar })) }, { requiredKeys: [] }),
)
const anyData = fc.record(
  { limit: scalar, items: fc.oneof({ weight: 8, arbitrary: fc.array(item, { maxLength: 5 }) }, scalar) },
  { requiredKeys: [] },
)
const countOperator = fc.constantFrom('equals', 'not_equals', 'gt', 'gte', 'lt', 'lte')
const list = fc.oneof(
  fc.record({ some: fc.constant('items'), that }),
  fc.record({ every: fc.constant('items'), that }),
  fc.record({ none: fc.constant('items'), that }),
  fc.record({ count: fc.constant('items'), that, operator: countOperator, value: fc.nat(4) }),
)

t.test('the laws of quantifiers hold', async () => {
  fc.assert(
    fc.property(that, anyData, fc.nat(4), (that, data, n) => {
      const some = holds({ some: 'items', that }, data)
      const every = holds({ every: 'items', that }, data)
      const items = Array.isArray(data.items) ? data.items : []
      const conditions = compileItemConditions(that)
      const held = items.filter((one) => conditions.hold(one, data, new Evaluation(0))).length
      const counts = (operator: string) => holds({ count: 'items', that, operator, value: n }, data)
      return (
        holds({ none: 'items', that }, data) === !some &&
        holds({ count: 'items', that, operator: 'gte', value: 1 }, data) === some &&
        (items.length === 0
          ? !every
          : every === !holds({ some: 'items', that: [{ not: { all: that } }] }, data)) &&
        counts('eq') === (held === n) &&
        counts('neq') === (held !== n) &&
        counts('gt') === held > n &&
        counts('gte') === held >= n &&
        counts('lt') === held < n &&
        counts('lte') === held <= n
      )
    }),
    { numRuns: draws(3_000) },
  )
})

t.test('a trace of a list has the result of its evaluation, and charges the same', async () => {
  fc.assert(
    fc.property(list as fc.Arbitrary<Condition>, anyData, (condition, data) => {
      const [evaluation, explained] = [new Evaluation(0), new Evaluation(0)]
      const compiled = compileCondition(condition)
      const verdict = compiled.holds(data, evaluation)
      const trace = compiled.explain(data, explained, new Evaluation(0)) as ListTrace
      const items = Array.isArray(data.items) ? data.items : []
      return (
        trace.verdict === verdict &&
        explained.spent === evaluation.spent &&
        (trace.item === undefined || trace.item < items.length) &&
        (items.length === 0 || trace.held !== undefined)
      )
    }),
    { numRuns: draws(3_000) },
  )
})

t.test('a change that why proposes for a list makes the rule match', async () => {
  let found = 0
  fc.assert(
    fc.property(list as fc.Arbitrary<Condition>, anyData, (condition, data) => {
      const why = explainWhy({ conditions: [condition], actions }, data, 0)
      if (why.conditionsPassed !== holds(condition, data)) return false
      if (why.change === null) return true
      found++
      return !why.conditionsPassed && holds(condition, applyChanges(data, why.change))
    }),
    { numRuns: 1_000 },
  )
  t.ok(found > 20, `${found} proposals`)
})

t.test('the index finds each rule with a list, or between two fields, that holds', async () => {
  const plain = fc.record({
    field: fc.constantFrom('limit', 'items'),
    operator: fc.constantFrom('equals', 'in'),
    value: fc.constant(5),
  })
  const two = fc.record({
    field: fc.constantFrom('limit', 'items[0]'),
    operator: fc.constantFrom('equals', 'not_equals'),
    value: fc.record({ field: fc.constantFrom('limit', 'items[1]') }),
  })
  const rule = fc.array(
    fc.oneof(
      list,
      two,
      plain.map((clause) => (clause.operator === 'in' ? { ...clause, value: [5, 'a'] } : clause)),
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 8 }), anyData, (rules, data) => {
      const compiled = rules.map((conditions) =>
        compileRule({ conditions: conditions as Condition[], actions }),
      )
      const candidates = new Set(indexRules(compiled).findCandidates(data))
      return compiled.every((one, n) => candidates.has(n) || !ruleHolds(one, data, new Evaluation(0)))
    }),
    { numRuns: 500 },
  )
})
