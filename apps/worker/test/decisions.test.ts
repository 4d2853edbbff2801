import { executionIdOf } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import {
  listDecisions,
  lockDecision,
  narrowToExecution,
  recordDecision,
  reopenExecutions,
  type VersionToRun,
} from '@automation/ledger'
import t from 'tap'
import { createHarness, type Execution, type Harness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

const resultsOf = (execution: Execution) => execution.results as object[]
const task = (title: string, more: object = {}) => ({ type: 'CREATE_TASK', config: { title }, ...more })
const ask = (within = '1d') => ({
  type: 'WAIT',
  config: { decision: { options: ['approve', 'reject'], within } },
})
const told = task('{{decision.choice}} {{decision.reason}}')

async function begin(harness: Harness, actions: object[]) {
  const ruleId = await harness.createRule(actions)
  const event = harness.newEvent('LEAD_CREATED')
  await harness.inbox.accept(event)
  return { ruleId, event, id: executionIdOf(event, ruleId) }
}

/** As the API does it. @returns the id of the event, or what the decision is instead */
async function decide(
  harness: Harness,
  id: string,
  choice: string,
  beforeCommit?: () => Promise<void>,
): Promise<string | undefined> {
  const { own, workspaceId, inbox } = harness
  const eventId = await own.$transaction(async (transaction) => {
    const row = await lockDecision(transaction, workspaceId, id)
    if (row?.status !== 'open') return undefined
    const decided = await recordDecision(transaction, workspaceId, row, {
      choice,
      reason: 'Fair',
      by: 'user:ada',
    })
    await beforeCommit?.()
    return decided?.eventId
  })
  if (eventId !== undefined) inbox.publish([{ id: eventId, workspaceId, createdBy: null, addressee: null }])
  return eventId
}

async function statusOf(harness: Harness, id: string) {
  const { own, workspaceId } = harness
  return (await own.$transaction((transaction) => lockDecision(transaction, workspaceId, id)))?.status
}

t.test('a decision ends its WAIT, once, and later actions read it', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  // Those that decide later hold the row: then a worker leaves the execution to the sweeper.
  harness.startSweeper()
  const other = await begin(harness, [ask(), told])
  const event = harness.newEvent('LEAD_CREATED')
  await harness.inbox.accept(event)
  const id = executionIdOf(event, other.ruleId)
  matchLists(t, resultsOf(await harness.untilStatus(id, 'waiting')), [
    { status: 'scheduled', waitsFor: { eventType: 'DECISION', match: { executionId: id } } },
  ])
  const ids = await Promise.all(['approve', 'reject', 'approve'].map((choice) => decide(harness, id, choice)))
  const [eventId, ...more] = ids.filter((one) => one !== undefined)
  t.strictSame(more, [], 'one of them counts')
  const done = await harness.untilStatus(id, 'succeeded')
  const { choice } = done.decision as { choice: string }
  matchLists(t, resultsOf(done), [
    {
      status: 'success',
      ended: 'event',
      endedBy: { eventId, acceptedAt: String },
      decision: { choice, reason: 'Fair', by: 'user:ada' },
    },
    { status: 'success' },
  ])
  matchLists(t, await harness.own.task.findMany(), [{ title: `${choice} Fair` }])
  t.equal(
    (await harness.untilStatus(other.id, 'waiting')).decision,
    null,
    'that of another execution is open',
  )
  const list = (filter: object) =>
    listDecisions(
      harness.database.readsOf(harness.workspaceId, (read) => read()) as never,
      harness.workspaceId,
      filter,
      {
        before: undefined,
        limit: 10,
      },
    )
  matchLists(t, (await list({})).rows, [
    { id, status: 'decided', asked: { options: ['approve', 'reject'] } },
    { id: other.id, status: 'open', until: Date },
  ])
  matchLists(t, (await list({ status: 'open' })).rows, [{ id: other.id }])
  matchLists(t, (await list({ status: 'decided' })).rows, [{ id }])
  matchLists(t, (await list({ status: 'expired' })).rows, [])
})

