import { type Database, executionIdOf, newId, openPatiently, readClock } from '@automation/database'
import { compileRule, Evaluation } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import type { Outcome as AnyOutcome, ExecutionRecord, TaskToCreate } from '@automation/ledger'
import { countsOf, finishEvents } from '@automation/ledger'
import { openMetrics } from '@automation/process/telemetry'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createAdmission } from '../src/admission.js'
import { Causation } from '../src/executions/causation.js'
import { EffectBudget } from '../src/executions/effect-budget.js'
import type { Execution } from '../src/executions/execution.js'
import { Recorder } from '../src/executions/recorder.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'

type Outcome = AnyOutcome<Execution>

const database = openPatiently(process.env.DATABASE_URL ?? '', 5)
t.teardown(() => database.close())

let clock = Date.parse('2026-01-01T00:00:00.000Z')

async function createWorkspace() {
  const workspaceId = newId()
  await database.system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
  const own = database.forWorkspace(workspaceId)
  return {
    workspaceId,
    own,
    async createRule(): Promise<string> {
      const id = newId()
      const rule = {
        name: 'Rule',
        description: '',
        trigger: 'LEAD_CREATED',
        conditions: [],
        actions: [],
        isActive: true,
      }
      await own.rule.create({ data: { ...rule, id, workspaceId, counters: { create: { workspaceId } } } })
      return id
    },
    /** An accepted event, and the outcome that a worker would record. */
    async createOutcome(rules: { ruleId: string; error?: string; tasks?: number }[]): Promise<Outcome> {
      const row = { id: newId(), workspaceId, type: 'LEAD_CREATED', data: {}, depth: 0, rootId: null }
      await own.event.create({ data: row })
      const event = {
        ...row,
        addressee: null,
        rulesVersion: 0,
        acceptedAt: Date.now(),
        autoPauseAfter: null,
        createdBy: null,
        heapBytes: 2,
      }
      return {
        event,
        ruleSetId: newId(),
        rulesVersion: 0,
        executions: rules.map((rule) => describeExecution(event, rule)),
      }
    },
  }
}

/** @param ran gets the names of the statements that run */
function openLedger(ran = new Set<string>()) {
  const watched: Database = {
    ...database,
    run: (name, ...rest) => {
      ran.add(name)
      return database.run(name, ...rest)
    },
  }
  const recorder = new Recorder({
    commits: createAdmission(1).commits,
    database: watched,
    queue: { addCaused: async () => {}, addDue: async () => {} },
    metrics: createWorkerMetrics(openMetrics()),
    followUp: () => {},
    log: pino({ level: 'silent' }),
  })
  return {
    recordStep: (execution: Execution, lease: string) => recorder.recordStep({ execution, lease }),
    record: (outcome: Outcome) => recorder.finishEvent(outcome),
  }
}

function describeExecution(
  event: Outcome['event'],
  { ruleId, error, tasks = 0 }: { ruleId: string; error?: string; tasks?: number },
): Execution {
  clock += 1_000
  return {
    record: {
      id: executionIdOf(event, ruleId),
      handlerId: ruleId,
      ruleVersion: 1,
      status: error === undefined ? 'succeeded' : 'failed',
      error: error ?? null,
      results: [{ action: 'CREATE_TASK', status: error === undefined ? 'success' : 'failed' }],
      startedAt: new Date(clock),
      finishedAt: new Date(clock),
      dueAt: null,
      lease: null,
      awaitsSlot: false,
      interruptions: 0,
      reopened: 0,
      attention: null,
    },
    rule: {
      ...{ id: ruleId, name: 'Rule', version: 1, group: null, order: null },
      heapBytes: 0,
      compiled: compileRule({ conditions: [], actions: [] }),
    },
    evaluation: new Evaluation(clock),
    budget: new EffectBudget(event, new Causation(database)),
    event,
    tasks: Array.from({ length: tasks }, (_, actionIndex) => describeTask(actionIndex)),
    emitted: [],
    effectBytes: 0,
  }
}

function describeTask(actionIndex: number): TaskToCreate {
  return {
    id: newId(),
    actionIndex,
    title: `Task ${actionIndex}`,
    description: null,
    assigneeId: null,
    priority: 'normal',
    dueAt: null,
    createdAt: new Date(clock),
  }
}

