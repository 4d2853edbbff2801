import t from 'tap'
import { createHarness } from './fixtures/harness.js'

const task = [{ type: 'CREATE_TASK', config: { title: 'Done' } }]

t.test('no event runs a shadow, not even one that names it', async (t) => {
  const harness = await createHarness(t)
  const worker = harness.startWorker()
  await worker.ready()
  const live = await harness.createRule(task)
  const shadow = await harness.createRule(task)
  await harness.own.rule.update({ where: { id: shadow }, data: { mode: 'shadow', isActive: false } })
  await harness.own.workspace.update({
    where: { id: harness.workspaceId },
    data: { rulesVersion: { increment: 1 } },
  })
  const all = harness.newEvent()
  const named = harness.newEvent('LEAD_CREATED', { kind: 'rule', id: shadow })
  await Promise.all([harness.inbox.accept(all), harness.inbox.accept(named)])
  await Promise.all([harness.untilDone(all.id), harness.untilDone(named.id)])
  t.strictSame(await harness.readConsidered(all.id), [live])
  t.equal(await harness.own.execution.count({ where: { ruleId: shadow } }), 0)
  t.equal(await harness.own.task.count({ where: { ruleId: shadow } }), 0)
})
