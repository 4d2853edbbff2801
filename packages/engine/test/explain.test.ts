import fc from 'fast-check'
import t from 'tap'
import { explainWhy } from '../src/explaining/why.js'
import { findRuleFaults } from '../src/faults/faults.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { explainRule, planRule, ruleHolds } from '../src/planning/run.js'
import type { ConditionTrace } from '../src/results/outcome.js'
import type { Condition, RuleDefinition } from '../src/rule.js'
import { Evaluation } from '../src/work/evaluation.js'
import { anyDefinition, anyData as anyRunData } from './fixtures/any-rule.js'
import { draws } from './fixtures/draws.js'

const actions = [{ type: 'CREATE_TASK' as const, config: { title: 'x' } }]
const texts = (count: number) => Array.from({ length: count }, (_, n) => `unsubscribe-link-${n}`)
const vip: Condition = { field: 'vip', operator: 'is_true' }

t.test('a clause that the run does not reach costs the trace no verdict', async (t) => {
  const conditions: Condition[] = [
    { any: [vip, { field: 'body', operator: 'contains_any', value: texts(60) }] },
    { field: 'name', operator: 'exists' },
  ]
  const data = { vip: true, body: 'lorem ipsum '.repeat(4_000), name: 'Ada' }
  t.equal(ruleHolds(compileRule({ conditions, actions }), data, new Evaluation(0)), true)
  const { conditionsPassed, trace } = explainWhy({ conditions, actions }, data, 0)
  t.equal(conditionsPassed, true)
  t.match(trace.conditions, [
    {
      group: 'any',
      verdict: true,
      children: [{ verdict: true }, { verdict: false, warning: /cost units per event/ }],
    },
    { field: 'name', verdict: true },
  ])
  t.notOk('warning' in (trace.conditions[1] ?? {}))
})

t.test('the opposite of what was not evaluated is not true', async (t) => {
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
  const numRuns = draws(5_000)
  let overruns = 0
  fc.assert(
    fc.property(fc.array(condition, { maxLength: 4 }), anyData, limits, (conditions, data, limits) => {
      const rule = compileRule({ conditions, actions })
      const evaluation = new Evaluation(0, limits)
      const holds = ruleHolds(rule, data, evaluation)
      const trace = explainRule(rule, data, 0, limits)
      if (evaluation.overrun !== null) overruns++
      const isFaulty = trace.conditions.some(hasWarning)
      return trace.conditionsPassed === holds && (evaluation.overrun === null || isFaulty)
    }),
    { numRuns },
  )
  t.ok(overruns > numRuns / 10, `the work did not reach for ${overruns} of ${numRuns}`)
})

const day = 86_400_000
const isFresh: Condition = { field: 'createdAt', operator: 'within_last', value: '24h' }
const wait = { type: 'WAIT' as const, config: { duration: '{{days}}d' } }
const [task] = actions as [(typeof actions)[number]]

t.test('each `when` is explained at the moment of its action', async (t) => {
  const now = Date.parse('2026-03-10')
  const data = { createdAt: now, days: 3 }
  const rule = compileRule({
    conditions: [isFresh],
    actions: [
      { ...task, when: isFresh },
      { ...wait, when: { not: isFresh } },
      { ...task, when: isFresh },
      wait,
      { ...task, when: { any: [vip, isFresh] } },
    ],
  })
  const moments = planRule(rule, data, now).actions.map(({ at }) => at)
  t.same(moments, [now, now, now, now, now + 3 * day])
  const { conditionsPassed, actions } = explainRule(rule, data, now)
  t.equal(conditionsPassed, true)
  const verdicts = (traces: typeof actions) => traces.map(({ when }) => when?.verdict)
  t.same(verdicts(actions), [true, false, true, undefined, false])
  t.match(actions[4]?.when, { children: [{ verdict: false }, { verdict: false }] })
  const done = { action: 'CREATE_TASK', status: 'success' as const }
  const ended = { action: 'WAIT', status: 'success' as const, until: new Date(now + day).toISOString() }
  const skipped = { action: 'WAIT', status: 'skipped' as const }
  const explained = explainRule(rule, data, now, undefined, undefined, [done, skipped, done, ended])
  t.same(verdicts(explained.actions), [true, false, true, undefined, true], 'the real end of the WAIT')
})

t.test('a trace has the verdicts by which a dry run skips actions', async () => {
  fc.assert(
    fc.property(anyDefinition, anyRunData, (definition, data) => {
      fc.pre(findRuleFaults(definition).length === 0)
      const rule = compileRule(definition as RuleDefinition)
      const { actions } = explainRule(rule, data, Date.parse('2026-03-10T12:00:00Z'))
      const plan = planRule(rule, data, Date.parse('2026-03-10T12:00:00Z'))
      return plan.actions.every(
        (planned, index) => 'skipped' in planned === (actions[index]?.when?.verdict === false),
      )
    }),
    { numRuns: draws(2_000) },
  )
})

function hasWarning(trace: ConditionTrace): boolean {
  return 'group' in trace ? trace.children.some(hasWarning) : trace.warning !== undefined
}
