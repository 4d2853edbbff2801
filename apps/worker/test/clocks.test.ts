import { executionIdOf, readClock, timeOf } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { createHarness, onOwnDatabase } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

// The files of a group share a process, and with it what is known of the clock.
t.teardown(() => readClock({ run: async () => [{ now: Date.now() }] as never[] }))
const minutes10 = 600_000
/** Far more than a slow machine takes, and far less than what the clocks differ by. */
const lateMs = minutes10 / 2
const task = { type: 'CREATE_TASK', config: { title: 'Then', dueIn: '1h' } }
const waits = {
  'a WAIT': { duration: '2s' },
  'a WAIT for an event': { duration: '2s', for: { eventType: 'DEAL_WON', match: { id: 1 }, then: 'go_on' } },
  'a WAIT for a decision': { decision: { options: ['yes', 'no'], within: '2s' } },
}

for (const [name, aheadMs] of Object.entries({
  'ten minutes ahead': minutes10,
  'ten minutes behind': -minutes10,
}))
  t.test(`on a worker whose clock is ${name}, all follows Postgres' clock`, async (t) => {
    const harness = await createHarness(t, await onOwnDatabase())
    const read = Date.now
    t.intercept(Date, 'now', { value: () => read() + aheadMs })
    await readClock(harness.database)
    harness.startWorker()
    harness.startSweeper()
    const isNear = (time: Date | null | undefined, expected: number) =>
      time != null && Math.abs(time.getTime() - expected) < lateMs
    const types = ['LEAD_CREATED', 'LEAD_UPDATED', 'LEAD_DELETED', 'DEAL_LOST']
    const begin = async (actions: object[]) => {
      const type = types.pop()
      const ruleId = await harness.createRule(actions, type)
      const event = harness.newEvent(type)
      await harness.inbox.accept(event)
      t.ok(isNear(new Date(timeOf(event.id)), read()), 'the id of an event')
      return { id: executionIdOf(event, ruleId), beganAt: read() }
    }

    for (const [what, config] of Object.entries(waits)) {
      const { id, beganAt } = await begin([{ type: 'WAIT', config }, task])
      const { finishedAt, startedAt, error } = await harness.untilStatus(id, 'succeeded', 'failed')
      t.equal(error, null)
      t.ok(read() - beganAt >= 1_900, `${what} is not too short: ${read() - beganAt} ms`)
      t.ok(isNear(startedAt, beganAt) && isNear(finishedAt, read()), `${what} is dated`)
      const [created] = await harness.own.task.findMany({ where: { executionId: id } })
      t.ok(isNear(created?.createdAt, read()), `the task after ${what} is dated`)
      t.ok(isNear(created?.dueAt, read() + 3_600_000), `the task after ${what} is due in an hour`)
    }

    let calls = 0
    const target = await openTarget(t, (_request, response) => {
      response.statusCode = ++calls === 1 ? 503 : 200
      response.end()
    })
    const retry = { attempts: 3, backoff: 'fixed', delayMs: 1_500 }
    const { id, beganAt } = await begin([{ type: 'SEND_WEBHOOK', config: { url: target.url }, retry }])
    const { results } = await harness.untilStatus(id, 'succeeded', 'failed')
    t.ok(read() - beganAt >= 1_000, 'a retry is not too early')
    matchLists(t, results as object[], [{ status: 'success' }])
    const [{ attempts = [] } = {}] = results as { attempts?: Record<string, string>[] }[]
    t.equal(attempts.length, 2)
    for (const attempt of attempts)
      for (const [name, time] of Object.entries(attempt).filter(([name]) => name.endsWith('At')))
        t.ok(isNear(new Date(time), read()), `${name} of an attempt: ${time}`)
  })
