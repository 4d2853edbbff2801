import { setTimeout } from 'node:timers/promises'
import { createSubscription } from '@automation/access'
import { newId } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import { countsOf } from '@automation/ledger'
import t, { type Test } from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'
import { leaveExecution } from './fixtures/leave-execution.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const soon = { attempts: 3, backoff: 'constant', delayMs: 50 }

function call(url: string, more: object = {}) {
  return { type: 'SEND_WEBHOOK', config: { url }, ...more }
}

/** A target that always responds with 500. */
function openBroken(t: Test) {
  return openTarget(t, (_request, response) => {
    response.statusCode = 500
    response.end()
  })
}

function resultsOf(execution: { results: unknown }): ActionResult[] {
  return execution.results as ActionResult[]
}

async function countersOf({ own }: Harness, ruleId: string) {
  const counters = await own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })
  return { ...counters, ...countsOf(counters) }
}

t.test('a call is stored as an attempt with its result, and the next action follows', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t)
  const ruleId = await harness.createRule([call(target.url), task])
  harness.startWorker()
  const id = await harness.trigger(ruleId)
  const execution = await harness.untilStatus(id, 'succeeded')
  matchLists(t, resultsOf(execution), [
    {
      action: 'SEND_WEBHOOK',
      status: 'success',
      to: [new URL(target.url).hostname],
      attempts: [{ startedAt: String, finishedAt: String }],
    },
    { action: 'CREATE_TASK', status: 'success' },
  ])
  t.match(execution, { dueAt: null, lease: null, finishedAt: Date, eventType: 'LEAD_CREATED' })
  t.strictSame(target.keys(), [`${id}:0`])
  t.equal(await harness.own.task.count(), 1)
  t.match(await countersOf(harness, ruleId), { successCount: 1, failureCount: 0 })
})

t.test('the intent is committed before the call is made', async (t) => {
  const harness = await createHarness(t)
  const seen: unknown[] = []
  const target = await openTarget(t, async (_request, response) => {
    seen.push((await harness.own.execution.findFirstOrThrow()).results)
    response.end()
  })
  const ruleId = await harness.createRule([task, call(target.url), call(target.url)])
  harness.startWorker()
  await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  const to = [new URL(target.url).hostname]
  const intent = { status: 'running', to, attempts: [{ startedAt: String, finishedAt: undefined }] }
  matchLists(t, seen, [
    [{ status: 'success' }, intent],
    [{ status: 'success' }, { status: 'success' }, intent],
  ])
})

t.test('a failed call is repeated with the same key, and the execution counts once', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = target.calls.length < 3 ? 503 : 200
    response.end()
  })
  const ruleId = await harness.createRule([call(target.url, { retry: soon })])
  harness.startWorker()
  const id = await harness.trigger(ruleId)
  const execution = await harness.untilStatus(id, 'succeeded', 'failed')
  t.match(execution, { status: 'succeeded', error: null })
  const failed = { error: 'HTTP 503', finishedAt: String }
  matchLists(t, resultsOf(execution), [
    { status: 'success', attempts: [failed, failed, { finishedAt: String }] },
  ])
  t.equal(target.calls.length, 3)
  t.strictSame(target.keys(), [`${id}:0`])
  t.match(await countersOf(harness, ruleId), { successCount: 1, failureCount: 0 })
})

t.test('a connection that was closed between two calls costs no attempt', async (t) => {
  const harness = await createHarness(t)
  const used = new Set<object>()
  const target = await openTarget(t, ({ socket }, response) => {
    if (used.has(socket)) socket.destroy()
    else response.end()
    used.add(socket)
  })
  const [again, alone] = [call(target.url), call(target.url, { onUncertain: 'stop' })]
  const ruleId = await harness.createRule([again, again, alone, again])
  harness.startWorker()
  const id = await harness.trigger(ruleId)
  const execution = await harness.untilStatus(id, 'succeeded', 'failed')
  const [attempt, success] = [{ finishedAt: String, error: undefined }, { status: 'success' }]
  matchLists(t, resultsOf(execution), Array(4).fill({ ...success, attempts: [attempt] }))
  for (const result of resultsOf(execution)) t.equal((result as { attempts: object[] }).attempts.length, 1)
  const keys = target.calls.map(({ headers }) => headers['idempotency-key'])
  t.strictSame(
    keys.map((key) => String(key).at(-1)),
    ['0', '1', '1', '2', '3', '3'],
  )
})

