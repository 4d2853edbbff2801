import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf, newId } from '@automation/database'
import type { PerKey } from '@automation/engine'
import { narrowToExecution } from '@automation/history'
import { closeBatch, createHistoryRemoval, reopenExecutions } from '@automation/ledger'
import t, { type Test } from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'

const task = [
  {
    type: 'CREATE_TASK',
    config: { title: '{{lead}}: {{collected.count}}, {{n}}, {{collected.events | json}}' },
  },
]
const collecting = (collect: NonNullable<PerKey['collect']>, more: PerKey = {}): PerKey => ({
  key: '{{lead}}',
  ...more,
  collect,
})

async function start(t: Test, workers = 1) {
  const harness = await createHarness(t)
  for (let count = 0; count < workers; count++) harness.startWorker()
  return harness
}

/** Posts one event, and waits until it is done. @returns the id of its execution */
async function postOne(
  { newEvent, inbox, untilDone }: Harness,
  ruleId: string,
  n: number,
  lead: unknown = 'a',
) {
  const event = { ...newEvent(), data: { lead, n } }
  await inbox.accept(event)
  await untilDone(event.id)
  return executionIdOf(event, ruleId)
}

async function titlesOf({ own }: Harness): Promise<string[]> {
  const tasks = await own.task.findMany({ orderBy: { createdAt: 'asc' } })
  return tasks.map(({ title }) => title)
}

t.test('events of a key are one execution at the end of their batch, and name it', async (t) => {
  const harness = await start(t, 2)
  const ruleId = await harness.createRule(task, undefined, collecting({ for: '8s' }))
  const [first, second] = [await postOne(harness, ruleId, 1), await postOne(harness, ruleId, 2)]
  const other = await postOne(harness, ruleId, 3, 'b')
  const open = await harness.untilStatus(first, 'waiting')
  t.match({ results: open.results, lease: open.lease }, { results: { length: 0 }, lease: null })
  const joined = await harness.untilStatus(second, 'suppressed')
  t.strictSame(joined.suppression, { reason: 'collected', key: 'a', executionId: first })
  for (const id of [first, other]) await harness.untilStatus(id, 'succeeded')
  t.strictSame((await titlesOf(harness)).sort(), [
    'a: 2, 2, [{"lead":"a","n":1},{"lead":"a","n":2}]',
    'b: 1, 3, [{"lead":"b","n":3}]',
  ])
  const counters = await harness.own.ruleCounters.findFirstOrThrow({ where: { ruleId } })
  t.match(counters, { successCount: 2n, failureCount: 0n })
  const third = await postOne(harness, ruleId, 4)
  await harness.untilStatus(third, 'waiting')
})

t.test('events that meet in one commit, and those of many commits, are each in one batch', async (t) => {
  const harness = await start(t, 2)
  const ruleId = await harness.createRule(task, undefined, collecting({ for: '1h', max: 4 }))
  const events = Array.from({ length: 12 }, (_, n) => ({ ...harness.newEvent(), data: { lead: 'a', n } }))
  await Promise.all(events.map((event) => harness.inbox.accept(event)))
  await Promise.all(events.map(({ id }) => harness.untilDone(id)))
  const claims = await harness.own.keyClaim.findMany({ where: { ruleId } })
  const batches = new Map<string, number>()
  for (const { batchId } of claims) batches.set(batchId as string, (batches.get(batchId as string) ?? 0) + 1)
  t.equal(claims.length, 12)
  t.strictSame([...batches.values()], [4, 4, 4])
  for (const id of batches.keys()) await harness.untilStatus(id, 'succeeded')
  const seen = (await titlesOf(harness)).flatMap((title) => title.match(/(?<="n":)\d+/g) ?? [])
  t.strictSame(
    seen.map(Number).sort((one, other) => one - other),
    events.map(({ data }) => data.n),
  )
})

t.test('a batch ends when it has been quiet for so long', async (t) => {
  const harness = await start(t)
  harness.startSweeper()
  const ruleId = await harness.createRule(task, undefined, collecting({ for: '1h', quiet: '8s' }))
  const first = await postOne(harness, ruleId, 1)
  const { dueAt } = await harness.untilStatus(first, 'waiting')
  await delay(500)
  await postOne(harness, ruleId, 2)
  const { dueAt: later, acceptedAt } = {
    ...(await harness.untilStatus(first, 'waiting')),
    ...(await harness.own.event.findFirstOrThrow({ orderBy: { id: 'desc' } })),
  }
  t.ok(later && dueAt && later > dueAt)
  t.equal(later?.getTime(), acceptedAt.getTime() + 8_000)
  await harness.untilStatus(first, 'succeeded')
  t.match(await titlesOf(harness), [/^a: 2, 2/])
})

