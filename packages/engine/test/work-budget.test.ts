import t from 'tap'
import { explainWhy } from '../src/explaining/why.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { ruleHolds } from '../src/planning/run.js'
import type { RuleDefinition } from '../src/rule.js'
import { Evaluation } from '../src/work/evaluation.js'
import { WorkBudget } from '../src/work/work-budget.js'

const limits = { rule: 2_000_000, event: 6_000_000 }
const contains = (value: string) => ({ field: 'text', operator: 'contains', value })
const data = { text: 'x'.repeat(10_000) }

t.test('all evaluations of a question share its budget, and say that it was used up', async (t) => {
  const budget = new WorkBudget({ units: 5_000, ms: 1_000 })
  const rule = compileRule({ conditions: [contains('y')], actions: [] })
  const overruns = Array.from({ length: 8 }, () => {
    const evaluation = new Evaluation(0, limits, budget)
    ruleHolds(rule, data, evaluation)
    return evaluation.overrun
  })
  t.equal(overruns[0], null)
  t.equal(overruns.at(-1), 'question')
  const evaluation = new Evaluation(0, limits, budget)
  t.equal(
    ruleHolds(compileRule({ conditions: [{ not: contains('y') }], actions: [] }), data, evaluation),
    false,
  )
  t.equal(evaluation.overrun, 'question')
  budget.charge(5_000)
  t.match(budget.fault, /limit of 5000 cost units/)
})

t.test('a budget ends with its time, by the clock that it is given', async (t) => {
  let now = 500
  const budget = new WorkBudget({ units: 1_000_000, ms: 100 }, () => now)
  t.equal(budget.isBeyond(0.5), false)
  now = 560
  t.equal(budget.isBeyond(0.5), true)
  t.equal(budget.isOver, false)
  now = 601
  t.equal(budget.isOver, true)
  t.equal(budget.has(1), false)
  t.match(budget.fault, /timed out after 100 ms/)
})

t.test('time is looked at while work is charged', async (t) => {
  let now = 0
  const budget = new WorkBudget({ units: 10_000_000, ms: 100 }, () => now)
  now = 200
  for (let n = 0; n < 20 && budget.overrun === null; n++) budget.charge(10_000)
  t.equal(budget.overrun, 'ms')
})

/** Names that differ in their last letters alone: to compare two of them takes all of their letters. */
const longName = (n: number) => `${'field'.repeat(11)}${String(n).padStart(5, '0')}`

t.test(
  'proposals for missing fields, and the search for a change, are charged to the question',
  async (t) => {
    const wide = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [longName(n), n]))
    const definition: RuleDefinition = {
      conditions: Array.from({ length: 20 }, (_, n) => ({
        field: `${longName(n)}xyz`.slice(-62),
        operator: 'gt',
        value: n,
      })),
      actions: [],
    }
    const budget = new WorkBudget({ units: 100_000, ms: 1_000 })
    const why = explainWhy(definition, wide, 0, limits, budget)
    t.equal(why.conditionsPassed, false)
    t.equal(why.decisive.length, 20)
    t.not(budget.has(60_000), true)
    const small: RuleDefinition = { conditions: [{ field: 'scor', operator: 'gt', value: 5 }], actions: [] }
    const plenty = new WorkBudget({ units: 100_000, ms: 1_000 })
    const explained = explainWhy(small, { score: 1 }, 0, limits, plenty)
    t.match(explained, {
      change: [{ field: 'scor', to: 5.01 }],
      trace: { conditions: [{ didYouMean: 'score' }] },
    })
  },
)
