import { type Database, databaseLimitsOf, leavesLock, newId, openDatabase } from '@automation/database'
import {
  createExchangeUndo,
  createLeafExchange,
  dayMs,
  histories,
  type Transaction,
} from '@automation/ledger'
import t, { type Test } from 'tap'
import { exchangeLeaves } from '../src/retention/exchanges.js'
import {
  allRows,
  cut,
  idsAt,
  isClean,
  keeping,
  leavesOf,
  settle,
  settleUntil,
  startAnew,
  stateOf,
  step,
  stepAtLock,
} from './fixtures/leaves.js'
import {
  createWorkspace,
  database,
  databaseUrl,
  now,
  type OldWorkspace,
  openOldRows,
} from './fixtures/old-rows.js'

const weekMs = 7 * dayMs
const later = now + 37 * dayMs
const kept = keeping(later)
await openOldRows(t)
t.beforeEach(async () => {
  await startAnew()
  for (let weeks = 4; weeks >= 0; weeks--) await cut(keeping(now - weeks * weekMs, 56))
})

const run = (sql: string) => database.system.$executeRawUnsafe(sql)

function keepFor(workspace: OldWorkspace, retentionDays: number) {
  return database.system.workspace.update({ where: { id: workspace.id }, data: { retentionDays } })
}

for (const at of ['comparing', 'swapping', 'the lock'])
  t.test(`what a workspace keeps for longer from then on stays: ${at}`, async (t) => {
    const workspace = await createWorkspace()
    const other = await createWorkspace()
    const long = await createWorkspace(3_650)
    for (const { store } of [workspace, other, long]) await store(-1, ['succeeded'])
    if (at === 'the lock') {
      await settleUntil(kept, 'swapping')
      await stepAtLock(kept, async () => void (await keepFor(workspace, 365)))
    } else {
      await settleUntil(kept, at)
      await keepFor(workspace, 365)
    }
    await settle(kept)
    t.match(await workspace.left(), { events: [String], executions: 1 })
    t.match(await other.left(), { executions: 0 })
    t.match(await long.left(), { executions: 1 }, 'it is there from the first copy')
    await isClean(t)
  })

t.test('who changes his days again and again undoes no exchange', async (t) => {
  const workspace = await createWorkspace()
  const other = await createWorkspace()
  for (const { store } of [workspace, other]) await store(-1, ['succeeded'])
  await settleUntil(kept, 'copying')
  for (let days = 400; (await stateOf())?.step !== 'dropping'; days = 401 - days) {
    await keepFor(workspace, days)
    await step(kept)
    t.not((await stateOf())?.step, 'undoing')
  }
  await settle(kept)
  t.match(await other.left(), { executions: 0 })
  t.match(await workspace.left(), { executions: 1 }, 'it goes alone')
  await isClean(t)
})

t.test('an execution that goes while its task is exchanged is no fault', async (t) => {
  await startAnew()
  const { id: workspaceId, own, store } = await createWorkspace()
  for (const age of [150, 70, 0]) await cut(keeping(now - age * dayMs, 400))
  const eventId = await store(91, ['waiting'], { addresseeKind: 'rule', addresseeId: newId() })
  const [execution] = await own.execution.findMany({ where: { eventId } })
  const at = now - 91 * dayMs
  await own.task.create({
    data: {
      ...{ id: idsAt(at).eventId, workspaceId, executionId: execution?.id as string, actionIndex: 0 },
      ...{ ruleId: newId(), priority: 'normal', title: 'task', createdAt: new Date(at) },
    },
  })
  const tasks = keeping(now + 520 * dayMs, 400)
  await settleUntil(tasks, 'comparing', 'tasks')
  await own.execution.deleteMany()
  await settle(tasks, 'tasks')
  t.equal(await own.task.count(), 1, 'it goes alone')
  await isClean(t)
})

