import { type Database, executionIdOf, newId, openPatiently } from '@automation/database'
import t from 'tap'
import { finishEvents, type Outcome } from '../src/outcomes/finish-events.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 3)
t.teardown(() => database.close())

/** The names of the statements that ran. */
const ran: string[] = []
const watched = {
  ...database,
  run: (...[name, ...rest]: Parameters<Database['run']>) => {
    ran.push(name)
    return database.run(name, ...rest)
  },
} as Database

const longAgo = Date.parse('2026-01-01T00:00:00.000Z')
const [often, rarely, elsewhere] = [newId(), newId(), newId()] as const

/** A workspace whose rules have failed twice, and were successful long ago. */
async function createWorkspace() {
  const workspaceId = newId()
  await database.system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
  const own = database.forWorkspace(workspaceId)
  const rules = new Map([often, rarely, elsewhere].map((name) => [name, newId()] as const))
  for (const id of rules.values()) {
    const rule = {
      id,
      workspaceId,
      name: 'Rule',
      description: '',
      trigger: 'LEAD_CREATED',
      conditions: [],
      actions: [],
    }
    const counters = {
      create: {
        workspaceId,
        consecutiveFailures: 2,
        failureCount: 2,
        lastError: 'Once',
        lastSuccessAt: new Date(longAgo),
      },
    }
    await own.rule.create({ data: { ...rule, isActive: true, counters } })
  }
  const ruleOf = (name: string) => rules.get(name) as string

  async function createOutcome(
    executions: { rule: string; at: number; error?: string; tasks?: number }[],
  ): Promise<Outcome> {
    const row = { id: newId(), workspaceId, type: 'LEAD_CREATED', data: {}, depth: 0, rootId: null }
    await own.event.create({ data: row })
    const event = {
      ...row,
      ...{
        addressee: null,
        rulesVersion: 3,
        acceptedAt: 0,
        autoPauseAfter: null,
        createdBy: null,
        heapBytes: 2,
      },
    }
    return {
      event,
      ruleSetId: often,
      rulesVersion: 3,
      executions: executions.map(({ rule, at, error, tasks = 0 }) => ({
        record: {
          id: executionIdOf(event, ruleOf(rule)),
          handlerId: ruleOf(rule),
          ruleVersion: 2,
          status: error === undefined ? ('succeeded' as const) : ('failed' as const),
          error: error ?? null,
          results: [
            {
              action: 'CREATE_TASK' as const,
              status: error === undefined ? ('success' as const) : ('failed' as const),
            },
          ],
          startedAt: new Date(longAgo + at - 5),
          finishedAt: new Date(longAgo + at),
          ...{ dueAt: null, lease: null, awaitsSlot: false, interruptions: 0, reopened: 0, attention: null },
        },
        event,
        tasks: Array.from({ length: tasks }, (_, actionIndex) => ({
          id: newId(),
          actionIndex,
          title: `Task \u0000 ${actionIndex}`,
          ...{
            description: null,
            assigneeId: 'Ada',
            priority: 'normal',
            dueAt: null,
            createdAt: new Date(longAgo + at),
          },
        })),
        emitted: [],
      })),
    }
  }

  /** What is stored, without what differs between two workspaces: the ids. */
  async function readRows() {
    const nameOf = new Map([...rules].map(([name, id]) => [id, name]))
    const without = <Row extends { ruleId: string } | { handlerId: string }>(
      row: Row,
      ...fields: (keyof Row)[]
    ) => ({
      ...Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name as keyof Row))),
      rule: nameOf.get('handlerId' in row ? row.handlerId : row.ruleId),
    })
    const executions = await own.execution.findMany({ orderBy: [{ startedAt: 'asc' }] })
    const tasks = await own.task.findMany({ orderBy: [{ createdAt: 'asc' }, { actionIndex: 'asc' }] })
    const counters = await own.ruleCounters.findMany({ orderBy: { ruleId: 'asc' } })
    const events = await own.event.findMany({ orderBy: { id: 'asc' } })
    return {
      executions: executions.map((row) => without(row, 'id', 'workspaceId', 'eventId', 'handlerId')),
      tasks: tasks.map((row) => without(row, 'id', 'workspaceId', 'executionId', 'ruleId')),
      counters: counters.map((row) => without(row, 'workspaceId', 'ruleId')),
      events: events.map(({ type, ruleSetId, rulesVersion, doneAt }) => [
        type,
        ruleSetId,
        rulesVersion,
        doneAt !== null,
      ]),
    }
  }
  return { own, createOutcome, readRows }
}

