import { type Database, executionIdOf, firstIdOf, newId, openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import {
  copyLate,
  copyPass,
  createHistoryRemoval,
  hasBacklog,
  inTurn,
  type Move,
  mostWaiting,
  openAtTarget,
  type Pass,
  parkAll,
  prepareMove,
  refuseOpening,
  removeCopy,
  unparkSome,
} from '@automation/ledger'
import { closeWorkspace, openWorkspace } from '@automation/rules'
import t, { type Test } from 'tap'
import { countRows, plant, readColumns } from './fixtures/every-table.js'

interface Installations {
  move: Move
  source: Database
  target: Database
  workspaceId: string
}

async function openDatabases(t: Test): Promise<Database[]> {
  const databases = []
  for (let count = 0; count < 2; count++) {
    const database = openPatiently(await createPrivateDatabase(process.env.DATABASE_URL ?? ''), 6)
    t.teardown(() => database.close())
    databases.push(database)
  }
  return databases
}

/** A workspace with a row of each table, beside another one in each installation. */
async function open(t: Test): Promise<Installations> {
  const [source, target] = (await openDatabases(t)) as [Database, Database]
  for (const database of [source, target]) await addWorkspace(database)
  const workspaceId = await addWorkspace(source)
  return { source, target, workspaceId, move: await prepareMove({ source, target, workspaceId }) }
}

async function addWorkspace(database: Database): Promise<string> {
  const id = newId()
  await database.system.workspace.create({ data: { id, name: 'Acme' } })
  await plant(database, id)
  return id
}

const of = ({ source: database, workspaceId }: Installations) => ({
  database,
  workspaceId,
  actor: 'cli:test',
})
const noNote = async () => {}

/** As the command does. */
async function moveOn(installations: Installations, before?: Pass): Promise<void> {
  const { move } = installations
  const pass = await copyPass(move, before)
  const closedAt = await closeWorkspace(of(installations), move.id)
  await parkAll(move)
  await openAtTarget(move, pass, closedAt, noNote)
}

/** What is written counts as changed while any transaction of the server is older. */
async function untilNothing(move: Move, before: Pass): Promise<Pass> {
  const pass = await copyPass(move, before)
  return pass.written === 0 ? pass : untilNothing(move, pass)
}

async function undo(installations: Installations): Promise<void> {
  const { move } = installations
  await openWorkspace(of(installations), move.id, () => refuseOpening(move))
  await removeCopy(move)
}

/** All rows of a workspace as texts, without what the target says for itself. */
async function readAll(database: Database, workspaceId: string): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {}
  for (const [table, columns] of await readColumns(database)) {
    if (!columns.some(({ name }) => name === 'workspace_id')) continue
    const own = columns.filter(({ name }) => name !== 'parked' && !(table === 'event_keys' && name === 'id'))
    const rows = await database.system.$queryRawUnsafe<{ row: string }[]>(
      `SELECT ROW(${own.map(({ name }) => `"${name}"`).join(', ')})::text AS row FROM ${table} WHERE workspace_id = '${workspaceId}' ORDER BY 1`,
    )
    all[table] = rows.map(({ row }) => row)
  }
  return all
}

t.test('a row of each table comes over as it is, and those of others stay', async (t) => {
  const installations = await open(t)
  const { source, target, workspaceId } = installations
  const others = await countRows(target, workspaceId)
  t.strictSame(others, {}, 'nothing is there')
  await moveOn(installations)
  const there = await readAll(target, workspaceId)
  t.ok(Object.values(there).filter(({ length }) => length > 0).length > 30, 'each table has one')
  t.strictSame(there, await readAll(source, workspaceId))
  t.match(await target.system.workspace.findUnique({ where: { id: workspaceId } }), {
    closedAt: null,
    hasParked: true,
  })
  t.match(await source.system.workspace.findUnique({ where: { id: workspaceId } }), { closedAt: Date })
  const event = await target.system.event.findFirst({ where: { workspaceId } })
  t.equal(event?.parked, true, 'what is not done waits for the opening')
  t.equal(await unparkSome(target, () => false), 1)
})

