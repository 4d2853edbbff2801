import fc from 'fast-check'
import t from 'tap'
import { operators } from '../src/operators/index.js'
import { type CompiledRule, compileRule } from '../src/planning/compile-rule.js'
import { indexRules } from '../src/planning/rule-index.js'
import { ruleHolds } from '../src/planning/run.js'
import type { Condition } from '../src/rule.js'
import { Evaluation } from '../src/work/evaluation.js'
import { draws } from './fixtures/draws.js'

// Values that are equal across texts and numbers, and values that look alike and are not equal.
const scalars: unknown[] = [
  null,
  true,
  false,
  'true',
  'null',
  '',
  'a',
  'constructor',
  0,
  '0',
  '-0',
  1,
  '1',
  '1.0',
  '01',
  '1e0',
  ' 1',
  '+1',
  -1.5,
  '-1.50',
  9007199254740992,
  '9007199254740992',
  '9007199254740993',
  1e21,
  '1000000000000000000000',
  '9'.repeat(400),
]
const scalar = fc.constantFrom(...(scalars as [unknown]))
const field = fc.constantFrom(
  'a',
  'b',
  'a.b',
  'a[0]',
  'a.0',
  'a.b[1].c',
  '__proto__',
  'constructor',
  'a.length',
)
const valuesOf: Record<string, fc.Arbitrary<unknown>> = {
  equals: scalar,
  not_equals: scalar,
  in: fc.array(scalar, { minLength: 1, maxLength: 40 }),
  not_in: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  greater_than: fc.constant(0),
  contains: scalar,
  contains_any: fc.array(scalar, { minLength: 1, maxLength: 2 }),
}
const clause = fc
  .constantFrom('equals', 'eq', 'in', 'is_true', 'is_false', ...Object.keys(valuesOf), 'exists', 'is_empty')
  .chain((operator) => {
    const value = valuesOf[operator === 'eq' ? 'equals' : operator]
    return fc.record({ field, operator: fc.constant(operator), ...(value && { value }) })
  })
const { condition } = fc.letrec<{ condition: Condition }>((tie) => {
  const list = fc.array(tie('condition'), { minLength: 1, maxLength: 3 })
  return {
    condition: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 3, arbitrary: clause as fc.Arbitrary<Condition> },
      { weight: 1, arbitrary: fc.record({ all: list }) },
      { weight: 1, arbitrary: fc.record({ any: list }) },
      { weight: 1, arbitrary: fc.record({ not: tie('condition') }) },
    ),
  }
})
const rules = fc.array(fc.array(condition, { maxLength: 3 }), { maxLength: 12 })
const odd = fc.constantFrom<unknown>(
  undefined,
  Number.NaN,
  -0,
  Number.POSITIVE_INFINITY,
  1n,
  Symbol.iterator,
  () => 'a',
  new Date(0),
  Object('a'),
  Object.create({ a: 'a', b: 1 }),
  new Proxy({}, { getOwnPropertyDescriptor: () => undefined }),
  {
    get a() {
      throw new Error('read me not')
    },
  },
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 1, arbitrary: record(tie('value')) },
  ),
}))
const data = fc.oneof({ weight: 5, arbitrary: record(value) }, { weight: 1, arbitrary: value })

t.test('the same rules match with and without an index, in the same order', async () => {
  fc.assert(
    fc.property(rules, data, fc.nat(), (definitions, data, now) => {
      const compiled = definitions.map(compile)
      const candidates = indexRules(compiled).findCandidates(data)
      const matches = candidates.filter((place) => holds(compiled[place], data, now))
      const expected = [...compiled.keys()].filter((place) => holds(compiled[place], data, now))
      return matches.join() === expected.join() && new Set(candidates).size === candidates.length
    }),
    { numRuns: draws(5_000) },
  )
})

t.test('an event finds the rule whose value it equals, as a text or as a number', async () => {
  fc.assert(
    fc.property(scalar, scalar, (wanted, actual) => {
      const rule = compile([{ field: 'a', operator: 'equals', value: wanted }])
      const [candidate] = indexRules([rule]).findCandidates({ a: actual })
      return candidate === 0 || !holds(rule, { a: actual }, 0)
    }),
    { numRuns: draws(2_000) },
  )
})

