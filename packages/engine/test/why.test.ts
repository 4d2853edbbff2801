import fc from 'fast-check'
import t from 'tap'
import { compileCondition } from '../src/conditions/conditions.js'
import { findDecisive } from '../src/explaining/decisive.js'
import { applyChanges, findChange } from '../src/explaining/nearest-change.js'
import { explainWhy } from '../src/explaining/why.js'
import type { ConditionTrace } from '../src/results/outcome.js'
import type { Condition } from '../src/rule.js'
import { Evaluation } from '../src/work/evaluation.js'
import { draws } from './fixtures/draws.js'

const at = Date.parse('2026-03-10T12:00:00Z')
const actions = [{ type: 'CREATE_TASK' as const, config: { title: 'x' } }]

function why(conditions: Condition[], data: object) {
  return explainWhy({ conditions, actions }, data, at)
}

function holds(conditions: Condition[], data: unknown): boolean {
  return conditions.every((condition) => compileCondition(condition).holds(data, new Evaluation(at)))
}

const score: Condition = { field: 'score', operator: 'greater_than', value: 80 }
const status: Condition = { field: 'status', operator: 'equals', value: 'new' }

t.test('a rule that missed names the clause, how far off it was, and the nearest change', async (t) => {
  t.match(why([score, status], { score: 10, status: 'new' }), {
    conditionsPassed: false,
    decisive: ['conditions[0]'],
    change: [{ field: 'score', from: 10, to: 80.01 }],
    trace: { conditions: [{ verdict: false, distance: 70 }, { verdict: true }] },
  })
})

t.test('a rule that matched names what held it, and has no change', async (t) => {
  t.match(
    why([score, { any: [status, { field: 'vip', operator: 'is_true' }] }], { score: 90, status: 'new' }),
    {
      conditionsPassed: true,
      decisive: ['conditions[0]'],
      change: null,
    },
  )
  t.match(why([], {}), { conditionsPassed: true, decisive: { length: 0 }, change: null })
})

t.test('a missing field names the nearest path that exists', async (t) => {
  const { trace } = why([{ field: 'lead.scor', operator: 'equals', value: 1 }], { lead: { score: 1 } })
  t.match(trace.conditions, [{ verdict: false, didYouMean: 'lead.score' }])
  const other = why([{ field: 'lead.price', operator: 'equals', value: 1 }], { lead: { score: 1 } })
  t.notOk('didYouMean' in (other.trace.conditions[0] ?? {}))
})

t.test('a field that is further inside is proposed before one that is spelt like it', async (t) => {
  const { trace } = why([{ field: 'days', operator: 'equals', value: 1 }], { data: { days: 9 } })
  t.match(trace.conditions, [{ verdict: false, didYouMean: 'data.days' }])
})

t.test('times say by how many milliseconds they missed', async (t) => {
  const data = { at: '2026-03-09T11:59:00Z', due: '2026-03-13' }
  const conditions: Condition[] = [
    { field: 'at', operator: 'within_last', value: '24h' },
    { field: 'due', operator: 'before', value: '2026-03-12' },
  ]
  const { trace, decisive, change } = why(conditions, data)
  t.match(trace.conditions, [{ distanceMs: 60_000 }, { distanceMs: 86_400_000 }])
  t.same(decisive, ['conditions[0]', 'conditions[1]'])
  t.same(change, [
    { field: 'at', from: data.at, to: '2026-03-09T12:00:00.000Z' },
    { field: 'due', from: '2026-03-13', to: '2026-03-11T23:59:59.999Z' },
  ])
})

t.test('ids beyond 2^53 that are not equal have no distance', async (t) => {
  const { trace } = why([{ field: 'id', operator: 'equals', value: 2 ** 53 }], { id: '9007199254740993' })
  t.match(trace.conditions, [{ verdict: false }])
  t.notOk('distance' in (trace.conditions[0] ?? {}))
})

t.test('a clause below `not` is decisive where it holds', async (t) => {
  const conditions: Condition[] = [
    { not: { any: [status, { field: 'score', operator: 'less_than', value: 5 }] } },
  ]
  t.match(why(conditions, { status: 'new', score: 10 }), { decisive: ['conditions[0].not.any[0]'] })
})

t.test('a condition that nothing fulfils has no change', async (t) => {
  const never: Condition[] = [score, { field: 'score', operator: 'less_than', value: 80 }]
  t.match(why(never, { score: 10 }), { decisive: ['conditions[0]'], change: null })
})

const constants = fc.constantFrom<unknown>(0, 1, 5, 5.5, '5', 'a', 'ab', true, null, '2026-03-09')
const field = fc.constantFrom('a', 'b', 'c.d', 'list[0]')
const clause = fc.oneof(
  fc.record({ field, operator: fc.constantFrom('equals', 'not_equals', 'contains'), value: constants }),
  fc.record({
    field,
    operator: fc.constantFrom('greater_than', 'less_than', 'greater_than_or_equal'),
    value: fc.integer({ min: -3, max: 7 }),
  }),
  fc.record({ field, operator: fc.constantFrom('exists', 'not_exists', 'is_empty', 'is_true') }),
  fc.record({
    field,
    operator: fc.constantFrom('in', 'not_in'),
    value: fc.array(constants, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ field, operator: fc.constantFrom('within_last', 'within_next'), value: fc.constant('2d') }),
)
const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    clause as fc.Arbitrary<Condition>,
    fc.record({ all: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('condition') }),
  ),
}))
const anyRule = fc.array(condition, { maxLength: 3 })
const anyData = fc.record(
  {
    a: constants,
    b: constants,
    c: fc.record({ d: constants }, { requiredKeys: [] }),
    list: fc.array(constants),
  },
  { requiredKeys: [] },
)

