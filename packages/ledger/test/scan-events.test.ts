import { newId, openDatabase, Prisma } from '@automation/database'
import t from 'tap'
import { type ScannedEvent, scanEvents } from '../src/history/scan-events.js'

const database = openDatabase(process.env.DATABASE_URL ?? '', 3)
t.teardown(() => database.close())

const limits = { events: 10_000, ms: 60_000 }
const orders = ['newest first', 'oldest first'] as const

/** Stores events, the oldest first. @returns their workspace and ids */
async function store(list: { type: string; data: object }[]) {
  const workspaceId = newId()
  await database.system.workspace.create({ data: { id: workspaceId, name: 'Tests' } })
  const rows = list.map((event) => ({ id: newId(), workspaceId, doneAt: new Date(), ...event }))
  for (const row of rows) await database.system.event.create({ data: row })
  return { workspaceId, ids: rows.map(({ id }) => id) }
}

interface PlanNode {
  'Node Type': string
  'Actual Rows': number
  Plans?: PlanNode[]
}

/** How many rows a window has passed on: each of them was decompressed. */
function countWindowRows(node: PlanNode): number {
  const own = node['Node Type'] === 'WindowAgg' ? node['Actual Rows'] : 0
  return Math.max(own, ...(node.Plans ?? []).map(countWindowRows))
}

t.test('a slice of events that compress well is bounded by what they are decompressed', async (t) => {
  const large = { text: 'x'.repeat(500_000) }
  const { workspaceId, ids } = await store(
    Array.from({ length: 24 }, () => ({ type: 'LEAD_CREATED', data: large })),
  )
  const reads = database.readsOf(workspaceId)
  const asked: Prisma.Sql[] = []
  const spy = {
    $queryRaw: (query: Prisma.Sql) => {
      asked.push(query)
      return reads.$queryRaw(query)
    },
  } as unknown as typeof reads
  for (const order of orders) {
    const seen: string[] = []
    const sizes: number[] = []
    const visit = async (events: ScannedEvent[]) => {
      seen.push(...events.map(({ id }) => id))
      sizes.push(events.length)
      return undefined
    }
    const { scanned } = await scanEvents(spy, { workspaceId, order }, undefined, limits, visit)
    t.equal(scanned, 24)
    t.same(seen, order === 'oldest first' ? ids : ids.toReversed())
    t.equal(Math.max(...sizes), 3)
  }
  for (const query of [asked[0], asked.at(-2)]) {
    const [{ 'QUERY PLAN': plans }] = (await database.system.$queryRaw(
      Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${query}`,
    )) as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }]
    const rows = countWindowRows(plans[0].Plan)
    t.ok(rows > 0 && rows <= 4, `${rows} events were decompressed for a slice of 3`)
  }
})

t.test('events of other types are passed, counted and not read', async (t) => {
  const list = Array.from({ length: 30 }, (_, index) => ({
    type: index % 10 === 0 ? 'LEAD_CREATED' : 'DEAL_WON',
    data: { text: 'x'.repeat(index % 10 === 0 ? 10 : 900_000) },
  }))
  const { workspaceId, ids } = await store(list)
  const reads = database.readsOf(workspaceId)
  for (const order of orders) {
    const seen: [string, number][] = []
    const visit = async (events: ScannedEvent[]) => {
      seen.push(...events.map(({ id, position }): [string, number] => [id, position]))
      return undefined
    }
    const range = { workspaceId, order, type: 'LEAD_CREATED' }
    t.same(await scanEvents(reads, range, undefined, limits, visit), { scanned: 30, end: undefined })
    t.same(
      seen,
      order === 'oldest first'
        ? [
            [ids[0], 1],
            [ids[10], 11],
            [ids[20], 21],
          ]
        : [
            [ids[20], 10],
            [ids[10], 20],
            [ids[0], 30],
          ],
    )
  }
})
