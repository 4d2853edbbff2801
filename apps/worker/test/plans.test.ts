import { type Database, firstIdOf, idRangeOf, newId, openPatiently, Prisma } from '@automation/database'
import { countRuns } from '@automation/history'
import { createPrivateDatabase } from '@automation/launcher'
import { explainGeneric, findScans, type PlanNode } from '@automation/launcher/explain-generic'
import {
  claimExecutions,
  finishEvents,
  lookAtSilences,
  makeTicks,
  type Outcome,
  recordSteps,
  walkEvents,
  walkExecutions,
} from '@automation/ledger'
import t from 'tap'

// The statistics of a table may be outdated, so these tests set them: of the whole table, and of the leaf that has rows. To read an empty leaf costs nothing once
// Postgres knows that it is empty, so it would rather read and sort all that is in the others than follow an index through all of them.
const database = openPatiently(await createPrivateDatabase(process.env.DATABASE_URL ?? ''), 2)
t.teardown(() => database.close())

const workspaceId = newId()
const backlog = 3_000
const some = 20
/** The id of a row that is stored now. */
const newIdSql = Prisma.sql`(${firstIdOf(Date.now()).slice(0, 24)} || substr(md5(random()::text), 1, 12))::uuid`

/** Captures the statement of a module without running it. */
async function statementOf(ask: (database: Database) => Promise<unknown>): Promise<string> {
  let asked = ''
  const run = async (_name: string, text: string) => {
    asked = text
    return []
  }
  await ask({ run } as unknown as Database)
  return asked
}

/** Captures a statement of a walk whose oldest row is of that time (epoch ms). */
async function walked(name: string, walk: typeof walkEvents | typeof walkExecutions, from: number) {
  let statement = ''
  const run = async (asked: string, text: string) => {
    if (asked === name) statement = text
    return asked === 'find_first_undone' || asked === 'find_first_due'
      ? [{ id: firstIdOf(from), dueSince: new Date(from), read: 1 }]
      : [{ rows: [], read: 1 }]
  }
  for await (const _ of walk({ run } as unknown as Database).pages(Date.now()));
  return statement
}

/** How many rows of a table the statement reads, and by which indexes, in its generic plan. Its changes are rolled back. */
async function explainReads(statement: string, parameters: unknown[], table: string) {
  const values = parameters.map((value) => (typeof value === 'object' ? JSON.stringify(value) : value))
  const scans = findScans(await explainGeneric(database, statement, values), table)
  return {
    rows: scans.reduce((sum, scan) => sum + readBy(scan), 0),
    // A bitmap scan has its index in a step below it.
    indexes: scans.map((scan) => scan['Index Name'] ?? scan.Plans?.[0]?.['Index Name']),
  }
}

function readBy(scan: PlanNode): number {
  return (scan['Actual Rows'] + (scan['Rows Removed by Filter'] ?? 0)) * scan['Actual Loops']
}

