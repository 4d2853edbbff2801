import { setTimeout } from 'node:timers/promises'
import { executionIdOf, newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { createHarness, type Execution, type Harness } from './fixtures/harness.js'

const resultsOf = (execution: Execution) => execution.results as object[]
const task = (title: string, more: object = {}) => ({ type: 'CREATE_TASK', config: { title }, ...more })
const awaitPayment = (config: object = {}, more: object = {}) => ({
  type: 'WAIT',
  config: {
    duration: '1d',
    for: { eventType: 'DEAL_WON', match: { 'deal.id': '{{id}}' }, then: 'go_on', ...config },
  },
  ...more,
})

/** Accepts an event of this type and data. */
async function accept(harness: Harness, type: string, data: object) {
  const event = { ...harness.newEvent(type), data }
  await harness.inbox.accept(event)
  return event
}

async function begin(harness: Harness, actions: object[], data: object = { id: 7 }) {
  const ruleId = await harness.createRule(actions)
  const event = await accept(harness, 'LEAD_CREATED', data)
  return { ruleId, event, id: executionIdOf(event, ruleId) }
}

t.test('an event that matches ends a WAIT, and later actions read its data', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const named = awaitPayment({}, { name: 'payment' })
  const paid = { field: 'actions.payment.ended', operator: 'equals', value: 'event' }
  const actions = [named, task('{{waited.by.name}} paid {{waited.deal.sum}} to {{name}}', { when: paid })]
  const { id } = await begin(harness, actions, { id: 7, name: 'Ada' })
  const waiting = await harness.untilStatus(id, 'waiting')
  matchLists(t, resultsOf(waiting), [
    { status: 'scheduled', waitsFor: { eventType: 'DEAL_WON', match: { 'deal.id': 7 } } },
  ])
  await accept(harness, 'DEAL_WON', { deal: { id: 8 } })
  await accept(harness, 'DEAL_WON', { deal: {} })
  await accept(harness, 'DEAL_LOST', { deal: { id: 7 } })
  const ending = await accept(harness, 'DEAL_WON', {
    deal: { id: '7', sum: 12 },
    by: { name: 'Bo' },
    at: 'x',
  })
  const done = await harness.untilStatus(id, 'succeeded')
  matchLists(t, resultsOf(done), [
    {
      status: 'success',
      ended: 'event',
      endedBy: { eventId: ending.id, acceptedAt: String },
      waited: { deal: { id: '7', sum: 12 }, by: { name: 'Bo' }, at: undefined },
      waitsFor: undefined,
    },
    { status: 'success' },
  ])
  matchLists(t, await harness.own.task.findMany(), [{ title: 'Bo paid 12 to Ada' }])
})

t.test('then: stop skips the rest, and the execution succeeds', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const { id, ruleId } = await begin(harness, [awaitPayment({ then: 'stop' }), task('Remind {{id}}')])
  await harness.untilStatus(id, 'waiting')
  await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
  const done = await harness.untilStatus(id, 'succeeded', 'failed')
  matchLists(t, resultsOf(done), [
    { status: 'success', ended: 'event' },
    { status: 'skipped', reason: 'an event ended the WAIT before it' },
  ])
  t.equal(done.status, 'succeeded')
  t.equal(await harness.own.task.count(), 0)
  t.match(await harness.own.ruleCounters.findUnique({ where: { ruleId } }), { successCount: 1n })
})

t.test('without an event time ends it, and the next action follows', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  harness.startSweeper()
  const wait = awaitPayment({ then: 'stop' })
  const { id } = await begin(harness, [
    { ...wait, config: { ...wait.config, duration: '1s' } },
    task('Remind'),
  ])
  const done = await harness.untilStatus(id, 'succeeded', 'failed')
  matchLists(t, resultsOf(done), [
    { status: 'success', ended: 'time', endedBy: undefined },
    { status: 'success' },
  ])
  t.equal(await harness.own.task.count(), 1)
})

t.test(
  'an event that came before the WAIT was reached ends it, and one from before the execution does not',
  async (t) => {
    const harness = await createHarness(t)
    const ruleId = await harness.createRule([
      { type: 'WAIT', config: { duration: '6s' } },
      awaitPayment(),
      task('x'),
    ])
    harness.startWorker()
    const early = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
    await harness.untilDone(early.id)
    const event = await accept(harness, 'LEAD_CREATED', { id: 7 })
    const ending = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
    const done = await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded')
    const [first, second] = resultsOf(done) as { until: string; endedBy?: { eventId: string } }[]
    t.equal(second?.endedBy?.eventId, ending.id)
    t.equal(second?.until, first?.until, 'time does not run backwards')
  },
)