t.test(
  'a pass brings what was written since the pass before, and the first one removes what is gone',
  async (t) => {
    const installations = await open(t)
    const { move, source, target, workspaceId } = installations
    const first = await untilNothing(move, await copyPass(move, undefined))
    const later = newId()
    await source.system.event.create({
      data: { id: later, workspaceId, type: 'T', data: { note: 'it’s "new", \\ ü' } },
    })
    await source.system.event.updateMany({
      where: { workspaceId, id: { not: later } },
      data: { doneAt: new Date() },
    })
    const second = await copyPass(move, first)
    t.match(second, { written: 2, removed: 0 })
    const third = await untilNothing(move, second)
    await target.system.event.delete({ where: { id: later } })
    await t.rejects(copyPass(move, third), /has 1 of 2 rows of events/, 'a row that is missing is noticed')
    await source.system.keyClaim.deleteMany({ where: { workspaceId } })
    t.match(await copyPass(move, undefined), { removed: 1 }, 'as another process does, which begins again')
    await moveOn(installations, first)
    t.strictSame(await readAll(target, workspaceId), await readAll(source, workspaceId))
  },
)

t.test(
  'no worker of the target finds work in what has arrived, and its retention removes none of it',
  async (t) => {
    const { move, source, target, workspaceId } = await open(t)
    await source.system.keyClaim.updateMany({ where: { workspaceId }, data: { place: 'queued' } })
    await source.system.eventKey.updateMany({ where: { workspaceId }, data: { isWaking: true } })
    await copyPass(move, undefined)
    t.match(await target.system.event.findFirst({ where: { workspaceId } }), { parked: true, doneAt: null })
    t.match(await target.system.keyClaim.findFirst({ where: { workspaceId } }), { place: null })
    t.match(await target.system.eventKey.findFirst({ where: { workspaceId } }), { isWaking: false })
    await target.system.event.updateMany({ where: { workspaceId }, data: { doneAt: new Date(0) } })
    const remove = createHistoryRemoval(Date.now() + 400 * dayMs, 1)
    const others = await target.system.workspace.findMany({ where: { id: { not: workspaceId } } })
    await target.system.event.updateMany({
      where: { workspaceId: { in: others.map(({ id }) => id) } },
      data: { doneAt: new Date(0) },
    })
    await target.system.execution.updateMany({ data: { finishedAt: new Date(0) } })
    for (let isOver = false; !isOver; )
      ({ isOver } = await target.system.$transaction((transaction) => remove(transaction, 100)))
    t.equal(await target.system.event.count({ where: { workspaceId } }), 1)
    t.equal(await target.system.event.count(), 1, 'but of the others')
  },
)

const dayMs = 24 * 60 * 60 * 1_000