t.test('the decisive set is the smallest that turns the verdict: by trying all sets', async () => {
  fc.assert(
    fc.property(anyRule, anyData, (conditions, data) => {
      const leaves = listLeaves(conditions)
      if (leaves.length > 8) return true
      const { decisive, conditionsPassed } = why(conditions, data)
      const verdicts = leaves.map(({ clause }) => compileCondition(clause).holds(data, new Evaluation(at)))
      const turned = (set: number) => {
        const byPath = new Map(
          leaves.map(({ path }, index) => [
            path,
            ((set >> index) & 1) === 1 ? !verdicts[index] : verdicts[index],
          ]),
        )
        return combine(conditions, byPath) !== conditionsPassed
      }
      const sets = Array.from({ length: 2 ** leaves.length }, (_, set) => set).filter(turned)
      if (sets.length === 0) return decisive.length === 0
      const least = Math.min(...sets.map((set) => set.toString(2).replaceAll('0', '').length))
      const own = leaves.reduce((set, { path }, index) => set | (decisive.includes(path) ? 1 << index : 0), 0)
      return decisive.length === least && turned(own)
    }),
    { numRuns: draws(3_000) },
  )
})

t.test('a change makes the rule match', async (t) => {
  let missed = 0
  let changed = 0
  fc.assert(
    fc.property(anyRule, anyData, (conditions, data) => {
      const { conditionsPassed, change } = why(conditions, data)
      if (conditionsPassed !== holds(conditions, data)) return false
      if (conditionsPassed) return change === null
      missed++
      if (change === null) return true
      changed++
      return holds(conditions, applyChanges(data, change))
    }),
    { numRuns: 3_000 },
  )
  t.ok(changed > missed * 0.7, `${changed} of ${missed}`)
})

t.test('of sets of one size the first of the rule is decisive', async (t) => {
  const no: ConditionTrace = { field: 'a', operator: 'exists', verdict: false }
  const leaf: Condition = { field: 'a', operator: 'exists' }
  const [first] = findDecisive(
    [{ any: [leaf, leaf] }],
    [{ group: 'any', children: [no, no], verdict: false }],
  )
  t.same(
    first?.map(({ path }) => path),
    ['conditions[0].any[0]'],
  )
})

function listLeaves(conditions: Condition[]) {
  const leaves: { path: string; clause: Condition }[] = []
  const visitAll = (children: Condition[], path: string): void => {
    for (const [index, child] of children.entries()) visit(child, `${path}[${index}]`)
  }
  const visit = (condition: Condition, path: string): void => {
    if ('all' in condition) visitAll(condition.all, `${path}.all`)
    else if ('any' in condition) visitAll(condition.any, `${path}.any`)
    else if ('not' in condition) visit(condition.not, `${path}.not`)
    else leaves.push({ path, clause: condition })
  }
  visitAll(conditions, 'conditions')
  return leaves
}

function combine(conditions: Condition[], verdicts: Map<string, boolean | undefined>): boolean {
  const evaluate = (condition: Condition, path: string): boolean => {
    if ('all' in condition)
      return condition.all.every((child, index) => evaluate(child, `${path}.all[${index}]`))
    if ('any' in condition)
      return condition.any.some((child, index) => evaluate(child, `${path}.any[${index}]`))
    if ('not' in condition) return !evaluate(condition.not, `${path}.not`)
    return verdicts.get(path) ?? false
  }
  return conditions.every((condition, index) => evaluate(condition, `conditions[${index}]`))
}

t.test('the search for a change ends, however many fields would have to change', async (t) => {
  const missing = Array.from(
    { length: 9 },
    (_, n) => ({ field: `missing${n}`, operator: 'exists' }) as Condition,
  )
  const impossible: Condition[] = [score, { field: 'score', operator: 'less_than', value: 50 }]
  const conditions = [...missing, ...impossible]
  const data = { score: 60 }
  class CountingEvaluation extends Evaluation {
    evaluated = 0
    override beginRule(): void {
      this.evaluated++
      super.beginRule()
    }
  }
  const evaluation = new CountingEvaluation(at)
  const sets = findDecisive(conditions, why(conditions, data).trace.conditions)
  t.equal(findChange(conditions, sets, data, evaluation), null)
  t.ok(evaluation.evaluated < 5_000, `${evaluation.evaluated} data were evaluated`)
})

t.test('copies of large data are charged, so a change of them may not be found', async (t) => {
  const data = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`key${n}`, n]))
  const evaluation = new Evaluation(at, { rule: 2_000_000, event: 2_000_000 })
  const sets = findDecisive([score, status], why([score, status], data).trace.conditions)
  t.equal(findChange([score, status], sets, data, evaluation), null)
  t.ok(evaluation.spent > 400_000)
})
