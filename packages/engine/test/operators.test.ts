import fc from 'fast-check'
import t from 'tap'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { compileCondition } from '../src/conditions/conditions.js'
import { findOperator, operators } from '../src/operators/index.js'
import { maxSubjectLength } from '../src/operators/pattern.js'
import { Evaluation } from '../src/work/evaluation.js'

const now = Date.parse('2026-03-10T12:00:00Z')
const missing = Symbol('missing')
const bigId = JSON.parse('12345678901234567') as number

function evaluate(operator: string, value: unknown, actual: unknown): boolean {
  const data = actual === missing ? {} : { it: actual }
  return compileCondition({ field: 'it', operator, value }).holds(data, new Evaluation(now))
}

// operator, value, data for which it is true, data for which it is false
const cases: [string, unknown, unknown[], unknown[]][] = [
  [
    'equals',
    10,
    [10, '10', '10.0', 10.0],
    ['10abc', '', ' 10', '1e1', '0xa', '010', '10.', 11, true, null, [10], missing],
  ],
  ['equals', '10', [10, '10'], ['10.0', 11, '10 ', true, missing]],
  ['equals', 'new', ['new'], ['New', 'new ', ['new'], { new: 1 }, null, missing]],
  ['equals', '', [''], [0, false, null, missing]],
  ['equals', true, [true], ['true', 1, false, missing]],
  ['equals', null, [null], [0, '', false, 'null', missing]],
  ['equals', 0, [0, -0, '0', '-0'], ['', ' ', false, null, 'Infinity']],
  // The number is written as 12345678901234568: other ids may be the same double.
  ['equals', bigId, [bigId, '12345678901234568'], ['12345678901234567', '12345678901234569', '1']],
  ['equals', '12345678901234568', ['12345678901234568', bigId], ['12345678901234567']],
  ['equals', '12345678901234567', ['12345678901234567'], ['12345678901234568', bigId]],
  ['equals', -bigId, [-bigId, '-12345678901234568'], [bigId, '-12345678901234567']],
  ['equals', 9007199254740991, [9007199254740991, '9007199254740991'], ['9007199254740992', 2 ** 53]],
  ['equals', 2 ** 53, [2 ** 53, '9007199254740992'], ['9007199254740993']],
  ['equals', 0.1, ['0.1', '0.10'], ['0.1000000000000000055', '0.10000000000000001']],
  ['in', ['12345678901234567', 7], ['12345678901234567', '7'], [bigId, '12345678901234568']],
  ['in', [bigId, '7'], [bigId, '12345678901234568', 7], ['12345678901234567']],
  ['contains', '12345678901234567', [['12345678901234567']], [[bigId], ['12345678901234568']]],
  ['contains_all', [bigId], [[bigId, 1], ['12345678901234568']], [['12345678901234567']]],
  [
    'greater_than',
    2 ** 53,
    ['9007199254740993', '9007199254740992.5'],
    ['9007199254740992', '9007199254740991.9'],
  ],
  ['less_than', -(2 ** 53), ['-9007199254740993'], ['-9007199254740992']],
  ['less_than_or_equal', 2 ** 53, ['9007199254740992'], ['9007199254740993', '9007199254740992.1']],
  ['less_than_or_equal', 0.1, ['0.1', '0.09999999999999999999'], ['0.10000000000000000001']],
  ['between', [0, 2 ** 53], ['9007199254740992'], ['9007199254740993', '-0.1e-1']],
  ['greater_than', 80, ['12345678901234567', '1000000000000000000000'], ['-12345678901234567']],
  [
    'greater_than',
    80,
    [81, '81', 80.5, '80.5'],
    [80, '80', '81abc', 'Infinity', '9e9', '9'.repeat(400), '', null, true, [81], missing],
  ],
  ['greater_than_or_equal', 80, [80, '80', 81], [79.9, '80 ', missing]],
  ['less_than', 0, [-1, '-1'], [0, '', ' ', null, false, [], missing, '-1x', '--1', '-']],
  ['less_than_or_equal', 0, [0, '-0.5'], [0.1, '', null, missing]],
  ['between', [1, 5], [1, 5, '3', 2.5], [0.9, 5.1, '3a', null, [3], missing]],
  [
    'in',
    ['DE', 7, '8', null, true],
    ['DE', 7, '7', '8', 8, null, true],
    ['de', '7a', 'true', false, 9, ['DE'], missing],
  ],
  ['contains', 'vip', ['a vip!', ['vip', 'x']], ['VIP', ['VIP', ['vip']], { vip: 1 }, 5, null, missing]],
  ['contains', 7, [[1, 7], ['7']], ['17', 7, [77], missing]],
  ['contains_any', ['a', 'b'], ['xb', ['c', 'b']], ['c', ['c'], [], {}, missing]],
  ['contains_any', [1, null], [[1], ['1'], [null]], ['1', [2], missing]],
  ['contains_all', ['a', 'b'], ['ba', ['a', 'x', 'b']], ['a', ['a'], [], missing]],
  ['contains_all', [1, '2'], [['1', 2]], ['12', [1], missing]],
  ['starts_with', 'ab', ['ab', 'abc'], ['xab', 'AB', ['ab'], missing]],
  ['ends_with', 'ab', ['ab', 'xab'], ['abx', ['ab'], missing]],
  ['matches', '^a+b', ['aab', 'abc'], ['xab', 'b', ['ab'], 5, null, missing]],
  ['matches', '(?i)vip', ['x VIP y'], ['v', missing]],
  ['matches', '.', ['é', 'x'.repeat(maxSubjectLength)], ['', '\n', 'x'.repeat(maxSubjectLength + 1)]],
  ['exists', undefined, [0, '', false, [], {}], [null, missing]],
  ['is_empty', undefined, ['', null, [], {}, missing], [0, false, ' ', [null], { a: undefined }]],
  ['is_true', undefined, [true], ['true', 1, false, missing]],
  ['is_false', undefined, [false], ['false', 0, null, '', missing]],
  [
    'before',
    '2026-03-10',
    ['2026-03-09', '2026-03-10T00:30:00+01:00', '2026-03-10T00:30:00+0100', -1e11, 1e8, 1_767_225_600],
    ['2026-03-10', '2026-03-11', '9', '1767225600', now, now / 1_000, 0, 95, 99_999_999, missing],
  ],
  [
    'after',
    '2026-03-10T12:00:00Z',
    [
      '2026-03-11',
      now + 1,
      now / 1_000 + 1,
      '2026-03-10T12:00:00.001Z',
      'Tue, 10 Mar 2026 12:00:01 GMT',
      '2026-03-10 12:00:00.001+00',
      '2026-03-10t12:00:01z',
    ],
    [
      now,
      '2026-03-10T13:00:00',
      '2026-02-30',
      '2026-13-01',
      '2026-03-11T24:00:00Z',
      '11 March 2026',
      9e15,
      missing,
    ],
  ],
  [
    'within_last',
    '24h',
    [
      now,
      now - 86_400_000,
      now / 1_000,
      '2026-03-10',
      '2026-03-10T17:30:00.000+0530',
      '2026-03-10 04:00:00-08',
    ],
    [now + 1, now - 86_400_001, now / 1_000 + 1, '2026-03-09', '10 Mar 2026 12:00', true, missing],
  ],
  ['within_next', '2d', [now, now + 2 * 86_400_000, '2026-03-12'], [now - 1, '2026-03-13', '2027', missing]],
]

