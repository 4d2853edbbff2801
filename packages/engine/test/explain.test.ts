import fc from 'fast-check'
import t from 'tap'
import { Judging } from '../src/judging.js'
import type { ConditionTrace } from '../src/outcome.js'
import type { Condition } from '../src/rule.js'
import { compileRule, explainRule, ruleHolds } from '../src/run.js'
import { explainWhy } from '../src/why.js'

const actions = [{ type: 'CREATE_TASK' as const, config: { title: 'x' } }]
const texts = (count: number) => Array.from({ length: count }, (_, n) => `unsubscribe-link-${n}`)
const vip: Condition = { field: 'vip', operator: 'is_true' }

t.test('a clause that the run does not reach costs the trace no verdict', async (t) => {
  const conditions: Condition[] = [
    { any: [vip, { field: 'body', operator: 'contains_any', value: texts(60) }] },
    { field: 'name', operator: 'exists' },
  ]
  const data = { vip: true, body: 'lorem ipsum '.repeat(4_000), name: 'Ada' }
  t.equal(ruleHolds(compileRule({ conditions, actions }), data, new Judging(0)), true)
  const { conditionsPassed, trace } = explainWhy({ conditions, actions }, data, 0)
  t.equal(conditionsPassed, true)
  t.match(trace.conditions, [
    { group: 'any', verdict: true, children: [{ verdict: true }, { verdict: false, warning: /RULE_WORK/ }] },
    { field: 'name', verdict: true },
  ])
  t.notOk('warning' in (trace.conditions[1] ?? {}))
})

t.test('the opposite of what was not judged is not true', async (t) => {
  const value = (n: number) => 'b'.repeat(100 + n)
  const any = Array.from({ length: 20 }, (_, n) => ({
    field: 'body',
    operator: 'contains',
    value: value(n),
  }))
  const rule = compileRule({ conditions: [{ not: { any } }], actions })
  const trace = explainRule(rule, { body: 'a'.repeat(60_000) }, 0)
  t.match(trace, { conditionsPassed: false, conditions: [{ group: 'not', verdict: false }] })
})

const clause = fc.oneof(
  fc.constantFrom<Condition>(
    vip,
    { field: 'list', operator: 'contains', value: 7 },
    { field: 'list', operator: 'not_contains', value: 'x' },
    { field: 'body', operator: 'exists' },
  ),
  fc.record({
    field: fc.constant('body'),
    operator: fc.constantFrom('contains', 'not_contains'),
    value: fc.constantFrom('a', 'b', 'b'.repeat(50)),
  }),
  fc.record({
    field: fc.constant('body'),
    operator: fc.constantFrom('contains_any', 'contains_all'),
    value: fc.constantFrom(['b', 'a'], ['b'.repeat(200), 'c'.repeat(200)]),
  }),
)
const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    clause,
    fc.record({ all: fc.array(tie('condition'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ any: fc.array(tie('condition'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ not: tie('condition') }),
  ),
}))
const anyData = fc.record(
  {
    vip: fc.boolean(),
    body: fc.nat({ max: 800 }).map((length) => 'a'.repeat(length)),
    list: fc.nat({ max: 800 }).map((length) => [...Array(length).fill('x'), 7]),
  },
  { requiredKeys: [] },
)
const limits = fc.record({ rule: fc.nat({ max: 3_000 }), event: fc.nat({ max: 3_000 }) })

t.test('a trace has the verdict of the run, however little work there is', async (t) => {
  let overruns = 0
  fc.assert(
    fc.property(fc.array(condition, { maxLength: 4 }), anyData, limits, (conditions, data, limits) => {
      const rule = compileRule({ conditions, actions })
      const judging = new Judging(0, limits)
      const holds = ruleHolds(rule, data, judging)
      const trace = explainRule(rule, data, 0, limits)
      if (judging.overrun !== null) overruns++
      const isFaulty = trace.conditions.some(hasWarning)
      return trace.conditionsPassed === holds && (judging.overrun === null || isFaulty)
    }),
    { numRuns: 5_000 },
  )
  t.ok(overruns > 500, `the work did not reach for ${overruns} of 5,000`)
})

function hasWarning(trace: ConditionTrace): boolean {
  return 'group' in trace ? trace.children.some(hasWarning) : trace.warning !== undefined
}