/** Rows from days ago: an event, an execution and its claim for each way in which one of them may change. */
async function plantOld({ source, workspaceId }: Installations): Promise<(kind: string) => Promise<void>> {
  const kinds = ['done', 'ended', 'goes on', 'retried', 'erased', 'placed', 'counted', 'waking', 'stays']
  const rule = await source.system.rule.findFirstOrThrow({ where: { workspaceId } })
  const ids = new Map<string, { event: string; execution: string }>()
  for (const [index, kind] of kinds.entries()) {
    const event = firstIdOf(Date.now() - (3 + index) * dayMs).replace('000000000000', newId().slice(-12))
    const execution = executionIdOf({ id: event, addressee: null }, rule.id)
    ids.set(kind, { event, execution })
    await run(
      `INSERT INTO events (id, workspace_id, type, data, done_at) VALUES ('${event}', '${workspaceId}', 'T', '{}', now())`,
    )
    await run(
      `INSERT INTO event_keys (workspace_id, key, event_id, accepted_at) VALUES ('${workspaceId}', '${newId()}', '${event}', now())`,
    )
    if (kind === 'done') await run(`UPDATE events SET done_at = NULL WHERE id = '${event}'`)
    else await addExecution(kind, ['ended', 'goes on', 'placed'].includes(kind) ? 'waiting' : 'failed')
    await run(`INSERT INTO key_claims (execution_id, workspace_id, rule_id, key_id, event_id, accepted_at, is_granted, is_counted, expires_at, place, is_exclusive)
      VALUES ('${execution}', '${workspaceId}', '${rule.id}', '${rule.id}', '${event}', now(), true, true, now(), 'queued', true)`)
  }
  return async (kind) => {
    const { event, execution } = ids.get(kind) as { event: string; execution: string }
    const ends = `UPDATE executions SET status = 'succeeded', finished_at = now(), due_at = NULL, reopened = 1 WHERE id = '${execution}'`
    if (kind === 'done') {
      await run(`UPDATE events SET done_at = now() WHERE id = '${event}'`)
      await addExecution(kind, 'failed')
      await run(`INSERT INTO tasks (id, workspace_id, execution_id, action_index, rule_id, title, priority, created_at)
        VALUES ('${newId()}', '${workspaceId}', '${execution}', 0, '${rule.id}', 'T', 'low', now())`)
    }
    if (kind === 'ended') await run(ends)
    if (kind === 'goes on')
      await run(`UPDATE executions SET due_at = due_at + interval '1 hour' WHERE id = '${execution}'`)
    if (kind === 'retried') {
      await run(ends)
      await source.system.auditEntry.create({
        data: {
          id: newId(),
          workspaceId,
          actor: 'user:ada',
          action: 'execution.retried',
          subject: execution,
          details: {},
        },
      })
    }
    if (kind === 'erased') {
      await run(`UPDATE events SET data = '{"a":1}', erased_at = now() WHERE id = '${event}'`)
      await run(`UPDATE erasures SET position = '{}' WHERE workspace_id = '${workspaceId}'`)
    }
    if (kind === 'placed')
      await run(`UPDATE key_claims SET place = 'holds' WHERE execution_id = '${execution}'`)
    if (kind === 'counted')
      await run(`UPDATE key_claims SET is_counted = false, place = NULL WHERE execution_id = '${execution}'`)
    if (kind === 'waking') await run(`UPDATE event_keys SET is_waking = true WHERE event_id = '${event}'`)
  }

  function addExecution(kind: string, status: string): Promise<void> {
    const { event, execution } = ids.get(kind) as { event: string; execution: string }
    const times = status === 'waiting' ? `NULL, now() + interval '1 day'` : 'now(), NULL'
    return run(`INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, finished_at, due_at)
      VALUES ('${execution}', '${workspaceId}', '${event}', 'T', '${rule.id}', 1, '${status}', '[]', now(), ${times})`)
  }

  async function run(text: string): Promise<void> {
    await source.system.$executeRawUnsafe(text)
  }
}

t.test('the last pass brings each change of an old row, and reads no others', async (t) => {
  const installations = await open(t)
  const { move, source, target, workspaceId } = installations
  const change = await plantOld(installations)
  let pass = await copyPass(move, undefined)
  for (const kind of ['done', 'ended', 'goes on', 'placed', 'counted', 'waking']) await change(kind)
  const texts: string[] = []
  const closedAt = await closeWorkspace(of(installations), move.id)
  await parkAll(move)
  await t.rejects(
    openAtTarget(listening(move, texts), pass, closedAt, () => Promise.reject(new Error('not yet'))),
    /not yet/,
  )
  const reads = texts.filter((text) => /FROM (events|executions|tasks)\b.*xmin/s.test(text))
  t.ok(reads.length > 0)
  t.strictSame(
    reads.filter((text) => !/\bid >= |\bid = ANY/.test(text)),
    [],
    'each by ids',
  )
  await openAtTarget(move, pass, closedAt, noNote)
  t.strictSame(await readAll(target, workspaceId), await readAll(source, workspaceId))

  for (const kind of ['retried', 'erased']) {
    const others = await open(t)
    const changeOther = await plantOld(others)
    pass = await copyPass(others.move, undefined)
    await changeOther(kind)
    const since = await closeWorkspace(of(others), others.move.id)
    await openAtTarget(others.move, pass, since, noNote)
    t.strictSame(
      await readAll(others.target, others.workspaceId),
      await readAll(others.source, others.workspaceId),
      kind,
    )
  }
})