t.test('an outcome commits the event, its executions, tasks and counters together', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const [good, bad, unmatched] = [await createRule(), await createRule(), await createRule()]
  const outcome = await createOutcome([
    { ruleId: good, tasks: 2 },
    { ruleId: bad, error: 'no answer' },
  ])
  await openLedger().record(outcome)

  const event = await own.event.findUniqueOrThrow({ where: { id: outcome.event.id } })
  t.ok(event.doneAt)
  t.equal(event.ruleSetId, outcome.ruleSetId, 'with the rules that were considered')
  const executions = await own.execution.findMany({ orderBy: { startedAt: 'asc' } })
  matchLists(t, executions, [
    { handlerId: good, status: 'succeeded', error: null, eventId: event.id },
    { handlerId: bad, status: 'failed', error: 'no answer' },
  ])
  t.equal(executions.length, 2)
  matchLists(t, await own.task.findMany({ orderBy: { actionIndex: 'asc' } }), [
    { executionId: executions[0]?.id, actionIndex: 0, title: 'Task 0' },
    { executionId: executions[0]?.id, actionIndex: 1, title: 'Task 1' },
  ])
  const counters = new Map((await own.ruleCounters.findMany()).map((row) => [row.ruleId, row]))
  t.match(counters.get(good), { successCount: 1, failureCount: 0, lastError: null })
  t.match(counters.get(bad), {
    successCount: 0,
    failureCount: 1,
    consecutiveFailures: 1,
    lastError: 'no answer',
  })
  t.match(counters.get(unmatched), {
    successCount: 0,
    failureCount: 0,
    lastSuccessAt: null,
    lastFailureAt: null,
  })
})

t.test('a job counts once, however often and to however many workers it is delivered', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const rules: string[] = []
  while (rules.length < 5) rules.push(await createRule())
  const outcomes: Outcome[] = []
  while (outcomes.length < 40)
    outcomes.push(await createOutcome(rules.map((ruleId) => ({ ruleId, tasks: 1 }))))
  const ledgers = Array.from({ length: 4 }, () => openLedger())
  // Each worker gets the events in a different order, which could cause deadlocks.
  await Promise.all(
    ledgers.flatMap(({ record }, worker) =>
      [...outcomes.slice(worker * 10), ...outcomes.slice(0, worker * 10), ...outcomes].map((outcome) =>
        record(outcome),
      ),
    ),
  )
  t.equal(await own.execution.count(), 200)
  t.equal(await own.task.count(), 200)
  const counters = await own.ruleCounters.findMany()
  t.strictSame(
    counters.map(({ successCount }) => successCount),
    [40n, 40n, 40n, 40n, 40n],
  )
})

t.test('an event counts once where workers finish it by different statements', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const rules: string[] = []
  while (rules.length < 5) rules.push(await createRule())
  const outcomes: Outcome[] = []
  const failing = { ruleId: rules[0] as string, error: 'no answer', tasks: 1 }
  while (outcomes.length < 40) {
    const [first, ...others] = rules.map((ruleId) => ({ ruleId, tasks: 1 }))
    if (first) outcomes.push(await createOutcome([outcomes.length < 30 ? first : failing, ...others]))
  }
  const ran = new Set<string>()
  // Each commit has ten events, and each worker groups them differently: so an event of successes shares its commit with failures in one
  // worker, and not in another.
  await Promise.all(
    Array.from({ length: 4 }, async (_, worker) => {
      const { record } = openLedger(ran)
      const inOrder = [...outcomes.slice(worker * 5), ...outcomes.slice(0, worker * 5)]
      while (inOrder.length > 0) await Promise.all(inOrder.splice(0, 10).map(record))
    }),
  )
  t.strictSame([...ran].sort(), ['finish_events', 'finish_successes'])
  t.equal(await own.execution.count(), 200)
  t.equal(await own.task.count(), 200)
  const counters = await own.ruleCounters.findMany({ orderBy: { ruleId: 'asc' } })
  t.strictSame(
    counters.map(({ successCount, failureCount }) => [successCount, failureCount]),
    [[30n, 10n], ...Array.from({ length: 4 }, () => [40n, 0n])],
  )
})

