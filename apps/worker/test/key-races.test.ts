import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import type { PerKey } from '@automation/engine'
import { narrowExecutions, narrowToExecution } from '@automation/history'
import { createHistoryRemoval, FreeQueues, reopenExecutions } from '@automation/ledger'
import t, { type Test } from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'

const dayMs = 86_400_000
const wait = { type: 'WAIT', config: { duration: '30d' } }
const task = { type: 'CREATE_TASK', config: { title: 'x' } }
const ofOne = (whileRunning: 'skip' | 'queue' | 'replace'): PerKey => ({ key: '{{lead}}', whileRunning })

async function start(t: Test, limits = {}) {
  const harness = await createHarness(t, {}, limits)
  harness.startWorker()
  return harness
}

/** Posts an event of a lead. @returns the id of its execution */
async function post({ newEvent, inbox, untilDone }: Harness, ruleId: string, data: object = { lead: 1 }) {
  const event = { ...newEvent(), data }
  await inbox.accept(event)
  await untilDone(event.id)
  return executionIdOf(event, ruleId)
}

/** Counts commits with keys. */
function watchCommits({ database }: Harness) {
  const { transact } = database
  const seen = { commits: 0 }
  database.transact = (work) => {
    seen.commits++
    return transact(work)
  }
  return seen
}

t.test('a commit that replaces an execution does not deadlock with a step of it that pauses', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule([wait], undefined, ofOne('replace'))
  const old = await post(harness, ruleId)
  const seen = watchCommits(harness)
  const { system } = harness.database
  let young: Promise<string> | undefined
  // As record-steps.ts does it: first the rule, then the execution.
  await system.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT 1 FROM rules WHERE id = ${ruleId}::uuid FOR NO KEY UPDATE`
    young = post(harness, ruleId)
    for (;;) {
      const [row] = await system.$queryRaw<{ waiting: number }[]>`
        SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      if (row?.waiting) break
      await delay(10)
    }
    await transaction.$executeRaw`UPDATE executions SET interruptions = 0 WHERE id = ${old}::uuid`
  })
  await harness.untilStatus((await young) as string, 'waiting')
  t.equal(seen.commits, 1, 'it was not rolled back')
  t.match(await harness.untilStatus(old, 'cancelled'), { error: /^A newer event/ })
})

t.test('an execution that has waited for its key makes no task before it has the key', async (t) => {
  const harness = await start(t)
  const { database, own } = harness
  const dueTask = { type: 'CREATE_TASK', config: { title: 'x', dueIn: '1h' } }
  const ruleId = await harness.createRule([dueTask, wait], undefined, ofOne('queue'))
  const first = await post(harness, ruleId)
  const { transact } = database
  let freedAt = 0
  database.transact = async (work) => {
    database.transact = transact
    await delay(50)
    freedAt = Date.now()
    const end = { status: 'cancelled', dueAt: null, finishedAt: new Date(freedAt) } as const
    await own.execution.update({ where: { id: first }, data: end })
    return transact(work)
  }
  const second = await post(harness, ruleId)
  const { createdAt, dueAt } = await own.task.findFirstOrThrow({ where: { executionId: second } })
  t.ok(createdAt.getTime() >= freedAt, `it was made ${freedAt - createdAt.getTime()} ms before`)
  t.equal(Number(dueAt) - createdAt.getTime(), 3_600_000)
})

t.test('a commit that is rolled back has cancelled nothing', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule([wait], undefined, ofOne('skip'))
  await post(harness, ruleId)
  const switchTo = (isActive: boolean) =>
    harness.own.rule.update({ where: { id: ruleId }, data: { isActive } })
  const { transact } = harness.database
  let commits = 0
  harness.database.transact = async (work) => {
    if (++commits > 1) {
      await switchTo(true)
      return transact(work)
    }
    await switchTo(false)
    return transact(async (statements) => {
      await work(statements)
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    })
  }
  const id = await post(harness, ruleId, { lead: 2 })
  t.equal(commits, 2)
  const { status, error } = await harness.untilStatus(id, 'waiting', 'cancelled')
  t.strictSame([status, error], ['waiting', null])
})