/** A move that notes its statements in the source. */
function listening(move: Move, texts: string[]): Move {
  return {
    ...move,
    source: { system: wrap(move.source.system, (text) => void texts.push(text ?? '')) } as never,
  }
}

/** A client, and its transactions, of which each step is told before it is made, and that each transaction is committed. */
function wrap<Client extends object>(client: Client, tell: (text?: string) => void): Client {
  return new Proxy(client, {
    get(of, name) {
      const value = Reflect.get(of, name) as (...values: unknown[]) => Promise<unknown>
      if (name === '$transaction')
        return async (work: (inner: object) => unknown, options: unknown) => {
          tell()
          const result = await value.call(of, (inner: object) => work(wrap(inner, tell)), options)
          tell()
          return result
        }
      if (name !== '$queryRawUnsafe' && name !== '$executeRawUnsafe') return value
      return (text: string, ...values: unknown[]) => {
        tell(text)
        return value.call(of, text, ...values)
      }
    },
  })
}

t.test('each step may be killed, and begun again or undone', async (t) => {
  const { source, target } = await open(t)
  let [steps, end] = [0, Number.POSITIVE_INFINITY]
  const tell = () => {
    if (++steps >= end) throw new Error('killed')
  }
  const [killedSource, killedTarget] = [source, target].map(({ system }) => ({ system: wrap(system, tell) }))
  const begin = async (workspaceId: string, isKilled = true): Promise<Installations> => {
    const sides = isKilled
      ? { source: killedSource as never, target: killedTarget as never }
      : { source, target }
    const move = await prepareMove({ ...sides, workspaceId })
    return { source, target, workspaceId, move }
  }
  const isOpenIn = async (database: Database, id: string) =>
    (await database.system.workspace.findFirst({ where: { id, closedAt: null } })) !== null
  await moveOn(await begin(await addWorkspace(source)))
  const last = steps
  t.ok(last > 100, `${last} steps`)
  // Each ninth step: all in nine runs.
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 9))
  t.comment(`SEED=${seed}`)
  for (let at = 1 + seed; at <= last; at += 9) {
    const id = await addWorkspace(source)
    const installations = await begin(id)
    ;[steps, end] = [0, at]
    await moveOn(installations).catch(() => {})
    end = Number.POSITIVE_INFINITY
    const isMoved = await isOpenIn(target, id)
    if (isMoved && (await isOpenIn(source, id))) t.fail(`it is open twice after step ${at}`)
    if (isMoved) continue
    // The undoing is killed, too.
    if (at % 2 === 0) {
      ;[steps, end] = [0, 1 + (at % 12)]
      await begin(id)
        .then(undo)
        .catch(() => {})
      end = Number.POSITIVE_INFINITY
      await undo(await begin(id, false))
      if (!(await isOpenIn(source, id)) || Object.keys(await countRows(target, id)).length > 0)
        t.fail(`it is not undone after step ${at}`)
    }
    await moveOn(await begin(id, false))
    const [here, there] = [await readAll(source, id), await readAll(target, id)]
    if (!(await isOpenIn(target, id)) || (await isOpenIn(source, id)))
      t.fail(`it is not open there after step ${at}`)
    t.strictSame(there, here, `killed at step ${at}`)
  }
})