for (const where of ['a later leaf', 'an earlier leaf'])
  t.test(`an event stays whose batch is in ${where}, where it may be opened again`, async (t) => {
    const { id: workspaceId, own, store } = await createWorkspace()
    const batchEvent =
      where === 'a later leaf' ? await store(-6.8, ['failed']) : await store(3, ['failed'], {}, -2)
    const [batch] = await own.execution.findMany({ where: { eventId: batchEvent } })
    if (where === 'an earlier leaf') {
      // So large that it is not exchanged again.
      await storeMany((await createWorkspace(3_650)).id, now - 3 * dayMs)
      await settle(keeping(later - weekMs))
    }
    const gone = await store(-1, ['succeeded'])
    const { eventId, executionId } = idsAt(now + dayMs)
    const at = new Date(now + dayMs)
    const type = 'LEAD_CREATED'
    await own.event.create({ data: { id: eventId, workspaceId, type, data: {}, doneAt: at } })
    await own.execution.create({
      data: {
        ...{ id: executionId, workspaceId, eventId, eventType: type, handlerId: newId(), ruleVersion: 1 },
        ...{ results: [], status: 'suppressed', startedAt: at, finishedAt: at },
      },
    })
    await database.system.keyClaim.create({
      data: {
        ...{
          workspaceId,
          executionId,
          eventId,
          ruleId: newId(),
          keyId: newId(),
          batchId: batch?.id as string,
        },
        ...{ acceptedAt: at, expiresAt: at, isGranted: false, isCounted: false, isExclusive: true },
      },
    })
    await settleUntil(kept, 'swapping')
    const opened = { status: 'retrying' as const, finishedAt: null, dueAt: new Date(later) }
    await own.execution.update({ where: { id: batch?.id as string }, data: opened })
    await settle(kept)
    t.equal(await own.event.count({ where: { id: gone } }), 0)
    t.equal(await own.event.count({ where: { id: eventId } }), 1)
    await isClean(t)
  })

t.test(
  'a row that changes at the last moment is copied before the next attempt, not under the lock',
  async (t) => {
    const { own, store } = await createWorkspace(3_650)
    const id = await store(-1, ['succeeded'])
    await settleUntil(kept, 'swapping')
    await stepAtLock(kept, async () => void (await own.event.update({ where: { id }, data: { crashes: 7 } })))
    t.strictSame(await stateOf(), { step: 'swapping', waitsFor: 'rows that change' })
    const before = await allRows()
    await settle(kept)
    t.notOk((await leavesOf('events')).includes('events_20260601'))
    t.strictSame(await allRows(), before)
    await isClean(t)
  },
)

t.test('a snapshot from before the last copy sees no row as it was earlier', async (t) => {
  const { own, store } = await createWorkspace(3_650)
  const id = await store(-1, ['succeeded'])
  await settleUntil(kept, 'swapping')
  const reader = openDatabase(databaseUrl, 3)
  t.teardown(() => reader.close())
  await own.event.update({ where: { id }, data: { crashes: 7 } })
  const before = await allRows()
  await reader.system.$transaction(
    async (transaction) => {
      await transaction.$queryRaw`SELECT count(*) FROM workspaces`
      await settle(kept)
      t.match(await stateOf(), { step: 'swapping', waitsFor: /^the transaction of process/ })
      t.strictSame(await allRows(transaction), before)
    },
    { isolationLevel: 'RepeatableRead', timeout: 60_000 },
  )
  await settle(kept)
  t.strictSame(await allRows(), before)
  await isClean(t)
})

t.test('a swap waits for rows that change all the time, and ends its round', async (t) => {
  const { own, store } = await createWorkspace(3_650)
  const id = await store(-1, ['succeeded'])
  await settleUntil(kept, 'swapping')
  const exchange = createLeafExchange(histories.events, kept)
  let steps = 0
  for (let isEnd = false; !isEnd; steps++) {
    await own.event.update({ where: { id }, data: { crashes: steps } })
    isEnd = (await database.system.$transaction((transaction) => exchange(transaction, 500))).isOver
  }
  t.strictSame(await stateOf(), { step: 'swapping', waitsFor: 'rows that change' })
  await settle(kept)
  t.match(await own.event.findUnique({ where: { id } }), { crashes: steps - 1 })
  await isClean(t)
})

