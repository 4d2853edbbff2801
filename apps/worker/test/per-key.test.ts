import { executionIdOf } from '@automation/database'
import type { PerKey } from '@automation/engine'
import t, { type Test } from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'

const task = [{ type: 'CREATE_TASK', config: { title: 'Call {{lead}}' } }]
const weekly: PerKey = { key: '{{lead}}', atMost: { runs: 1, per: '7d' } }

/** Posts events of one key after another. @returns the executions of the rule for them, when all of them are done */
async function post({ newEvent, inbox, untilDone, own }: Harness, ruleId: string, leads: unknown[]) {
  const events = leads.map((lead) => ({ ...newEvent(), data: { lead } }))
  await Promise.all(events.map((event) => inbox.accept(event)))
  await Promise.all(events.map(({ id }) => untilDone(id)))
  const ids = events.map((event) => executionIdOf(event, ruleId))
  return own.execution.findMany({ where: { id: { in: ids } }, orderBy: { id: 'asc' } })
}

async function start(t: Test, workers = 1) {
  const harness = await createHarness(t)
  for (let count = 0; count < workers; count++) harness.startWorker()
  return harness
}

t.test(
  'of events of a key that meet, as many run as the limit grants, and the others say why not',
  async (t) => {
    const harness = await start(t, 2)
    const ruleId = await harness.createRule(task, undefined, {
      key: '{{lead}}',
      atMost: { runs: 2, per: '1h' },
    })
    const executions = await post(
      harness,
      ruleId,
      Array.from({ length: 24 }, (_, index) => index % 3),
    )
    t.equal(executions.length, 24)
    const granted = executions.filter(({ status }) => status === 'succeeded')
    t.equal(granted.length, 6)
    const ids = new Set(granted.map(({ id }) => id))
    for (const { status, suppression, results, finishedAt } of executions) {
      if (status === 'succeeded') continue
      t.match({ status, results }, { status: 'suppressed', results: [] })
      t.ok(finishedAt)
      t.match(suppression, { reason: 'at_most', key: /^[012]$/, until: /Z$/ })
      t.ok(ids.has((suppression as { executionId: string }).executionId))
    }
    t.equal(await harness.own.task.count(), 6)
    const counters = await harness.own.ruleCounters.findFirstOrThrow({ where: { ruleId } })
    t.match(counters, { successCount: 6n, failureCount: 0n })
    t.equal(await harness.own.keyClaim.count(), 6)
  },
)

t.test('a number and its text are one key; a missing and an empty value are another', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, weekly)
  const executions = await post(harness, ruleId, [7, '7', undefined, null, ''])
  t.equal(executions.filter(({ status }) => status === 'succeeded').length, 2)
})

t.test('an execution by hand asks for nothing and claims nothing', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, weekly)
  for (const _ of [1, 2]) {
    const event = { ...harness.newEvent('LEAD_CREATED', { kind: 'rule', id: ruleId }), data: { lead: 1 } }
    await harness.inbox.accept(event)
    await harness.untilStatus(event.id, 'succeeded')
  }
  const [execution] = await post(harness, ruleId, [1])
  t.equal(execution?.status, 'succeeded')
  t.equal(await harness.own.keyClaim.count(), 1)
})

t.test('a suppressed execution makes no call, and its worker holds nothing of it', async (t) => {
  const harness = await start(t)
  const call = [{ type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/' }, retry: { attempts: 1 } }]
  const ruleId = await harness.createRule(call, undefined, weekly)
  const executions = await post(harness, ruleId, [1, 1, 1])
  const suppressed = executions.filter(({ status }) => status === 'suppressed')
  t.equal(suppressed.length, 2)
  for (const { lease, dueAt, results } of suppressed)
    t.strictSame({ lease, dueAt, results }, { lease: null, dueAt: null, results: [] })
})

t.test('a second delivery of an event finds what the first has claimed, and claims nothing', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, weekly)
  const [first] = await post(harness, ruleId, [1])
  await harness.queue.addCaused([
    {
      id: first?.eventId as string,
      workspaceId: harness.workspaceId,
      jobId: first?.eventId as string,
      depth: 0,
      rootId: null,
    } as never,
  ])
  const [second] = await post(harness, ruleId, [1])
  t.match(second?.suppression, { executionId: first?.id })
  t.equal(await harness.own.keyClaim.count(), 1)
})

t.test('another template of the key has no memory; another limit has it', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, weekly)
  const change = async (perKey: PerKey) => {
    await harness.own.rule.update({ where: { id: ruleId }, data: { perKey, version: { increment: 1 } } })
    await harness.database.system.workspace.update({
      where: { id: harness.workspaceId },
      data: { rulesVersion: { increment: 1 } },
    })
  }
  const statusOf = async () => (await post(harness, ruleId, [1]))[0]?.status
  t.equal(await statusOf(), 'succeeded')
  t.equal(await statusOf(), 'suppressed')
  await change({ ...weekly, atMost: { runs: 2, per: '1d' } })
  t.equal(await statusOf(), 'succeeded')
  t.equal(await statusOf(), 'suppressed')
  await change({ ...weekly, key: '{{ lead }}' })
  t.equal(await statusOf(), 'succeeded')
})
