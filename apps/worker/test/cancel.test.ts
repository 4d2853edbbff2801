import { setTimeout } from 'node:timers/promises'
import type { ActionResult } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import { cancelExecution, countsOf } from '@automation/ledger'
import t from 'tap'
import { createHarness, type Execution, type Harness } from './fixtures/harness.js'
import { leaveExecution } from './fixtures/leave-execution.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } }
const call = (url: string, more: object = {}) => ({ type: 'SEND_WEBHOOK', config: { url }, ...more })
const resultsOf = ({ results }: Execution) => results as unknown as ActionResult[]

function cancel({ database, workspaceId }: Harness, id: string) {
  return database.system.$transaction((transaction) => cancelExecution(transaction, workspaceId, id))
}

t.test('the call in progress ends and is recorded, and nothing after it begins', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, async (_request, response) => {
    const { id } = await harness.own.execution.findFirstOrThrow()
    t.equal(await cancel(harness, id), 'running')
    response.end()
  })
  const ruleId = await harness.createRule([call(target.url), task, emit, call(target.url)])
  harness.startWorker()
  const execution = await harness.untilStatus(await harness.trigger(ruleId), 'cancelled')
  matchLists(t, resultsOf(execution), [{ status: 'success', attempts: [{ finishedAt: String }] }])
  t.match(execution, { error: 'It was cancelled', finishedAt: Date, dueAt: null, lease: null })
  t.equal(target.calls.length, 1)
  t.equal(await harness.own.task.count(), 0)
  t.equal(await harness.own.event.count({ where: { type: 'DEAL_WON' } }), 0)
  const counters = await harness.own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })
  t.match(countsOf(counters), { successCount: 0, failureCount: 0 })
})

t.test('a failed attempt of one that was cancelled is not repeated', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, async (_request, response) => {
    await cancel(harness, (await harness.own.execution.findFirstOrThrow()).id)
    response.statusCode = 503
    response.end()
  })
  const retry = { attempts: 3, backoff: 'constant', delayMs: 10 }
  const ruleId = await harness.createRule([call(target.url, { retry }), task])
  harness.startWorker()
  const execution = await harness.untilStatus(await harness.trigger(ruleId), 'cancelled')
  matchLists(t, resultsOf(execution), [{ attempts: [{ error: 'HTTP 503', finishedAt: String }] }])
  t.equal(target.calls.length, 1)
})

t.test(
  'the intent of a call is taken back if somebody cancelled the execution before it was stored',
  async (t) => {
    const harness = await createHarness(t)
    const target = await openTarget(t)
    const failed = {
      startedAt: new Date().toISOString(),
      finishedAt: new Date().toISOString(),
      error: 'HTTP 503',
    }
    const ruleId = await harness.createRule([call(target.url, { retry: { attempts: 5 } })])
    const id = await leaveExecution(harness, ruleId, {
      status: 'retrying',
      lease: null,
      results: [{ action: 'SEND_WEBHOOK', status: 'retrying', attempts: [failed] }],
    })
    // Between claim and commit.
    await harness.database.system.$executeRaw`
    CREATE FUNCTION mark_claimed() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF OLD.status = 'retrying' AND NEW.status = 'running' THEN NEW.cancel_requested := true; END IF; RETURN NEW; END $$`
    await harness.database.system.$executeRaw`
    CREATE TRIGGER mark_claimed BEFORE UPDATE ON executions FOR EACH ROW EXECUTE FUNCTION mark_claimed()`
    t.teardown(async () => {
      await harness.database.system.$executeRaw`DROP TRIGGER mark_claimed ON executions`
      await harness.database.system.$executeRaw`DROP FUNCTION mark_claimed`
    })
    harness.startWorker()
    harness.startSweeper()
    const execution = await harness.untilStatus(id, 'cancelled')
    t.strictSame(resultsOf(execution)[0]?.attempts, [failed])
    t.equal(target.calls.length, 0)
  },
)

t.test(
  'one whose worker crashed is cancelled by the next, and what its call came to is unknown',
  async (t) => {
    const harness = await createHarness(t)
    const target = await openTarget(t)
    const ruleId = await harness.createRule([call(target.url), task])
    const id = await leaveExecution(harness, ruleId)
    t.equal(await cancel(harness, id), 'running')
    harness.startWorker()
    harness.startSweeper()
    const execution = await harness.untilStatus(id, 'cancelled')
    matchLists(t, resultsOf(execution), [{ status: 'unknown' }])
    t.equal(target.calls.length, 0)
  },
)

t.test('whenever somebody cancels, what is recorded is what was done', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, async (_request, response) => {
    await setTimeout(Math.random() * 15)
    response.statusCode = Math.random() < 0.3 ? 503 : 200
    response.end()
  })
  const retry = { attempts: 8, backoff: 'constant', delayMs: 5 }
  const ruleId = await harness.createRule([
    call(target.url, { retry }),
    task,
    call(target.url, { retry }),
    emit,
    { type: 'WAIT', config: { duration: '1s' } },
    task,
    call(target.url, { retry }),
  ])
  harness.startWorker()
  harness.startWorker()
  harness.startSweeper()
  const ends = new Set<string>()
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const id = await harness.trigger(ruleId)
      await harness.untilStatus(id, 'running', 'waiting', 'retrying', 'succeeded', 'failed')
      await setTimeout((index % 15) * 8 + (index > 45 ? 1_100 : 0))
      const answer = await cancel(harness, id)
      const execution = await harness.untilStatus(id, 'cancelled', 'succeeded', 'failed')
      ends.add(execution.status)
      t.equal(
        execution.status === 'cancelled',
        answer !== undefined,
        'each caller got what its response says',
      )
      const results = resultsOf(execution)
      t.notOk(results.some(({ status }) => status === 'running'))
      const attempts = results.flatMap(({ attempts = [] }) => attempts)
      t.ok(attempts.every(({ finishedAt }) => finishedAt !== undefined))
      const key = (place: number) => `${id}:${place}`
      const calls = target.calls.filter(({ headers }) =>
        results.some((_result, place) => headers['idempotency-key'] === key(place)),
      )
      const all = target.calls.filter(({ headers }) => String(headers['idempotency-key']).startsWith(id))
      t.equal(calls.length, all.length, 'each call has a result')
      // The breaker may have kept it from the target.
      const made = attempts.filter(({ error }) => !error?.includes('was not called'))
      t.equal(made.length, all.length, 'and each attempt was made')
      const done = (action: string) =>
        results.filter((result) => result.action === action && result.status === 'success').length
      t.equal(await harness.own.task.count({ where: { executionId: id } }), done('CREATE_TASK'))
      t.equal(await harness.own.event.count({ where: { causedBy: id } }), done('EMIT_EVENT'))
    }),
  )
  t.ok(ends.has('cancelled'))
  const counters = await harness.own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })
  const counted = await harness.own.execution.count({ where: { status: { in: ['succeeded', 'failed'] } } })
  const { successCount, failureCount } = countsOf(counters)
  t.equal(successCount + failureCount, counted)
})
