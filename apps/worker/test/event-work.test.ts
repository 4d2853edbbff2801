import { type Database, newId } from '@automation/database'
import { Evaluation } from '@automation/engine'
import t from 'tap'
import { Causation } from '../src/executions/causation.js'
import { EffectBudget } from '../src/executions/effect-budget.js'
import { makeReady } from '../src/executions/ready-rule.js'
import { EventWork } from '../src/running/event-work.js'
import { makeSetOfOne } from '../src/running/rule-set.js'
import { context } from './fixtures/outbound.js'

const sliceMs = 10
/** An automaton builds a new state of this pattern at each of these letters. */
const value = '(?i)a[ab]{400}[cd]'
const text = Array.from({ length: 4_000 }, (_, n) => 'ab'[((n * n * 31 + (n >> 3) * 17) % 7) % 2]).join('')

function openWork(operator: 'matches' | 'not_matches') {
  const conditions = [{ field: 'text', operator, value }]
  const actions = [{ type: 'CREATE_TASK', config: { title: 'Task' } }]
  const rule = makeReady({ id: newId(), name: 'Rule', version: 1, conditions, actions })
  const event = { ...context.event, data: { text } }
  return new EventWork({
    event,
    set: makeSetOfOne(rule, 1),
    budget: new EffectBudget(event, new Causation({} as Database)),
    evaluation: new Evaluation(0, { rule: 2_000_000, event: 6_000_000 }),
    span: undefined,
    begin: () => [],
  })
}

t.test('an event is done with its last evaluation, however long that takes', async (t) => {
  const work = openWork('matches')
  t.equal(work.advance(), true)
  t.ok(work.cost > sliceMs, `${work.cost} ms`)
  const unheld = openWork('matches')
  await unheld.finish(async () => {
    t.fail('nothing is left that others would have to go before')
  })
})

t.test('an execution that begins after a long evaluation has a slice of its own', async (t) => {
  const work = openWork('not_matches')
  let pauses = 0
  await work.finish(async () => {
    pauses++
  })
  t.equal(pauses, 1)
  t.equal(work.executions.length, 1)
})

t.test('a rule of a group that could not be evaluated takes its place as if it had matched', async (t) => {
  const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
  const member = (name: string, order: number, conditions: object[]) =>
    makeReady({ id: newId(), name, version: 1, group: 'routing', order, conditions, actions: [task] })
  const slow = [{ field: 'text', operator: 'matches', value }]
  const pool = member('Pool', 30, [])
  const north = member('North', 10, [{ field: 'team', operator: 'equals', value: 'north' }])
  const heavy = member('Heavy', 20, slow)
  const rules = [pool, north, heavy]
  const run = async (data: object, chosenRuleIds: string[] | null = null) => {
    const event = { ...context.event, data, chosenRuleIds }
    const work = new EventWork({
      event,
      set: { id: null, rules, rulesVersion: 1, hasGroups: true, waited: [], findCandidates: () => [0, 1, 2] },
      budget: new EffectBudget(event, new Causation({} as Database)),
      evaluation: new Evaluation(0, { rule: 10_000, event: 100_000 }),
      span: undefined,
      begin: () => [],
    })
    await work.finish(async () => {})
    return {
      executions: work.executions.map(({ rule, record }) => [rule.name, record.status]),
      outranked: work.outranked && [...work.outranked],
    }
  }
  t.strictSame(await run({ text }), { executions: [['Heavy', 'failed']], outranked: [[0, 2]] })
  t.strictSame(await run({ text, team: 'north' }), {
    executions: [['North', 'running']],
    outranked: [
      [0, 1],
      [2, 1],
    ],
  })
  t.strictSame(await run({}), { executions: [['Pool', 'running']], outranked: null })
  t.strictSame(await run({ text }, [pool.id]), { executions: [], outranked: [[0, 2]] }, 'left out, too')
  t.strictSame(await run({ text }, [heavy.id]), { executions: [['Heavy', 'failed']], outranked: null })
  t.strictSame(await run({}, [north.id]), { executions: [], outranked: null })
})
