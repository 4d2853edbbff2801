import fc from 'fast-check'
import t from 'tap'
import { compileRule, findOutranked, type Grouped, planEvent } from '../src/index.js'

const anyPlace = fc.oneof(
  fc.constant({ group: null, order: null }),
  fc.record({ group: fc.constantFrom('a', 'b', 'c'), order: fc.integer({ min: 0, max: 4 }) }),
)
const anyMember = fc.record({ place: anyPlace, isMatched: fc.boolean() })

/** By the words of the contract: sort the members of a group, and find the first that matched. */
function findOutrankedNaively(rules: readonly Grouped[], matched: readonly number[]): [number, number][] {
  return matched.flatMap((index): [number, number][] => {
    const own = rules[index] as Grouped
    if (own.group === null) return []
    const members = rules
      .map((rule, place) => ({ ...rule, place }))
      .filter(({ group }) => group === own.group)
    members.sort((left, right) => (left.order ?? 0) - (right.order ?? 0) || left.place - right.place)
    const winner = members.find(({ place }) => matched.includes(place))?.place ?? index
    return winner === index ? [] : [[index, winner]]
  })
}

t.test('of a group the first that matched runs, by order and then by creation', async (t) => {
  fc.assert(
    fc.property(fc.array(anyMember, { maxLength: 30 }), (members) => {
      const rules = members.map(({ place }) => place)
      const matched = members.flatMap(({ isMatched }, index) => (isMatched ? [index] : []))
      t.same([...findOutranked(rules, matched)], findOutrankedNaively(rules, matched))
    }),
  )
})

const equals = (value: string) => ({ field: 'team', operator: 'equals', value })
const slow = { field: 'text', operator: 'contains', value: 'x' }

function member(order: number, conditions: object[] = [], group: string | null = 'routing') {
  const definition = { conditions, actions: [{ type: 'CREATE_TASK', config: { title: 'Task' } }] }
  return { group, order: group === null ? null : order, compiled: compileRule(definition as never) }
}

function plan(rules: Parameters<typeof planEvent>[0], data: object, limits = { rule: 1_000, event: 1_000 }) {
  return Array.from(
    planEvent(rules, data, 0, limits),
    ({ conditionsPassed, outrankedBy, fault, actions }) => {
      if (fault !== undefined) return 'fault'
      return conditionsPassed ? (outrankedBy ?? `${actions.length} action`) : 'no'
    },
  )
}

t.test('a plan of an event has the actions of the first rule of each group', async (t) => {
  const rules = [
    member(30),
    member(10, [equals('a')]),
    member(20, [equals('b')]),
    member(20, [], null),
    member(1, [], 'other'),
  ]
  t.same(plan(rules, { team: 'a' }), [1, '1 action', 'no', '1 action', '1 action'])
  t.same(plan(rules, { team: 'b' }), [2, 'no', '1 action', '1 action', '1 action'])
  t.same(plan(rules, { team: 'c' }), ['1 action', 'no', 'no', '1 action', '1 action'])
})

t.test('a rule that could not be evaluated takes its place as if it had matched', async (t) => {
  const text = 'y'.repeat(100_000)
  const rules = [member(30), member(20, [slow]), member(10, [equals('a')])]
  t.same(plan(rules, { text }), [1, 'fault', 'no'], 'what comes after it does not run')
  t.same(plan(rules, { text, team: 'a' }), [2, 2, '1 action'], 'what comes before it does')
  const broken = [member(30), { group: 'routing', order: 5, compiled: { fault: 'It does not compile' } }]
  t.same(plan(broken, {}), [1, 'fault'])
})