t.test('a rule is indexed by its most selective equality', async (t) => {
  // All rules require the same status, half of them the same country, and each its own customer.
  const definitions = Array.from({ length: 1000 }, (_, place) => [
    { field: 'status', operator: 'equals', value: 'open' },
    { all: [{ field: 'customer.id', operator: 'equals', value: `c${place}` }] },
    { field: 'country', operator: 'in', value: place % 2 ? ['DE', 'AT'] : ['FR'] },
  ])
  const index = indexRules(definitions.map(compile))
  const event = { status: 'open', country: 'FR', customer: { id: 'c7' } }
  t.same(index.findCandidates(event), [7])
  t.same(index.findCandidates({ ...event, customer: { id: 'c1000' } }), [])
})

t.test('selectivity is the share of a value among all required values of its field', async (t) => {
  const equals = (field: string, value: string) => ({ field, operator: 'equals', value })
  // `large` is one of two kinds, and c7 is two of a hundred and one customers.
  const customers = Array.from({ length: 100 }, (_, place) => [equals('customer', `c${place}`)])
  const few = [...customers, [equals('kind', 'small')], [equals('kind', 'large'), equals('customer', 'c7')]]
  t.same(indexRules(few.map(compile)).findCandidates({ kind: 'large', customer: 'nobody' }), [])
  // `usual` or `rare` covers all kinds, and `b` is one of two groups.
  const kinds = Array.from({ length: 10 }, () => [equals('kind', 'usual')])
  const either = { field: 'kind', operator: 'in', value: ['usual', 'rare'] }
  const all = [[equals('group', 'a')], [either, equals('group', 'b')], ...kinds]
  t.notOk(indexRules(all.map(compile)).findCandidates({ kind: 'usual', group: 'a' }).includes(1))
})

t.test('a second search finds the same rules', async (t) => {
  const conditions: Condition[][] = [[], [{ field: 'a', operator: 'equals', value: 1 }], []]
  const index = indexRules(conditions.map(compile))
  for (const _ of Array(3)) {
    t.same(index.findCandidates({ a: 1 }), [0, 1, 2])
    t.same(index.findCandidates({ a: 2 }), [0, 2])
  }
})

t.test('rules without a usable equality are always candidates', async (t) => {
  const undecided: Condition[][] = [
    [],
    [{ field: 'a', operator: 'not_equals', value: 1 }],
    [{ field: 'a', operator: 'not_in', value: [1] }],
    [{ any: [{ field: 'a', operator: 'equals', value: 1 }] }],
    [{ not: { field: 'a', operator: 'equals', value: 1 } }],
    [{ field: 'a', operator: 'in', value: Array.from({ length: 33 }, (_, value) => value) }],
  ]
  const index = indexRules(undecided.map(compile))
  t.same(index.findCandidates({}), [0, 1, 2, 3, 4, 5])
  t.equal(index.findCandidates({}), index.findCandidates({ a: 1 }), 'without a new list')
})

t.test('only negated operators lack the values that they require', async (t) => {
  t.same(
    operators.filter(({ findWanted }) => findWanted).map(({ name }) => name),
    ['equals', 'in', 'is_true', 'is_false'],
  )
})

t.test('100,000 rules are indexed in less than a second', async (t) => {
  const rules = Array.from({ length: 100_000 }, (_, place) =>
    compile([
      { field: 'lead.status', operator: 'equals', value: 'new' },
      { field: 'lead.owner', operator: 'equals', value: `owner-${place}` },
    ]),
  )
  // CPU time: the machine may be busy with other tests.
  const before = process.cpuUsage()
  const index = indexRules(rules)
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 1_000_000, `${Math.round((user + system) / 1_000)} ms`)
  t.same(index.findCandidates({ lead: { status: 'new', owner: 'owner-99999' } }), [99_999])
})

function compile(conditions: Condition[]): CompiledRule {
  return compileRule({ conditions, actions: [] })
}

function holds(rule: CompiledRule | undefined, data: unknown, now: number): boolean {
  return rule !== undefined && ruleHolds(rule, data, new Evaluation(now))
}

function record(value: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const key = fc.constantFrom('a', 'b', 'c', '0', '1', '__proto__', 'constructor', 'length')
  return fc.dictionary(key, value, { maxKeys: 4 })
}
