import { createSubscription } from '@automation/access'
import { newId } from '@automation/database'
import t, { type Test } from 'tap'
import { type House, openHouse } from './fixtures/house.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const longAgo = new Date(Date.now() - 60_000)

/** How this version and the one before write the delivery of an event. The type of the first one is a rule's. */
const versions = {
  'this version': (id: string) => ({ type: 'LEAD_CREATED', ruleId: id, subscriptionId: id }),
  'the version before': (id: string) => ({ type: 'rule.updated', ruleId: id }),
}
type Address = ReturnType<(typeof versions)[keyof typeof versions]>

/** A subscription to failures, and a rule that no delivery may run. */
async function openSubscription(t: Test, house: House, statusCode = 200) {
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = statusCode
    response.end()
  })
  const administrator = { database: house.database, workspaceId: house.workspaceId, actor: 'test' }
  const subscription = { url: target.url, eventTypes: ['execution.failed' as const] }
  const { id } = await createSubscription(administrator, house.sealer, subscription)
  await house.createRule([task])
  return { target, id }
}

/** The row of an event that lacks a job. */
async function storeEvent({ own, newRow }: House, address: Address, doneAt: Date | null = null) {
  const row = { ...newRow(), ...address, acceptedAt: longAgo, doneAt }
  await own.event.create({ data: row })
  return row
}

/** A delivery that waits for its next attempt. */
async function storeDelivery(house: House, address: Address): Promise<string> {
  const { id, workspaceId, type, ...addressee } = await storeEvent(house, address, longAgo)
  const { ruleId, subscriptionId } = { subscriptionId: null, ...addressee }
  await house.own.execution.create({
    data: {
      id,
      workspaceId,
      eventId: id,
      eventType: type,
      ruleId,
      subscriptionId,
      ruleVersion: 1,
      status: 'retrying',
      results: [{ action: 'SEND_WEBHOOK', status: 'pending' }],
      startedAt: longAgo,
      dueAt: longAgo,
    },
  })
  return id
}

for (const [version, address] of Object.entries(versions)) {
  t.test(`an event that ${version} addressed to a subscription is delivered to it alone`, async (t) => {
    const house = await openHouse(t)
    const { target, id } = await openSubscription(t, house)
    const event = await storeEvent(house, address(id))
    house.startWorker()
    house.startSweeper()
    const execution = await house.untilStatus(event.id, 'succeeded')
    t.match(execution, { ruleId: id, subscriptionId: id, eventType: event.type })
    t.match(await house.untilDone(event.id), { ruleSetId: id })
    t.equal(await house.own.execution.count(), 1)
    t.match(target.calls[0]?.headers, { 'webhook-id': `${event.id}:0`, 'webhook-signature': /^v1,/ })
  })

  t.test(`a delivery that ${version} began goes on, and its failure is told to nobody`, async (t) => {
    const house = await openHouse(t)
    const { target, id } = await openSubscription(t, house, 400)
    const deliveryId = await storeDelivery(house, address(id))
    house.startWorker()
    house.startSweeper()
    await house.untilStatus(deliveryId, 'failed')
    t.equal(target.calls.length, 1)
    t.equal(await house.own.event.count({ where: { type: 'execution.failed' } }), 0)
  })

  t.test(`a delivery that ${version} began is cancelled where its subscription is gone`, async (t) => {
    const house = await openHouse(t)
    const deliveryId = await storeDelivery(house, address(newId()))
    house.startWorker()
    house.startSweeper()
    t.match(await house.untilStatus(deliveryId, 'cancelled'), { error: 'The subscription is gone' })
  })
}