t.test('a backlog that the statistics of Postgres lack is not read for each commit', async (t) => {
  const own = database.forWorkspace(workspaceId)
  const storeEvents = (doneAt: Date | null) => database.system.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data, done_at)
    SELECT ${newIdSql}, ${workspaceId}::uuid, 'LEAD_CREATED', '{}', ${doneAt}::timestamptz
    FROM generate_series(1, ${backlog}::int)`
  await storeEvents(new Date())
  await database.system.$executeRaw`ANALYZE ONLY events, history.events_high`
  await storeEvents(null)
  const undone = await own.event.findMany({ where: { doneAt: null }, take: some, select: { id: true } })

  const successes = await statementOf((database) => finishEvents(database, []))
  const range = idRangeOf(undone.map(({ id }) => id))
  t.match(await explainReads(successes, [[], [], undone, ...range], 'events'), { rows: some })
  const execution = {
    record: { status: 'failed', error: null, startedAt: new Date(), results: [] },
    tasks: [],
    emitted: [],
  }
  const event = { id: newId(), addressee: null }
  const outcome = { event, executions: [{ ...execution, event }] } as never as Outcome
  const any = await statementOf((database) => finishEvents(database, [outcome]))
  t.match(await explainReads(any, [[], [], [], ...range, undone, 8], 'events'), { rows: some })
  t.equal(await own.event.count({ where: { doneAt: null } }), backlog, 'the test has changed nothing')
})

t.test('claiming or continuing an execution does not read all due ones', async (t) => {
  const own = database.forWorkspace(workspaceId)
  const storeExecutions = (dueAt: Date | null) => database.system.$executeRaw`
    INSERT INTO executions
      (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at, lease)
    SELECT ${newIdSql}, ${workspaceId}::uuid, gen_random_uuid(), 'LEAD_CREATED', gen_random_uuid(), 1,
           CASE WHEN ${dueAt}::timestamptz IS NULL THEN 'succeeded' ELSE 'waiting' END::execution_status, '[]', now(),
           ${dueAt}::timestamptz, gen_random_uuid()
    FROM generate_series(1, ${backlog}::int)`
  await storeExecutions(null)
  await database.system.$executeRaw`ANALYZE ONLY executions, history.executions_high`
  await storeExecutions(new Date())
  const due = await own.execution.findMany({
    where: { dueAt: { not: null } },
    take: some,
    select: { id: true, lease: true },
  })

  const range = idRangeOf(due.map(({ id }) => id))
  const byId = { rows: some, indexes: ['executions_high_pkey'] }
  const claim = await statementOf((database) => claimExecutions(database, [{ id: newId(), lease: newId() }]))
  t.same(await explainReads(claim, [due, 8, 5, ...range], 'executions'), byId)
  const record = await statementOf((database) => recordSteps(database, []))
  const steps = due.map(({ id, lease: held }) => ({ id, held, status: 'running', results: [] }))
  t.same(await explainReads(record, [steps, [], [], 8, ...range], 'executions'), byId)
})

t.test(
  'a guard reads no runs from before its promotion, and of those since then no more than its limit',
  async (t) => {
    const ruleId = newId()
    const storeRuns = (version: number, time: number) => database.system.$executeRaw`
    INSERT INTO executions
      (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at)
    SELECT (${firstIdOf(time).slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid, ${workspaceId}::uuid, gen_random_uuid(),
           'LEAD_CREATED', ${ruleId}::uuid, ${version}::int, 'succeeded', '[]', now()
    FROM generate_series(1, ${backlog}::int) AS n`
    const startedAt = new Date()
    await storeRuns(1, Number(startedAt) - 600_000)
    await database.system.$executeRaw`ANALYZE ONLY executions, history.executions_high`
    let asked: unknown[] = []
    const run = async (_name: string, _text: string, values: unknown[]) => {
      asked = values
      return []
    }
    const guard = { ruleId, version: 2, startedAt, countedFrom: null }
    await countRuns({ run } as unknown as Database, guard, some)
    const statement = await statementOf((database) => countRuns(database, guard, some))
    t.match(await explainReads(statement, asked, 'executions'), { rows: 0 })
    await storeRuns(2, Number(startedAt) + 1_000)
    t.match(await explainReads(statement, asked, 'executions'), { rows: some })
  },
)

t.test(
  'a sweep reads some rows of each workspace, however many are due and whatever the statistics say',
  async (t) => {
    const [workspaces, each] = [60, 60]
    const { system } = database
    const ids = Array.from({ length: workspaces }, () => newId())
    await system.workspace.createMany({ data: ids.map((id) => ({ id, name: 'Turns', createdBy: id })) })
    await system.$executeRaw`
    INSERT INTO rules (id, workspace_id, name, description, trigger, schedule, conditions, actions, is_active, updated_at, next_run_at)
    SELECT gen_random_uuid(), id, 'Rule', '', 'SCHEDULE', '{"every":"1h"}', '[]', '[]', true, now(), now() + interval '1 day'
    FROM unnest(${ids}::uuid[]) AS input (id), generate_series(1, ${each}::int)`
    await system.$executeRaw`
    INSERT INTO rule_silences (rule_id, workspace_id, seconds) SELECT id, workspace_id, 60 FROM rules WHERE next_run_at IS NOT NULL`
    await system.$executeRaw`ANALYZE rules, rule_silences, ONLY executions, history.executions_high, ONLY events, history.events_high, workspaces`
    await system.$executeRaw`UPDATE rules SET next_run_at = now() - interval '1 minute' WHERE next_run_at IS NOT NULL`
    await system.$executeRaw`UPDATE rule_silences SET checked_at = now() - interval '1 minute'`
    const from = Date.now() - 20_000
    await system.$executeRaw`
    INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at)
    SELECT ${newIdSql}, id, gen_random_uuid(), 'LEAD_CREATED', gen_random_uuid(), 1, 'waiting', '[]', now(), now() - interval '1 second'
    FROM unnest(${ids}::uuid[]) AS input (id), generate_series(1, ${each}::int)`
    await system.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data, accepted_at)
    SELECT (${firstIdOf(from).slice(0, 24)} || substr(md5(random()::text), 1, 12))::uuid, id, 'LEAD_CREATED', '{}', now() - interval '9 seconds'
    FROM unnest(${ids}::uuid[]) AS input (id), generate_series(1, ${each}::int)`
    const sweeps = [
      { table: 'rules', statement: await statementOf(makeTicks), values: ['{}', 500] },
      {
        table: 'rule_silences',
        statement: await statementOf((database) => lookAtSilences(database, 500)),
        values: [500],
      },
      {
        table: 'executions',
        statement: await walked('find_new_due', walkExecutions, from),
        values: [from - 1_000],
      },
      {
        table: 'events',
        statement: await walked('find_new_undone', walkEvents, from),
        values: [firstIdOf(from - 1_000)],
      },
    ]
    for (const { table, statement, values } of sweeps) {
      const { rows } = await explainReads(statement, values, table)
      t.ok(
        rows > 500 && rows < 4 * workspaces * each,
        `${rows} rows of ${table}, of ${workspaces * each} that are due`,
      )
    }
  },
)