t.test('each operator is true and false where the contract says', async (t) => {
  for (const [operator, value, yes, no] of cases) {
    for (const actual of yes)
      t.equal(evaluate(operator, value, actual), true, `${show(actual)} ${operator} ${show(value)}`)
    for (const actual of no)
      t.equal(evaluate(operator, value, actual), false, `${show(actual)} not ${operator} ${show(value)}`)
  }
})

t.test('every operator has a case here, itself or through its opposite', async (t) => {
  const covered = new Set(cases.map(([operator]) => operator))
  const opposites = Object.keys(positiveOf)
  for (const { name } of operators) t.ok(covered.has(name) || opposites.includes(name), name)
})

const positiveOf: Record<string, string> = {
  not_equals: 'equals',
  not_between: 'between',
  not_in: 'in',
  not_contains: 'contains',
  not_matches: 'matches',
  not_exists: 'exists',
  is_not_empty: 'is_empty',
}

t.test('a negative operator is the exact opposite of its positive, on any data', async (t) => {
  for (const [negative, positive] of Object.entries(positiveOf)) {
    const relevant = cases.filter(([operator]) => operator === positive)
    t.ok(relevant.length > 0, negative)
    for (const [, value, yes, no] of relevant) {
      for (const actual of [...yes, ...no])
        t.not(evaluate(negative, value, actual), evaluate(positive, value, actual))
      fc.assert(
        fc.property(
          fc.jsonValue(),
          (actual) => evaluate(negative, value, actual) !== evaluate(positive, value, actual),
        ),
      )
    }
  }
})

