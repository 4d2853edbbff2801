import { executionIdOf } from '@automation/database'
import { listDecisions, narrowToExecution, readDecisionRow } from '@automation/history'
import { matchLists } from '@automation/launcher/match-lists'
import { lockDecision, recordDecision, reopenExecutions, type VersionToRun } from '@automation/ledger'
import t from 'tap'
import { awaitDecision } from '../src/executions/await-decision.js'
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

/** As the API does it until the commit. */
function commit(
  { own, workspaceId }: Harness,
  id: string,
  choice: string,
  beforeCommit?: () => Promise<void>,
): ReturnType<typeof recordDecision> {
  return own.$transaction(async (transaction) => {
    await lockDecision(transaction, workspaceId, id)
    const row = await readDecisionRow(transaction, workspaceId, id)
    if (row?.status !== 'open') return undefined
    const decided = await recordDecision(transaction, workspaceId, row, {
      choice,
      reason: 'Fair',
      by: 'user:ada',
    })
    await beforeCommit?.()
    return decided
  })
}

/** As the API does it. @returns whether it counts */
async function decide(...[harness, ...more]: Parameters<typeof commit>): Promise<boolean> {
  const decided = await commit(harness, ...more)
  if (decided?.woken) harness.inbox.resume(decided.woken)
  return decided !== undefined
}

async function statusOf(harness: Harness, id: string) {
  const { own, workspaceId } = harness
  const row = await own.$transaction(async (transaction) => {
    await lockDecision(transaction, workspaceId, id)
    return readDecisionRow(transaction, workspaceId, id)
  })
  return row?.status
}

