import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { changeRules, saveRules } from '@automation/rules'
import t, { type Test } from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

const wait = (duration: string) => ({ type: 'WAIT', config: { duration } })
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
  t.equal(await harness.own.execution.count({ where: { handlerId: shadow } }), 0)
  t.equal(await harness.own.task.count({ where: { ruleId: shadow } }), 0)
})

function makeShadow({ database, own, workspaceId }: Harness, ruleId: string) {
  const administrator = { database, workspaceId, actor: 'test' }
  return changeRules(administrator, async (transaction) => {
    const found = await own.rule.findUniqueOrThrow({ where: { id: ruleId } })
    await saveRules(transaction, administrator, [{ found, fields: { mode: 'shadow' } }])
    return { result: undefined, entry: { action: 'rule.updated' as const, subject: ruleId } }
  })
}

/** Executes a rule by hand that calls a slow target and then pauses. @returns the execution's id, while the call is under way */
async function executeSlow(t: Test, harness: Harness, pause: object) {
  const responses: ServerResponse[] = []
  const target = await openTarget(t, (_request, response) => responses.push(response))
  const ruleId = await harness.createRule([
    { type: 'SEND_WEBHOOK', config: { url: target.url } },
    pause,
    ...task,
  ])
  const event = harness.newEvent('LEAD_CREATED', { kind: 'rule', id: ruleId })
  await harness.inbox.accept(event)
  while (responses.length === 0) await setTimeout(20)
  return { ruleId, id: event.id, response: responses[0] as ServerResponse }
}

t.test('a run by hand that pauses after its rule became a shadow is cancelled', async (t) => {
  const harness = await createHarness(t)
  await harness.startWorker().ready()
  const { ruleId, id, response } = await executeSlow(t, harness, wait('1h'))
  await makeShadow(harness, ruleId)
  response.end()
  const { error } = await harness.untilStatus(id, 'waiting', 'succeeded', 'cancelled')
  t.equal(error, 'The rule was switched off')
})

t.test(
  'a run by hand that waited while its rule became a shadow is cancelled when it falls due',
  async (t) => {
    const harness = await createHarness(t)
    await harness.startWorker().ready()
    harness.startSweeper()
    const { ruleId, id, response } = await executeSlow(t, harness, wait('6s'))
    response.end()
    await harness.untilStatus(id, 'waiting')
    // As if the step had been recorded while the change was committed: neither saw the other.
    await harness.own.rule.update({ where: { id: ruleId }, data: { mode: 'shadow', isActive: false } })
    const { error } = await harness.untilStatus(id, 'succeeded', 'cancelled')
    t.equal(error, 'The rule was switched off')
    t.equal(await harness.own.task.count({ where: { ruleId } }), 0)
  },
)

t.test('a run by hand of an inactive rule goes on', async (t) => {
  const harness = await createHarness(t)
  await harness.startWorker().ready()
  harness.startSweeper()
  const { ruleId, id, response } = await executeSlow(t, harness, wait('1s'))
  await harness.own.rule.update({ where: { id: ruleId }, data: { isActive: false } })
  response.end()
  t.equal((await harness.untilStatus(id, 'succeeded', 'cancelled')).status, 'succeeded')
})
