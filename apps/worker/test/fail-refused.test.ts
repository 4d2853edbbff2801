import { executionIdOf, Prisma } from '@automation/database'
import { narrowToExecution } from '@automation/history'
import { matchLists } from '@automation/launcher/match-lists'
import { reopenExecutions } from '@automation/ledger'
import t, { type Test } from 'tap'
import { heavyRows } from '../src/executions/cost.js'
import { isRefused } from '../src/executions/fail-refused.js'
import { createHarness, type Harness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

const error = 'What the rule did could not be stored: the database refused it'
const createTask = (title: string) => ({ type: 'CREATE_TASK', config: { title } })
const wait = { type: 'WAIT', config: { duration: '1d' } }
const call = (url: string) => ({ type: 'SEND_WEBHOOK', config: { url } })

/** Makes Postgres refuse tasks with a certain title. @returns a function that ends that */
async function refuseTasks(t: Test, { database }: Harness): Promise<() => Promise<unknown>> {
  const accept = () => database.system.$executeRaw`ALTER TABLE tasks DROP CONSTRAINT IF EXISTS is_storable`
  t.teardown(accept)
  await database.system
    .$executeRaw`ALTER TABLE tasks ADD CONSTRAINT is_storable CHECK (title <> 'Refused') NOT VALID`
  return accept
}

async function retry({ own, queue, workspaceId }: Harness, executionId: string): Promise<void> {
  const [reopened] = await own.$transaction((transaction) =>
    reopenExecutions(transaction, narrowToExecution(workspaceId, executionId), 'same', 1),
  )
  if (reopened) await queue.addDue({ executionId, workspaceId, createdBy: null, ...reopened })
}

t.test('an outcome that Postgres refuses by itself fails its runs, and no other', async (t) => {
  const harness = await createHarness(t)
  const { own, inbox } = harness
  const accept = await refuseTasks(t, harness)
  const target = await openTarget(t)
  const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_LOST' } }
  const refused = await harness.createRule([createTask('Refused'), emit, call(target.url)], 'DEAL_WON')
  const beside = await harness.createRule([call(`${target.url}/beside`)], 'DEAL_WON')
  const waiting = await harness.createRule([createTask('Refused'), wait], 'DEAL_WON')
  const other = await harness.createRule([createTask('Fine')], 'LEAD_CREATED')
  const [won, created] = [harness.newEvent('DEAL_WON'), harness.newEvent('LEAD_CREATED')]
  await Promise.all([inbox.accept(won), inbox.accept(created)])
  harness.startWorker()
  const id = executionIdOf(won, refused)
  await harness.untilStatus(executionIdOf(created, other), 'succeeded')
  const execution = await harness.untilStatus(id, 'failed')
  t.match(execution, { error, lease: null, dueAt: null })
  matchLists(t, execution.results, [
    { action: 'CREATE_TASK', status: 'failed', error },
    { action: 'EMIT_EVENT', status: 'failed', error, output: undefined },
    { action: 'SEND_WEBHOOK', status: 'failed', error, attempts: [] },
  ])
  await harness.untilStatus(executionIdOf(won, beside), 'succeeded')
  const { results } = await harness.untilStatus(executionIdOf(won, waiting), 'failed')
  matchLists(t, results, [
    { action: 'CREATE_TASK', status: 'failed' },
    { action: 'WAIT', status: 'failed', error },
  ])
  matchLists(t, await own.task.findMany(), [{ title: 'Fine' }])
  t.equal(await own.event.count(), 2)
  t.strictSame(
    target.calls.map(({ path }) => path),
    ['/beside'],
  )
  t.match(await own.ruleCounters.findUnique({ where: { ruleId: refused } }), { failureCount: 1 })

  await accept()
  await retry(harness, id)
  await harness.untilStatus(id, 'succeeded')
  t.equal(await own.task.count(), 2)
  t.equal(await own.event.count(), 3)
  t.equal(target.calls.length, 2)
})

t.test('a run whose step Postgres refuses fails, makes no further call and repeats none', async (t) => {
  const harness = await createHarness(t)
  const accept = await refuseTasks(t, harness)
  const target = await openTarget(t)
  const ruleId = await harness.createRule([
    call(`${target.url}/first`),
    createTask('Refused'),
    call(`${target.url}/second`),
  ])
  const worker = harness.startWorker()
  const id = await harness.trigger(ruleId)
  const execution = await harness.untilStatus(id, 'failed')
  t.match(execution, { error, lease: null, dueAt: null })
  matchLists(t, execution.results, [
    { status: 'success', attempts: [{ finishedAt: String }] },
    { status: 'failed', error },
    { status: 'failed', error },
  ])
  while (!worker.isIdle()) await new Promise(setImmediate)
  t.strictSame(
    target.calls.map(({ path }) => path),
    ['/first'],
  )

  await accept()
  await retry(harness, id)
  await harness.untilStatus(id, 'succeeded')
  t.strictSame(
    target.calls.map(({ path }) => path),
    ['/first', '/second'],
  )
})

t.test('an outcome is refused for what it is, and not for the state of Postgres', async (t) => {
  const ofPostgres = (originalCode: string) =>
    new Prisma.PrismaClientKnownRequestError(originalCode, {
      code: 'P2010',
      clientVersion: '7',
      meta: { driverAdapterError: { cause: { originalCode } } },
    })
  for (const refusal of [new RangeError('Invalid string length'), ofPostgres('54000'), ofPostgres('22007')])
    t.ok(isRefused(refusal, 1), refusal.message)
  for (const passing of [new Error('Query read timeout'), ofPostgres('57014'), ofPostgres('53300')])
    t.notOk(isRefused(passing, heavyRows + 1), passing.message)
  const noMemory = ofPostgres('53200')
  t.notOk(isRefused(noMemory, heavyRows), 'Postgres has too little memory for a light one')
  t.ok(isRefused(noMemory, heavyRows + 1))
})
