import t from 'tap'
import { describeLimits, describeTrip } from '../../pages/logic/describe-guard.js'
import { clauseAt, nextLookMs, rangeOf, testedOf } from '../../pages/logic/tested-rule.js'

const definition = {
  name: 'n',
  description: 'd',
  trigger: 'LEAD_CREATED',
  conditions: [
    { field: 'score', operator: 'greater_than', value: 80 },
    { any: [{ field: 'name', operator: 'exists' }, { not: { field: 'a', operator: 'equals', value: 'b' } }] },
  ] as never,
  actions: [],
}

t.test('a backtest evaluates neither the name nor the description', async (t) => {
  t.same(Object.keys(testedOf(definition)), [
    'trigger',
    'group',
    'order',
    'schedule',
    'perKey',
    'conditions',
    'actions',
  ])
})

t.test('a clause is named by its words at any depth', async (t) => {
  t.equal(clauseAt(definition, 'conditions[0]'), 'score > 80')
  t.equal(clauseAt(definition, 'conditions[1].any[0]'), 'name exists')
  t.equal(clauseAt(definition, 'conditions[1].any[1].not'), 'a = "b"')
  t.equal(clauseAt(definition, 'conditions[1]'), undefined, 'a group has no words')
  t.equal(clauseAt(definition, 'conditions[7].any[0]'), undefined)
})

t.test('a range of one’s own may be open, and the others end now', async (t) => {
  const now = Date.parse('2026-11-23T12:00:00Z')
  t.same(rangeOf('7d', { from: undefined, to: undefined }, now), { from: '2026-11-16T12:00:00.000Z' })
  t.same(rangeOf('own', { from: undefined, to: undefined }, now), {})
  const own = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z' }
  t.same(rangeOf('own', own, now), own)
})

t.test('a running backtest is looked at five times within its first minute at most', async (t) => {
  // The response to its start came after a second.
  const looks = [1_000]
  for (let reads = 1; reads < 12; reads++) looks.push((looks.at(-1) ?? 0) + nextLookMs(reads))
  for (const start of looks)
    t.ok(looks.filter((at) => at > start && at <= start + 60_000).length <= 5, `from ${start} ms on`)
})

t.test('a guard is said in words', async (t) => {
  t.equal(
    describeLimits({ maxRunsPerHour: 1_000, maxFailureRate: 0.125 }),
    'more than 1,000 executions within an hour, or more than 12.5 % of the executions of an hour failing',
  )
  t.equal(
    describeTrip({ maxRunsPerHour: 1, maxFailureRate: 0.2, tripReason: 'runs' }),
    'there were more than 1 execution within an hour',
  )
  t.equal(
    describeTrip({ maxRunsPerHour: null, maxFailureRate: 0.2, tripReason: 'failures' }),
    'more than 20 % of its executions within an hour failed',
  )
})