t.test('a slice is copied, and a change is copied again, without a look at other rows', async (t) => {
  const { own, store } = await createWorkspace(3_650)
  const id = await store(-1, ['succeeded'])
  const idSql = (version: number) =>
    `(lpad(to_hex(${now} + n), 12, '0') || '${version}' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid`
  await run(`
    INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
    SELECT ${idSql(7)}, workspace_id, type, data, accepted_at, done_at
    FROM events, generate_series(1, 20000) AS n WHERE events.id = '${id}'`)
  const rest = 'workspace_id, event_type, handler_id, rule_version, status, results, started_at, finished_at'
  await run(`
    INSERT INTO executions (id, event_id, ${rest})
    SELECT ${idSql(8)}, ${idSql(7)}, ${rest} FROM executions, generate_series(1, 20000) AS n WHERE event_id = '${id}'`)
  await run('ANALYZE events, executions')
  await settleUntil(kept, 'copying')
  const read500 = await countReadsOfStep()
  t.ok(read500 < 10_000, `${read500} rows were read for a slice of 500`)
  while ((await stateOf())?.step !== 'swapping') await step(kept, 'events', 20_000)
  const changed = await own.event.findMany({ select: { id: true }, orderBy: { id: 'desc' }, take: 500 })
  const ids = { in: changed.map((event) => event.id) }
  await own.event.updateMany({ where: { id: ids }, data: { crashes: 1 } })
  const read = await countReadsOfStep()
  t.ok(read < 10_000, `${read} rows were read for 500`)
  await settle(kept)
  await isClean(t)
})

t.test('many changes of one millisecond are copied again with one look at it', async (t) => {
  const { own, store } = await createWorkspace(3_650)
  const id = await store(-1, ['succeeded'])
  const idSql = (version: string, of: string) =>
    `(left(event.id::text, 13) || '-${version}' || substr(md5(${of}), 1, 3) || '-8' || substr(md5(${of}), 4, 3) || '-' || right(md5(${of}), 12))::uuid`
  const eventId = idSql('7', 'n::text')
  await run(`
    INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
    SELECT ${eventId}, workspace_id, type, data, accepted_at, done_at
    FROM events AS event, generate_series(1, 200) AS n WHERE id = '${id}'`)
  const rest = 'event_type, handler_id, rule_version, status, results, started_at, finished_at'
  await run(`
    INSERT INTO executions (id, event_id, workspace_id, ${rest})
    SELECT ${idSql('8', "n::text || '-' || k::text")}, ${eventId}, event.workspace_id, ${rest}
    FROM executions JOIN events AS event ON event.id = event_id, generate_series(1, 200) AS n, generate_series(1, 20) AS k
    WHERE event_id = '${id}'`)
  await run('ANALYZE events, executions')
  await settleUntil(kept, 'swapping')
  await own.event.updateMany({ data: { crashes: 1 } })
  const read = await countReadsOfStep()
  t.ok(read > 4_000 && read < 100_000, `${read} rows were read for 4,001`)
  await settle(kept)
  t.equal(await own.event.count({ where: { crashes: 1 } }), 201)
  await isClean(t)
})

const migrations = [
  ['an index', 'CREATE INDEX later_idx ON events ((md5(data::text)))', 'DROP INDEX later_idx'],
  ['a column', 'ALTER TABLE events ADD COLUMN later INTEGER', 'ALTER TABLE events DROP COLUMN later'],
] as const
for (const [what, add, drop] of migrations)
  t.test(
    `${what} that a migration adds meanwhile is no fault, and not made while everybody waits`,
    async (t) => {
      const { store } = await createWorkspace(3_650)
      await store(-1, ['succeeded'])
      await settleUntil(kept, 'swapping')
      await run(add)
      await step(kept)
      t.match(await stateOf(), { step: 'undoing' })
      await settle(kept)
      await settle(kept)
      t.notOk((await leavesOf('events')).includes('events_20260601'), 'it was begun anew')
      await run(drop)
      await isClean(t)
    },
  )