t.test('`in` means equal to one item of the list, and equality is symmetric', async () => {
  const scalar = fc.oneof(
    fc.constantFrom('1', '1.0', 1, '01', true, 'true', null, 'null', '', bigId, String(bigId), `${bigId}.0`),
    fc.double(),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(scalar, { minLength: 1 }), scalar, (list, actual) => {
      const equalsOne = list.some((value) => evaluate('equals', value, actual))
      const isEqualed = list.some((value) => evaluate('equals', actual, value))
      return (
        evaluate('in', list, actual) === equalsOne &&
        equalsOne === isEqualed &&
        evaluate('contains', actual, list) === equalsOne
      )
    }),
  )
})

t.test('nothing equals a NaN in a list, not even NaN itself', async (t) => {
  for (const actual of [Number.NaN, 'x', 'NaN', 5]) t.notOk(evaluate('in', [Number.NaN], actual), `${actual}`)
})

t.test('each operator limits the type and the size of its value', async (t) => {
  const takes = (name: string, value: unknown) => {
    const operator = findOperator(name)
    return (
      Check(operator?.value ?? Type.Never(), value) && operator?.findFault?.(value as never) === undefined
    )
  }
  const list = (length: number) => Array(length).fill('x')
  const cases: [string, unknown[], unknown[]][] = [
    ['equals', ['', 0, null, false], [[], {}, undefined]],
    [
      'between',
      [
        [1, 2],
        [1, 1],
      ],
      [[2, 1], [1], [1, 2, 3], ['1', '2']],
    ],
    ['in', [list(1), list(1_000), [null, 1, true]], [[], list(1_001), 'x', [[]]]],
    ['contains_any', [list(1), list(100)], [[], list(101)]],
    ['contains_all', [list(1), list(100)], [[], list(101)]],
    ['starts_with', ['x', 'x'.repeat(10_000)], ['', 'x'.repeat(10_001), 5]],
    ['ends_with', ['x', 'x'.repeat(10_000)], ['', 'x'.repeat(10_001), null]],
    ['matches', ['x', 'x'.repeat(400)], ['', 'x'.repeat(1_001)]],
    ['before', ['2026-01-31'], ['', 'tomorrow', 0]],
    ['within_last', ['366d'], ['', '367d', 5]],
  ]
  for (const [name, right, wrong] of cases) {
    for (const value of right) t.ok(takes(name, value), `${name} ${show(value)}`)
    for (const value of wrong) t.notOk(takes(name, value), `${name} not ${show(value)}`)
  }
})

t.test('an alias means the same operator', async (t) => {
  for (const [alias, name] of Object.entries({
    eq: 'equals',
    neq: 'not_equals',
    gt: 'greater_than',
    gte: 'greater_than_or_equal',
    lt: 'less_than',
    lte: 'less_than_or_equal',
  }))
    t.equal(findOperator(alias), findOperator(name))
  const names = operators.flatMap(({ name, aliases }) => [name, ...aliases])
  t.equal(new Set(names).size, names.length, 'no name occurs twice')
})

t.test('patterns on which a backtracking engine hangs give a verdict', async (t) => {
  const subject = `${'a'.repeat(50_000)}!`
  for (const pattern of ['(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*a){20}$', '^(([a-z])+.)+[A-Z]([a-z])+$'])
    t.equal(evaluate('matches', pattern, subject), false, pattern)
})

t.test('patterns that RE2 does not support, or that are too large, are faults', async (t) => {
  const findFault = (pattern: string) => findOperator('matches')?.findFault?.(pattern)
  for (const pattern of [
    'a(?=b)',
    'a(?!b)',
    '(?<=a)b',
    '(a)\\1',
    '(',
    'a**',
    '[z-a]',
    'a{1001}',
    '[ab]{900}c',
  ])
    t.match(findFault(pattern), /^must be /, pattern)
  t.match(findFault('('), /missing closing \)/, 'the message is that of RE2')
  for (const pattern of ['^[\\w.+-]+@[\\w-]+\\.com$', '(?i)vip|gold', '\\p{Lu}+', '(?P<name>a)'])
    t.equal(findFault(pattern), undefined, pattern)
})

function show(value: unknown): string {
  return value === missing ? 'missing' : (JSON.stringify(value) ?? 'undefined').slice(0, 40)
}