t.test('one event ends one WAIT of an execution, and the WAITs of any number of executions', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const { id, ruleId } = await begin(harness, [awaitPayment(), awaitPayment(), task('x')])
  const other = await accept(harness, 'LEAD_CREATED', { id: 7 })
  const ids = [id, executionIdOf(other, ruleId)]
  for (const one of ids) await harness.untilStatus(one, 'waiting')
  const first = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
  const isAtSecond = async () => {
    const rows = await harness.own.execution.findMany({ where: { id: { in: ids }, status: 'waiting' } })
    return rows.filter((row) => resultsOf(row).length === 2).length === 2
  }
  while (!(await isAtSecond())) await setTimeout(20)
  const second = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
  for (const one of ids) {
    const done = await harness.untilStatus(one, 'succeeded')
    matchLists(t, resultsOf(done), [
      { endedBy: { eventId: first.id } },
      { endedBy: { eventId: second.id } },
      { status: 'success' },
    ])
  }
})

t.test('an event whose conditions do not hold ends nothing, and is looked at once', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const conditions = [{ field: 'deal.sum', operator: 'greater_than', value: 10 }]
  const { id } = await begin(harness, [awaitPayment({ conditions })])
  await harness.untilStatus(id, 'waiting')
  const small = await accept(harness, 'DEAL_WON', { deal: { id: 7, sum: 5 } })
  await harness.untilDone(small.id)
  const key = await harness.own.eventKey.findFirstOrThrow({ where: { eventId: small.id } })
  const seen = async () => (await harness.own.execution.findUniqueOrThrow({ where: { id } })).waitSeen
  while ((await seen()) !== key.id) await setTimeout(20)
  const large = await accept(harness, 'DEAL_WON', { deal: { id: 7, sum: 11 } })
  const done = await harness.untilStatus(id, 'succeeded')
  matchLists(t, resultsOf(done), [{ endedBy: { eventId: large.id } }])
})

t.test('a value of match that is missing, null or empty fails the action', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await harness.createRule([awaitPayment()])
  harness.startWorker()
  for (const id of [undefined, null, '', ['a'], { a: 1 }]) {
    const event = await accept(harness, 'LEAD_CREATED', { id })
    const done = await harness.untilStatus(executionIdOf(event, ruleId), 'failed')
    t.match(done.error, /^config\.for\.match\.deal\.id must /)
  }
})

t.test(
  'an event of another workspace ends nothing, and types that nobody waits for leave no keys',
  async (t) => {
    const harness = await createHarness(t)
    const other = await createHarness(t)
    harness.startWorker()
    other.startWorker()
    const { id } = await begin(harness, [awaitPayment()])
    await other.createRule([awaitPayment({ eventType: 'DEAL_LOST' })])
    await harness.untilStatus(id, 'waiting')
    for (const type of ['DEAL_WON', 'DEAL_LOST', 'LEAD_UPDATED'])
      await other.untilDone((await accept(other, type, { deal: { id: 7 } })).id)
    t.equal(await other.own.eventKey.count(), 1)
    t.match(await harness.own.execution.findUnique({ where: { id } }), { status: 'waiting' })
  },
)

t.test(
  'while an event from before the deadline waits in a backlog, time does not end the WAIT',
  async (t) => {
    const harness = await createHarness(t)
    const wait = awaitPayment()
    const first = harness.startWorker()
    const ruleId = await harness.createRule([
      { ...wait, config: { ...wait.config, duration: '8s' } },
      task('x'),
    ])
    const event = await accept(harness, 'LEAD_CREATED', { id: 7 })
    const id = executionIdOf(event, ruleId)
    await harness.untilStatus(id, 'waiting')
    await first.close()
    const ending = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
    await harness.forget()
    await setTimeout(8_500)
    harness.startWorker()
    harness.startSweeper()
    const done = await harness.untilStatus(id, 'succeeded')
    matchLists(t, resultsOf(done), [
      { ended: 'event', endedBy: { eventId: ending.id } },
      { status: 'success' },
    ])
  },
)

t.test('what an event has woken is found by the sweeper, if Redis has lost its job', async (t) => {
  const harness = await createHarness(t)
  const worker = harness.startWorker()
  const { id } = await begin(harness, [awaitPayment()])
  await harness.untilStatus(id, 'waiting')
  const { id: eventId } = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
  await harness.untilDone(eventId)
  await worker.close()
  await harness.forget()
  harness.startWorker()
  harness.startSweeper()
  const done = await harness.untilStatus(id, 'succeeded')
  matchLists(t, resultsOf(done), [{ endedBy: { eventId } }])
})

t.test('an event that was done before its rule existed in this form is found', async (t) => {
  const harness = await createHarness(t)
  const event = await accept(harness, 'LEAD_CREATED', { id: 7 })
  const ending = { ...harness.newEvent('DEAL_WON'), data: { deal: { id: 7 } } }
  await harness.inbox.accept(ending)
  const done = { doneAt: new Date(), rulesVersion: 4 }
  await harness.own.event.update({ where: { id: ending.id }, data: done })
  const ruleId = await harness.createRule([awaitPayment()])
  const state = { workspaceId: harness.workspaceId, ruleId, rulesVersion: 5, version: 1, isActive: true }
  await harness.own.ruleState.create({ data: state })
  harness.startWorker()
  const execution = await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded')
  matchLists(t, resultsOf(execution), [{ endedBy: { eventId: ending.id } }])
})