const endings = { dropping: 'events_20260601_old', undoing: 'events_exchanged_new' }
for (const [at, leaf] of Object.entries(endings))
  t.test(`a backup that reads what an exchange drops holds up its end alone: ${at}`, async (t) => {
    const { store } = await createWorkspace()
    await store(-1, ['succeeded'])
    const days = at === 'undoing' ? 365 : 30
    await settleUntil(kept, at === 'undoing' ? 'swapping' : 'dropping')
    await whileRead(t, leaf, async () => {
      await settle(keeping(later, days))
      t.strictSame(await stateOf(), { step: at, waitsFor: 'a lock' })
    })
    await settle(keeping(later, days))
    await isClean(t)
  })

t.test('what somebody has left by hand is dropped first, when nobody reads it', async (t) => {
  const { store } = await createWorkspace()
  await store(-1, ['succeeded'])
  await run('CREATE TABLE history.events_exchanged_new ()')
  await whileRead(t, 'events_exchanged_new', async () => {
    await settle(kept)
    t.equal(await stateOf(), undefined)
  })
  await settle(kept)
  t.notOk((await leavesOf('events')).includes('events_20260601'))
  await isClean(t)
})

t.test('an index that a migration puts in the place of another one is not built either', async (t) => {
  const { store } = await createWorkspace(3_650)
  await store(-1, ['succeeded'])
  await run('CREATE INDEX former_idx ON events ((md5(data::text)))')
  await settleUntil(kept, 'swapping')
  await run('DROP INDEX former_idx')
  await run('CREATE INDEX later_idx ON events ((length(data::text)))')
  await step(kept)
  t.match(await stateOf(), { step: 'undoing' })
  await settle(kept)
  await settle(kept)
  t.notOk((await leavesOf('events')).includes('events_20260601'), 'it was begun anew')
  await run('DROP INDEX later_idx')
  await isClean(t)
})

const limits = { ...databaseLimitsOf(3), statementMs: 1_000 }

t.test('what takes too long for a day is undone, and the alert rings before', async (t) => {
  const { store } = await createWorkspace(3_650)
  await store(-1, ['succeeded'])
  await settleUntil(keeping(Date.now()), 'copying')
  const slow = openDatabase(databaseUrl, 3, limits)
  t.teardown(() => slow.close())
  const lines: unknown[] = []
  const log = {
    ...{ info: () => {}, warn: () => {} },
    error: (_fields: object, line: string) => lines.push(line),
  } as never
  const metrics = { leavesUndone: { inc: () => {} } } as never
  const days = { events: 30, tasks: 400 }
  const round = () =>
    exchangeLeaves({ database: slow, days, log, metrics, signal: new AbortController().signal })
  await database.system.$transaction(
    async (holder) => {
      await holder.$executeRaw`LOCK TABLE history.events_exchanged_new IN SHARE MODE`
      await t.rejects(round())
      t.strictSame(await stateOf(), { step: 'copying', waitsFor: 'a statement that takes too long' })
      t.strictSame(lines, [])
      await run(`UPDATE history.exchanges SET waits_since = waits_since - interval '25 hours'`)
      await round()
      t.match(await stateOf(), { step: 'undoing' })
    },
    { timeout: 60_000 },
  )
  t.match(lines, [/waited for a statement that takes too long for a day, so old rows go one by one/])
  await settle(keeping(Date.now()))
  t.match(await stateOf(), { step: null })
  await settle(keeping(Date.now() + dayMs / 2))
  t.match(await stateOf(), { step: null }, 'it rests for a day')
  await isClean(t)
})

t.test('an exchange goes on if to analyze its leaf takes too long', async (t) => {
  const { store } = await createWorkspace(3_650)
  await store(-1, ['succeeded'])
  await settleUntil(kept, 'copying')
  const slow = openDatabase(databaseUrl, 3, limits)
  t.teardown(() => slow.close())
  await database.system.$transaction(
    async (holder) => {
      await holder.$executeRaw`LOCK TABLE history.events_exchanged_new IN SHARE UPDATE EXCLUSIVE MODE`
      await slow.system.$transaction((transaction) =>
        createLeafExchange(histories.events, kept)(transaction, 500),
      )
    },
    { timeout: 60_000 },
  )
  t.match(await stateOf(), { step: 'comparing' })
  await settle(kept)
  await isClean(t)
})