t.test('the execution fails after the last attempt; with continueOnError it continues', async (t) => {
  const harness = await createHarness(t)
  const targets = [await openBroken(t), await openBroken(t)] as const
  const stops = await harness.createRule([call(targets[0].url, { retry: soon }), task])
  const goesOn = await harness.createRule([
    call(targets[1].url, { retry: soon, continueOnError: true }),
    task,
  ])
  harness.startWorker()
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  await harness.untilDone(event.id)
  for (const ruleId of [stops, goesOn]) {
    while ((await countersOf(harness, ruleId)).failureCount === 0) await setTimeout(20)
    t.match(await countersOf(harness, ruleId), { successCount: 0, failureCount: 1, lastError: 'HTTP 500' })
  }
  for (const { calls } of targets) t.equal(calls.length, 3)
  matchLists(t, await harness.own.task.findMany(), [{ ruleId: goesOn }])
  const execution = await harness.own.execution.findFirstOrThrow({ where: { handlerId: stops } })
  matchLists(t, resultsOf(execution), [{ status: 'failed', failures: 3 }, { status: 'skipped' }])
})

t.test('a target that has failed five times in a row is not called for a while', async (t) => {
  const harness = await createHarness(t)
  const target = await openBroken(t)
  const ruleId = await harness.createRule([call(target.url)])
  harness.startWorker()
  for (let run = 0; run < 5; run++) await harness.untilStatus(await harness.trigger(ruleId), 'failed')
  t.equal(target.calls.length, 5)
  const execution = await harness.untilStatus(await harness.trigger(ruleId), 'failed')
  t.match(execution.error, /was not called: the last calls to it failed \(no response, or a 5xx\)$/)
  t.equal(target.calls.length, 5)
})

t.test('a call that the receiver refuses permanently is not repeated', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = 404
    response.end()
  })
  const ruleId = await harness.createRule([call(target.url, { retry: soon })])
  harness.startWorker()
  await harness.untilStatus(await harness.trigger(ruleId), 'failed')
  t.equal(target.calls.length, 1)
})

t.test('between two attempts the execution is a due row with its error', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = 503
    response.setHeader('retry-after', '3600')
    response.end()
  })
  const ruleId = await harness.createRule([call(target.url, { retry: soon })])
  harness.startWorker()
  const before = Date.now()
  const execution = await harness.untilStatus(await harness.trigger(ruleId), 'retrying')
  t.ok((execution.dueAt?.getTime() ?? 0) >= before + 3_600_000, 'it respects Retry-After')
  t.match(execution, { finishedAt: null, lease: null })
  matchLists(t, resultsOf(execution), [
    { status: 'retrying', until: execution.dueAt?.toISOString(), error: 'HTTP 503', failures: 1 },
  ])
  t.match(await countersOf(harness, ruleId), { successCount: 0, failureCount: 0 }, 'it has not ended yet')
})

t.test('a WAIT ends when it is due, even if Redis has lost its job', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await harness.createRule([{ type: 'WAIT', config: { duration: '1s' } }, task])
  harness.startWorker()
  harness.startSweeper()
  const id = await harness.trigger(ruleId)
  const waiting = await harness.untilStatus(id, 'waiting')
  matchLists(t, resultsOf(waiting), [
    { action: 'WAIT', status: 'scheduled', until: waiting.dueAt?.toISOString() },
  ])
  t.equal(await harness.own.task.count(), 0)
  await harness.forget()
  const execution = await harness.untilStatus(id, 'succeeded')
  t.ok((execution.finishedAt ?? 0) >= (waiting.dueAt ?? Number.NaN))
  matchLists(t, resultsOf(execution), [{ status: 'success' }, { status: 'success' }])
  t.equal(await harness.own.task.count(), 1)
})

t.test('a WAIT until a date ends at it, and at once if it is past', async (t) => {
  const harness = await createHarness(t)
  const soon = new Date(Date.now() + 6_000)
  const inADay = new Date(soon.getTime() + 86_400_000).toISOString()
  const past = { until: '2020-01-01', offset: '+12h' }
  const waits = [past, { until: inADay, offset: '-1d' }].map((config) => ({ type: 'WAIT', config }))
  const ruleId = await harness.createRule([...waits, task])
  harness.startWorker()
  const id = await harness.trigger(ruleId)
  const { dueAt } = await harness.untilStatus(id, 'waiting')
  t.strictSame(dueAt, soon)
  const execution = await harness.untilStatus(id, 'succeeded')
  t.ok((execution.finishedAt ?? 0) >= soon)
  const warnings = [/^config\.until: 2020-01-01T12:00:00\.000Z is past/]
  matchLists(t, resultsOf(execution), [
    { status: 'success', warnings },
    { status: 'success', until: soon.toISOString(), warnings: undefined },
    { status: 'success' },
  ])
})

t.test('a WAIT until what is no time fails its execution', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await harness.createRule([{ type: 'WAIT', config: { until: '{{renewalDate}}' } }, task])
  harness.startWorker()
  const execution = await harness.untilStatus(await harness.trigger(ruleId), 'failed')
  t.equal(execution.error, 'config.until must have at least 1 character: {{renewalDate}} is missing')
  t.equal(await harness.own.task.count(), 0)
})

