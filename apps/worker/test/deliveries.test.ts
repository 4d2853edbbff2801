import { createSubscription } from '@automation/access'
import { newId } from '@automation/database'
import t, { type Test } from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const longAgo = new Date(Date.now() - 60_000)

/** How a delivery is stored. Its type is a rule's, and does not decide. */
const addressOf = (id: string) => ({
  type: 'LEAD_CREATED',
  addresseeKind: 'subscription' as const,
  addresseeId: id,
})
type Address = ReturnType<typeof addressOf>

/** A subscription to failures, and a rule that no delivery may run. */
async function openSubscription(t: Test, harness: Harness, statusCode = 200) {
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = statusCode
    response.end()
  })
  const administrator = { database: harness.database, workspaceId: harness.workspaceId, actor: 'test' }
  const subscription = { url: target.url, eventTypes: ['execution.failed' as const] }
  const { id } = await createSubscription(administrator, harness.sealer, subscription)
  await harness.createRule([task])
  return { target, id }
}

/** The row of an event that lacks a job. */
async function storeEvent({ own, newRow }: Harness, address: Address, doneAt: Date | null = null) {
  const row = { ...newRow(), ...address, acceptedAt: longAgo, doneAt }
  await own.event.create({ data: row })
  return row
}

/** A delivery that waits for its next attempt. */
async function storeDelivery(harness: Harness, address: Address): Promise<string> {
  const { id, workspaceId, type, addresseeId } = await storeEvent(harness, address, longAgo)
  await harness.own.execution.create({
    data: {
      id,
      workspaceId,
      eventId: id,
      eventType: type,
      handlerId: addresseeId,
      isDelivery: true,
      ruleVersion: 1,
      status: 'retrying',
      results: [{ action: 'SEND_WEBHOOK', status: 'pending' }],
      startedAt: longAgo,
      dueAt: longAgo,
    },
  })
  return id
}

t.test('an event that is addressed to a subscription is delivered to it alone', async (t) => {
  const harness = await createHarness(t)
  const { target, id } = await openSubscription(t, harness)
  const event = await storeEvent(harness, addressOf(id))
  harness.startWorker()
  harness.startSweeper()
  const execution = await harness.untilStatus(event.id, 'succeeded')
  t.match(execution, { handlerId: id, isDelivery: true, eventType: event.type })
  t.match(await harness.untilDone(event.id), { ruleSetId: id })
  t.equal(await harness.own.execution.count(), 1)
  t.match(target.calls[0]?.headers, { 'webhook-id': `${event.id}:0`, 'webhook-signature': /^v1,/ })
})

t.test('a delivery that was begun goes on, and its failure is not published', async (t) => {
  const harness = await createHarness(t)
  const { target, id } = await openSubscription(t, harness, 400)
  const deliveryId = await storeDelivery(harness, addressOf(id))
  harness.startWorker()
  harness.startSweeper()
  await harness.untilStatus(deliveryId, 'failed')
  t.equal(target.calls.length, 1)
  t.equal(await harness.own.event.count({ where: { type: 'execution.failed' } }), 0)
})

t.test('a delivery that was begun is cancelled where its subscription is gone', async (t) => {
  const harness = await createHarness(t)
  const deliveryId = await storeDelivery(harness, addressOf(newId()))
  harness.startWorker()
  harness.startSweeper()
  t.match(await harness.untilStatus(deliveryId, 'cancelled'), { error: 'The subscription is gone' })
})
