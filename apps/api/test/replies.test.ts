import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { executionIdOf, newId, openPatiently, ruleSetIdOf } from '@automation/database'
import { createPrivateDatabase, startRedis } from '@automation/launcher'
import { startPatientClock } from '@automation/launcher/patient-clock'
import { replyChannel } from '@automation/queue'
import t from 'tap'
import { startApi, type Workspace } from './fixtures/api.js'
import { storeEvent } from './fixtures/history.js'

// Its own, so that subscribers can be disconnected and tables be locked without harm to other tests.
const redis = await startRedis({ directory: t.testdir(), persistent: false })
t.teardown(() => redis.stop())
const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL, REDIS_URL: redis.url, DATABASE_POOL: '3' })

/** Stores finished events with one execution each. @returns them with the execution of the reply */
async function storeOutcomes({ id: workspaceId, database }: Workspace, count: number) {
  const ruleIds = [newId(), newId()]
  const [passed = '', other = ''] = ruleIds
  const ruleSetId = ruleSetIdOf(ruleIds)
  await database.ruleSet.create({ data: { id: ruleSetId, workspaceId, ruleIds } })
  const now = new Date()
  const events = Array.from({ length: count }, () => ({
    id: newId(),
    workspaceId,
    type: 'LEAD_CREATED',
    data: {},
    ruleSetId,
    doneAt: now,
  }))
  const executions = events.map((event) => ({
    id: executionIdOf({ id: event.id, addressee: null }, passed),
    workspaceId,
    eventId: event.id,
    eventType: event.type,
    handlerId: passed,
    ruleVersion: 1,
    status: 'succeeded' as const,
    results: [],
    startedAt: now,
    finishedAt: now,
  }))
  await database.event.createMany({ data: events })
  await database.execution.createMany({ data: executions })
  return events.map(({ id }, index) => ({
    id,
    runs: [
      { ruleId: passed, executionId: executions[index]?.id, status: 'succeeded', error: null, results: [] },
      { ruleId: other, executionId: null, status: 'not_matched', error: null, results: [] },
    ],
  }))
}

/** Ends the connections on which replies come, as a Redis that restarts does. */
async function disconnectSubscribers(): Promise<void> {
  await api.app.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
}

/** The most callers that stood in line for a connection at any moment until the promise settled. */
async function peakOfWaiting(until: Promise<unknown>): Promise<number> {
  let isOver = false
  let peak = 0
  void until.finally(() => {
    isOver = true
  })
  while (!isOver) {
    peak = Math.max(peak, api.app.database.poolUse().waiting)
    await new Promise(setImmediate)
  }
  return peak
}

t.test('thousands of callers that missed a reply get their outcomes with few statements', async (t) => {
  const workspace = await api.makeWorkspace()
  const neighbour = await api.makeWorkspace()
  const outcomes = await storeOutcomes(workspace, 2_000)
  const [foreign] = await storeOutcomes(neighbour, 1)
  const pending = outcomes.map(({ id }) => api.app.replies.expect({ id, workspaceId: workspace.id }, 20_000))
  const open = [newId(), foreign?.id ?? ''].map((id) =>
    api.app.replies.expect({ id, workspaceId: workspace.id }, 20_000),
  )
  await disconnectSubscribers()
  const settled = Promise.all(pending.map(({ evaluations }) => evaluations))
  const peak = await peakOfWaiting(settled)
  t.ok(peak <= 1, `${peak} callers stood in line for a connection`)
  const answers = await settled
  const wrong = outcomes.filter(({ runs }, index) => !isDeepStrictEqual(answers[index], runs))
  t.strictSame(wrong.slice(0, 1), [], `${wrong.length} of ${answers.length} did not get their outcome`)
  for (const { evaluations, cancel } of open) {
    cancel()
    t.equal(
      await evaluations,
      undefined,
      'an event that is not done, or not of the workspace, has no outcome',
    )
  }
})

