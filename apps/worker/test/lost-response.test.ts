import { setTimeout } from 'node:timers/promises'
import { newId, taskIdOf } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import { recordDecision } from '@automation/ledger'
import { openMetrics } from '@automation/process/telemetry'
import t, { type Test } from 'tap'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { createHarness, type Harness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

/**
 * A harness whose worker does not hear of the first commit of a statement: Postgres has made it, and the connection has broken.
 *
 * @param awayMs how long this statement finds no connection afterwards
 */
async function createDeafHarness(t: Test, statement: string, awayMs = 0) {
  const harness = await createHarness(t)
  const { run } = harness.database
  let backAt = 0
  harness.database.run = async (name, text, values) => {
    if (name !== statement || (backAt > 0 && performance.now() >= backAt)) return run(name, text, values)
    if (backAt === 0) {
      await run(name, text, values)
      backAt = performance.now() + awayMs
    }
    throw new Error('Connection terminated unexpectedly')
  }
  return { ...harness, hasLost: () => backAt > 0 }
}

function call(url: string, fields: object = {}) {
  return { type: 'SEND_WEBHOOK', config: { url }, ...fields }
}

for (const onUncertain of ['retry', 'stop'])
  t.test(
    `a call is made once if the response to its intent is lost (onUncertain: ${onUncertain})`,
    async (t) => {
      const harness = await createDeafHarness(t, 'finish_events')
      const target = await openTarget(t)
      const ruleId = await harness.createRule([call(target.url, { onUncertain })])
      harness.startWorker()
      harness.startSweeper()
      const execution = await harness.untilStatus(await harness.trigger(ruleId), 'succeeded', 'failed')
      t.ok(harness.hasLost())
      t.match(execution, { status: 'succeeded', interruptions: 0, error: null })
      t.equal(target.calls.length, 1)
    },
  )

t.test('calls of several tenants whose events shared that commit are each made once', async (t) => {
  const harness = await createDeafHarness(t, 'finish_events')
  const target = await openTarget(t)
  const events = await Promise.all([0, 1, 2].map((index) => addTenant(harness, `${target.url}/${index}`)))
  await Promise.all(events.map((event) => harness.inbox.accept(event)))
  harness.startWorker()
  harness.startSweeper()
  const { execution } = harness.database.system
  const where = { finishedAt: { not: null }, eventId: { in: events.map(({ id }) => id) } }
  while ((await execution.count({ where })) < events.length) await setTimeout(20)
  const rows = await execution.findMany({ where })
  t.strictSame(
    rows.map(({ status, interruptions }) => `${status} ${interruptions}`),
    events.map(() => 'succeeded 0'),
  )
  t.strictSame(target.calls.map(({ path }) => path).sort(), ['/0', '/1', '/2'])
})

/** Another workspace, with a rule that calls a URL once at most. @returns its event */
async function addTenant({ database, newEvent }: Harness, url: string) {
  const workspaceId = newId()
  await database.system.workspace.create({ data: { id: workspaceId, name: 'Tenant' } })
  const own = database.forWorkspace(workspaceId)
  const actions = [call(url, { onUncertain: 'stop' })]
  const fields = { name: 'Rule', description: '', trigger: 'LEAD_CREATED', conditions: [], actions }
  const [id, definition] = [newId(), { ...fields, workspaceId }]
  await own.rule.create({
    data: { ...definition, id, isActive: true, counters: { create: { workspaceId } } },
  })
  await own.ruleVersion.create({ data: { ...definition, ruleId: id, version: 1, createdBy: 'test' } })
  return { ...newEvent(), workspaceId }
}

t.test('a worker keeps what it holds while it does not hear, also for longer than a lease', async (t) => {
  const harness = await createDeafHarness(t, 'finish_events', 10_000)
  const target = await openTarget(t)
  const ruleId = await harness.createRule([call(target.url, { onUncertain: 'stop' })])
  harness.startWorker()
  harness.startSweeper()
  const execution = await harness.untilStatus(await harness.trigger(ruleId), 'succeeded', 'failed')
  t.match(execution, { status: 'succeeded', interruptions: 0 })
  t.equal(target.calls.length, 1)
})

const failures = {
  'its step': { statement: 'record_steps', actions: (url: string) => [call(url)] },
  'its event': { statement: 'finish_events', actions: () => [{ type: 'NO_SUCH_ACTION', config: {} }] },
}
for (const [what, { statement, actions }] of Object.entries(failures))
  t.test(`a failure counts towards the pause of its rule if the response to ${what} is lost`, async (t) => {
    const harness = await createDeafHarness(t, statement)
    const target = await openTarget(t, (_request, response) => {
      response.statusCode = 400
      response.end()
    })
    await harness.database.system.workspace.update({
      where: { id: harness.workspaceId },
      data: { autoPauseAfter: 1 },
    })
    const ruleId = await harness.createRule(actions(target.url))
    const metrics = createWorkerMetrics(openMetrics())
    harness.startWorker(metrics)
    const id = await harness.trigger(ruleId)
    await harness.untilStatus(id, 'failed')
    while ((await harness.own.rule.findUniqueOrThrow({ where: { id: ruleId } })).isActive)
      await setTimeout(20)
    t.ok(harness.hasLost())
    t.match(await harness.own.ruleCounters.findUnique({ where: { ruleId } }), {
      failureCount: 1n,
      attentionReason: 'auto_paused',
    })
    t.match((await metrics.leasesLost.get()).values, [{ value: 0 }], 'no lease counts as lost')
  })

for (const [statement, before, after] of [
  ['finish_successes', [], []],
  ['finish_events', [], ['/first']],
  ['record_steps', ['/first'], ['/second']],
  ['record_steps', ['/first'], []],
] as const)
  t.test(
    `a task is created once if the response to its commit is lost (${[...before, statement, ...after].join(', ')})`,
    async (t) => {
      const harness = await createDeafHarness(t, statement)
      const target = await openTarget(t)
      const callAt = (path: string) => call(`${target.url}${path}`)
      const ruleId = await harness.createRule([
        ...before.map(callAt),
        { type: 'CREATE_TASK', config: { title: 'Task' } },
        ...after.map(callAt),
      ])
      harness.startWorker()
      harness.startSweeper()
      const id = await harness.trigger(ruleId)
      t.match(await harness.untilStatus(id, 'succeeded', 'failed'), { status: 'succeeded', reopened: 0 })
      t.ok(harness.hasLost())
      const tasks = await harness.own.task.findMany()
      t.strictSame(
        tasks.map((task) => task.id),
        tasks.map(({ createdAt }) => taskIdOf({ id, reopened: 0 }, before.length, createdAt)),
      )
      t.equal(tasks.length, 1)
      t.equal(target.calls.length, before.length + after.length)
    },
  )

t.test('what follows a pause whose response is lost does not wait for the sweeper', async (t) => {
  const harness = await createDeafHarness(t, 'record_steps')
  const target = await openTarget(t)
  const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
  const ruleId = await harness.createRule([
    call(target.url),
    { type: 'WAIT', config: { duration: '1s' } },
    task,
  ])
  harness.startWorker()
  await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  t.ok(harness.hasLost())
  t.equal(await harness.own.task.count(), 1)
})

t.test(
  'a step that finds its decision and whose response is lost does not wait for the sweeper',
  async (t) => {
    const harness = await createDeafHarness(t, 'record_steps')
    let answer: (() => void) | undefined
    const target = await openTarget(t, (_request, response) => {
      answer = () => response.end()
    })
    const decision = { options: ['approve', 'reject'], within: '1d' }
    const ruleId = await harness.createRule([
      call(target.url),
      { type: 'WAIT', config: { decision } },
      { type: 'CREATE_TASK', config: { title: '{{decision.choice}}' } },
    ])
    const metrics = createWorkerMetrics(openMetrics())
    harness.startWorker(metrics)
    const id = await harness.trigger(ruleId)
    while (!answer) await setTimeout(20)
    await harness.own.$transaction((transaction) =>
      recordDecision(
        transaction,
        harness.workspaceId,
        { id, until: null },
        { choice: 'approve', by: 'test' },
      ),
    )
    answer()
    while (!harness.hasLost()) await setTimeout(20)
    await harness.untilStatus(id, 'succeeded')
    matchLists(t, await harness.own.task.findMany(), [{ title: 'approve' }])
    t.match((await metrics.leasesLost.get()).values, [{ value: 0 }], 'no lease counts as lost')
  },
)

for (const [fault, code] of Object.entries({ 'a lock conflict': '40P01', 'a timeout': '57014' }))
  t.test(`what is first recorded beside it is kept where ${fault} ends the search for it`, async (t) => {
    const harness = await createDeafHarness(t, 'finish_events')
    const target = await openTarget(t)
    const { run } = harness.database
    const counts = { finish_events: 0, find_recorded: 0 }
    harness.database.run = async (name, text, values) => {
      const count = name === 'finish_events' || name === 'find_recorded' ? ++counts[name] : 0
      // The second commit takes so long that the repeat of the first one shares the third.
      if (name === 'finish_events' && count === 2) await setTimeout(1_000)
      if (name === 'find_recorded' && count === 1)
        return run(name, `DO $$ BEGIN RAISE SQLSTATE '${code}'; END $$`, [])
      return run(name, text, values)
    }
    const ruleId = await harness.createRule([call(target.url, { onUncertain: 'stop' })])
    harness.startWorker()
    harness.startSweeper()
    const ids = [await harness.trigger(ruleId)]
    while (!harness.hasLost()) await setTimeout(5)
    ids.push(await harness.trigger(ruleId))
    while (counts.finish_events < 2) await setTimeout(5)
    ids.push(await harness.trigger(ruleId))
    for (const id of ids)
      t.match(await harness.untilStatus(id, 'succeeded', 'failed'), { status: 'succeeded', interruptions: 0 })
    t.ok(counts.find_recorded > 1, 'the search was repeated')
    t.equal(target.calls.length, 3)
  })
