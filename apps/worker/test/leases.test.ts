import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { openMetrics } from '@automation/telemetry'
import t, { type Test } from 'tap'
import { Executor } from '../src/calls/executor.js'
import { Gate } from '../src/calls/gate.js'
import { Leases } from '../src/calls/leases.js'
import { Causation } from '../src/running/causation.js'
import { Claims } from '../src/running/claims.js'
import { Recorder } from '../src/running/recorder.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { leaveRun } from './fixtures/held-run.js'
import { type House, log, openHouse } from './fixtures/house.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const call = (url: string) => ({ type: 'SEND_WEBHOOK', config: { url } })

/** A house whose executions the test claims, as any number of workers would. */
async function openLeasedHouse(t: Test) {
  const house = await openHouse(t)
  const { database, own } = house
  const claims = new Claims(database, new Causation(database))
  return {
    ...house,
    read: (id: string) => own.execution.findUniqueOrThrow({ where: { id } }),
    /** Takes an execution from its holder, as if the lease had expired. */
    async take(id: string) {
      await own.execution.update({ where: { id }, data: { dueAt: new Date(0) } })
      const step = await claims.claim(id)
      if (step === undefined) throw new Error('The run is not due')
      return step
    },
    /** The leases of a living worker. */
    openLeases() {
      const leases = new Leases(database, log, 20)
      t.teardown(() => leases.stop())
      return leases
    },
  }
}

t.test('an execution that five living workers lose one after another does not fail', async (t) => {
  const house = await openLeasedHouse(t)
  const target = await openTarget(t)
  const id = await leaveRun(house, await house.createRule([call(target.url)]))
  let step = await house.take(id)
  for (let loss = 0; loss < 5; loss++) {
    const slow = step
    const before = (await house.read(id)).interruptions
    step = await house.take(id)
    t.match(await house.read(id), { interruptions: before + 1 }, 'nobody knows yet that it is alive')
    house.openLeases().hold(slow)
    while ((await house.read(id)).interruptions > before) await setTimeout(20)
  }
  house.startWorker()
  await house.own.execution.update({ where: { id }, data: { dueAt: new Date() } })
  house.startSweeper()
  t.match(await house.untilStatus(id, 'succeeded', 'failed'), { status: 'succeeded' })
})

t.test('a living worker takes back its own interruption, and not that of a dead one', async (t) => {
  const house = await openLeasedHouse(t)
  const id = await leaveRun(house, await house.createRule([task]), { lease: null })
  const alive = await house.take(id)
  const dead = await house.take(id)
  const last = await house.take(id)
  t.match(await house.read(id), { interruptions: 2, lostLeases: [alive.lease, dead.lease] })
  const leases = house.openLeases()
  leases.noteLost(alive)
  leases.noteLost({ ...last, lease: newId() })
  while ((await house.read(id)).interruptions === 2) await setTimeout(20)
  leases.noteLost(alive)
  await leases.releaseAll()
  t.match(await house.read(id), { interruptions: 1, lostLeases: [dead.lease], lease: last.lease })
})

t.test('a lease is renewed for its holder only', async (t) => {
  const house = await openLeasedHouse(t)
  const ruleId = await house.createRule([task])
  const [mine, lost] = [await leaveRun(house, ruleId), await leaveRun(house, ruleId)]
  const held = await house.take(mine)
  const slow = await house.take(lost)
  await house.take(lost)
  const dueAt = new Date(Date.now() + 1_000)
  await house.own.execution.updateMany({ data: { dueAt } })
  const leases = house.openLeases()
  leases.hold(slow)
  leases.hold(held)
  while (Number((await house.read(mine)).dueAt) === Number(dueAt)) await setTimeout(20)
  t.same((await house.read(lost)).dueAt, dueAt)
})

/** A worker that claims executions and finds no slot for them. */
function openFullWorker({ database, queue }: House) {
  const gate = new Gate(1)
  gate.tryEnter('another', 'destination')
  const executor = new Executor({
    queue,
    recorder: new Recorder(database),
    leases: { hold() {}, release() {}, noteLost() {} },
    gate,
    perform: () => Promise.reject(new Error('never called')),
    metrics: createWorkerMetrics(openMetrics()),
    log,
  })
  return executor
}

t.test('an execution that waits for a slot while five workers die does not fail', async (t) => {
  const house = await openLeasedHouse(t)
  const target = await openTarget(t)
  const ruleId = await house.createRule([call(target.url)])
  const id = await leaveRun(house, ruleId, { results: [], interruptions: 3 })
  for (let death = 0; death < 6; death++) {
    const step = await house.take(id)
    t.equal(
      step.execution.record.interruptions,
      4,
      'the first worker ended as it advanced the run, the others did not',
    )
    void openFullWorker(house).resume(step)
    while (!(await house.read(id)).awaitsSlot) await setTimeout(20)
  }
  house.startWorker()
  await house.own.execution.update({ where: { id }, data: { dueAt: new Date() } })
  house.startSweeper()
  t.match(await house.untilStatus(id, 'succeeded', 'failed'), { status: 'succeeded' })
  t.equal(target.calls.length, 1)
})

t.test('an execution that kills each worker fails after five workers', async (t) => {
  const house = await openLeasedHouse(t)
  const id = await leaveRun(house, await house.createRule([task]), { results: [], lease: null })
  for (let death = 0; death < 5; death++) await house.take(id)
  house.startWorker()
  await house.own.execution.update({ where: { id }, data: { dueAt: new Date() } })
  house.startSweeper()
  t.match(await house.untilStatus(id, 'succeeded', 'failed'), {
    status: 'failed',
    error: '5 workers ended while they had this run',
  })
})

t.test('an execution without a slot is stored as waiting for one, until its call', async (t) => {
  const house = await openHouse(t, { OUTBOUND_CONCURRENCY: '1' })
  const waiting: (() => void)[] = []
  const target = await openTarget(t, (_request, response) => void waiting.push(() => response.end()))
  const ruleId = await house.createRule([call(target.url)])
  house.startWorker()
  const first = await house.trigger(ruleId)
  while (target.calls.length < 1) await setTimeout(20)
  const second = await house.trigger(ruleId)
  t.match(await house.untilStatus(second, 'running'), { awaitsSlot: true, lease: String })
  t.match(await house.untilStatus(first, 'running'), { awaitsSlot: null, lease: String })
  waiting[0]?.()
  while (target.calls.length < 2) await setTimeout(20)
  t.match(await house.untilStatus(second, 'running'), { awaitsSlot: null, lease: String })
  waiting[1]?.()
  await house.untilStatus(second, 'succeeded')
})
