import { setTimeout } from 'node:timers/promises'
import { type Database, newId } from '@automation/database'
import { openMetrics } from '@automation/process/telemetry'
import t, { type Test } from 'tap'
import { createAdmission } from '../src/admission.js'
import { Executor } from '../src/calls/executor.js'
import { Gate } from '../src/calls/gate.js'
import { Leases } from '../src/calls/leases.js'
import { Causation } from '../src/executions/causation.js'
import { Recorder } from '../src/executions/recorder.js'
import { Claims } from '../src/running/claims.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { createHarness, type Harness, log } from './fixtures/harness.js'
import { leaveExecution } from './fixtures/leave-execution.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const call = (url: string) => ({ type: 'SEND_WEBHOOK', config: { url } })

/** Waits until a state is left. */
async function leave(isInState: () => Promise<boolean>): Promise<void> {
  while (await isInState()) await setTimeout(20)
}

/** A harness whose executions the test claims, as any number of workers would. */
async function createLeasedHarness(t: Test) {
  const harness = await createHarness(t)
  const { database, own } = harness
  const claims = new Claims(database, new Causation(database), { giveBack() {}, hold() {}, release() {} })
  return {
    ...harness,
    read: (id: string) => own.execution.findUniqueOrThrow({ where: { id } }),
    /** Claims an execution from its holder, as if the lease had expired. */
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

t.test('an execution does not fail after five living workers have lost its lease', async (t) => {
  const harness = await createLeasedHarness(t)
  const target = await openTarget(t)
  const id = await leaveExecution(harness, await harness.createRule([call(target.url)]))
  let step = await harness.take(id)
  for (let loss = 0; loss < 5; loss++) {
    const slow = step
    const before = (await harness.read(id)).interruptions
    step = await harness.take(id)
    t.match(
      await harness.read(id),
      { interruptions: before + 1 },
      'the worker has not yet reported that it is alive',
    )
    harness.openLeases().hold(slow)
    await leave(async () => (await harness.read(id)).interruptions > before)
  }
  harness.startWorker()
  await harness.own.execution.update({ where: { id }, data: { dueAt: new Date() } })
  harness.startSweeper()
  t.match(await harness.untilStatus(id, 'succeeded', 'failed'), { status: 'succeeded' })
})

t.test('a living worker takes back its own interruption, but not that of a dead one', async (t) => {
  const harness = await createLeasedHarness(t)
  const id = await leaveExecution(harness, await harness.createRule([task]), { lease: null })
  const alive = await harness.take(id)
  const dead = await harness.take(id)
  const last = await harness.take(id)
  t.match(await harness.read(id), { interruptions: 2, lostLeases: [alive.lease, dead.lease] })
  const leases = harness.openLeases()
  leases.noteLost(alive)
  leases.noteLost({ ...last, lease: newId() })
  await leave(async () => (await harness.read(id)).interruptions === 2)
  leases.noteLost(alive)
  await leases.releaseAll()
  t.match(await harness.read(id), { interruptions: 1, lostLeases: [dead.lease], lease: last.lease })
})

t.test('a lease is renewed for its holder only', async (t) => {
  const harness = await createLeasedHarness(t)
  const ruleId = await harness.createRule([task])
  const [mine, lost] = [await leaveExecution(harness, ruleId), await leaveExecution(harness, ruleId)]
  const held = await harness.take(mine)
  const slow = await harness.take(lost)
  await harness.take(lost)
  const dueAt = new Date(Date.now() + 1_000)
  await harness.own.execution.updateMany({ data: { dueAt } })
  const leases = harness.openLeases()
  leases.hold(slow)
  leases.hold(held)
  await leave(async () => Number((await harness.read(mine)).dueAt) === Number(dueAt))
  t.same((await harness.read(lost)).dueAt, dueAt)
})

/** A worker that claims executions and finds no slot for them. */
function openFullWorker({ database, queue }: Harness) {
  const gate = new Gate(createAdmission(1))
  gate.tryEnter({ workspaceId: 'another', createdBy: null, heapBytes: 2 }, 'destination')
  const metrics = createWorkerMetrics(openMetrics())
  const executor = new Executor({
    suspensions: { has: () => false, during: (_, work) => work() },
    events: createAdmission(1).events,
    recorder: new Recorder({
      commits: createAdmission(1).commits,
      database,
      queue,
      metrics,
      followUp: () => {},
      log,
    }),
    leases: { hold() {}, release() {}, noteLost() {} },
    gate,
    perform: () => Promise.reject(new Error('never called')),
    metrics,
    log,
  })
  return executor
}

t.test('an execution that waits for a slot while five workers die does not fail', async (t) => {
  const harness = await createLeasedHarness(t)
  const target = await openTarget(t)
  const ruleId = await harness.createRule([call(target.url)])
  const id = await leaveExecution(harness, ruleId, { results: [], interruptions: 3 })
  for (let death = 0; death < 6; death++) {
    const step = await harness.take(id)
    t.equal(
      step.execution.record.interruptions,
      4,
      'the first worker ended while it advanced the execution, the others did not',
    )
    void openFullWorker(harness).resume(step)
    await leave(async () => !(await harness.read(id)).awaitsSlot)
  }
  harness.startWorker()
  await harness.own.execution.update({ where: { id }, data: { dueAt: new Date() } })
  harness.startSweeper()
  t.match(await harness.untilStatus(id, 'succeeded', 'failed'), { status: 'succeeded' })
  t.equal(target.calls.length, 1)
})

t.test('an execution that kills each worker fails after five workers', async (t) => {
  const harness = await createLeasedHarness(t)
  const id = await leaveExecution(harness, await harness.createRule([task]), { results: [], lease: null })
  for (let death = 0; death < 5; death++) await harness.take(id)
  harness.startWorker()
  await harness.own.execution.update({ where: { id }, data: { dueAt: new Date() } })
  harness.startSweeper()
  t.match(await harness.untilStatus(id, 'succeeded', 'failed'), {
    status: 'failed',
    error: 'Gave up after 5 workers crashed on this execution',
  })
})

/** What it claims, and what it reads next, once its response is lost and once it is not even sent. */
const losses = { claim_executions: 'after', find_origins: 'before' }

for (const [lost, moment] of Object.entries(losses))
  t.test(`an execution is not blamed where Postgres goes away at ${lost}, after its claim`, async (t) => {
    const harness = await createLeasedHarness(t)
    const { database, own } = harness
    const flaky: Database = {
      ...database,
      async run(name, ...rest) {
        if (name !== lost) return database.run(name, ...rest)
        if (moment === 'after') await database.run(name, ...rest)
        throw new Error('Connection terminated unexpectedly')
      },
    }
    const claims = new Claims(flaky, new Causation(flaky), harness.openLeases())
    const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } }
    const id = await leaveExecution(harness, await harness.createRule([emit]), { results: [], lease: null })
    for (let round = 0; round < 6; round++) {
      await own.execution.update({ where: { id }, data: { dueAt: new Date(0) } })
      await t.rejects(claims.claim(id), /Connection terminated/)
      await leave(async () => (await harness.read(id)).lease !== null)
    }
    const { execution } = await harness.take(id)
    t.match(execution.record, { status: 'running', interruptions: 0 })
  })

