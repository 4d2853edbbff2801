import { executionIdOf, newId, openDatabase } from '@automation/database'
import t from 'tap'
import { createLedger } from '../src/ledger.js'
import type { Outcome } from '../src/record-outcomes.js'
import type { RuleRun } from '../src/run-rule.js'

const database = openDatabase(process.env.DATABASE_URL ?? '', 5)
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
    /** An accepted event, and what a worker would tell the ledger of it. */
    async createOutcome(
      runs: { ruleId: string; error?: string; tasks?: number; matched?: boolean }[],
    ): Promise<Outcome> {
      const event = { id: newId(), workspaceId, type: 'LEAD_CREATED', data: {}, ruleId: null }
      await own.event.create({ data: event })
      return { event: { ...event, rulesVersion: 0 }, runs: runs.map((run) => describeRun(event, run)) }
    },
  }
}

function describeRun(
  event: { id: string; ruleId: null },
  {
    ruleId,
    error,
    tasks = 0,
    matched = true,
  }: { ruleId: string; error?: string; tasks?: number; matched?: boolean },
): RuleRun {
  clock += 1_000
  return {
    ruleId,
    ruleVersion: 1,
    executionId: matched ? executionIdOf(event, ruleId) : null,
    success: error === undefined,
    error: error ?? null,
    results: [{ action: 'CREATE_TASK', status: error === undefined ? 'success' : 'failed' }],
    tasks: Array.from({ length: tasks }, (_, actionIndex) => ({
      actionIndex,
      title: `Task ${actionIndex}`,
      description: null,
      assigneeId: null,
      priority: 'normal',
      dueAt: null,
    })),
    startedAt: new Date(clock),
    finishedAt: new Date(clock),
  }
}

t.test('an outcome is the event done, its executions, tasks and counters, all at once', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const [good, bad, unmatched] = [await createRule(), await createRule(), await createRule()]
  const outcome = await createOutcome([
    { ruleId: good, tasks: 2 },
    { ruleId: bad, error: 'no answer' },
    { ruleId: unmatched, matched: false },
  ])
  await createLedger(database)(outcome)

  const event = await own.event.findUniqueOrThrow({ where: { id: outcome.event.id } })
  t.ok(event.doneAt)
  t.same(event.ruleIds, [good, bad, unmatched], 'the rules considered, in order')
  const executions = await own.execution.findMany({ orderBy: { startedAt: 'asc' } })
  t.match(executions, [
    { ruleId: good, status: 'succeeded', error: null, eventId: event.id },
    { ruleId: bad, status: 'failed', error: 'no answer' },
  ])
  t.equal(executions.length, 2, 'a run whose conditions did not pass is no execution')
  t.match(await own.task.findMany({ orderBy: { actionIndex: 'asc' } }), [
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

t.test('however often and by however many workers a job is delivered, it counts once', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const rules = await Promise.all(Array.from({ length: 5 }, createRule))
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, () => createOutcome(rules.map((ruleId) => ({ ruleId, tasks: 1 })))),
  )
  const ledgers = Array.from({ length: 4 }, () => createLedger(database))
  // Each worker meets the events in another order, which is how deadlocks come about.
  await Promise.all(
    ledgers.flatMap((record, worker) =>
      [...outcomes.slice(worker * 10), ...outcomes.slice(0, worker * 10), ...outcomes].map((outcome) =>
        record(outcome),
      ),
    ),
  )
  t.equal(await own.execution.count(), 200)
  t.equal(await own.task.count(), 200)
  for (const { successCount } of await own.ruleCounters.findMany()) t.equal(successCount, 40)
})

t.test('failures in a row are counted over batches, and a success between them starts anew', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const ruleId = await createRule()
  const record = createLedger(database)
  const inARow = async () =>
    (await own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })).consecutiveFailures

  const failures = [
    await createOutcome([{ ruleId, error: 'a' }]),
    await createOutcome([{ ruleId, error: 'b' }]),
  ]
  await Promise.all(failures.map(record))
  t.equal(await inARow(), 2)
  await record(await createOutcome([{ ruleId, error: 'c' }]))
  t.equal(await inARow(), 3)
  const mixed = [
    await createOutcome([{ ruleId, error: 'd' }]),
    await createOutcome([{ ruleId }]),
    await createOutcome([{ ruleId, error: 'e' }]),
  ]
  await Promise.all(mixed.map(record))
  t.equal(await inARow(), 1, 'only what failed after the success')
  const counters = await own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })
  t.match(counters, { successCount: 1, failureCount: 5, lastError: 'e' })
  t.same(counters.lastSuccessAt, mixed[1]?.runs[0]?.finishedAt)
  t.same(counters.lastFailureAt, mixed[2]?.runs[0]?.finishedAt)
})

t.test('a rule that was deleted meanwhile keeps its history and holds nobody up', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const [deleted, kept] = [await createRule(), await createRule()]
  const outcome = await createOutcome([{ ruleId: deleted }, { ruleId: kept }])
  await own.rule.delete({ where: { id: deleted } })
  await createLedger(database)(outcome)
  t.equal(await own.execution.count(), 2)
  t.match(await own.ruleCounters.findMany(), [{ ruleId: kept, successCount: 1 }])
})

t.test('text that Postgres would refuse does not keep an outcome from being written', async (t) => {
  const { own, createRule, createOutcome } = await createWorkspace()
  const ruleId = await createRule()
  const outcome = await createOutcome([{ ruleId, error: 'server said \0 and \ud800' }])
  outcome.runs[0]?.results.push({
    action: 'SEND_WEBHOOK',
    status: 'failed',
    error: 'nul \0, "quotes", {braces}',
  })
  await createLedger(database)(outcome)
  const execution = await own.execution.findFirstOrThrow()
  t.equal(execution.error, 'server said  and \ufffd')
  t.match(execution.results, [{}, { error: 'nul , "quotes", {braces}' }])
})