t.test('a workspace whose backlog would be copied while it is closed says so', async (t) => {
  const { move, source, workspaceId } = await open(t)
  t.notOk(await hasBacklog(move))
  await source.system.$executeRawUnsafe(
    `INSERT INTO events (id, workspace_id, type, data)
     SELECT gen_random_uuid(), '${workspaceId}', 'T', '{}' FROM generate_series(1, ${mostWaiting})`,
  )
  t.ok(await hasBacklog(move))
  await source.system.event.updateMany({ where: { workspaceId }, data: { parked: true } })
  t.notOk(await hasBacklog(move), 'of a suspended one they come before')
})

t.test('waits go on behind the keys that they have seen', async (t) => {
  const installations = await open(t)
  const { source, target, workspaceId } = installations
  await target.system.$executeRawUnsafe(`SELECT setval('event_keys_id_seq', 5000000)`)
  const [key] = await source.system.eventKey.findMany({ where: { workspaceId } })
  await source.system.execution.updateMany({ where: { workspaceId }, data: { waitSeen: key?.id ?? 0n } })
  const unseen = await source.system.eventKey.create({
    data: { workspaceId, key: newId(), eventId: newId(), acceptedAt: new Date() },
  })
  await moveOn(installations)
  const [seen, later] = await target.system.eventKey.findMany({
    where: { workspaceId },
    orderBy: { id: 'asc' },
  })
  const execution = await target.system.execution.findFirst({ where: { workspaceId } })
  t.equal(seen?.eventId, key?.eventId)
  t.equal(later?.eventId, unseen.eventId)
  t.equal(execution?.waitSeen, seen?.id)
  const next = await target.system.eventKey.create({
    data: { workspaceId, key: newId(), eventId: newId(), acceptedAt: new Date() },
  })
  t.ok(next.id > (later?.id ?? 0n), 'the next key comes behind them')
})

t.test('ids of keys before those of the workspace take no room in the target', async (t) => {
  const installations = await open(t)
  const { source, target, workspaceId } = installations
  // As after many moves there and back.
  for (const { system } of [source, target])
    await system.$executeRawUnsafe(`SELECT setval('event_keys_id_seq', 5000000000000000000)`)
  await source.system.eventKey.deleteMany({ where: { workspaceId } })
  await source.system.execution.updateMany({ where: { workspaceId }, data: { waitSeen: 1 } })
  const eventId = newId()
  await source.system.eventKey.create({
    data: { workspaceId, key: newId(), eventId, acceptedAt: new Date() },
  })
  await moveOn(installations)
  const key = await target.system.eventKey.findFirst({ where: { workspaceId } })
  const execution = await target.system.execution.findFirst({ where: { workspaceId, finishedAt: null } })
  t.equal(key?.eventId, eventId)
  t.ok((execution?.waitSeen ?? 0n) > 0n && (execution?.waitSeen ?? 0n) < (key?.id ?? 0n))
})

t.test('a line that drops holds nothing for long', async (t) => {
  const installations = await open(t)
  const { move, source, target, workspaceId } = installations
  const setting = async (rows: Pick<Database['system'], '$queryRaw'>) =>
    rows.$queryRaw<{ idle: string }[]>`SELECT current_setting('idle_in_transaction_session_timeout') AS idle`
  const pass = await copyPass(move, undefined)
  const closedAt = await closeWorkspace(of(installations), move.id)
  await openAtTarget(move, pass, closedAt, async (rows) => t.match(await setting(rows), [{ idle: '1min' }]))
  const texts: string[] = []
  const told = wrap(target.system, (text) => void texts.push(text ?? ''))
  await inTurn({ target: { system: told as never }, workspaceId }, async () => {})
  t.match(
    texts.join(),
    /tcp_keepalives_idle', '10', true.*move of|move of.*tcp_keepalives_idle', '10', true/s,
  )
  t.match(await setting(source.system), [{ idle: /^(?!1min)/ }])
})

t.test('a lock in the source ends the move', async (t) => {
  const { move, source } = await open(t)
  await source.system.$transaction(
    async (rows) => {
      await rows.$executeRaw`LOCK TABLE events IN SHARE MODE`
      await t.rejects(parkAll(move), /lock timeout/)
    },
    { timeout: 60_000 },
  )
})

