import type { Database } from '@automation/database'
import { Evaluation } from '@automation/engine'
import t from 'tap'
import { beginInTurns } from '../src/running/begin-in-turns.js'
import { Causation } from '../src/running/causation.js'
import { EffectBudget } from '../src/running/effect-budget.js'
import type { Execution } from '../src/running/execution.js'
import { context } from './fixtures/outbound.js'

/** @returns how many executions began in each turn */
async function beginAll(count: number, cost: (execution: Execution) => void) {
  const budget = new EffectBudget(context.event, new Causation({} as Database))
  const evaluation = new Evaluation(0)
  const executions = Array.from({ length: count }, () => ({ budget, evaluation }) as never as Execution)
  const turns = [0]
  const begin = (execution: Execution) => {
    cost(execution)
    turns.push((turns.pop() ?? 0) + 1)
  }
  const rest = beginInTurns(executions, begin, async (tookMs) => {
    if (!(tookMs >= 0)) throw new Error('It does not say how long the turn took')
    turns.push(0)
  })
  if (turns.length === 1 && rest !== undefined) throw new Error('It has not begun at once')
  await rest
  return turns
}

t.test('25 light executions begin at once, and fewer where they emit or render much', async (t) => {
  t.same(await beginAll(10, () => {}), [10])
  t.same(await beginAll(60, () => {}), [25, 25, 10])
  const emitMuch = ({ budget }: Execution) => {
    budget.countEvent(1_000_000)
  }
  t.same(await beginAll(12, emitMuch), [5, 5, 2])
  t.same(await beginAll(5, ({ evaluation }) => evaluation.charge(250_000)), [2, 2, 1])
})
