import { loadEvents } from '@automation/ledger'
import t from 'tap'
import { Causation } from '../src/executions/causation.js'
import { Claims } from '../src/running/claims.js'
import { createHarness } from './fixtures/harness.js'
import { leaveExecution } from './fixtures/leave-execution.js'

t.test('a worker learns the creator of a workspace with an event and with a claim', async (t) => {
  const harness = await createHarness(t)
  const { database, own, workspaceId } = harness
  const ruleId = await harness.createRule([{ type: 'CREATE_TASK', config: { title: 'Task' } }])
  for (const createdBy of [null, 'user:ada']) {
    await database.system.workspace.update({ where: { id: workspaceId }, data: { createdBy } })
    const event = harness.newRow()
    await own.event.create({ data: event })
    const [loaded] = await loadEvents(database, [event.id])
    t.equal(loaded === 'isolate' ? undefined : loaded?.createdBy, createdBy)
    const id = await leaveExecution(harness, ruleId, { dueAt: new Date(0) })
    const step = await new Claims(database, new Causation(database), {
      giveBack() {},
      hold() {},
      release() {},
    }).claim(id)
    t.equal(step?.execution.event.createdBy, createdBy)
  }
})

t.test('what an execution emits, and its return, count for the creator', async (t) => {
  const harness = await createHarness(t)
  const { database, queue, workspaceId } = harness
  await database.system.workspace.update({ where: { id: workspaceId }, data: { createdBy: 'user:ada' } })
  const owners = new Map<string, string | null | undefined>()
  const addCaused = queue.addCaused.bind(queue)
  queue.addCaused = (events) => {
    owners.set('emitted', events[0].createdBy)
    return addCaused(events)
  }
  const addDue = queue.addDue.bind(queue)
  queue.addDue = (due) => {
    owners.set('due', due.createdBy)
    return addDue(due)
  }
  const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } }
  const ruleId = await harness.createRule([emit, { type: 'WAIT', config: { duration: '1s' } }])
  harness.startWorker()
  await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  t.strictSame(
    owners,
    new Map([
      ['emitted', 'user:ada'],
      ['due', 'user:ada'],
    ]),
  )
})