t.test('it is never open in both', async (t) => {
  const installations = await open(t)
  const { move, source, target, workspaceId } = installations
  const closedIn = async (database: Database) =>
    (await database.system.workspace.findUnique({ where: { id: workspaceId } }))?.closedAt ?? undefined
  const pass = await copyPass(move, undefined)
  await t.rejects(openAtTarget(move, pass, new Date(), noNote), /undone/, 'the source is open')
  t.type(await closedIn(target), Date)
  const closedAt = await closeWorkspace(of(installations), move.id)
  t.strictSame(
    await closeWorkspace(of(installations), move.id),
    closedAt,
    'it is closed since the same moment',
  )
  await openWorkspace(of(installations), move.id, () => refuseOpening(move))
  await t.rejects(openAtTarget(move, pass, closedAt, noNote), /undone/)
  await closeWorkspace(of(installations), move.id)
  await t.rejects(openAtTarget(move, pass, closedAt, noNote), /undone/, 'it was open in between')
  await removeCopy(move)
  t.strictSame(await countRows(target, workspaceId), {})
  await moveOn(installations)
  await t.rejects(undo(installations), /open in the target/)
  t.type(await closedIn(source), Date)
  t.equal(await closedIn(target), undefined)
  await t.rejects(copyPass(move, undefined), /open/, 'no pass writes over it')
})

t.test('a workspace that is closed for a move is left alone by any other one', async (t) => {
  const installations = await open(t)
  const { move, source, target, workspaceId } = installations
  const [other] = (await openDatabases(t)) as [Database]
  const elsewhere = { ...installations, move: await prepareMove({ source, target: other, workspaceId }) }
  await copyPass(elsewhere.move, undefined)
  const pass = await copyPass(move, undefined)
  const before = await readAll(source, workspaceId)
  await closeWorkspace(of(installations), move.id)
  await t.rejects(moveOn(elsewhere), /another move/, 'one that began at the same time')
  await t.rejects(undo(elsewhere), /another move/)
  for (const [name, sides] of Object.entries({
    'another target': { source, target: other },
    'a new target': { source, target: (await openDatabases(t))[0] as Database },
    'the two the other way round': { source: target, target: source },
    'one database': { source, target: source },
  }))
    await t.rejects(prepareMove({ ...sides, workspaceId }), /another database|other way round/, name)
  t.match(await readAll(source, workspaceId), { ...before, audit_entries: Array })
  await moveOn(installations, pass)
  await t.rejects(
    prepareMove({ source, target: other, workspaceId }),
    /another database/,
    'when it has moved, too',
  )
})

t.test('what was accepted at the last moment follows, once', async (t) => {
  const installations = await open(t)
  const { move, source, target, workspaceId } = installations
  await moveOn(installations)
  const closedAt = await closeWorkspace(of(installations), move.id)
  t.equal(await copyLate(move, closedAt), 0)
  const [plain, keyed, repeated] = [newId(), newId(), newId()]
  for (const id of [plain, keyed, repeated])
    await source.system.event.create({ data: { id, workspaceId, type: 'T', data: {} } })
  await source.system.event.create({
    data: {
      id: newId(),
      workspaceId,
      type: 'SCHEDULE',
      data: {},
      addresseeKind: 'tick',
      addresseeId: newId(),
    },
  })
  const requestHash = Buffer.alloc(32)
  const addKey = (database: Database, key: string, eventId: string) =>
    database.system.idempotencyKey.create({ data: { workspaceId, key, eventId, requestHash } })
  await addKey(source, 'first', keyed)
  await addKey(source, 'again', repeated)
  await addKey(target, 'again', newId())
  t.equal(await copyLate(move, closedAt), 2)
  t.equal(await copyLate(move, closedAt), 0)
  const found = await target.system.event.findMany({ where: { id: { in: [plain, keyed, repeated] } } })
  t.strictSame(found.map(({ id }) => id).sort(), [plain, keyed].sort(), 'its sender has repeated the third')
})