t.test('with queue, a batch whose end has come waits until the one before it has ended', async (t) => {
  const harness = await start(t, 2)
  const wait = { type: 'WAIT', config: { duration: '2s' } }
  const perKey = collecting({ for: '1h', max: 1 }, { whileRunning: 'queue' })
  const ruleId = await harness.createRule([...task, wait], undefined, perKey)
  const first = await postOne(harness, ruleId, 1)
  for (;;) {
    const { results } = await harness.untilStatus(first, 'waiting', 'running')
    if ((results as unknown[]).length > 0) break
    await delay(20)
  }
  const second = await postOne(harness, ruleId, 2)
  await harness.untilStatus(second, 'succeeded')
  t.match(await titlesOf(harness), [/^a: 1, 1/, /^a: 1, 2/])
  const { finishedAt } = await harness.untilStatus(first, 'succeeded')
  const { createdAt } = await harness.own.task.findFirstOrThrow({ where: { executionId: second } })
  t.ok(finishedAt && createdAt >= finishedAt, 'it began when the first one had ended')
})

t.test('a worker that lost its lease while it queued a batch lets nobody run it out of turn', async (t) => {
  const harness = await start(t)
  const wait = { type: 'WAIT', config: { duration: '1d' } }
  const perKey = collecting({ for: '1h', max: 1 }, { whileRunning: 'queue' })
  const ruleId = await harness.createRule([...task, wait], undefined, perKey)
  const claimOf = (executionId: string) => harness.own.keyClaim.findFirstOrThrow({ where: { executionId } })
  const first = await postOne(harness, ruleId, 1)
  // Of two batches that end at once, either may be first.
  while ((await claimOf(first)).place !== 'holds') await delay(20)
  const second = await postOne(harness, ruleId, 2)
  const claim = () => claimOf(second)
  while ((await claim()).place !== 'queued') await delay(20)
  const lease = newId()
  const dueAt = new Date(Date.now() + 60_000)
  await harness.own.execution.update({ where: { id: second }, data: { status: 'running', lease, dueAt } })
  const { keyId } = await claim()
  t.equal(await closeBatch(harness.database, { executionId: second, lease, keyId, isExclusive: true }), false)
  t.match(await harness.untilStatus(second, 'waiting'), { lease: null, results: { length: 0 } })
})

t.test('a worker that has lost the lease of a batch neither closes nor runs it', async (t) => {
  const harness = await start(t)
  const perKey = collecting({ for: '1h' }, { whileRunning: 'queue' })
  const ruleId = await harness.createRule(task, undefined, perKey)
  const executionId = await postOne(harness, ruleId, 1)
  const { keyId } = await harness.own.keyClaim.findFirstOrThrow({ where: { executionId } })
  const closing = { executionId, lease: newId(), keyId, isExclusive: true }
  t.equal(await closeBatch(harness.database, closing), false)
  const open = { place: 'collects' }
  t.match(await harness.own.keyClaim.findFirstOrThrow({ where: { executionId } }), open)
  await harness.own.execution.update({ where: { id: executionId }, data: { lease: closing.lease } })
  t.equal(await closeBatch(harness.database, closing), true)
  const closed = { place: 'holds' }
  t.match(await harness.own.keyClaim.findFirstOrThrow({ where: { executionId } }), closed)
})