t.test('a caller whose reply is lost gets the stored outcome long before its time is up', async (t) => {
  const workspace = await api.makeWorkspace()
  const [outcome] = await storeOutcomes(workspace, 1)
  const { evaluations } = api.app.replies.expect({ id: outcome?.id ?? '', workspaceId: workspace.id }, 25_000)
  const clock = startPatientClock()
  t.strictSame(await evaluations, outcome?.runs)
  t.ok(clock() < 8_000, `after ${clock()} ms`)
  t.notOk(api.app.replies.waiting, 'nobody waits any longer')
})

t.test('a caller waits while a call of its event runs, for one statement a look', async (t) => {
  const workspace = await api.makeWorkspace()
  const [outcome] = await storeOutcomes(workspace, 1)
  const id = outcome?.id ?? ''
  const setStatus = (data: { status: 'running' | 'succeeded'; finishedAt: Date | null }) =>
    workspace.database.execution.updateMany({ where: { eventId: id }, data })
  await setStatus({ status: 'running', finishedAt: null })
  const { run } = api.app.database
  const statements: string[] = []
  t.intercept(api.app.database, 'run', {
    value: ((name, text, values) => {
      statements.push(name)
      return run(name, text, values)
    }) as typeof run,
  })
  const { evaluations } = api.app.replies.expect({ id, workspaceId: workspace.id }, 25_000)
  while (statements.length === 0) await setTimeout(50)
  await setTimeout(500)
  t.strictSame(statements, ['find_done_events'])
  t.equal(api.app.replies.waiting, 1)
  await setStatus({ status: 'succeeded', finishedAt: new Date() })
  const clock = startPatientClock()
  t.strictSame(await evaluations, outcome?.runs)
  t.ok(clock() < 10_000, `after ${clock()} ms`)
})

t.test('a malformed message on the channel of replies is logged once, without further effect', async (t) => {
  const workspace = await api.makeWorkspace()
  const { replies, redis, log } = api.app
  const logged: unknown[] = []
  log.warn = (...line: unknown[]) => void logged.push(line[1])
  const { id } = await storeEvent(workspace, { doneAt: null })
  const pending = replies.expect({ id, workspaceId: workspace.id }, 20_000)
  const channel = replyChannel(api.config.queuePrefix, replies.instanceId)
  const matched = [{ index: 0, executionId: newId(), status: 'succeeded' }]
  for (const message of [
    'no JSON',
    '',
    'null',
    '{}',
    '[null]',
    '[{}]',
    `[{"ruleIds":null,"events":[{"id":"${id}","matched":[]}]}]`,
    `[{"ruleIds":["${id}"],"events":[{"id":"${id}"}]}]`,
  ])
    t.equal(await redis.publish(channel, message), 1, message)
  await redis.publish(channel, JSON.stringify([{ ruleIds: [id], events: [{ id, matched }] }]))
  t.strictSame(
    await pending.evaluations,
    [{ ruleId: id, executionId: matched[0]?.executionId, status: 'succeeded', error: null, results: [] }],
    'the next reply is received',
  )
  t.strictSame(logged, ['a malformed reply was ignored; later ones are ignored without a log line'])
})

t.test('a caller whose time is up does not wait for an unresponsive Postgres', async (t) => {
  const workspace = await api.makeWorkspace()
  const [outcome] = await storeOutcomes(workspace, 1)
  const blocker = openPatiently(api.config.databaseUrl, 1)
  t.teardown(() => blocker.close())
  const released = promise<void>()
  const isLocked = promise<void>()
  const blocking = blocker.system.$transaction(async (transaction) => {
    await transaction.$executeRaw`LOCK TABLE executions IN ACCESS EXCLUSIVE MODE`
    isLocked.resolve()
    await released.promise
  })
  await isLocked.promise
  const clock = startPatientClock()
  const ask = () =>
    api.app.replies.expect({ id: outcome?.id ?? '', workspaceId: workspace.id }, 1).evaluations
  t.equal(await ask(), undefined)
  t.ok(clock() < 8_000, `answered after ${clock()} ms`)
  released.resolve()
  await blocking
  t.strictSame(await ask(), outcome?.runs)
})

function promise<Value>() {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