t.test('failures in a row are counted over batches, and a success resets them', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const ruleId = await createRule()
  const { record } = openLedger()
  const inARow = async () =>
    countsOf(await own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })).consecutiveFailures
  const since = async () =>
    (await own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })).failingSince?.getTime()
  const endOf = (outcome: Outcome | undefined) => outcome?.executions[0]?.record.finishedAt?.getTime()

  const failures = [
    await createOutcome([{ ruleId, error: 'a' }]),
    await createOutcome([{ ruleId, error: 'b' }]),
  ]
  await Promise.all(failures.map(record))
  t.equal(await inARow(), 2)
  t.equal(await since(), endOf(failures[0]))
  await record(await createOutcome([{ ruleId, error: 'c' }]))
  t.equal(await inARow(), 3)
  t.equal(await since(), endOf(failures[0]), 'later failures do not move it')
  const mixed = [
    await createOutcome([{ ruleId, error: 'd' }]),
    await createOutcome([{ ruleId }]),
    await createOutcome([{ ruleId, error: 'e' }]),
  ]
  await Promise.all(mixed.map(record))
  t.equal(await inARow(), 1, 'only failures after the success')
  t.equal(await since(), endOf(mixed[2]))
  const counters = await own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })
  t.match(counters, { successCount: 1, failureCount: 5, lastError: 'e' })
  t.same(counters.lastSuccessAt, mixed[1]?.executions[0]?.record.finishedAt)
  t.same(counters.lastFailureAt, mixed[2]?.executions[0]?.record.finishedAt)
  await record(await createOutcome([{ ruleId }]))
  const next = await createOutcome([{ ruleId, error: 'f' }])
  await record(next)
  t.equal(await since(), endOf(next), 'a success alone ends the row, too')
})

t.test('a rule that was deleted meanwhile keeps its history, and affects no other rule', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const [deleted, kept] = [await createRule(), await createRule()]
  const outcome = await createOutcome([{ ruleId: deleted }, { ruleId: kept }])
  await own.rule.delete({ where: { id: deleted } })
  await openLedger().record(outcome)
  t.equal(await own.execution.count(), 2)
  matchLists(t, await own.ruleCounters.findMany(), [{ ruleId: kept, successCount: 1 }])
})

function setRecord({ record }: Execution, fields: Partial<ExecutionRecord>): void {
  Object.assign(record, fields)
}

/** Stores an execution before its call, as a worker does together with the event. */
async function beginCall(t: Test) {
  const workspace = await createWorkspace()
  const ruleId = await workspace.createRule()
  const outcome = await workspace.createOutcome([{ ruleId }])
  const execution = outcome.executions[0] as Execution
  const lease = newId()
  setRecord(execution, { status: 'running', finishedAt: null, lease })
  const ledger = openLedger()
  t.same(await ledger.record(outcome), [execution], 'this worker continues it')
  return { ...workspace, ledger, outcome, execution, lease, ruleId }
}

const finished: Partial<ExecutionRecord> = { status: 'succeeded', lease: null, finishedAt: new Date(clock) }

t.test('an execution counts once it is finished', async (t) => {
  const { own, ledger, execution, lease } = await beginCall(t)
  matchLists(t, await own.execution.findMany(), [{ status: 'running', lease, finishedAt: null, dueAt: Date }])
  matchLists(t, await own.ruleCounters.findMany(), [{ successCount: 0, failureCount: 0 }])
  setRecord(execution, finished)
  t.ok(await ledger.recordStep(execution, lease))
  matchLists(t, await own.execution.findMany(), [
    { status: 'succeeded', lease: null, dueAt: null, finishedAt: Date },
  ])
  matchLists(t, await own.ruleCounters.findMany(), [{ successCount: 1, failureCount: 0 }])
})

t.test('a delivery that finishes an event second continues none of its executions', async (t) => {
  const { ledger, outcome } = await beginCall(t)
  t.equal(await ledger.record(outcome), undefined)
})