t.test('an exchange that was begun while the clock was ahead is undone', async (t) => {
  const { store, left } = await createWorkspace()
  await store(-1, ['succeeded'])
  await settleUntil(kept, 'swapping')
  await settle(keeping(later - weekMs))
  t.match(await left(), { executions: 1 })
  t.match(await stateOf(), { step: null })
  await isClean(t)
})

t.test('workspaces without old rows that keep more hold up nothing', async (t) => {
  const other = await createWorkspace()
  await other.store(-1, ['succeeded'])
  await settleUntil(kept, 'swapping')
  const { store } = await createWorkspace(365)
  await store(-30, ['succeeded'])
  await step(kept)
  t.match(await stateOf(), { step: 'releasing' })
  await settle(kept)
  await isClean(t)
})

for (const at of ['copying', 'swapping', 'releasing'])
  t.test(`what arrives from another installation stays as it is, until it is open: ${at}`, async (t) => {
    const workspace = await createWorkspace()
    const other = await createWorkspace()
    await other.store(-1, ['succeeded'])
    await settleUntil(kept, at)
    const data = { closedAt: new Date(), moving: `from ${newId()}` }
    await database.system.workspace.update({ where: { id: workspace.id }, data })
    // Claims come first, and then the executions.
    const { eventId, executionId } = idsAt(now + dayMs)
    const moment = new Date(now + dayMs)
    const claim = {
      ...{
        workspaceId: workspace.id,
        executionId,
        eventId,
        ruleId: newId(),
        keyId: newId(),
        batchId: newId(),
      },
      ...{ acceptedAt: moment, expiresAt: moment, isGranted: false, isCounted: false, isExclusive: true },
    }
    await database.system.keyClaim.create({ data: claim })
    await workspace.store(-1, ['succeeded'])
    await settle(kept)
    t.match(await database.system.keyClaim.findUnique({ where: { executionId } }), claim)
    t.match(await workspace.left(), { executions: 1 })
    t.match(await other.left(), { executions: 0 })
    await isClean(t)
  })

async function whileRead(t: Test, leaf: string, happen: () => Promise<void>): Promise<void> {
  const reader = openDatabase(databaseUrl, 3)
  t.teardown(() => reader.close())
  await reader.system.$transaction(
    async (transaction) => {
      await transaction.$queryRawUnsafe(`SELECT count(*) FROM history.${leaf}`)
      await happen()
    },
    { timeout: 60_000 },
  )
}

t.test('an exchange ends if somebody publishes all tables', async (t) => {
  const { own, store } = await createWorkspace(3_650)
  const id = await store(-1, ['succeeded'])
  await settleUntil(kept, 'comparing')
  await own.event.update({ where: { id }, data: { crashes: 7 } })
  await run('CREATE PUBLICATION everything FOR ALL TABLES')
  await settle(kept)
  await run('DROP PUBLICATION everything')
  t.match(await own.event.findUnique({ where: { id } }), { crashes: 7 })
  await isClean(t)
})

