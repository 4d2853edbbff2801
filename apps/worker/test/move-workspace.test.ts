import { type Database, newId, openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import {
  copyLate,
  copyPass,
  type Move,
  openAtTarget,
  type Pass,
  parkAll,
  readMovedTables,
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
  const workspaceId = newId()
  for (const [database, id] of [
    [source, workspaceId],
    [source, newId()],
    [target, newId()],
  ] as const) {
    await database.system.workspace.create({ data: { id, name: 'Acme' } })
    await plant(database, id)
  }
  return {
    source,
    target,
    workspaceId,
    move: { source, target, workspaceId, tables: await readMovedTables(source) },
  }
}

const of = ({ source: database, workspaceId }: Installations) => ({
  database,
  workspaceId,
  actor: 'cli:test',
})
const noNote = async () => {}

async function moveOn({ move, ...rest }: Installations, before?: Pass): Promise<void> {
  const pass = await copyPass(move, before)
  const closedAt = await closeWorkspace(of({ move, ...rest }))
  await parkAll(move)
  await openAtTarget(move, pass, closedAt, noNote)
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

t.test('a pass brings what has changed, has come and is gone since the pass before', async (t) => {
  const installations = await open(t)
  const { move, source, target, workspaceId } = installations
  const first = await copyPass(move, undefined)
  t.match(await copyPass(move, first), { written: 0, removed: 0 }, 'nothing has changed')
  const later = newId()
  await source.system.event.create({
    data: { id: later, workspaceId, type: 'T', data: { note: 'it’s "new", \\ ü' } },
  })
  await source.system.event.updateMany({
    where: { workspaceId, id: { not: later } },
    data: { doneAt: new Date() },
  })
  await source.system.keyClaim.deleteMany({ where: { workspaceId } })
  t.match(await copyPass(move, first), { written: 2, removed: 1 })
  await target.system.event.delete({ where: { id: later } })
  const pass = await copyPass(move, first)
  t.equal(pass.written, 2, 'what the target lacks is copied again')
  await moveOn(installations, pass)
  t.strictSame(await readAll(target, workspaceId), await readAll(source, workspaceId))
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

t.test('it is never open in both', async (t) => {
  const installations = await open(t)
  const { move, source, target, workspaceId } = installations
  const closedIn = async (database: Database) =>
    (await database.system.workspace.findUnique({ where: { id: workspaceId } }))?.closedAt ?? undefined
  const pass = await copyPass(move, undefined)
  await t.rejects(openAtTarget(move, pass, new Date(), noNote), /undone/, 'the source is open')
  t.type(await closedIn(target), Date)
  const closedAt = await closeWorkspace(of(installations))
  t.strictSame(await closeWorkspace(of(installations)), closedAt, 'it is closed since the same moment')
  await openWorkspace(of(installations), () => refuseOpening(move))
  await t.rejects(openAtTarget(move, pass, closedAt, noNote), /undone/)
  await closeWorkspace(of(installations))
  await t.rejects(openAtTarget(move, pass, closedAt, noNote), /undone/, 'it was open in between')
  await removeCopy(move)
  t.strictSame(await countRows(target, workspaceId), {})
  await moveOn(installations)
  await t.rejects(
    openWorkspace(of(installations), () => refuseOpening(move)),
    /open in the target/,
  )
  t.type(await closedIn(source), Date)
  t.equal(await closedIn(target), undefined)
  await t.rejects(copyPass(move, undefined), /open/, 'no pass writes over it')
})

t.test('what was accepted at the last moment follows, once', async (t) => {
  const installations = await open(t)
  const { move, source, target, workspaceId } = installations
  await moveOn(installations)
  const closedAt = (await source.system.workspace.findUnique({ where: { id: workspaceId } }))
    ?.closedAt as Date
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