t.test('a worker that has lost the lease records nothing', async (t) => {
  const { own, ledger, execution, lease } = await beginCall(t)
  await own.execution.updateMany({ data: { lease: newId() } })
  setRecord(execution, finished)
  execution.tasks = [describeTask(0)]
  t.notOk(await ledger.recordStep(execution, lease))
  matchLists(t, await own.execution.findMany(), [{ status: 'running' }])
  t.equal(await own.task.count(), 0)
  matchLists(t, await own.ruleCounters.findMany(), [{ successCount: 0 }])
})

for (const order of ['first', 'last'])
  t.test(
    `a holder that has lost its lease, and records ${order}, adds nothing to its successor's commit`,
    async (t) => {
      const { own, ledger, execution, lease } = await beginCall(t)
      // The worker itself has claimed it again, and makes the call of its first claim until now.
      const next = newId()
      await own.execution.updateMany({ data: { lease: next } })
      const runOf = (type: string, fields: Partial<ExecutionRecord>, tasks: TaskToCreate[]): Execution => {
        const id = newId()
        const ids = { id, jobId: id, workspaceId: execution.event.workspaceId, rootId: execution.event.id }
        const emitted = { ...ids, actionIndex: 1, type, data: {}, addressee: null, depth: 1 }
        return { ...execution, record: { ...execution.record, ...fields }, tasks, emitted: [emitted] }
      }
      const late = { execution: runOf('DEAL_LOST', {}, [describeTask(2)]), lease, isRecorded: false }
      const present = { execution: runOf('DEAL_WON', finished, []), lease: next, isRecorded: true }
      const steps = order === 'first' ? [late, present] : [present, late]
      t.same(
        await Promise.all(steps.map(({ execution, lease }) => ledger.recordStep(execution, lease))),
        steps.map(({ isRecorded }) => isRecorded),
      )
      matchLists(t, await own.execution.findMany(), [{ status: 'succeeded', lease: null }])
      const emitted = await own.event.findMany({ where: { causedBy: execution.record.id } })
      t.same(
        emitted.map(({ type }) => type),
        ['DEAL_WON'],
      )
      t.equal(await own.task.count(), 0)
    },
  )

t.test('an execution that pauses after its rule was switched off is cancelled, not counted', async (t) => {
  const { own, ledger, execution, lease, ruleId } = await beginCall(t)
  await own.rule.update({ where: { id: ruleId }, data: { isActive: false } })
  setRecord(execution, { status: 'waiting', lease: null, dueAt: new Date(clock) })
  t.ok(await ledger.recordStep(execution, lease))
  matchLists(t, await own.execution.findMany(), [
    { status: 'cancelled', error: 'The rule was switched off', dueAt: null, finishedAt: Date },
  ])
  matchLists(t, await own.ruleCounters.findMany(), [{ successCount: 0, failureCount: 0 }])
})

for (const reason of ['worker_crashes', 'work_budget', 'auto_paused'])
  t.test(`what is still in progress does not overwrite the reason of a pause (${reason})`, async (t) => {
    const since = new Date('2026-01-01T00:00:00Z')
    const { own, ledger, execution, lease, ruleId, createOutcome } = await beginCall(t)
    await own.ruleCounters.update({
      where: { ruleId },
      data: { attentionReason: reason, attentionAt: since },
    })
    setRecord(execution, { ...finished, status: 'failed', error: 'Unknown', attention: 'unknown_outcome' })
    t.ok(await ledger.recordStep(execution, lease))
    const outcome = await createOutcome([{ ruleId, error: 'Too many events' }])
    for (const failed of outcome.executions) setRecord(failed, { attention: 'event_budget' })
    await ledger.record(outcome)
    matchLists(t, await own.ruleCounters.findMany(), [
      { failureCount: 2n, attentionReason: reason, attentionAt: since },
    ])
  })

t.test('a rule that needs too much work again needs attention since the last time', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const ruleId = await createRule()
  const attention = { attentionReason: 'work_budget', attentionAt: new Date('2026-01-01T00:00:00Z') }
  await own.ruleCounters.update({ where: { ruleId }, data: attention })
  const outcome = await createOutcome([{ ruleId, error: 'Too much work' }])
  for (const failed of outcome.executions) setRecord(failed, { attention: 'work_budget' })
  await openLedger().record(outcome)
  matchLists(t, await own.ruleCounters.findMany(), [
    { attentionReason: 'work_budget', attentionAt: outcome.executions[0]?.record.finishedAt },
  ])
})

