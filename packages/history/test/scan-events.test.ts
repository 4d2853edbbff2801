import { firstIdOf, newId, openPatiently, Prisma } from '@automation/database'
import t from 'tap'
import { type ScannedEvent, scanEvents } from '../src/scan-events.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 3)
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
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

/** How many rows a window has passed on: each of them was decompressed. */
function countWindowRows(node: PlanNode): number {
  const own = node['Node Type'] === 'WindowAgg' ? node['Actual Rows'] : 0
  return Math.max(own, ...(node.Plans ?? []).map(countWindowRows))
}

/** Reads, and keeps each query. */
function spyOn(reads: ReturnType<typeof database.readsOf>) {
  const asked: Prisma.Sql[] = []
  const $queryRows = (query: Prisma.Sql) => {
    asked.push(query)
    return reads.$queryRows(query)
  }
  return { asked, spy: { $queryRows } as unknown as typeof reads }
}

/** How many rows the scans of a table or an index have read, those that they filtered away included. */
function countScannedRows(node: PlanNode): number {
  const { 'Node Type': type, 'Rows Removed by Filter': removed = 0 } = node
  const own = /^(Seq|Index|Index Only|Bitmap Heap) Scan$/.test(type) ? node['Actual Rows'] + removed : 0
  return Math.max(own, ...(node.Plans ?? []).map(countScannedRows))
}

t.test('a slice of events that compress well is bounded by what they are decompressed', async (t) => {
  const large = { text: 'x'.repeat(500_000) }
  const { workspaceId, ids } = await store(
    Array.from({ length: 24 }, () => ({ type: 'LEAD_CREATED', data: large })),
  )
  const reads = database.readsOf(workspaceId)
  const { asked, spy } = spyOn(reads)
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

t.test(
  'a statement reads a bounded number of rows, however many events are outside of the range',
  async (t) => {
    const { workspaceId, ids } = await store(
      Array.from({ length: 25 }, (_, index) => ({
        ...(index === 12 && { addresseeKind: 'subscription' as const, addresseeId: newId() }),
        type: 'LEAD_CREATED',
        data: { index },
      })),
    )
    const at = (index: number) => new Date(Date.UTC(2026, 2, 1, 0, 0, index))
    for (const [index, id] of ids.entries())
      await database.system.$executeRaw(
        Prisma.sql`UPDATE events SET accepted_at = ${at(index)}, id = ${`${firstIdOf(at(index).getTime()).slice(0, 24)}${id.slice(24)}`}::uuid WHERE id = ${id}::uuid`,
      )
    await database.system.event.createMany({
      data: Array.from({ length: 3_000 }, (_, index) => ({
        id: `${firstIdOf(at(-1).getTime() - 3_000 + index).slice(0, 24)}000000000000`,
        workspaceId,
        type: 'LEAD_CREATED',
        data: {},
        acceptedAt: at(-1),
        doneAt: at(-1),
      })),
    })
    const reads = database.readsOf(workspaceId)
    for (const order of orders) {
      const seen: [unknown, number][] = []
      const visit = async (events: ScannedEvent[]) => {
        seen.push(
          ...events.map(({ json, position }): [unknown, number] => [JSON.parse(json).index, position]),
        )
        return undefined
      }
      const { asked, spy } = spyOn(reads)
      // The ids of events an hour before and after the range are read, too: clocks differ.
      const range = { workspaceId, order, from: at(10), to: at(15) }
      t.same(await scanEvents(spy, range, undefined, limits, visit), { scanned: 4, end: undefined })
      const inside = [10, 11, 13, 14]
      t.same(
        seen.map(([index]) => index),
        order === 'oldest first' ? inside : inside.toReversed(),
      )
      t.same(seen.map(([, position]) => position).slice(-1), [seen.length])
      for (const query of asked) {
        // So few rows may as well be read and sorted at once, as the statistics of the moment have it; many are not.
        const [{ 'QUERY PLAN': plans }] = await database.system.$transaction(async (transaction) => {
          for (const way of ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'])
            await transaction.$queryRaw`SELECT set_config(${way}, 'off', true)`
          const explained = await transaction.$queryRaw(Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${query}`)
          return explained as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }]
        })
        const rows = countScannedRows(plans[0].Plan)
        t.ok(rows <= 1_001, `${rows} rows were read by one statement`)
      }
    }
  },
)

t.test('a scan that ends outside of its range continues there', async (t) => {
  const { workspaceId, ids } = await store(
    Array.from({ length: 20 }, () => ({ type: 'LEAD_CREATED', data: {} })),
  )
  const last = ids.at(-1) ?? ''
  await database.system.event.update({
    where: { id: last },
    data: { acceptedAt: new Date(Date.now() - 60_000) },
  })
  const from = new Date(Date.now() - 30_000)
  const reads = database.readsOf(workspaceId)
  for (const order of orders) {
    let [scanned, scans] = [0, 0]
    let end: string | undefined
    do {
      const scan = await scanEvents(
        reads,
        { workspaceId, order, from },
        end,
        { events: 5, ms: 0 },
        async () => undefined,
      )
      scanned += scan.scanned
      end = scan.end
      scans++
    } while (end !== undefined)
    t.equal(scanned, 19)
    t.ok(scans >= 4, `${scans} scans`)
  }
})

t.test('of the events for a rule, a scan tells its ticks from those by hand', async (t) => {
  const addresseeId = newId()
  const kinds = ['rule', 'tick', null] as const
  const { workspaceId } = await store(
    kinds.map((kind) => ({
      type: 'SCHEDULE',
      data: {},
      ...(kind && { addresseeKind: kind, addresseeId }),
    })),
  )
  const range = { workspaceId, order: 'oldest first' } as const
  const seen: ScannedEvent[] = []
  await scanEvents(database.readsOf(workspaceId), range, undefined, limits, async (events) => {
    seen.push(...events)
    return undefined
  })
  t.strictSame(
    seen.map(({ addressedTo, isTick }) => [addressedTo, isTick]),
    [
      [addresseeId, false],
      [addresseeId, true],
      [null, false],
    ],
  )
})
