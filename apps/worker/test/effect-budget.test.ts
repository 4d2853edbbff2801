import { type Database, newId } from '@automation/database'
import { Evaluation } from '@automation/engine'
import t from 'tap'
import { advance } from '../src/executions/advance.js'
import { Causation } from '../src/executions/causation.js'
import { EffectBudget } from '../src/executions/effect-budget.js'
import type { Execution } from '../src/executions/execution.js'
import { makeReady } from '../src/executions/ready-rule.js'
import { context } from './fixtures/outbound.js'

const mebibyte = 1_048_576
const causation = new Causation({} as Database)

t.test('the tasks of one event have at most 16 MiB as JSON, and further actions fail', async (t) => {
  // Each character takes six bytes as JSON.
  const config = { title: 'Call', description: '\u0001'.repeat(10_000) }
  const actions = Array(20).fill({ type: 'CREATE_TASK', config })
  const rule = makeReady({ id: newId(), name: 'Rule', version: 1, conditions: [], actions })
  const begin = (budget: EffectBudget) => {
    const record = { results: [], finishedAt: null }
    const evaluation = new Evaluation(0)
    return {
      rule,
      event: context.event,
      record,
      evaluation,
      budget,
      tasks: [],
      effectBytes: 0,
    } as never as Execution
  }
  const budget = new EffectBudget(context.event, causation)
  const executions = Array.from({ length: 14 }, () => begin(budget))
  for (const execution of executions) t.equal(advance(execution), undefined)
  const bytes = executions.reduce((sum, { tasks }) => sum + Buffer.byteLength(JSON.stringify(tasks)), 0)
  t.ok(bytes <= 16 * mebibyte, `${bytes} bytes`)
  t.ok(bytes > 15 * mebibyte)
  t.match(executions.at(-1)?.record, {
    status: 'failed',
    error: 'The rules of one event would create tasks of more than 16 MiB',
  })
  const next = begin(new EffectBudget(context.event, causation))
  advance(next)
  t.equal(next.tasks.length, 20, 'each event has its own limit')
})

t.test('emissions that come to nothing do not count, and those of other executions do', async (t) => {
  const budget = new EffectBudget(
    context.event,
    new Causation({} as Database, { descendants: 2, perMinute: 100 }),
  )
  const emit = () => budget.countEvents([1])?.attention
  t.strictSame([emit(), emit(), emit()], [undefined, undefined, 'event_budget'])
  budget.refund(1)
  t.strictSame([emit(), emit()], [undefined, 'event_budget'])
  budget.refund()
  t.strictSame([emit(), emit(), emit()], [undefined, undefined, 'event_budget'])
})

t.test('what was taken back is not taken back again, from what others have emitted', async (t) => {
  const shared = new Causation({} as Database, { descendants: 3, perMinute: 100 })
  const [one, other] = [new EffectBudget(context.event, shared), new EffectBudget(context.event, shared)]
  one.countEvents([1, 1])
  other.countEvents([1])
  one.refund(1)
  one.refund()
  t.equal(one.countEvents([1, 1, 1])?.attention, 'event_budget')
  t.equal(one.countEvents([1, 1]), undefined)
})