t.test(
  'an event after the date of a WAIT does not end it, also where that date was past already',
  async (t) => {
    const harness = await createHarness(t)
    const now = Date.now()
    const at = (seconds: number) => new Date(now + seconds * 1_000)
    const acceptAt = async (acceptedAt: Date, ...event: [type: string, data: object]) => {
      const { id } = await accept(harness, ...event)
      await harness.own.event.update({ where: { id }, data: { acceptedAt } })
      return id
    }
    const { config } = awaitPayment()
    const wait = { type: 'WAIT', config: { for: config.for, until: '{{until}}' } }
    const first = { type: 'WAIT', config: { until: at(-20) } }
    const [alone, second] = [await harness.createRule([wait]), await harness.createRule([first, wait])]
    const late = await acceptAt(at(-60), 'LEAD_CREATED', { id: 1, until: at(-90) })
    await acceptAt(at(-60), 'DEAL_WON', { deal: { id: 1 } })
    const early = await acceptAt(at(-60), 'LEAD_CREATED', { id: 2, until: at(-40) })
    const inTime = await acceptAt(at(-50), 'DEAL_WON', { deal: { id: 2 } })
    const missing = await acceptAt(at(-60), 'LEAD_CREATED', { id: 3, until: at(-40) })
    await acceptAt(at(-30), 'DEAL_WON', { deal: { id: 3 } })
    harness.startWorker()
    harness.startSweeper()
    const lastOf = async (eventId: string, ruleId: string) => {
      const id = executionIdOf({ id: eventId, addressee: null }, ruleId)
      return resultsOf(await harness.untilStatus(id, 'succeeded')).at(-1)
    }
    const byTime = (until: Date) => ({ ended: 'time', endedBy: undefined, until: until.toISOString() })
    t.match(await lastOf(late, alone), byTime(at(-60)), 'time does not run backwards')
    t.match(await lastOf(late, second), byTime(at(-20)))
    t.match(await lastOf(missing, second), byTime(at(-20)))
    t.match(await lastOf(early, second), { ended: 'event', endedBy: { eventId: inTime } })
  },
)

t.test('switching the rule off cancels what waits, and an event after that changes nothing', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const { id, ruleId } = await begin(harness, [awaitPayment(), task('x')])
  await harness.untilStatus(id, 'waiting')
  await harness.own.rule.update({ where: { id: ruleId }, data: { isActive: false } })
  await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
  const done = await harness.untilStatus(id, 'cancelled')
  t.equal(done.error, 'The rule was switched off')
  t.equal(await harness.own.task.count(), 0)
})

t.test('a WAIT beyond its bounds fails before it waits', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const { config } = awaitPayment()
  const until = new Date(Date.now() + 367 * 86_400_000).toISOString()
  const { id } = await begin(harness, [{ type: 'WAIT', config: { for: config.for, until } }])
  const done = await harness.untilStatus(id, 'failed')
  t.match(done.error, /is more than 366 days ahead$/)
  t.match(done, { waitKey: null, waitType: null, waitSeen: null })
  t.not(newId(), id)
})

t.test(
  'a rule without WAIT for an event and without perKey has the same statements beside rules with them',
  async (t) => {
    const listStatements = async (others: (harness: Harness) => Promise<unknown>) => {
      const harness = await createHarness(t)
      const { database } = harness
      const { run, transact } = database
      const ran: string[] = []
      let transactions = 0
      database.run = (name, ...rest) => {
        ran.push(name)
        return run(name, ...rest)
      }
      database.transact = (work) => {
        transactions += 1
        return transact(work)
      }
      const ruleId = await harness.createRule([
        task('x'),
        { type: 'WAIT', config: { duration: '1s' } },
        task('y'),
      ])
      await others(harness)
      harness.startWorker()
      for (let n = 0; n < 5; n++) {
        const event = await accept(harness, 'LEAD_CREATED', { id: n })
        await harness.untilDone(event.id)
        if (n === 0) await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded')
      }
      t.equal(transactions, 0)
      t.equal((await harness.own.eventKey.count()) + (await harness.own.keyClaim.count()), 0)
      return ran
    }
    const plain = new Set(await listStatements(async () => {}))
    const ran = await listStatements(async (harness) => {
      await harness.createRule([awaitPayment({ eventType: 'DEAL_LOST' })], 'DEAL_CREATED')
      await harness.createRule([task('x')], 'DEAL_CREATED', { key: '{{id}}', whileRunning: 'queue' })
      await harness.createRule([task('x')], 'DEAL_CREATED', { key: '{{id}}', collect: { for: '1h' } })
    })
    t.ok(plain.has('claim_executions'))
    t.strictSame(
      ran.filter((name) => !plain.has(name) && name !== 'renew_leases'),
      [],
    )
    t.strictSame(
      ran.filter((name) => name.startsWith('read_waited')),
      ['read_waited'],
      'once for each version of the rules',
    )
  },
)
