import t from 'tap'
import { defaultEmissionLimits } from '../src/executions/causation.js'
import { createHarness, type Harness } from './fixtures/harness.js'
import { leaveExecution } from './fixtures/leave-execution.js'
import { openTarget } from './fixtures/target.js'

const wait = { type: 'WAIT', config: { duration: '1s' } }
const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: {} }, continueOnError: true }

function uncertain(url: string) {
  return { type: 'SEND_WEBHOOK', config: { url }, onUncertain: 'stop', continueOnError: true }
}

function startAll(harness: Harness): void {
  harness.startWorker()
  harness.startSweeper()
}

async function readAttention({ own }: Harness, ruleId: string): Promise<unknown> {
  return (await own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })).attentionReason
}

t.test('a rule with an unknown call needs attention, also where its run pauses before it ends', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = target.calls.length === 1 ? 500 : 200
    response.end()
  })
  const retried = {
    type: 'SEND_WEBHOOK',
    config: { url: target.url },
    retry: { attempts: 2, backoff: 'constant', delayMs: 50 },
  }
  const ruleIds = [
    await harness.createRule([uncertain(target.url), wait, task]),
    await harness.createRule([uncertain(target.url), retried]),
  ]
  const ids = await Promise.all(ruleIds.map((ruleId) => leaveExecution(harness, ruleId)))
  startAll(harness)
  for (const id of ids) {
    const { results } = await harness.untilStatus(id, 'failed')
    t.match(results, [{ status: 'unknown' }, { status: 'success' }])
  }
  for (const ruleId of ruleIds) t.equal(await readAttention(harness, ruleId), 'unknown_outcome')
})

t.test('a rule in a loop needs attention, also where its run pauses before it ends', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await harness.createRule([emit, wait])
  await harness.own.event.create({ data: { ...harness.newRow(), depth: 10 } })
  startAll(harness)
  while ((await harness.own.execution.count({ where: { status: 'failed' } })) === 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(await readAttention(harness, ruleId), 'event_loop')
})

t.test('a rule that emits too much needs attention, also where its run pauses before it ends', async (t) => {
  const harness = await createHarness(t, {}, { emissions: { ...defaultEmissionLimits, descendants: 10 } })
  const ruleId = await harness.createRule([...Array(11).fill(emit), wait])
  startAll(harness)
  await harness.untilStatus(await harness.trigger(ruleId), 'failed')
  t.equal(await readAttention(harness, ruleId), 'event_budget')
})