t.test('emitted events are committed with their execution, once', async (t) => {
  const { own, ledger, execution, lease } = await beginCall(t)
  setRecord(execution, finished)
  const emitted = {
    actionIndex: 0,
    id: newId(),
    workspaceId: execution.event.workspaceId,
    type: 'DEAL_WON',
    data: { a: 1 },
    addressee: null,
  }
  const sibling = { ...emitted, id: newId(), type: 'DEAL_LOST' }
  execution.emitted = [emitted, sibling].map((event) => ({
    ...event,
    depth: 1,
    rootId: execution.event.id,
    jobId: emitted.id,
  }))
  await ledger.recordStep(execution, lease)
  t.notOk(await ledger.recordStep(execution, lease), 'a second record has no effect')
  matchLists(t, await own.event.findMany({ where: { type: 'DEAL_WON' } }), [
    {
      id: emitted.id,
      data: { a: 1 },
      depth: 1,
      causedBy: execution.record.id,
      rootId: execution.event.id,
      jobId: null,
      doneAt: null,
    },
  ])
  const { jobId } = await own.event.findUniqueOrThrow({ where: { id: sibling.id } })
  t.equal(jobId, emitted.id, 'a sibling is found by the job that carries it')
})

t.test('an emitted event is accepted when it is written, however long its commit has waited', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const outcome = await createOutcome([{ ruleId: await createRule() }])
  const id = newId()
  const ids = { id, jobId: id, workspaceId: outcome.event.workspaceId, rootId: outcome.event.id }
  const emitted = { ...ids, actionIndex: 0, type: 'DEAL_WON', data: {}, addressee: null, depth: 1 }
  for (const execution of outcome.executions) execution.emitted = [emitted]
  const before = await readClock(database)
  await database.transact(async (statements) => {
    await statements.run('test_sleep', 'SELECT pg_sleep(0.5)', [])
    await finishEvents(statements, [outcome])
  })
  const { acceptedAt } = await own.event.findUniqueOrThrow({ where: { id } })
  t.ok(acceptedAt.getTime() >= before + 500)
})

t.test(
  'a step can be recorded again after its response was lost, and its task and its emitted event exist once',
  async (t) => {
    const { own, ledger, execution, lease } = await beginCall(t)
    const { workspaceId } = execution.event
    const id = newId()
    execution.emitted = [
      {
        actionIndex: 0,
        id,
        jobId: id,
        workspaceId,
        type: 'DEAL_WON',
        data: {},
        addressee: null,
        depth: 1,
        rootId: execution.event.id,
      },
    ]
    execution.tasks = [describeTask(0)]
    const { tasks, emitted } = execution
    t.ok(await ledger.recordStep(execution, lease), 'it goes on to a call')
    Object.assign(execution, { tasks, emitted })
    t.ok(await ledger.recordStep(execution, lease))
    t.equal(await own.event.count({ where: { type: 'DEAL_WON' } }), 1)
    t.equal(await own.task.count(), 1)
  },
)