t.test('who owns the tables, and may not look at others, waits for their snapshots', async (t) => {
  const { store } = await createWorkspace(3_650)
  const id = await store(-1, ['succeeded'])
  const role = `owner_${newId().replaceAll('-', '')}`
  await run(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`)
  await run(`
    DO $$ DECLARE one record; BEGIN
      FOR one IN SELECT oid::regclass AS name FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace IN ('public'::regnamespace, 'history'::regnamespace)
      LOOP EXECUTE format('ALTER TABLE %s OWNER TO ${role}', one.name); END LOOP;
    END $$`)
  await run(`ALTER SCHEMA history OWNER TO ${role}`)
  const url = new URL(databaseUrl)
  Object.assign(url, { username: role, password: 'x' })
  const worker = openDatabase(url.href, 3)
  const reader = openDatabase(databaseUrl, 3)
  t.teardown(async () => {
    await Promise.all([worker.close(), reader.close()])
    await run(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })
  const takeStep = async () =>
    !(
      await worker.system.$transaction((transaction) =>
        createLeafExchange(histories.events, kept)(transaction, 3),
      )
    ).isOver
  while ((await stateOf())?.step !== 'copying') await takeStep()
  await reader.system.$transaction(
    async (transaction) => {
      await transaction.$queryRaw`SELECT count(*) FROM workspaces`
      while (await takeStep());
      t.match(await stateOf(), { step: 'swapping', waitsFor: /^the transaction of process/ })
      t.ok((await allRows(transaction)).some((row) => row.includes(id)))
    },
    { isolationLevel: 'RepeatableRead', timeout: 60_000 },
  )
  while (await takeStep());
  await isClean(t)
})

t.test(
  'what could not be filled is dropped at once, and no worker begins anew for ten minutes',
  async (t) => {
    await untilFilled(t)
    const { lines, ...round } = fakes()
    for (let rounds = 0; rounds < 3; rounds++) {
      await exchangeLeaves({ database, ...round })
      t.match(await stateOf(), { step: null })
    }
    t.strictSame(lines, [
      'an exchange of leaves of events failed, so new leaves that are not in use are dropped',
    ])
    t.ok((await leavesOf('events')).includes('events_20260601'))
    await isClean(t)
  },
)

t.test('who could not fill new leaves undoes nothing while another worker takes a step', async (t) => {
  await untilFilled(t)
  const { lines, ...round } = fakes()
  const other = openDatabase(databaseUrl, 3)
  t.teardown(() => other.close())
  await other.system.$transaction(
    async (transaction) => {
      const system = new Proxy(database.system, {
        get(target, key: keyof Database['system']) {
          if (key !== '$transaction' || lines.length === 0) return target[key]
          return async (work: never, options: never) => {
            await transaction.$queryRaw`SELECT pg_try_advisory_xact_lock(${leavesLock})`
            return target.$transaction(work, options)
          }
        },
      })
      await exchangeLeaves({ database: { ...database, system }, ...round })
    },
    { timeout: 60_000 },
  )
  t.equal(lines.length, 1)
  t.match(await stateOf(), { step: 'copying' })
  await exchangeLeaves({ database, ...round })
  await isClean(t)
})

/** Takes an exchange to where it copies rows, which a column keeps it from. */
async function untilFilled(t: Test): Promise<void> {
  const { store } = await createWorkspace(3_650)
  await store(-1, ['succeeded'])
  await settleUntil(keeping(Date.now()), 'copying')
  await run('ALTER TABLE events ADD COLUMN added INTEGER')
  t.teardown(() => run('ALTER TABLE events DROP COLUMN added'))
}

t.test('a swap that takes too long under its locks is undone, and not tried again at once', async (t) => {
  const { store } = await createWorkspace(3_650)
  await store(-1, ['succeeded'])
  await settleUntil(keeping(Date.now()), 'swapping')
  await atCommand(t, 'ALTER TABLE', 'PERFORM pg_sleep(600)')
  const { lines, ...round } = fakes()
  for (let rounds = 0; rounds < 2; rounds++) {
    await exchangeLeaves({ database, ...round })
    t.match(await stateOf(), { step: null })
  }
  t.equal(lines.length, 1)
  t.ok((await leavesOf('events')).includes('events_20260601'))
  await isClean(t)
})

t.test('a disk that is full before there is a new leaf is not tried again at once', async (t) => {
  const { store } = await createWorkspace()
  await store(-1, ['succeeded'])
  await atCommand(t, 'CREATE TABLE', "RAISE 'no space left' USING ERRCODE = '53100'")
  const { lines, ...round } = fakes()
  for (let rounds = 0; rounds < 2; rounds++) await exchangeLeaves({ database, ...round })
  t.equal(lines.length, 1)
  t.ok((await leavesOf('events')).includes('events_20260601'))
  await isClean(t)
})

/** Lets something happen before each command of this kind. */
async function atCommand(t: Test, tag: string, body: string): Promise<void> {
  await run(`CREATE FUNCTION at_command() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; END $$`)
  await run(
    `CREATE EVENT TRIGGER at_command ON ddl_command_start WHEN TAG IN ('${tag}') EXECUTE FUNCTION at_command()`,
  )
  t.teardown(() => run('DROP FUNCTION at_command CASCADE'))
}

function fakes() {
  const lines: string[] = []
  const error = (_fields: object, line: string) => lines.push(line)
  return {
    lines,
    log: { info: () => {}, warn: () => {}, error } as never,
    metrics: { leavesUndone: { inc: () => {} } } as never,
    days: { events: 30, tasks: 400 },
    signal: new AbortController().signal,
  }
}

t.test('what is erased while the swap waits is erased in the new leaves, too', async (t) => {
  const { own, store } = await createWorkspace(3_650)
  const id = await store(-1, ['succeeded'])
  await settleUntil(kept, 'swapping')
  await own.event.update({ where: { id }, data: { data: { erased: true } } })
  await settle({ ...kept, clocksAgree: false })
  t.strictSame(await database.system.$queryRaw`SELECT data FROM history.events_exchanged_new`, [
    { data: { erased: true } },
  ])
  await settle(kept)
  await isClean(t)
})

t.test('what has been swapped is not undone', async (t) => {
  const { store } = await createWorkspace()
  await store(-1, ['succeeded'])
  await settleUntil(kept, 'releasing')
  const undo = createExchangeUndo(histories.events, kept, new Error('late'))
  const done = await database.system.$transaction((transaction) => undo(transaction, 500))
  t.equal(done.isOver, true)
  t.match(await stateOf(), { step: 'releasing' })
  await settle(kept)
  await isClean(t)
})

t.test('after a full disk nobody begins anew for a day', async (t) => {
  const { store } = await createWorkspace()
  await store(-1, ['succeeded'])
  await settleUntil(kept, 'copying')
  const full = await run(`DO $$ BEGIN RAISE 'no space left' USING ERRCODE = '53100'; END $$`).catch(
    (error) => error,
  )
  const undo = createExchangeUndo(histories.events, kept, full)
  while (!(await database.system.$transaction((transaction) => undo(transaction, 500))).isOver);
  await settle(keeping(later + dayMs - 1))
  t.match(await stateOf(), { step: null })
  t.ok((await leavesOf('events')).includes('events_20260601'))
  await settle(keeping(later + dayMs))
  t.notOk((await leavesOf('events')).includes('events_20260601'))
  await isClean(t)
})

/** Some large events of a workspace, one in each millisecond. */
function storeMany(workspaceId: string, from: number) {
  return run(`
    INSERT INTO events (id, workspace_id, type, data, done_at)
    SELECT (lpad(to_hex(${from} + n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
           '${workspaceId}', 'LEAD_CREATED', jsonb_build_object('text', repeat('x', 500)), to_timestamp(${from} / 1000)
    FROM generate_series(1, 200) AS n`)
}

/** What one step of 500 rows reads, as a worker takes it. */
function countReadsOfStep(): Promise<number> {
  return database.system.$transaction(async (transaction) => {
    await transaction.$executeRaw`SET LOCAL enable_seqscan = off`
    // What the session has read in earlier transactions is counted, too, until it is a second old.
    const readBefore = await countReads(transaction)
    await createLeafExchange(histories.events, kept)(transaction, 500)
    return (await countReads(transaction)) - readBefore
  })
}

/** Rows of events and executions, and entries of their indexes. */
async function countReads(transaction: Transaction): Promise<number> {
  const [sum] = await transaction.$queryRaw<[{ rows: number }]>`
    SELECT sum(pg_stat_get_xact_tuples_returned(oid))::int AS rows FROM pg_class WHERE relname ~ '^(events|executions)_'`
  return sum.rows
}