t.test('a claim that comes before it is given back is not counted either', async (t) => {
  const harness = await createLeasedHarness(t)
  const id = await leaveExecution(harness, await harness.createRule([task]), { results: [], lease: null })
  const { lease } = await harness.take(id)
  const next = await harness.take(id)
  t.match(await harness.read(id), { interruptions: 1 })
  harness.openLeases().giveBack({ id, lease })
  await leave(async () => (await harness.read(id)).interruptions > 0)
  t.match(
    await harness.read(id),
    { lease: next.lease, lostLeases: { length: 0 } },
    'the next holder keeps it',
  )
})

t.test('an execution without a slot is stored as waiting for one until its call', async (t) => {
  const harness = await createHarness(t, { OUTBOUND_CONCURRENCY: '1' })
  const waiting: (() => void)[] = []
  const target = await openTarget(t, (_request, response) => void waiting.push(() => response.end()))
  const ruleId = await harness.createRule([call(target.url)])
  harness.startWorker()
  const first = await harness.trigger(ruleId)
  await leave(async () => target.calls.length < 1)
  const second = await harness.trigger(ruleId)
  t.match(await harness.untilStatus(second, 'running'), { awaitsSlot: true, lease: String })
  t.match(await harness.untilStatus(first, 'running'), { awaitsSlot: null, lease: String })
  waiting[0]?.()
  await leave(async () => target.calls.length < 2)
  t.match(await harness.untilStatus(second, 'running'), { awaitsSlot: null, lease: String })
  waiting[1]?.()
  await harness.untilStatus(second, 'succeeded')
})