const successes = [
  [{ rule: often, at: 3_000, tasks: 2 }],
  [
    { rule: often, at: 1_000, tasks: 1 },
    { rule: rarely, at: 2_000 },
  ],
  [],
]

t.test('what successes leave does not depend on whether a failure is in their commit', async (t) => {
  const alone = await createWorkspace()
  const beside = await createWorkspace()
  const other = await createWorkspace()
  ran.length = 0
  await finishEvents(watched, await Promise.all(successes.map(alone.createOutcome)))
  t.strictSame(ran, ['finish_successes'])
  await finishEvents(watched, [
    ...(await Promise.all(successes.map(beside.createOutcome))),
    await other.createOutcome([{ rule: often, at: 9_000, error: 'Failed' }]),
  ])
  t.strictSame(ran, ['finish_successes', 'finish_events'])
  const rows = await alone.readRows()
  t.strictSame(rows, await beside.readRows())
  t.match(rows.counters, [
    {
      rule: often,
      successCount: 2n,
      failureCount: 2n,
      consecutiveFailures: 0,
      lastSuccessAt: new Date(longAgo + 3_000),
    },
    { rule: rarely, successCount: 1n, consecutiveFailures: 0, lastError: 'Once' },
    { rule: elsewhere, successCount: 0n, consecutiveFailures: 2 },
  ])
  t.equal(rows.tasks.length, 3)
  t.strictSame(
    rows.events.map(([, , , isDone]) => isDone),
    [true, true, true],
  )
})

t.test('an event that is done already contributes nothing to a commit of successes', async (t) => {
  const { createOutcome, readRows } = await createWorkspace()
  const outcome = await createOutcome([{ rule: often, at: 1_000, tasks: 1 }])
  const late = await createOutcome([{ rule: rarely, at: 2_000, tasks: 1 }])
  t.strictSame(await finishEvents(watched, [outcome]), { held: [[]], followUps: undefined, rows: [] })
  const before = await readRows()
  ran.length = 0
  t.strictSame(
    (await finishEvents(watched, [outcome, late, late])).held,
    [undefined, [], []],
    'the second delivery in one commit is done by the first',
  )
  t.strictSame(ran, ['finish_successes'])
  const after = await readRows()
  t.equal(after.executions.length, before.executions.length + 1)
  t.equal(after.tasks.length, before.tasks.length + 1)
  t.match(after.counters, [{ successCount: 1n }, { successCount: 1n }, { successCount: 0n }])
})

t.test('the rest is recorded by the statement that knows failures, events and leases', async (t) => {
  const { createOutcome } = await createWorkspace()
  const change = async (apply: (execution: Outcome['executions'][number]) => void) => {
    const outcome = await createOutcome([{ rule: often, at: 1_000 }])
    for (const execution of outcome.executions) apply(execution)
    ran.length = 0
    await finishEvents(watched, [outcome])
    return ran[0]
  }
  t.equal(await change(() => {}), 'finish_successes')
  t.equal(
    await change(({ record }) => Object.assign(record, { status: 'failed', error: 'Failed' })),
    'finish_events',
  )
  t.equal(
    await change(({ record }) =>
      Object.assign(record, { status: 'waiting', finishedAt: null, dueAt: new Date() }),
    ),
    'finish_events',
  )
  t.equal(
    await change(({ record }) =>
      Object.assign(record, { status: 'running', finishedAt: null, lease: newId() }),
    ),
    'finish_events',
  )
  t.equal(await change(({ record }) => Object.assign(record, { attention: 'event_loop' })), 'finish_events')
  t.equal(
    await change((execution) => {
      const { event, record } = execution
      const id = newId()
      execution.emitted.push({
        ...{
          id,
          workspaceId: event.workspaceId,
          type: 'DEAL_WON',
          data: {},
          addressee: null,
          actionIndex: 0,
        },
        ...{ depth: 1, rootId: event.id, jobId: record.id },
      })
    }),
    'finish_events',
  )
})