t.test('a decision before its WAIT is reached counts, also after a WAIT for an event', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const paid = {
    type: 'WAIT',
    config: { duration: '1d', for: { eventType: 'DEAL_WON', match: { a: 1 }, then: 'go_on' } },
  }
  const { id } = await begin(harness, [paid, ask(), told])
  await harness.untilStatus(id, 'waiting')
  const eventId = await decide(harness, id, 'approve')
  await harness.untilDone(eventId ?? '')
  await harness.inbox.accept({ ...harness.newEvent('DEAL_WON'), data: { a: 1 } })
  const done = await harness.untilStatus(id, 'succeeded')
  matchLists(t, resultsOf(done), [
    { ended: 'event' },
    { endedBy: { eventId }, decision: { choice: 'approve' } },
    { status: 'success' },
  ])
})

t.test('when the time is over the choice is expired, and nobody can decide any more', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  harness.startSweeper()
  const { id } = await begin(harness, [ask('1s'), told, { type: 'WAIT', config: { duration: '1d' } }])
  const isExpired = async () => (await harness.own.task.count()) === 1
  while (!(await isExpired())) await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(await statusOf(harness, id), 'expired')
  t.equal(await decide(harness, id, 'approve'), undefined)
  matchLists(t, resultsOf(await harness.untilStatus(id, 'waiting')), [
    { status: 'success', ended: 'time', decision: { choice: 'expired' } },
    { status: 'success' },
    { status: 'scheduled' },
  ])
  matchLists(t, await harness.own.task.findMany(), [{ title: 'expired ' }])
  const row = await harness.own.execution.findUniqueOrThrow({ where: { id } })
  t.match(row, { decision: null, waitType: 'DECISION', waitKey: null })
})

t.test('a decision at the last moment counts, or comes too late: never both', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  harness.startSweeper()
  const ruleId = await harness.createRule([ask('1s'), told])
  const events = Array.from({ length: 20 }, () => harness.newEvent('LEAD_CREATED'))
  await harness.inbox.acceptAll(events)
  const ids = events.map((event) => executionIdOf(event, ruleId))
  const decided = await Promise.all(
    ids.map(async (id, index) => {
      const { results } = await harness.untilStatus(id, 'waiting')
      const [{ until }] = results as [{ until: string }]
      const moment = Date.parse(until) - 60 + index * 6
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, moment - Date.now())))
      return decide(harness, id, 'approve')
    }),
  )
  for (const [index, id] of ids.entries()) {
    const done = await harness.untilStatus(id, 'succeeded')
    const choice = decided[index] === undefined ? 'expired' : 'approve'
    t.match(done.results, [{ decision: { choice } }, {}], `${index}`)
  }
})

t.test('a decision that was accepted in time counts, however long its commit takes', async (t) => {
  const harness = await createHarness(t)
  const { database } = harness
  const run = database.run.bind(database)
  // What a look at the transactions says where the commit comes between its snapshot and its look at the sessions.
  database.run = (async (name: string, text: string, values: unknown[]) =>
    name === 'read_backlog'
      ? [{ now: Date.now(), settled: Date.now(), workspaceId: null, type: null, oldest: null }]
      : run(name, text, values)) as typeof database.run
  harness.startWorker()
  harness.startSweeper()
  const { id } = await begin(harness, [ask('1s'), told])
  const [{ until }] = resultsOf(await harness.untilStatus(id, 'waiting')) as [{ until: string }]
  const overMs = () => Date.now() - Date.parse(until)
  const eventId = await decide(harness, id, 'approve', async () => {
    // Sweeper and worker have come by then.
    while (overMs() < 1_500) await new Promise((resolve) => setTimeout(resolve, 50))
  })
  matchLists(t, resultsOf(await harness.untilStatus(id, 'succeeded')), [
    { ended: 'event', endedBy: { eventId }, decision: { choice: 'approve' } },
    { status: 'success' },
  ])
})

t.test('the decision of an execution that was cancelled is no longer needed', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const { id } = await begin(harness, [ask(), told])
  await harness.untilStatus(id, 'waiting')
  const finished = { status: 'cancelled', finishedAt: new Date(), dueAt: null } as const
  await harness.own.execution.update({ where: { id }, data: finished })
  t.equal(await statusOf(harness, id), 'closed')
  t.equal(await decide(harness, id, 'approve'), undefined)
  t.equal(await harness.own.event.count({ where: { type: 'DECISION' } }), 0)
})

