import { executionIdOf, taskIdOf } from '@automation/database'
import { findCounterFaults, findStrayCalls, readEffects } from '../fixtures/effects.js'
import { until } from '../fixtures/product.js'
import { killAtStep } from './planned-death.js'
import type { Scenario } from './scene.js'

/** Of the run after a retry: the first step has the intent of its call, the second one its result and the task. */
const crashes = [
  { at: 'before record_steps', time: 1, leaves: 'running' },
  { at: 'after record_steps', time: 1, leaves: 'running' },
  { at: 'before record_steps', time: 2, leaves: 'running' },
  { at: 'after record_steps', time: 2, leaves: 'succeeded' },
] as const

export const reopening: Scenario = {
  title:
    'an execution that is retried with another version, and whose worker dies, creates its new task once',
  async run(t, scene) {
    const { product, client, call, database, workspaceId, targets } = scene
    const own = database.forWorkspace(workspaceId)
    const task = { type: 'CREATE_TASK' as const, config: { title: 'Task' } }
    const callOf = (name: string) => ({
      type: 'SEND_WEBHOOK' as const,
      config: { url: `${targets.url}/${name}` },
      retry: { attempts: 1 },
    })
    scene.isFine = ({ name }) => name !== 'refused'

    const runs: { ruleId: string; executionId: string }[] = []
    const worker = await product.startWorker()
    for (const number of crashes.keys()) {
      const { id: ruleId } = await client.rules.create({
        name: `Rule ${number}`,
        trigger: 'LEAD_CREATED',
        conditions: [{ field: 'number', operator: 'equals', value: number }],
        actions: [task, callOf('refused')],
      })
      const { id } = await client.trigger('LEAD_CREATED', { number }, { async: true })
      runs.push({ ruleId, executionId: executionIdOf({ id, addressee: null }, ruleId) })
    }
    await until(async () => (await own.execution.count({ where: { status: 'failed' } })) === runs.length)
    await worker.stop()

    for (const [number, { leaves, ...step }] of crashes.entries()) {
      const { ruleId, executionId: id } = runs[number] as (typeof runs)[0]
      await client.rules.update(ruleId, { actions: [callOf('fine'), task] })
      await client.executions.retry(id, { version: 'latest' })
      const { exited } = await product.startWorker(killAtStep(step, [ruleId]))
      t.equal((await exited).signal, 'SIGKILL')
      t.match(await own.execution.findUnique({ where: { id } }), { status: leaves, reopened: 1 })
    }
    await product.startWorker()
    const effects = await readEffects(scene)
    for (const { executionId: id } of runs) {
      const execution = effects.executions.find((one) => one.id === id)
      t.match(execution, { status: 'succeeded', reopened: 1, ruleVersion: 2 })
      const tasks = effects.tasks.filter(({ executionId }) => executionId === id)
      const [replaced, created] = tasks.toSorted((one, other) => one.actionIndex - other.actionIndex)
      t.equal(tasks.length, 2)
      t.match(replaced, {
        actionIndex: -1,
        id: replaced && taskIdOf({ id, reopened: 0 }, 0, replaced.createdAt),
      })
      t.match(created, { actionIndex: 1, id: created && taskIdOf({ id, reopened: 1 }, 1, created.createdAt) })
    }
    t.strictSame(findStrayCalls(effects), [], 'every call came under the key of its execution and action')
    t.strictSame(findCounterFaults(effects), [], 'the counters are the rows')
    const { body } = await call('GET', '/api/developer/v1/ledger')
    const { isComplete, imbalance, faults } = body
    t.strictSame({ isComplete, imbalance, faults }, { isComplete: true, imbalance: 0, faults: [] })
  },
}