t.test('a fresh backlog of one workspace is not read for each other workspace', async (t) => {
  const { system } = database
  const others = Array.from({ length: 60 }, () => newId())
  await system.workspace.createMany({
    data: [workspaceId, ...others].map((id) => ({ id, name: 'Backlog' })),
  })
  const store = async (owners: string[], each: number, isDone: boolean) => {
    await system.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
    SELECT ${newIdSql}, id, 'LEAD_CREATED', '{}', now() - interval '9 seconds', CASE WHEN ${isDone} THEN now() END
    FROM unnest(${owners}::uuid[]) AS input (id), generate_series(1, ${each}::int)`
    await system.$executeRaw`
    INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at)
    SELECT ${newIdSql}, id, gen_random_uuid(), 'LEAD_CREATED', id, 1,
           CASE WHEN ${isDone} THEN 'succeeded' ELSE 'retrying' END::execution_status, '[]', now(),
           CASE WHEN NOT ${isDone} THEN now() - n * interval '1 ms' END
    FROM unnest(${owners}::uuid[]) AS input (id), generate_series(1, ${each}::int) AS n`
  }
  await system.$executeRaw`TRUNCATE events, executions`
  await store(others, 100, true)
  await system.$executeRaw`ANALYZE events, executions, workspaces`
  await store([workspaceId], backlog, false)
  const from = Date.now() - 60_000
  const undone = await walked('find_new_undone', walkEvents, from)
  const due = await walked('find_new_due', walkExecutions, from)
  const reads = {
    events: await explainReads(undone, [firstIdOf(from)], 'events'),
    executions: await explainReads(due, [from], 'executions'),
  }
  // The done ones of each, some of the backlog in turns, and what is returned.
  for (const [table, { rows }] of Object.entries(reads))
    t.ok(rows < 6 * backlog, `${rows} rows of ${table}, of ${backlog} that are not done`)
})