t.test('a retry opens only executions whose keys it has locked', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule([wait], undefined, ofOne('skip'))
  const { own } = harness
  const [older, younger] = [await post(harness, ruleId), await post(harness, ruleId, { lead: 2 })]
  const fail = (id: string) =>
    own.execution.update({ where: { id }, data: { status: 'failed', dueAt: null, finishedAt: new Date() } })
  await fail(younger)
  const reopened = await own.$transaction(async (transaction) => {
    let queries = 0
    const $queryRaw = async (...query: Parameters<typeof transaction.$queryRaw>) => {
      const rows = await transaction.$queryRaw(...query)
      // Between the search for the keys and the choice of the executions.
      if (++queries === 1) await fail(older)
      return rows
    }
    const narrowing = narrowExecutions(harness.workspaceId, { statuses: ['failed'] })
    return reopenExecutions({ $queryRaw } as never, narrowing, 'same', 1)
  })
  t.strictSame(
    reopened.map(({ id }) => id),
    [younger],
  )
})

t.test('an execution that failed before its key was asked is not opened again', async (t) => {
  const harness = await start(t, { workLimits: { rule: 500, event: 50_000 } })
  const ruleId = await harness.createRule([task], undefined, {
    key: '{{lead}}',
    atMost: { runs: 1, per: '7d' },
  })
  const conditions = [{ some: 'list', that: [{ field: '.', operator: 'equals', value: 1 }] }]
  for (const table of [harness.own.rule, harness.own.ruleVersion] as never as {
    updateMany(change: object): Promise<unknown>
  }[])
    await table.updateMany({ data: { conditions } })
  const id = await post(harness, ruleId, { lead: 1, list: Array(2_000).fill(0) })
  t.match(await harness.untilStatus(id, 'failed'), { results: { length: 0 } })
  const narrowing = narrowToExecution(harness.workspaceId, id)
  const reopened = await harness.own.$transaction((transaction) =>
    reopenExecutions(transaction, narrowing, 'same', 1),
  )
  t.strictSame(reopened, [])
})

t.test('of a key whose queue was cancelled nothing is left to be looked at', async (t) => {
  const harness = await start(t)
  const { own } = harness
  const ruleId = await harness.createRule([wait], undefined, ofOne('queue'))
  for (let count = 0; count < 5; count++) await post(harness, ruleId)
  const queued = () => own.keyClaim.count({ where: { place: 'queued' } })
  t.equal(await queued(), 4)
  const end = { status: 'cancelled', dueAt: null, finishedAt: new Date() } as const
  await own.execution.updateMany({ where: { handlerId: ruleId }, data: end })
  const queues = new FreeQueues(harness.database)
  t.equal(await queues.wake(), 0)
  t.equal(await queued(), 0)
})

t.test('a look at queues goes on behind the last key, and begins anew at the end', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule([wait], undefined, ofOne('queue'))
  const [first] = [await post(harness, ruleId), await post(harness, ruleId)]
  const queues = new FreeQueues(harness.database)
  t.equal(await queues.wake(), 0, 'the holder has not ended')
  const end = { status: 'cancelled', dueAt: null, finishedAt: new Date() } as const
  await harness.own.execution.update({ where: { id: first }, data: end })
  t.equal(await queues.wake(), 1)
})

t.test(
  'the claim of an execution that may be retried goes when the execution does, and its window is over',
  async (t) => {
    const harness = await start(t)
    const ruleId = await harness.createRule([task], undefined, {
      ...ofOne('skip'),
      atMost: { runs: 1, per: '365d' },
    })
    await post(harness, ruleId)
    const removal = createHistoryRemoval(Date.now() + 40 * dayMs, 30)
    for (;;) {
      const { isOver } = await harness.database.system.$transaction((transaction) =>
        removal(transaction, 100),
      )
      if (isOver) break
    }
    t.equal(await harness.own.execution.count(), 0)
    t.match(await harness.own.keyClaim.findMany(), [{ isExclusive: false }])
  },
)
