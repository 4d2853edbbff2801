import fc from 'fast-check'
import t from 'tap'
import { compileCondition } from '../src/conditions/conditions.js'
import { explainWhy } from '../src/explaining/why.js'
import { operators } from '../src/operators/index.js'
import type { ClauseTrace } from '../src/results/outcome.js'
import { Evaluation } from '../src/work/evaluation.js'
import { draws } from './fixtures/draws.js'

const missing = Symbol('missing')
const actions = [{ type: 'CREATE_TASK' as const, config: { title: 'x' } }]

function dataOf(a: unknown, b: unknown) {
  return { ...(a !== missing && { a }), ...(b !== missing && { b }) }
}

function compare(a: unknown, operator: string, b: unknown): boolean {
  const condition = { field: 'a', operator, value: { field: 'b' } }
  return compileCondition(condition).holds(dataOf(a, b), new Evaluation(0))
}

function explain(a: unknown, operator: string, b: unknown): ClauseTrace {
  const condition = { field: 'a', operator, value: { field: 'b' } }
  const evaluation = new Evaluation(0)
  return compileCondition(condition).explain(dataOf(a, b), evaluation, evaluation) as ClauseTrace
}

t.test('the operators of equality, order and times, contains and in compare two fields', async (t) => {
  t.same(
    operators.filter(({ compareTwo }) => compareTwo).map(({ name }) => name),
    [
      'equals',
      'not_equals',
      'greater_than',
      'greater_than_or_equal',
      'less_than',
      'less_than_or_equal',
      'in',
      'not_in',
      'contains',
      'not_contains',
      'before',
      'after',
    ],
  )
})

t.test('values are compared as with a constant', async (t) => {
  const cases: [unknown, string, unknown, boolean][] = [
    [5, 'equals', 5, true],
    [5, 'equals', '5.0', true],
    ['5', 'equals', 5, true],
    ['a', 'equals', 'b', false],
    [null, 'equals', null, true],
    [[1], 'equals', [1], false],
    ['8202522731445525542', 'equals', '8202522731445525543', false],
    ['8202522731445525543', 'greater_than', '8202522731445525542', true],
    ['8202522731445525542', 'greater_than', '8202522731445525543', false],
    [120, 'greater_than', '100', true],
    ['120', 'greater_than', 120, false],
    [120, 'greater_than_or_equal', 120, true],
    ['n/a', 'less_than', 5, false],
    [5, 'less_than', 'n/a', false],
    ['2026-03-10', 'before', '2026-03-11T00:00:00+01:00', true],
    [1_773_100_800, 'after', '2026-03-09', true],
    ['2026-03-10', 'after', 'soon', false],
    ['a vip!', 'contains', 'vip', true],
    ['a 3', 'contains', 3, false],
    [['vip', 3], 'contains', '3', true],
    [['vip'], 'contains', ['vip'], false],
    ['DE', 'in', ['AT', 'DE'], true],
    [7, 'in', ['7'], true],
    ['DE', 'in', 'DE', false],
    [['DE'], 'in', [['DE']], false],
  ]
  for (const [a, operator, b, expected] of cases)
    t.equal(compare(a, operator, b), expected, `${JSON.stringify(a)} ${operator} ${JSON.stringify(b)}`)
})

t.test(
  'a missing side, or one of a kind that the operator does not look at, makes it false and its opposite true',
  async (t) => {
    for (const { name, compareTwo, opposite } of operators) {
      if (compareTwo === undefined) continue
      const wanted = opposite !== undefined
      for (const [a, b] of [
        [missing, missing],
        [5, missing],
        [missing, 5],
        [{}, {}],
      ])
        t.equal(compare(a, name, b), wanted, `${name} ${String(a)} ${String(b)}`)
    }
  },
)

t.test('a trace shows both values, how far they are apart, and why one cannot be read', async (t) => {
  t.match(explain(120, 'less_than_or_equal', 100), {
    expected: { field: 'b' },
    actual: 120,
    other: 100,
    distance: 20,
    verdict: false,
  })
  t.match(explain('2026-03-10', 'before', '2026-03-09'), { distanceMs: 86_400_000 })
  t.match(explain(120, 'less_than', missing), { note: 'the field to compare with is missing' })
  t.match(explain(120, 'less_than', 'n/a'), { note: /the other value: "n\/a" is not a number/ })
  t.match(explain('DE', 'in', 'DE'), { note: /a text, and in needs a list/ })
  t.match(explain('Vip', 'equals', 'vip'), { note: /only in upper and lower case/ })
})

t.test('why proposes another value for the left side alone', async (t) => {
  const conditions = [{ field: 'amount', operator: 'less_than_or_equal', value: { field: 'limit' } }]
  t.match(explainWhy({ conditions, actions }, { amount: 120, limit: 100 }, 0), {
    decisive: ['conditions[0]'],
    change: [{ field: 'amount', from: 120, to: 100 }],
  })
})

t.test('two fields are compared as a field with the constant that the other one is', async () => {
  const scalar = fc.oneof(
    fc.constantFrom<unknown>(0, 1, '1', '1.0', 'a', '', true, null, '9007199254740993', 1e21),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  const numbers = ['greater_than', 'greater_than_or_equal', 'less_than', 'less_than_or_equal']
  fc.assert(
    fc.property(
      fc.constantFrom('equals', 'not_equals', 'contains', 'not_contains', ...numbers),
      fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
      scalar,
      (operator, a, b) => {
        if (numbers.includes(operator) && typeof b !== 'number') return true
        const constant = compileCondition({ field: 'a', operator, value: b })
        return compare(a, operator, b) === constant.holds({ a }, new Evaluation(0))
      },
    ),
    { numRuns: draws(2_000) },
  )
})
