import fc from 'fast-check'
import t from 'tap'
import { compileCondition, normaliseConditions, normaliseRule } from '../src/conditions/conditions.js'
import { operators } from '../src/operators/index.js'
import type { Condition } from '../src/rule.js'
import { compilePath, parsePath, readPath } from '../src/values/path.js'
import { Evaluation } from '../src/work/evaluation.js'
import { draws } from './fixtures/draws.js'

const samples: Record<string, unknown[]> = {
  number: [0, 5, -1.5],
  text: ['a', '5', 'true', '2026-01-01'],
}
const valuesOf: Record<string, unknown[]> = {
  between: [[0, 10]],
  not_between: [[0, 10]],
  in: [[1, 'a', null]],
  not_in: [[1, 'a']],
  contains_any: [['a', 1]],
  contains_all: [['a']],
  matches: ['a+', '^$'],
  not_matches: ['a|b'],
  before: ['2026-01-01'],
  after: ['2026-01-01T00:00:00Z'],
  within_last: ['1d'],
  within_next: ['2w'],
  greater_than: samples.number ?? [],
  greater_than_or_equal: samples.number ?? [],
  less_than: samples.number ?? [],
  less_than_or_equal: samples.number ?? [],
}
const field = fc.constantFrom(
  'a',
  'b',
  'a.b',
  'a[0]',
  'a.b[1].c',
  '__proto__',
  'constructor.name',
  'a.length',
  'a.toString',
)
const clause = fc
  .constantFrom(
    ...operators.flatMap((operator) =>
      [operator.name, ...operator.aliases].map((name) => ({ name, operator })),
    ),
  )
  .chain(({ name, operator }) =>
    fc.record({
      field,
      operator: fc.constant(name),
      ...(operator.value && { value: fc.constantFrom(...(valuesOf[operator.name] ?? samples.text ?? [])) }),
    }),
  )
const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    clause,
    fc.record({ all: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('condition') }),
  ),
}))
const key = fc.constantFrom('a', 'b', 'c', '0', '__proto__', 'constructor', 'length', 'toString')
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, 5, '', 'a', '5', '5a', '2026-01-01'),
    fc.jsonValue(),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(key, tie('json'), { maxKeys: 4 }),
  ),
}))

t.test('any condition evaluates any data, and its trace has the same verdict', async () => {
  fc.assert(
    fc.property(condition, json, fc.integer(), (condition, data, now) => {
      const { holds, explain } = compileCondition(condition)
      const evaluation = new Evaluation(now)
      return holds(data, evaluation) === explain(data, evaluation, evaluation).verdict
    }),
    { numRuns: draws(2_000) },
  )
})

t.test('data that throws when it is read counts as missing', async (t) => {
  const hostile = {
    get a() {
      throw new Error('read me not')
    },
    list: new Proxy([], {
      get: () => {
        throw new Error('nor me')
      },
    }),
  }
  t.equal(compileCondition({ field: 'a', operator: 'exists' }).holds(hostile, new Evaluation(0)), false)
  t.equal(
    compileCondition({ field: 'list', operator: 'contains_any', value: ['x'] }).holds(
      hostile,
      new Evaluation(0),
    ),
    false,
  )
  t.equal(
    compileCondition({ field: 'list', operator: 'not_contains', value: 'x' }).holds(
      hostile,
      new Evaluation(0),
    ),
    true,
  )
  const evaluation = new Evaluation(0)
  t.same(compileCondition({ field: 'a', operator: 'is_empty' }).explain(hostile, evaluation, evaluation), {
    field: 'a',
    operator: 'is_empty',
    verdict: true,
  })
})

t.test('`all`, `any` and `not` combine their conditions', async (t) => {
  const yes = { field: 'a', operator: 'is_true' }
  const no = { field: 'a', operator: 'is_false' }
  const evaluate = (condition: Condition) => compileCondition(condition).holds({ a: true }, new Evaluation(0))
  t.equal(evaluate({ all: [yes, yes] }), true)
  t.equal(evaluate({ all: [yes, no] }), false)
  t.equal(evaluate({ any: [no, yes] }), true)
  t.equal(evaluate({ any: [no, no] }), false)
  t.equal(evaluate({ not: no }), true)
  t.equal(evaluate({ not: { any: [no, { not: yes }, { all: [yes, yes] }] } }), false)
})

