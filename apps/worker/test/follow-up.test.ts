import { setTimeout } from 'node:timers/promises'
import { createSubscription } from '@automation/access'
import { newId } from '@automation/database'
import t from 'tap'
import { type House, openHouse } from './fixtures/house.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

/** Rules that fail without a call, as those do that no longer compile. */
async function createFailingRules({ own, workspaceId }: House, count: number): Promise<void> {
  const conditions = [{ field: 'score', operator: 'from_a_later_version', value: 1 }]
  const definition = { workspaceId, name: 'Rule', description: '', trigger: 'LEAD_CREATED', conditions }
  const ids = Array.from({ length: count }, newId)
  await own.rule.createMany({
    data: ids.map((id) => ({ ...definition, id, actions: [task], isActive: true })),
  })
  await own.ruleCounters.createMany({ data: ids.map((ruleId) => ({ ruleId, workspaceId })) })
}

async function post({ inbox, newEvent, untilDone }: House): Promise<void> {
  const event = newEvent()
  await inbox.accept(event)
  await untilDone(event.id)
}

t.test('a failure is published to a subscription at once, without the sweeper', async (t) => {
  const house = await openHouse(t)
  const target = await openTarget(t)
  const administrator = { database: house.database, workspaceId: house.workspaceId, actor: 'test' }
  const subscription = { url: target.url, eventTypes: ['execution.failed' as const] }
  await createSubscription(administrator, house.sealer, subscription)
  await createFailingRules(house, 1)
  house.startWorker()
  await post(house)
  while (target.calls.length === 0) await setTimeout(20)
  t.match(JSON.parse(target.calls[0]?.body ?? ''), { type: 'execution.failed' })
})

t.test('200 rules that fail for the same events are paused by a few statements', async (t) => {
  const house = await openHouse(t)
  const { database, own, workspaceId } = house
  await database.system.workspace.update({ where: { id: workspaceId }, data: { autoPauseAfter: 3 } })
  await createFailingRules(house, 200)
  let looks = 0
  const { forWorkspace } = database
  database.forWorkspace = (id) => {
    looks += 1
    return forWorkspace(id)
  }
  house.startWorker()
  for (let event = 0; event < 3; event++) await post(house)
  while ((await own.rule.count({ where: { isActive: true } })) > 0) await setTimeout(20)
  t.ok(looks <= 10, `${looks} times, reading the rules included`)
  t.equal(await own.auditEntry.count({ where: { action: 'rule.paused' } }), 200)
  t.equal(await own.ruleCounters.count({ where: { attentionReason: 'auto_paused' } }), 200)
})