t.test('a decision ends its WAIT, once, and later actions read it', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const other = await begin(harness, [ask(), told])
  const event = harness.newEvent('LEAD_CREATED')
  await harness.inbox.accept(event)
  const id = executionIdOf(event, other.ruleId)
  matchLists(t, resultsOf(await harness.untilStatus(id, 'waiting')), [
    { status: 'scheduled', waitsFor: { eventType: 'DECISION', match: {} } },
  ])
  const counts = await Promise.all(
    ['approve', 'reject', 'approve'].map((choice) => decide(harness, id, choice)),
  )
  t.strictSame(counts.filter(Boolean), [true], 'one of them counts')
  const done = await harness.untilStatus(id, 'succeeded')
  const { choice } = done.decision as { choice: string }
  matchLists(t, resultsOf(done), [
    {
      status: 'success',
      ended: 'decision',
      endedBy: undefined,
      decision: { choice, reason: 'Fair', by: 'user:ada', at: undefined },
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

t.test('what a decision ends is due at its commit, and no event tells of it', async (t) => {
  const harness = await createHarness(t)
  const worker = harness.startWorker()
  const { id } = await begin(harness, [ask(), told])
  await harness.untilStatus(id, 'waiting')
  await worker.close()
  const decided = await commit(harness, id, 'approve')
  const { dueAt } = await harness.own.execution.findUniqueOrThrow({ where: { id } })
  t.match(decided, { woken: { executionId: id, dueAt } })
  t.ok(Number(dueAt) <= Date.parse(decided?.decision.at ?? ''))
  matchLists(t, await harness.own.event.findMany(), [{ type: 'LEAD_CREATED' }])
  // The API has died before it added the job.
  harness.startWorker()
  harness.startSweeper()
  t.match((await harness.untilStatus(id, 'succeeded')).results, [{ decision: { choice: 'approve' } }, {}])
  t.equal(await harness.own.eventKey.count(), 0)
})

t.test('a decision while the call before its WAIT is made ends it once it is reached', async (t) => {
  const harness = await createHarness(t)
  let answer: (() => void) | undefined
  const target = await openTarget(t, (_request, response) => {
    answer = () => response.end()
  })
  harness.startWorker()
  const { id } = await begin(harness, [{ type: 'SEND_WEBHOOK', config: { url: target.url } }, ask(), told])
  while (!answer) await new Promise((resolve) => setTimeout(resolve, 20))
  t.match(await commit(harness, id, 'approve'), { woken: undefined }, 'its worker holds it')
  answer()
  matchLists(t, resultsOf(await harness.untilStatus(id, 'succeeded')), [
    { status: 'success' },
    { ended: 'decision', decision: { choice: 'approve' } },
    { status: 'success' },
  ])
})

t.test('an event of type DECISION that an earlier release has stored is done without effect', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const { id } = await begin(harness, [ask(), told])
  await harness.untilStatus(id, 'waiting')
  const stored = { ...harness.newEvent('DECISION'), data: { executionId: id, choice: 'approve' } }
  await harness.inbox.accept(stored)
  await harness.untilDone(stored.id)
  t.equal((await harness.untilStatus(id, 'waiting')).decision, null)
  t.equal(await harness.own.eventKey.count(), 0)
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
  t.ok(await decide(harness, id, 'approve'))
  await harness.inbox.accept({ ...harness.newEvent('DEAL_WON'), data: { a: 1 } })
  const done = await harness.untilStatus(id, 'succeeded')
  matchLists(t, resultsOf(done), [
    { ended: 'event' },
    { ended: 'decision', decision: { choice: 'approve' } },
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
  t.notOk(await decide(harness, id, 'approve'))
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
    const choice = decided[index] ? 'approve' : 'expired'
    t.match(done.results, [{ decision: { choice } }, {}], `${index}`)
  }
})

t.test('a decision that was accepted in time counts, however long its commit takes', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  harness.startSweeper()
  const { id } = await begin(harness, [ask('6s'), told])
  const [{ until }] = resultsOf(await harness.untilStatus(id, 'waiting')) as [{ until: string }]
  const overMs = () => Date.now() - Date.parse(until)
  const counts = await decide(harness, id, 'approve', async () => {
    // Sweeper and worker have come by then.
    while (overMs() < 1_500) await new Promise((resolve) => setTimeout(resolve, 50))
  })
  t.ok(counts)
  matchLists(t, resultsOf(await harness.untilStatus(id, 'succeeded')), [
    { ended: 'decision', decision: { choice: 'approve' } },
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
  t.notOk(await decide(harness, id, 'approve'))
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
  const { handlerId: ruleId, ruleVersion } = await own.execution.findUniqueOrThrow({ where: { id } })
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
    t.ok(await decide(harness, id, 'approve'))
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
  const perKey = { key: '{{lead}}', collect: { for: '8s' } } as const
  const ruleId = await harness.createRule([ask(), told], undefined, perKey)
  const event = { ...harness.newEvent(), data: { lead: 'a' } }
  await harness.inbox.accept(event)
  const id = executionIdOf(event, ruleId)
  const open = await harness.untilStatus(id, 'waiting')
  t.strictSame(resultsOf(open), [], 'its batch is open')
  t.ok(await decide(harness, id, 'approve'))
  t.match(await harness.own.execution.findUniqueOrThrow({ where: { id } }), {
    status: 'waiting',
    results: { length: 0 },
    dueAt: open.dueAt,
    waitType: null,
  })
  matchLists(t, resultsOf(await harness.untilStatus(id, 'succeeded')), [
    { ended: 'decision', decision: { choice: 'approve' } },
    { status: 'success' },
  ])
})

t.test('a decision while its execution waits for its key counts when its turn has come', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const perKey = { key: 'one', whileRunning: 'queue' } as const
  const ruleId = await harness.createRule([ask(), told], undefined, perKey)
  const begun = []
  for (const lead of [1, 2]) {
    const event = { ...harness.newEvent(), data: { lead } }
    await harness.inbox.accept(event)
    await harness.untilDone(event.id)
    begun.push(executionIdOf(event, ruleId))
  }
  const [first = '', second = ''] = begun
  t.match(await commit(harness, second, 'reject'), { woken: undefined }, 'others have its key')
  const { dueAt } = await harness.own.execution.findUniqueOrThrow({ where: { id: second } })
  t.ok(Number(dueAt) > Date.now() + 86_400_000, 'it still waits for its key')
  t.ok(await decide(harness, first, 'approve'))
  for (const [id, choice] of [
    [first, 'approve'],
    [second, 'reject'],
  ] as const)
    t.match((await harness.untilStatus(id, 'succeeded')).results, [
      { ended: 'decision', decision: { choice } },
    ])
})

t.test('a decision between two attempts of the call before its WAIT changes nothing of them', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = target.calls.length === 1 ? 503 : 200
    response.end()
  })
  harness.startWorker()
  const call = { type: 'SEND_WEBHOOK', config: { url: target.url }, retry: { attempts: 2, delay: '2s' } }
  const { id } = await begin(harness, [call, ask(), told])
  const { dueAt } = await harness.untilStatus(id, 'retrying')
  t.match(await commit(harness, id, 'approve'), { woken: undefined })
  t.match(await harness.own.execution.findUniqueOrThrow({ where: { id } }), { status: 'retrying', dueAt })
  t.match((await harness.untilStatus(id, 'succeeded')).results, [
    { status: 'success' },
    { ended: 'decision', decision: { choice: 'approve' } },
    { status: 'success' },
  ])
  t.equal(target.calls.length, 2)
})

t.test('what is switched off after its decision goes on with it when it is retried', async (t) => {
  const harness = await createHarness(t)
  const worker = harness.startWorker()
  const { id, ruleId } = await begin(harness, [ask(), told])
  await harness.untilStatus(id, 'waiting')
  await worker.close()
  const decided = await commit(harness, id, 'approve')
  t.ok(decided?.woken)
  await harness.own.rule.update({ where: { id: ruleId }, data: { isActive: false } })
  harness.startWorker()
  harness.startSweeper()
  t.match(await harness.untilStatus(id, 'cancelled'), { decision: { choice: 'approve' } })
  t.equal(await harness.own.task.count(), 0)
  t.equal(await statusOf(harness, id), 'decided')
  await harness.own.rule.update({ where: { id: ruleId }, data: { isActive: true } })
  await retryWith(harness, id, 'same')
  await harness.untilStatus(id, 'succeeded')
  matchLists(t, await harness.own.task.findMany(), [{ title: 'approve Fair' }])
})

t.test('a worker whose clock is ahead does not put off the end of the time', async (t) => {
  const until = Date.now() - 600_000
  const scheduled = { action: 'WAIT', status: 'scheduled', until: new Date(until).toISOString() }
  const execution = {
    record: { id: 'x', results: [scheduled] },
    claimed: { decision: null, at: until - 300 },
  }
  const action = {
    type: 'WAIT',
    of: { index: 0, type: 'WAIT' },
    config: ask().config,
    at: until,
    warnings: [],
  }
  const { dueAt } = awaitDecision(execution as never, action as never)
  t.equal(Number(dueAt), until)
})