t.test('a trace shows the expected and the actual value', async (t) => {
  const { explain } = compileCondition({
    any: [
      { field: 'lead.score', operator: 'gt', value: 80 },
      { field: 'x', operator: 'exists' },
    ],
  })
  const evaluation = new Evaluation(0)
  t.strictSame(explain({ lead: { score: 7 } }, evaluation, evaluation), {
    group: 'any',
    children: [
      {
        field: 'lead.score',
        operator: 'greater_than',
        expected: 80,
        actual: 7,
        verdict: false,
        distance: 73,
      },
      { field: 'x', operator: 'exists', verdict: false },
    ],
    verdict: false,
  })
})

t.test(
  'normalising writes full names everywhere, changes no verdict, and does nothing the second time',
  async (t) => {
    const gt = { field: 'a', operator: 'gt', value: 1 }
    const full = { field: 'a', operator: 'greater_than', value: 1 }
    t.same(
      normaliseRule({
        conditions: [gt, { all: [gt, { any: [{ not: gt }] }] }],
        actions: [{ type: 'CREATE_TASK', config: { title: 't' }, when: { not: gt } }],
      }),
      {
        conditions: [full, { all: [full, { any: [{ not: full }] }] }],
        actions: [{ type: 'CREATE_TASK', config: { title: 't' }, when: { not: full } }],
      },
    )
    t.same(normaliseRule({ actions: [] }), { actions: [] })
    const unknown = { field: 'a', operator: 'no_such' }
    t.strictSame(normaliseConditions([unknown]), [unknown], 'what is to be told as a fault stays')
    fc.assert(
      fc.property(fc.array(condition), json, (conditions, data) => {
        const once = normaliseConditions(conditions)
        t.strictSame(normaliseConditions(once), once)
        return conditions.every((given, index) => {
          const normal = once[index]
          return (
            normal &&
            compileCondition(given).holds(data, new Evaluation(0)) ===
              compileCondition(normal).holds(data, new Evaluation(0))
          )
        })
      }),
      { numRuns: 200 },
    )
  },
)

t.test('a path reads own properties only', async (t) => {
  const data = JSON.parse(
    '{"lead":{"tags":[{"name":"vip"}],"First Name":"Ann","länge":1,"length":3,"0":"zero"},"__proto__":{"x":1}}',
  )
  const found: [string, unknown][] = [
    ['lead.tags[0].name', 'vip'],
    ['lead.tags.0.name', 'vip'],
    ['lead.First Name', 'Ann'],
    ['lead.länge', 1],
    ['lead.length', 3],
    ['lead[0]', 'zero'],
    ['__proto__.x', 1],
  ]
  for (const [path, value] of found) t.equal(readPath(compilePath(path), data), value, path)
  for (const path of [
    'lead.tags.length',
    'lead.tags[1]',
    'lead.tags.00',
    'lead.toString',
    'lead.constructor',
    'lead.tags.at',
    'lead.First Name.length',
    'lead.First Name[0]',
    'nobody.there',
  ])
    t.equal(readPath(compilePath(path), data), undefined, path)
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    t.equal(readPath(compilePath(name), {}), undefined, name)
    t.equal(readPath(compilePath(name), JSON.parse(`{"${name}":1}`)), 1, `its own ${name}`)
  }
  for (const data of [null, undefined, 5, 'text', []])
    t.equal(readPath(compilePath('length'), data), undefined)
})

t.test('each of many paths reads its own value', async (t) => {
  const paths = Array.from({ length: 2_500 }, (_, index) => `a${index}.b`)
  const data = Object.fromEntries(paths.map((_, index) => [`a${index}`, { b: index }]))
  const compiled = paths.map(compilePath)
  t.same(
    compiled.map((path) => readPath(path, data)),
    [...paths.keys()],
  )
  t.equal(readPath(compilePath('a7.b'), data), 7)
})

t.test('an invalid path is refused', async (t) => {
  for (const path of [
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'a[',
    'a[]',
    'a[-1]',
    'a[01]',
    'a[x]',
    'a]b',
    '[0]',
    ' a',
    'a ',
    'a\nb',
    'a.b c ',
    'a|b',
    '{a}',
    'a"b',
    "a'b",
    'a\u0000',
    'a'.repeat(501),
  ])
    t.equal(parsePath(path), undefined, JSON.stringify(path.slice(0, 20)))
  t.strictSame(parsePath('a.b-c[12].$d_é'), ['a', 'b-c', '12', '$d_é'])
  t.strictSame(parsePath('a'.repeat(500)), ['a'.repeat(500)])
  t.throws(() => compilePath('a..b'))
})
