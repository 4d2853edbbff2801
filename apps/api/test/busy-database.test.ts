import { setTimeout } from 'node:timers/promises'
import { openPatiently, type Prisma } from '@automation/database'
import { narrowEvents } from '@automation/history'
import { createPrivateDatabase } from '@automation/launcher'
import type { FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { replayEvents } from '../src/routes/events/replay-events.js'
import { type Answer, ruleBody, rules, startApi } from './fixtures/api.js'
import { storeEvent } from './fixtures/history.js'

const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })
const others = openPatiently(api.config.databaseUrl, 3)
t.teardown(() => others.close())

const later = { prefer: 'respond-async' }
const trigger = `${rules}/trigger/LEAD_CREATED`

/** Locks something as others do, and holds it until it is let go. */
async function lock(t: Test, take: (transaction: Prisma.TransactionClient) => Promise<unknown>) {
  const [held, released] = [promise<number>(), promise<void>()]
  const holding = others.system.$transaction(async (transaction) => {
    await take(transaction)
    const [row] = await transaction.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    held.resolve(row?.pid ?? 0)
    await released.promise
  })
  t.teardown(() => {
    released.resolve()
    return holding
  })
  return { pid: await held.promise, release: released.resolve }
}

/** Waits until a statement waits for that connection. Answers the connection of the statement. */
async function findWaiting(pid: number): Promise<number> {
  for (;;) {
    const [waiting] = await others.system.$queryRaw<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity WHERE ${pid}::int = ANY (pg_blocking_pids(pid))`
    if (waiting !== undefined) return waiting.pid
    await setTimeout(20)
  }
}

/** Cancels the statement that waits for that connection, as Postgres does by itself when the statement's time is up. */
async function cancelWaitingFor(pid: number): Promise<void> {
  await others.system.$queryRaw`SELECT pg_cancel_backend(${await findWaiting(pid)}::int)`
}

function assertRefused(t: Test, { status, headers, body }: Answer): void {
  t.strictSame(
    { status, retryAfter: headers['retry-after'], body },
    { status: 503, retryAfter: '1', body: { error: 'Service temporarily unavailable' } },
  )
}

t.test('the log has the reasons of 503, and counts the requests between two lines', async (t) => {
  const { call } = await api.makeWorkspace()
  const logged = t.capture(api.app.log, 'warn')
  const { pid } = await lock(t, (transaction) => transaction.$executeRaw`LOCK TABLE events IN EXCLUSIVE MODE`)
  for (const pauseMs of [0, 0, 1_100, 0]) {
    const refused = call('POST', trigger, { body: { data: {} }, headers: later })
    await cancelWaitingFor(pid)
    assertRefused(t, await refused)
    await setTimeout(pauseMs)
  }
  await setTimeout(1_500)
  const lines = logged().map(({ args }) => {
    const [fields, message] = args as unknown as [{ err: Error; refused: number }, string]
    return { ...fields, message }
  })
  for (const { err, message } of lines)
    t.match(`${message}: ${err}`, /^requests refused with 503: .*canceling statement/s)
  t.equal(
    lines.reduce((sum, { refused }) => sum + refused, 0),
    4,
  )
})

t.test('a change is refused with 503 if Postgres cancels its statement', async (t) => {
  const { id, call, database } = await api.makeWorkspace()
  const { pid } = await lock(
    t,
    (transaction) => transaction.$queryRaw`SELECT 1 FROM workspaces WHERE id = ${id}::uuid FOR UPDATE`,
  )
  const changed = call('POST', rules, { body: ruleBody() })
  await cancelWaitingFor(pid)
  assertRefused(t, await changed)
  t.equal(await database.rule.count(), 0)
})

t.test('an event is refused with 503 if Postgres cancels its statement', async (t) => {
  const { id: workspaceId, call, database } = await api.makeWorkspace()
  const key = 'k'
  const { pid } = await lock(t, (transaction) =>
    transaction.idempotencyKey.create({ data: { workspaceId, key, requestHash: Buffer.alloc(32) } }),
  )
  const accepted = call('POST', trigger, {
    body: { data: {} },
    headers: { ...later, 'idempotency-key': key },
  })
  await cancelWaitingFor(pid)
  assertRefused(t, await accepted)
  t.equal(await database.event.count(), 0)
})

t.test('events that lose a deadlock are refused with 503', async (t) => {
  const { id: workspaceId, call, database } = await api.makeWorkspace()
  const take = (transaction: Prisma.TransactionClient, key: string) =>
    transaction.idempotencyKey.create({ data: { workspaceId, key, requestHash: Buffer.alloc(32) } })
  const crossing = promise<void>()
  const waits = promise<number>()
  const other = others.system.$transaction(async (transaction) => {
    // The other side is to notice, and to lose.
    await transaction.$executeRaw`SET LOCAL deadlock_timeout = '60s'`
    await take(transaction, 'b')
    const [row] = await transaction.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    waits.resolve(row?.pid ?? 0)
    await crossing.promise
    await take(transaction, 'a')
  })
  const pid = await waits.promise
  const events = ['a', 'b'].map((idempotencyKey) => ({ data: {}, idempotencyKey }))
  const accepted = call('POST', `${trigger}/batch`, { body: { events } })
  await findWaiting(pid)
  crossing.resolve()
  assertRefused(t, await accepted)
  await other
  t.equal(await database.event.count(), 0)
})

t.test('a long bulk replay responds with a cursor, and continues from it', async (t) => {
  const workspace = await api.makeWorkspace()
  const known: { id: string }[] = []
  while (known.length < 150) known.push(await storeEvent(workspace))
  const replay = (cursor?: string) =>
    workspace.call<{ replayed: number; nextCursor: string | null }>('POST', '/api/events/replay', {
      body: { filter: {}, dryRun: false, cursor },
    })
  const { pid, release } = await lock(
    t,
    (transaction) => transaction.$executeRaw`LOCK TABLE events IN SHARE MODE`,
  )
  const begun = replay()
  await findWaiting(pid)
  await setTimeout(5_000)
  release()
  const first = await begun
  t.match(first, { status: 202, body: { matched: 150, replayed: 50, nextCursor: String } })
  const rest = await replay(first.body.nextCursor ?? '')
  t.match(rest, { status: 202, body: { matched: 100, replayed: 100, nextCursor: null } })
  const replays = await workspace.database.event.findMany({ where: { replayOf: { not: null } } })
  t.strictSame(replays.map(({ replayOf }) => replayOf).sort(), known.map(({ id }) => id).sort(), 'each once')
})

t.test('a bulk replay that fails on its way reports what it has done', async (t) => {
  const workspace = await api.makeWorkspace()
  const known: string[] = []
  while (known.length < 120) known.push((await storeEvent(workspace)).id)
  const { system } = others
  await system.$executeRawUnsafe(`
    CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'No space left' USING ERRCODE = 'disk_full'; END $$`)
  await system.$executeRawUnsafe(`
    CREATE TRIGGER fill_disk BEFORE INSERT ON events FOR EACH ROW
    WHEN (NEW.replay_of = '${known[70]}') EXECUTE FUNCTION fill_disk()`)
  const replay = (cursor?: string) =>
    workspace.call<{ nextCursor: string }>('POST', '/api/events/replay', {
      body: { filter: {}, dryRun: false, cursor },
    })
  const first = await replay()
  t.match(first, { status: 202, body: { matched: 120, replayed: 50, nextCursor: String } })
  assertRefused(t, await replay(first.body.nextCursor))
  await system.$executeRawUnsafe('DROP TRIGGER fill_disk ON events')
  const rest = await replay(first.body.nextCursor)
  t.match(rest, { status: 202, body: { matched: 70, replayed: 70, nextCursor: null } })
  const replays = await workspace.database.event.findMany({ where: { replayOf: { not: null } } })
  t.strictSame(replays.map(({ replayOf }) => replayOf).sort(), known.sort(), 'each once')
})

t.test('a bulk replay begins no batch for a caller who has left, or has no time left', async (t) => {
  const workspace = await api.makeWorkspace()
  for (let n = 0; n < 60; n++) await storeEvent(workspace)
  const { id } = workspace
  const warnings: unknown[] = []
  const log = { warn: (...line: unknown[]) => warnings.push(line) }
  const replay = (msLeft: number, isGone: () => boolean, server: object = api.app) => {
    const socket = {
      get destroyed() {
        return isGone()
      },
    }
    const reads = api.app.database.readsOf(id)
    const dueAt = performance.now() + msLeft
    const request = { server, log, workspace: { id, reads }, dueAt, raw: { socket } }
    const page = { narrowing: narrowEvents(id, {}), after: undefined, limit: 1_000 }
    return replayEvents(request as unknown as FastifyRequest, page)
  }
  const here = () => false
  let asked = 0
  const batch = { replayed: 50, isOver: false }
  t.match(await replay(60_000, () => asked++ > 0), batch)
  const longEnough = performance.now() + 3_000
  const slow: typeof api.app.inbox.acceptAll = async (replays) => {
    while (performance.now() < longEnough) await setTimeout(20)
    return api.app.inbox.acceptAll(replays)
  }
  t.match(await replay(4_000, here, { inbox: { acceptAll: slow } }), batch)
  const unavailable = { message: 'Service temporarily unavailable' }
  await t.rejects(
    replay(60_000, () => true),
    unavailable,
  )
  await t.rejects(replay(900, here), unavailable)
  t.equal(await workspace.database.event.count(), 160, 'nothing more')
  let accepted = 0
  const full = new Error('The disk is full')
  const acceptAll = async () => {
    if (accepted++ > 0) throw full
  }
  t.match(await replay(60_000, here, { inbox: { acceptAll } }), batch)
  t.strictSame(warnings, [[{ err: full, replayed: 50 }, 'a bulk replay ended early']])
})

function promise<Value>() {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