t.test(
  'an execution whose rule asks for nothing has no decision, and that of another workspace neither',
  async (t) => {
    const harness = await createHarness(t)
    harness.startWorker()
    const { id } = await begin(harness, [task('x')])
    await harness.untilStatus(id, 'succeeded')
    t.equal(await statusOf(harness, id), undefined)
    const other = await createHarness(t)
    other.startWorker()
    const asked = await begin(other, [ask()])
    await other.untilStatus(asked.id, 'waiting')
    t.equal(await statusOf(other, asked.id), 'open')
    t.equal(await statusOf(harness, asked.id), undefined)
  },
)

async function retryWith(harness: Harness, id: string, version: VersionToRun, actions?: object[]) {
  const { own, workspaceId } = harness
  const { ruleId, ruleVersion } = await own.execution.findUniqueOrThrow({ where: { id } })
  if (actions) {
    const definition = { name: 'Rule', description: '', trigger: 'LEAD_CREATED', conditions: [], actions }
    const next = ruleVersion + 1
    await own.ruleVersion.create({
      data: { ...definition, workspaceId, ruleId, version: next, createdBy: 'test' },
    })
    await own.rule.update({ where: { id: ruleId }, data: { version: next, actions } })
  }
  await own.$transaction((transaction) =>
    reopenExecutions(transaction, narrowToExecution(workspaceId, id), version, 1),
  )
}

t.test('a decision counts for the definition that asked for it, and for no other', async (t) => {
  /** Somebody decides while the call before the WAIT is made, which fails. */
  const decideEarly = async () => {
    const harness = await createHarness(t)
    let fail: (() => void) | undefined
    const target = await openTarget(t, (_request, response) => {
      response.statusCode = fail ? 200 : 400
      if (fail) response.end()
      else fail = () => response.end()
    })
    const call = { type: 'SEND_WEBHOOK', config: { url: target.url } }
    harness.startWorker()
    harness.startSweeper()
    const { id } = await begin(harness, [call, ask(), told])
    while (!fail) await new Promise((resolve) => setTimeout(resolve, 20))
    t.type(await decide(harness, id, 'approve'), 'string')
    fail()
    await harness.untilStatus(id, 'failed')
    return { harness, id, call }
  }
  const same = await decideEarly()
  await retryWith(same.harness, same.id, 'same')
  const done = await same.harness.untilStatus(same.id, 'succeeded')
  t.match(done.results, [{}, { decision: { choice: 'approve' } }])
  const { harness, id, call } = await decideEarly()
  const renamed = { type: 'WAIT', config: { decision: { options: ['yes', 'no'], within: '1d' } } }
  await retryWith(harness, id, 'latest', [call, renamed, told])
  t.equal((await harness.untilStatus(id, 'waiting', 'succeeded')).decision, null)
  t.equal(await statusOf(harness, id), 'open')
  await decide(harness, id, 'yes')
  t.match((await harness.untilStatus(id, 'succeeded')).results, [{}, { decision: { choice: 'yes' } }])
})

t.test('a decision stays with the result of its WAIT, also in another version', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = 400
    response.end()
  })
  const call = { type: 'SEND_WEBHOOK', config: { url: target.url } }
  harness.startWorker()
  harness.startSweeper()
  const { id } = await begin(harness, [ask(), call])
  await harness.untilStatus(id, 'waiting')
  await decide(harness, id, 'approve')
  await harness.untilStatus(id, 'failed')
  await retryWith(harness, id, 'latest', [ask('2d'), told])
  t.match(await harness.untilStatus(id, 'succeeded'), { decision: { choice: 'approve' } })
  matchLists(t, await harness.own.task.findMany(), [{ title: 'approve Fair' }])
})

t.test('a decision while its batch is open wakes the WAIT as soon as that is reached', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  harness.startSweeper()
  const perKey = { key: '{{lead}}', collect: { for: '2s' } } as const
  const ruleId = await harness.createRule([ask(), told], undefined, perKey)
  const event = { ...harness.newEvent(), data: { lead: 'a' } }
  await harness.inbox.accept(event)
  const id = executionIdOf(event, ruleId)
  t.strictSame(resultsOf(await harness.untilStatus(id, 'waiting')), [], 'its batch is open')
  const eventId = await decide(harness, id, 'approve')
  await harness.untilDone(eventId ?? '')
  matchLists(t, resultsOf(await harness.untilStatus(id, 'succeeded')), [
    { endedBy: { eventId }, decision: { choice: 'approve' } },
    { status: 'success' },
  ])
})