t.test('a batch whose row somebody has locked is moved to its new end', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, collecting({ for: '1h', max: 2 }))
  const first = await postOne(harness, ruleId, 1)
  const joined = await harness.database.system.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT 1 FROM executions WHERE id = ${first}::uuid FOR NO KEY UPDATE`
    const posted = postOne(harness, ruleId, 2)
    await delay(500)
    return { posted }
  })
  await joined.posted
  await harness.untilStatus(first, 'succeeded')
  t.match(await titlesOf(harness), [/^a: 2, 2/])
})

t.test('a failed batch is not retried with a version that does not collect', async (t) => {
  const harness = await start(t)
  const actions = [...task, { type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:1/' } }]
  const ruleId = await harness.createRule(actions, undefined, collecting({ for: '1h', max: 2 }))
  const id = await postOne(harness, ruleId, 1)
  await postOne(harness, ruleId, 2)
  await harness.untilStatus(id, 'succeeded', 'retrying', 'failed')
  const ended = { status: 'failed', dueAt: null, lease: null, finishedAt: new Date() } as const
  await harness.own.execution.update({ where: { id }, data: ended })
  const { workspaceId } = harness
  const add = async (version: number, perKey: PerKey | undefined) => {
    const definition = {
      name: 'Rule',
      description: '',
      trigger: 'LEAD_CREATED',
      conditions: [],
      actions: task,
    }
    await harness.own.ruleVersion.create({
      data: { ...definition, workspaceId, ruleId, version, createdBy: 'test', ...(perKey && { perKey }) },
    })
    await harness.own.rule.update({ where: { id: ruleId }, data: { version, actions: task } })
  }
  const retry = (version: 'same' | 'latest') =>
    harness.own.$transaction((transaction) =>
      reopenExecutions(transaction as never, narrowToExecution(workspaceId, id), version, 1),
    )
  await add(2, undefined)
  t.strictSame(await retry('latest'), [])
  await add(3, collecting({ for: '1d' }))
  t.match(await retry('latest'), [{ id }])
})

t.test('another version of the rule opens a batch of its own', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, collecting({ for: '3s' }))
  const first = await postOne(harness, ruleId, 1)
  await harness.own.rule.update({ where: { id: ruleId }, data: { version: { increment: 1 } } })
  await harness.database.system.workspace.update({
    where: { id: harness.workspaceId },
    data: { rulesVersion: { increment: 1 } },
  })
  const second = await postOne(harness, ruleId, 2)
  await harness.untilStatus(second, 'waiting')
  await harness.untilStatus(first, 'succeeded')
  t.match(await titlesOf(harness), [/^a: 1, 1/])
})

t.test('an execution by hand is a batch of its own, and claims nothing', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, collecting({ for: '1h' }))
  const event = {
    ...harness.newEvent('LEAD_CREATED', { kind: 'rule', id: ruleId }),
    data: { lead: 'a', n: 1 },
  }
  await harness.inbox.accept(event)
  await harness.untilStatus(event.id, 'succeeded')
  t.strictSame(await titlesOf(harness), ['a: 1, 1, [{"lead":"a","n":1}]'])
  t.equal(await harness.own.keyClaim.count(), 0)
})

t.test('events beyond 256 KiB are counted, and the last one is still read', async (t) => {
  const harness = await start(t)
  const title = '{{collected.count}} {{collected.events | size}} {{collected.omitted}} {{n}}'
  const actions = [{ type: 'CREATE_TASK', config: { title } }]
  const ruleId = await harness.createRule(actions, undefined, collecting({ for: '1h', max: 3 }))
  const large = 'x'.repeat(200_000)
  for (const n of [1, 2, 3]) {
    const event = { ...harness.newEvent(), data: { lead: 'a', n, large } }
    await harness.inbox.accept(event)
    await harness.untilDone(event.id)
  }
  const { id } = await harness.own.execution.findFirstOrThrow({
    where: { handlerId: ruleId },
    orderBy: { id: 'asc' },
  })
  await harness.untilStatus(id, 'succeeded')
  t.strictSame(await titlesOf(harness), ['3 1 2 3'])
})

t.test('retention keeps the events of a batch as long as its execution', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, collecting({ for: '1h' }))
  const [first] = [await postOne(harness, ruleId, 1), await postOne(harness, ruleId, 2)]
  const dayMs = 86_400_000
  const removeAll = async () => {
    const remove = createHistoryRemoval(Date.now() + 100 * dayMs, 30)
    for (;;) if ((await harness.database.system.$transaction((tx) => remove(tx, 100))).isOver) return
  }
  await removeAll()
  t.equal(await harness.own.event.count(), 2)
  const finishedAt = new Date(Date.now() + 99 * dayMs)
  await harness.own.execution.update({
    where: { id: first },
    data: { status: 'failed', dueAt: null, finishedAt },
  })
  await removeAll()
  t.equal(await harness.own.event.count(), 2, 'a retry acts for all of them')
  await harness.own.execution.update({ where: { id: first }, data: { finishedAt: new Date() } })
  await removeAll()
  t.equal(await harness.own.event.count(), 0)
})
