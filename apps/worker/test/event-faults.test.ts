import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import { maxRefusals } from '@automation/ledger'
import t, { type Test } from 'tap'
import { CallRunner } from '../src/calls/call-runner.js'
import { EventWork } from '../src/running/event-work.js'
import { createHarness, type Harness, onOwnDatabase } from './fixtures/harness.js'

const task = [{ type: 'CREATE_TASK', config: { title: 'Call' } }]

/** A mistake in the code, as it would be in a release. */
const mistake = () => new TypeError("Cannot read properties of undefined (reading 'length')")

/** Lets the work of each DEAL_LOST fail. @returns how often it did, and a function that ends it */
function failWork(t: Test, makeError: () => Error) {
  const { finish } = EventWork.prototype
  const failed = {
    count: 0,
    mend() {
      EventWork.prototype.finish = finish
    },
  }
  EventWork.prototype.finish = function (pause) {
    if (this.event.type !== 'DEAL_LOST') return finish.call(this, pause)
    failed.count++
    return Promise.reject(makeError())
  }
  t.teardown(failed.mend)
  return failed
}

/** Lets statements fail that have this text among their values. */
function failStatements({ database }: Harness, names: string[], text: string) {
  const run = database.run.bind(database)
  database.run = (async (...of: Parameters<typeof run>) => {
    const [name, , values] = of
    if (names.includes(name) && JSON.stringify(values).includes(text)) throw mistake()
    return run(...of)
  }) as typeof run
}

async function startOn(t: Test): Promise<Harness> {
  const harness = await createHarness(t, await onOwnDatabase())
  for (const type of ['DEAL_LOST', 'LEAD_CREATED']) await harness.createRule(task, type)
  return harness
}

const quarantined = {
  quarantined: true,
  refusals: maxRefusals,
  quarantineReason: `The service could not process it, in ${maxRefusals} attempts: TypeError`,
}

t.test(
  'an event at which this code fails five times is quarantined, and those beside it are done',
  async (t) => {
    const harness = await startOn(t)
    const failed = failWork(t, mistake)
    const [faulty, innocent] = [harness.newEvent('DEAL_LOST'), harness.newEvent()]
    await harness.inbox.acceptAll([faulty, innocent])
    harness.startWorker()
    harness.startSweeper()
    t.match(await harness.untilDone(innocent.id), { quarantined: false, refusals: 0 })
    t.match(await harness.untilDone(faulty.id), { ...quarantined, crashes: 0 })
    t.equal(failed.count, maxRefusals)
    t.equal(await harness.own.execution.count({ where: { eventId: faulty.id } }), 0)
    failed.mend()
    const again = harness.newEvent('DEAL_LOST')
    await harness.inbox.accept(again)
    t.match(await harness.untilDone(again.id), { quarantined: false })
  },
)

t.test('an event that fails in isolation is quarantined for its fault, and not as a crash', async (t) => {
  const harness = await startOn(t)
  failWork(t, mistake)
  const faulty = harness.newEvent('DEAL_LOST')
  await harness.inbox.accept(faulty)
  await harness.own.event.update({ where: { id: faulty.id }, data: { crashes: 1 } })
  harness.startWorker()
  harness.startSweeper()
  t.match(await harness.untilDone(faulty.id), { ...quarantined, crashes: 2 })
})

for (const [what, names] of [
  ['recorded', ['finish_events', 'finish_successes']],
  ['loaded', ['load_events']],
] as const)
  t.test(
    `of events that are ${what} together only the one is quarantined at which this code fails`,
    async (t) => {
      const harness = await startOn(t)
      const faulty = harness.newEvent()
      const innocent = Array.from({ length: 5 }, () => harness.newEvent())
      failStatements(harness, [...names], faulty.id)
      await harness.inbox.acceptAll([...innocent.slice(0, 2), faulty, ...innocent.slice(2)])
      harness.startWorker()
      harness.startSweeper()
      t.match(await harness.untilDone(faulty.id), quarantined)
      for (const { id } of innocent)
        t.match(await harness.untilDone(id), { quarantined: false, refusals: 0, quarantineReason: null })
      t.equal(await harness.own.task.count(), innocent.length)
    },
  )

for (const [what, error] of [
  ['Postgres', Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })],
  ['a connection', new Error('Connection terminated unexpectedly')],
  ['Redis', new Error('Connection is closed.')],
  ['a disk', Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })],
] as const)
  t.test(`an attempt that fails because of ${what} does not count`, async (t) => {
    const harness = await startOn(t)
    const failed = failWork(t, () => error)
    harness.startWorker()
    harness.startSweeper()
    const event = harness.newEvent('DEAL_LOST')
    await harness.inbox.accept(event)
    while (failed.count <= maxRefusals) await delay(20)
    t.match(await harness.own.event.findUnique({ where: { id: event.id } }), { refusals: 0, doneAt: null })
    failed.mend()
    t.match(await harness.untilDone(event.id), { quarantined: false })
  })

t.test('an execution at which this code fails five times fails', async (t) => {
  const harness = await createHarness(t, await onOwnDatabase())
  const { own } = harness
  const ruleId = await harness.createRule([{ type: 'WAIT', config: { duration: '1s' } }, ...task])
  const { resume } = CallRunner.prototype
  t.teardown(() => {
    CallRunner.prototype.resume = resume
  })
  CallRunner.prototype.resume = function (held, onPlaced) {
    const { compiled } = held.execution.rule
    const hasActions = 'actions' in compiled && compiled.actions.length > 0
    return hasActions ? Promise.reject(mistake()) : resume.call(this, held, onPlaced)
  }
  harness.startWorker()
  harness.startSweeper()
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  await harness.untilDone(event.id)
  const id = executionIdOf(event, ruleId)
  const isOver = async () => (await own.execution.findUniqueOrThrow({ where: { id } })).finishedAt !== null
  while (!(await isOver())) {
    // Its lease is over.
    await own.execution.updateMany({ where: { id, status: 'running' }, data: { dueAt: new Date() } })
    await delay(100)
  }
  t.match(await own.execution.findUnique({ where: { id } }), { status: 'failed', error: String })
})