t.test('a waiting execution continues with the definition that it began with', async (t) => {
  const harness = await createHarness(t)
  const wait = { type: 'WAIT', config: { duration: '1s' } }
  const ruleId = await harness.createRule([wait, { type: 'CREATE_TASK', config: { title: 'As it was' } }])
  harness.startWorker()
  const id = await harness.trigger(ruleId)
  await harness.untilStatus(id, 'waiting')
  const actions = [wait, { type: 'CREATE_TASK', config: { title: 'As it is' } }]
  await harness.own.rule.update({ where: { id: ruleId }, data: { actions, version: 2 } })
  await harness.untilStatus(id, 'succeeded')
  matchLists(t, await harness.own.task.findMany(), [{ title: 'As it was' }])
})

t.test(
  'a run that comes back to a rule that is off, or gone, is cancelled and counts as nothing',
  async (t) => {
    const harness = await createHarness(t)
    const wait = [{ type: 'WAIT', config: { duration: '1s' } }, task]
    const [off, gone] = [await harness.createRule(wait), await harness.createRule(wait)]
    harness.startWorker()
    const byHand = harness.newEvent('LEAD_CREATED', { kind: 'rule', id: off })
    await harness.inbox.accept(byHand)
    const event = harness.newEvent()
    await harness.inbox.accept(event)
    while ((await harness.own.execution.count({ where: { status: 'waiting' } })) < 3) await setTimeout(20)
    await harness.own.rule.update({ where: { id: off }, data: { isActive: false } })
    await harness.own.rule.delete({ where: { id: gone } })
    while ((await harness.own.execution.count({ where: { dueAt: null } })) < 3) await setTimeout(20)
    const executions = await harness.own.execution.findMany({
      where: { eventId: event.id },
      orderBy: { handlerId: 'asc' },
    })
    matchLists(t, executions, [
      { handlerId: off, status: 'cancelled', error: 'The rule was switched off', finishedAt: Date },
      { handlerId: gone, status: 'cancelled', error: 'The rule was deleted', finishedAt: Date },
    ])
    t.match(
      await harness.own.execution.findUnique({ where: { id: byHand.id } }),
      { status: 'succeeded' },
      'by hand it runs',
    )
    t.match(await countersOf(harness, off), { successCount: 1, failureCount: 0 })
  },
)

t.test('an event that a rule emits runs the rules of its type', async (t) => {
  const harness = await createHarness(t)
  const data = { lead: { name: 'Ann' } }
  const emits = await harness.createRule([{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data } }])
  await harness.createRule([{ type: 'CREATE_TASK', config: { title: 'Thank {{lead.name}}' } }], 'DEAL_WON')
  harness.startWorker()
  const id = await harness.trigger(emits)
  await harness.untilStatus(id, 'succeeded')
  while ((await harness.own.task.count()) === 0) await setTimeout(20)
  matchLists(t, await harness.own.task.findMany(), [{ title: 'Thank Ann' }])
  matchLists(t, await harness.own.event.findMany({ where: { type: 'DEAL_WON' } }), [
    { data, depth: 1, causedBy: id },
  ])
})

t.test('rules that trigger one another stop after ten events, and need attention', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await harness.createRule([{ type: 'EMIT_EVENT', config: { eventType: 'LEAD_CREATED' } }])
  harness.startWorker()
  await harness.trigger(ruleId)
  while ((await countersOf(harness, ruleId)).failureCount === 0) await setTimeout(20)
  t.match(await countersOf(harness, ruleId), {
    successCount: 10,
    failureCount: 1,
    attentionReason: 'event_loop',
  })
  t.equal(await harness.own.event.count(), 11)
})

t.test('a call is repeated with the same key after its worker died', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t)
  const ruleId = await harness.createRule([call(target.url)])
  const id = await leaveExecution(harness, ruleId)
  harness.startWorker()
  harness.startSweeper()
  const execution = await harness.untilStatus(id, 'succeeded')
  t.strictSame(target.keys(), [`${id}:0`])
  matchLists(t, resultsOf(execution), [
    { attempts: [{ error: 'A worker crashed during this call' }, { finishedAt: String }] },
  ])
})

t.test('with onUncertain "stop", an interrupted call is not repeated', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t)
  const ruleId = await harness.createRule([call(target.url, { onUncertain: 'stop', retry: soon }), task])
  const id = await leaveExecution(harness, ruleId)
  harness.startWorker()
  harness.startSweeper()
  const execution = await harness.untilStatus(id, 'failed')
  matchLists(t, resultsOf(execution), [
    { status: 'unknown', error: /it is unknown whether/ },
    { status: 'skipped' },
  ])
  t.equal(target.calls.length, 0)
  t.match(await countersOf(harness, ruleId), { failureCount: 1, attentionReason: 'unknown_outcome' })
})

