import { setTimeout } from 'node:timers/promises'
import { executionIdOf, firstIdOf, leavesLock, newId, openDatabase, turnLeaves } from '@automation/database'
import { createLeafExchange, dayMs, histories } from '@automation/ledger'
import t from 'tap'
import { removeGently } from '../src/retention/remove-gently.js'
import { faults, isClean, keeping, settle, startAnew, stateOf } from './fixtures/leaves.js'
import { createWorkspace, database, databaseUrl, openOldRows } from './fixtures/old-rows.js'

/** A week of the rows passes in so many ms, and ends when leaves were exchanged. */
const msAWeek = 500
const weekMs = 7 * dayMs
/** It goes on until so many old leaves were dropped. */
const mostDropped = 8
const days = 14
let week = Date.parse('2026-06-01T00:00:00Z')
let startedAt = performance.now()
const clock = () => week + Math.round(Math.min((performance.now() - startedAt) / msAWeek, 0.99) * weekMs)
await openOldRows(t)
const others = openDatabase(databaseUrl, 8)
t.teardown(() => others.close())

interface Stored {
  eventId: string
  executionId: string
  workspaceId: string
  /** Of the workspace; 0: for ever. */
  days: number
  /** Undefined: it is not over. */
  endedAt: number | undefined
  /** How often its data was changed. */
  version: number
}

const stored: Stored[] = []

/** What has to be there, whoever looks. An hour is for clocks that differ. */
function isKept({ days, endedAt }: Stored): boolean {
  return endedAt === undefined || days === 0 || endedAt > clock() - days * dayMs
}

async function store(workspaceId: string, days: number, lateMs = 0): Promise<void> {
  const now = clock()
  const skewMs = { 1: -weekMs, 2: 60 * 60 * 1_000 }[Math.floor(Math.random() * 20)] ?? -lateMs
  const eventId = firstIdOf(now + skewMs).slice(0, 13) + newId().slice(13)
  const executionId = executionIdOf({ id: eventId, addressee: null }, newId())
  const endedAt = Math.random() < 0.9 ? now : undefined
  const at = new Date(now)
  await others.system.$transaction([
    others.system.event.create({
      data: { id: eventId, workspaceId, type: 'LEAD_CREATED', data: { version: 0 }, doneAt: at },
    }),
    others.system.execution.create({
      data: {
        ...{ id: executionId, workspaceId, eventId, eventType: 'LEAD_CREATED', handlerId: newId() },
        ...{ ruleVersion: 1, results: [], startedAt: at },
        ...(endedAt ? { status: 'succeeded', finishedAt: at } : { status: 'waiting', dueAt: at }),
      },
    }),
  ])
  stored.push({ eventId, executionId, workspaceId, days, endedAt, version: 0 })
}

/** Ends an execution, or erases something of an event. */
async function change(row: Stored): Promise<void> {
  if (row.endedAt === undefined && Math.random() < 0.3) {
    row.endedAt = clock()
    const data = { status: 'succeeded' as const, dueAt: null, finishedAt: new Date(row.endedAt) }
    await others.system.execution.update({ where: { id: row.executionId }, data })
  } else {
    const data = { data: { version: row.version + 1 } }
    const { count } = await others.system.event.updateMany({ where: { id: row.eventId }, data })
    if (count > 0) row.version++
  }
}

/** @returns what is wrong with those that have to be there */
async function check(rows: Stored[], { system } = others): Promise<string[]> {
  const events = await system.$queryRaw<{ id: string; version: number }[]>`
    SELECT id::text, (data->>'version')::int AS version FROM events WHERE id = ANY (${rows.map(({ eventId }) => eventId)}::uuid[])`
  const executions = await system.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM executions WHERE id = ANY (${rows.map(({ executionId }) => executionId)}::uuid[])`
  const versions = new Map(events.map(({ id, version }) => [id, version]))
  const ids = new Set(executions.map(({ id }) => id))
  return rows.filter(isKept).flatMap((row) => {
    const version = versions.get(row.eventId)
    if (version === undefined) return `event ${JSON.stringify(row)} is missing`
    if (!ids.has(row.executionId)) return `execution ${JSON.stringify(row)} is missing`
    return version < row.version ? `event ${JSON.stringify(row)} has version ${version}` : []
  })
}

function draw(count: number): Stored[] {
  return Array.from({ length: count }, () => stored[Math.floor(Math.random() * stored.length)]).filter(
    (row): row is Stored => row !== undefined,
  )
}

t.test('while weeks pass, each row that is kept is found, and as it was written last', async (t) => {
  await startAnew()
  const [usual, long, short] = [
    await createWorkspace(),
    await createWorkspace(3_650),
    await createWorkspace(28),
  ]
  const ofDays = [
    [usual.id, days],
    [long.id, 0],
    [short.id, 28],
  ] as const
  let dropped = 0
  const goesOn = () => dropped < mostDropped
  const missing: string[] = []
  let checked = 0
  const write = async () => {
    while (goesOn()) for (const [id, days] of ofDays) await store(id, days)
  }
  /** Old rows change in bursts, as in an erasure: one at some moment of each step. */
  const disturb = async () => {
    for (let last: string | null | undefined; goesOn(); ) {
      await setTimeout(Math.random() * 20)
      const step = (await stateOf())?.step
      if (step === last) continue
      last = step
      for (const [id, days] of ofDays) await store(id, days, 4 * weekMs)
      for (const row of draw(20))
        if (isKept({ ...row, days: Math.min(row.days, 7) || row.days })) await change(row)
    }
  }
  const read = async () => {
    while (goesOn()) {
      const rows = draw(50).map((row) => ({ ...row }))
      missing.push(...(await check(rows)))
      checked += rows.length
    }
  }
  const exchange = async () => {
    const { signal } = new AbortController()
    while (goesOn()) {
      const kept = keeping(clock(), days)
      const leaves = createLeafExchange(histories.events, kept)
      await turnLeaves(databaseUrl, { events: days, tasks: days }, { now: kept.now })
      dropped += (await removeGently(database, { leaves }, signal, { lock: leavesLock })).leaves
      const unfinished = await database.system.$queryRaw<
        object[]
      >`SELECT step FROM history.exchanges WHERE step IS NOT NULL`
      if (unfinished.length > 0 || performance.now() < startedAt + msAWeek) continue
      week += weekMs
      startedAt = performance.now()
    }
  }
  await Promise.all([write(), write(), disturb(), read(), read(), exchange(), exchange()])
  const last = clock()
  await settle(keeping(last, days))
  missing.push(...(await check(stored)))
  t.strictSame(missing, [])
  t.strictSame(faults, [])
  t.ok(checked > 0 && stored.length > 0, `${checked} of ${stored.length} rows were looked for`)
  const left = await database.system.event.count()
  t.ok(left < stored.length, `${stored.length - left} are gone`)
  t.comment(`${checked} looks, ${stored.length} events, ${left} left`)
  await isClean(t)
})
