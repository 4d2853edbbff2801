import { setTimeout } from 'node:timers/promises'
import { createSubscription } from '@automation/access'
import { newId } from '@automation/database'
import t from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

/** Rules that fail without a call, because they do not compile. */
async function createFailingRules({ own, workspaceId }: Harness, count: number): Promise<void> {
  const conditions = [{ field: 'score', operator: 'from_a_later_version', value: 1 }]
  const definition = { workspaceId, name: 'Rule', description: '', trigger: 'LEAD_CREATED', conditions }
  const ids = Array.from({ length: count }, newId)
  await own.rule.createMany({
    data: ids.map((id) => ({ ...definition, id, actions: [task], isActive: true })),
  })
  await own.ruleCounters.createMany({ data: ids.map((ruleId) => ({ ruleId, workspaceId })) })
}

async function post({ inbox, newEvent, untilDone }: Harness): Promise<void> {
  const event = newEvent()
  await inbox.accept(event)
  await untilDone(event.id)
}

t.test('a failure is published to a subscription at once, without the sweeper', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t)
  const administrator = { database: harness.database, workspaceId: harness.workspaceId, actor: 'test' }
  const subscription = { url: target.url, eventTypes: ['execution.failed' as const] }
  await createSubscription(administrator, harness.sealer, subscription)
  await createFailingRules(harness, 1)
  harness.startWorker()
  await post(harness)
  while (target.calls.length === 0) await setTimeout(20)
  t.match(JSON.parse(target.calls[0]?.body ?? ''), { type: 'execution.failed' })
})

t.test('200 rules that fail for the same events are paused with a few statements', async (t) => {
  const harness = await createHarness(t)
  const { database, own, workspaceId } = harness
  await database.system.workspace.update({ where: { id: workspaceId }, data: { autoPauseAfter: 3 } })
  await createFailingRules(harness, 200)
  let looks = 0
  const { forWorkspace } = database
  database.forWorkspace = (id) => {
    looks += 1
    return forWorkspace(id)
  }
  harness.startWorker()
  for (let event = 0; event < 3; event++) await post(harness)
  while ((await own.rule.count({ where: { isActive: true } })) > 0) await setTimeout(20)
  t.ok(looks <= 10, `${looks} times, reading the rules included`)
  t.equal(await own.auditEntry.count({ where: { action: 'rule.paused' } }), 200)
  t.equal(await own.ruleCounters.count({ where: { attentionReason: 'auto_paused' } }), 200)
})