t.test('a call during which five workers died is not made a sixth time', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t)
  const ruleId = await harness.createRule([call(target.url)])
  const id = await leaveExecution(harness, ruleId, { interruptions: 4 })
  harness.startWorker()
  harness.startSweeper()
  matchLists(t, resultsOf(await harness.untilStatus(id, 'failed')), [{ status: 'unknown' }])
  t.equal(target.calls.length, 0)
})

t.test('an execution during which five workers died before a call fails', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await harness.createRule([task])
  const id = await leaveExecution(harness, ruleId, { interruptions: 4, results: [] })
  harness.startWorker()
  harness.startSweeper()
  t.match(await harness.untilStatus(id, 'failed'), {
    error: 'Gave up after 5 workers crashed on this execution',
  })
  t.equal(await harness.own.task.count(), 0)
})

t.test('an execution that is cancelled after its worker died reports an unknown call', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t)
  const [off, gone] = [
    await harness.createRule([call(target.url)]),
    await harness.createRule([call(target.url)]),
  ]
  const ids = [await leaveExecution(harness, off), await leaveExecution(harness, gone)]
  await harness.own.rule.update({ where: { id: off }, data: { isActive: false } })
  await harness.own.rule.delete({ where: { id: gone } })
  harness.startWorker()
  harness.startSweeper()
  for (const id of ids)
    t.match(resultsOf(await harness.untilStatus(id, 'cancelled')), [
      {
        status: 'unknown',
        error: /it is unknown whether/,
        attempts: [{ error: 'A worker crashed during this call' }],
      },
    ])
  t.equal(target.calls.length, 0)
  t.match(await countersOf(harness, off), { failureCount: 0, attentionReason: null }, 'it is not counted')
})

t.test('a closing worker finishes its call, and releases the execution to others', async (t) => {
  const harness = await createHarness(t)
  let release = () => {}
  const target = await openTarget(t, (_request, response) => {
    release = () => response.end()
  })
  const ruleId = await harness.createRule([call(target.url), call(`${target.url}/second`)])
  const worker = harness.startWorker()
  const id = await harness.trigger(ruleId)
  while (target.calls.length === 0) await setTimeout(20)
  const closed = worker.close()
  release()
  await closed
  const execution = await harness.own.execution.findUniqueOrThrow({ where: { id } })
  t.match(execution, { status: 'running', lease: null, dueAt: Date })
  matchLists(t, resultsOf(execution), [{ status: 'success' }])
  harness.startWorker()
  harness.startSweeper()
  while (target.calls.length < 2) await setTimeout(20)
  release()
  await harness.untilStatus(id, 'succeeded')
  t.strictSame(target.keys(), [`${id}:0`, `${id}:1`])
})

t.test('a rule is paused after as many failures as its workspace allows', async (t) => {
  const harness = await createHarness(t)
  await harness.database.system.workspace.update({
    where: { id: harness.workspaceId },
    data: { autoPauseAfter: 3 },
  })
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = 400
    response.end()
  })
  const ruleId = await harness.createRule([call(target.url)])
  harness.startWorker()
  for (let run = 0; run < 3; run++) await harness.untilStatus(await harness.trigger(ruleId), 'failed')
  while ((await harness.own.rule.findUniqueOrThrow({ where: { id: ruleId } })).isActive) await setTimeout(20)
  t.match(await countersOf(harness, ruleId), { attentionReason: 'auto_paused', failureCount: 3 })
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  t.same(await harness.readConsidered(event.id), [], 'it does not run any more')
})

t.test('an event for a subscription is delivered to its URL', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t)
  const administrator = { database: harness.database, workspaceId: harness.workspaceId, actor: 'test' }
  const subscription = { url: target.url, eventTypes: ['rule.updated' as const] }
  const { id } = await createSubscription(administrator, harness.sealer, subscription)
  harness.startWorker()
  const event = { ...harness.newEvent('rule.updated', { kind: 'subscription', id }), data: { ruleId: 'r' } }
  await harness.inbox.accept(event)
  await harness.untilStatus(event.id, 'succeeded')
  t.match(JSON.parse(target.calls[0]?.body ?? ''), {
    type: 'rule.updated',
    timestamp: String,
    data: { ruleId: 'r' },
  })
  t.match(target.calls[0]?.headers, { 'webhook-id': `${event.id}:0`, 'webhook-signature': /^v1,/ })
  const unheard = harness.newEvent('rule.updated', { kind: 'subscription', id: newId() })
  await harness.inbox.accept(unheard)
  await harness.untilDone(unheard.id)
  t.equal(target.calls.length, 1, 'one that is gone is told nothing')
})