t.test('a subscription to execution.failed gets an event for each failure', async (t) => {
  const { own, workspaceId, createRule, createOutcome } = await createWorkspace()
  const subscribe = (eventTypes: string[], isActive = true) => {
    const id = newId()
    const data = { id, workspaceId, url: 'https://x.io', description: '', eventTypes, isActive }
    return own.subscription.create({ data })
  }
  const subscription = await subscribe(['rule.updated', 'execution.failed'])
  await subscribe(['rule.updated'])
  await subscribe(['execution.failed'], false)
  const [good, bad] = [await createRule(), await createRule()]
  const outcome = await createOutcome([{ ruleId: good }, { ruleId: bad, error: 'no answer' }])
  const { record } = openLedger()
  await record(outcome)
  const events = await own.event.findMany({ where: { type: 'execution.failed' } })
  t.equal(events.length, 1)
  matchLists(t, events, [
    {
      addresseeKind: 'subscription',
      addresseeId: subscription.id,
      doneAt: null,
      data: {
        ruleId: bad,
        eventId: outcome.event.id,
        eventType: 'LEAD_CREATED',
        error: 'no answer',
        failedAt: /^2026.*Z$/,
      },
    },
  ])
  const [{ id, type }] = events as [(typeof events)[0]]
  const failed = describeExecution(outcome.event, { ruleId: subscription.id, error: 'gone' })
  const event = {
    ...outcome.event,
    id,
    type,
    addressee: { kind: 'subscription' as const, id: subscription.id },
  }
  await record({
    event,
    ruleSetId: null,
    rulesVersion: 0,
    executions: [{ ...failed, event, record: { ...failed.record, id } }],
  })
  t.match(await own.execution.findUnique({ where: { id } }), {
    isDelivery: true,
    handlerId: subscription.id,
  })
  t.equal(
    await own.event.count({ where: { type: 'execution.failed' } }),
    1,
    'the failure of a delivery is not published',
  )
})

t.test('an unknown outcome marks the rule as needing attention', async (t) => {
  const { own, ledger, execution, lease } = await beginCall(t)
  setRecord(execution, { ...finished, status: 'failed', error: 'unknown', attention: 'unknown_outcome' })
  await ledger.recordStep(execution, lease)
  matchLists(t, await own.ruleCounters.findMany(), [
    { failureCount: 1, attentionReason: 'unknown_outcome', attentionAt: Date },
  ])
})

t.test('an outcome is recorded even if Postgres would refuse its text', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const ruleId = await createRule()
  const outcome = await createOutcome([{ ruleId, error: 'server said \0 and \ud800' }])
  outcome.executions[0]?.record.results.push({
    action: 'SEND_WEBHOOK',
    status: 'failed',
    error: 'nul \0, "quotes", {braces}',
  })
  await openLedger().record(outcome)
  const execution = await own.execution.findFirstOrThrow()
  t.equal(execution.error, 'server said  and \ufffd')
  matchLists(t, execution.results, [{}, { error: 'nul , "quotes", {braces}' }])
})

t.test('an outcome that is too large by itself is recorded as failed, and no other', async (t) => {
  const { own, workspaceId, createRule, createOutcome } = await createWorkspace()
  const [large, other] = [await createRule(), await createRule()]
  const outcomes = [
    await createOutcome([{ ruleId: large, tasks: 1 }]),
    await createOutcome([{ ruleId: other }]),
  ]
  const [execution] = outcomes[0]?.executions ?? []
  const data = {
    toJSON() {
      throw new RangeError('Invalid string length')
    },
  }
  const id = newId()
  const ids = { id, jobId: id, workspaceId, rootId: outcomes[0]?.event.id ?? '' }
  execution?.emitted.push({ ...ids, actionIndex: 1, type: 'DEAL_WON', data, addressee: null, depth: 1 })
  const { record } = openLedger()
  t.same(await Promise.all(outcomes.map(record)), [[], []])
  matchLists(t, await own.execution.findMany({ orderBy: { startedAt: 'asc' } }), [
    {
      handlerId: large,
      status: 'failed',
      error: 'What the rule did could not be stored: it is too large',
      results: [{ action: 'CREATE_TASK', status: 'failed' }],
    },
    { handlerId: other, status: 'succeeded' },
  ])
  t.equal(await own.task.count(), 0)
  t.equal(await own.event.count({ where: { doneAt: { not: null } } }), 2)
})

t.test(
  'the last error of a rule is that of its last failure, in whichever order two are recorded',
  async (t) => {
    const { own, createRule, createOutcome } = await createWorkspace()
    const ruleId = await createRule()
    const { record } = openLedger()
    const first = await createOutcome([{ ruleId, error: 'a' }])
    const last = await createOutcome([{ ruleId, error: 'b' }])
    await record(last)
    await record(first)
    const { lastError, lastFailureAt } = await own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })
    t.equal(lastError, 'b')
    t.same(lastFailureAt, last.executions[0]?.record.finishedAt)
  },
)
