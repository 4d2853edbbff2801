import { newId } from '@automation/database'
import { compileRule, Evaluation, ruleHolds } from '@automation/engine'
import { scanEvents } from '@automation/history'
import t from 'tap'
import { startApi, type Workspace } from './fixtures/api.js'

interface Found {
  events: { id: string; type: string }[]
  scanned: number
  notJudged: number
  nextCursor: string | null
}

const api = await startApi(t)
const path = '/api/events/search'
const hot = { field: 'score', operator: 'gt', value: 80 }

/** Stores events, the oldest first. @returns their ids */
async function store(
  { id: workspaceId, database }: Workspace,
  list: object[],
  fields: object = {},
): Promise<string[]> {
  const rows = list.map((data) => ({
    id: newId(),
    workspaceId,
    type: 'LEAD_CREATED',
    data,
    doneAt: new Date(),
    ...fields,
  }))
  await database.event.createMany({ data: rows })
  return rows.map(({ id }) => id)
}

async function search({ call }: Workspace, body: object): Promise<Found> {
  const answer = await call<Found>('POST', path, { body })
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

t.test('events are found by conditions on their data, newest first, in pages', async (t) => {
  const workspace = await api.makeWorkspace()
  const ids = await store(
    workspace,
    Array.from({ length: 2_500 }, (_, index) => ({ score: index % 100 })),
  )
  await store(workspace, [{ score: 99 }], { type: 'DEAL_WON' })
  const stranger = await api.makeWorkspace()
  await store(stranger, [{ score: 99 }])
  const expected = ids.filter((_, index) => index % 100 > 80).reverse()
  const found: string[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page: Found = await search(workspace, {
      conditions: [hot],
      type: 'LEAD_CREATED',
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    })
    found.push(...page.events.map(({ id }) => id))
    cursor = page.nextCursor
  }
  t.same(found, expected)
  t.equal((await search(workspace, { conditions: [hot], limit: 250 })).events[0]?.type, 'DEAL_WON')
})

t.test('conditions are evaluated at the moment of acceptance, and a range narrows', async (t) => {
  const workspace = await api.makeWorkspace()
  const at = '2026-01-05T12:00:00.000Z'
  await store(workspace, [{ seen: '2026-01-05T11:30:00Z' }, { seen: '2026-01-05T10:30:00Z' }], {
    acceptedAt: new Date(at),
  })
  const conditions = [{ field: 'seen', operator: 'within_last', value: '1h' }]
  // The ids are of today: a range looks an hour around each.
  t.equal((await search(workspace, { conditions })).events.length, 1)
  t.equal((await search(workspace, { conditions, from: '2026-02-01' })).events.length, 0)
})

t.test('what is wrong with a search is said, and a cursor of another search is refused', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  await store(workspace, [{ score: 90 }, { score: 91 }])
  const { nextCursor } = await search(workspace, { conditions: [hot], limit: 1 })
  t.type(nextCursor, 'string')
  for (const [status, body] of [
    [400, { conditions: [{ ...hot, value: 81 }], cursor: nextCursor }],
    [400, { conditions: [hot], cursor: 'x' }],
    [400, { conditions: [hot], type: 'NOT_THERE' }],
    [422, { conditions: [{ ...hot, operator: 'is_nice' }] }],
    [422, { conditions: [{ field: 'a', operator: 'matches', value: '(' }] }],
    [422, { conditions: [hot], from: 'tomorrow' }],
    [422, {}],
    [422, { conditions: [hot], more: 1 }],
  ] as const)
    t.match(await call('POST', path, { body }), { status }, JSON.stringify(body))
  t.match(await workspace.callAs('viewer')('POST', path, { body: { conditions: [] } }), { status: 200 })
})

t.test(
  'expensive conditions take several turns and pages, and events beyond the work of a rule are counted',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const texts = Array.from({ length: 20 }, (_, index) => ({
      text: someText(index === 0 ? 40_000 : 2_000),
    }))
    await store(workspace, texts)
    const conditions = [{ field: 'text', operator: 'matches', value: '(?i)a[ab]{240}[cd]' }]
    const sum = { scanned: 0, notJudged: 0 }
    let cursor: string | null | undefined
    while (cursor !== null) {
      const page: Found = await search(workspace, { conditions, ...(cursor !== undefined && { cursor }) })
      t.same(page.events, [])
      sum.scanned += page.scanned
      sum.notJudged += page.notJudged
      cursor = page.nextCursor
    }
    t.same(sum, { scanned: 20, notJudged: 1 })
  },
)

t.test(
  'a scan that is continued sees each event once, in both orders and with slices of any size',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const sizes = Array.from({ length: 300 }, (_, index) => (index % 50 === 0 ? 400_000 : index))
    const ids = await store(
      workspace,
      sizes.map((size) => ({ text: 'x'.repeat(size) })),
    )
    const reads = api.app.database.readsOf(workspace.id)
    for (const order of ['newest first', 'oldest first'] as const) {
      const seen: string[] = []
      let end: string | undefined
      do {
        const visit = async (events: { id: string; json: string }[]) => {
          const bytes = events.reduce((sum, { json }) => sum + json.length, 0)
          t.ok(bytes < 1_048_576 + 400_100 || events.length === 1, `${bytes}`)
          seen.push(...events.map(({ id }) => id))
          return undefined
        }
        const range = { workspaceId: workspace.id, order }
        const scan = await scanEvents(reads, range, end, { events: 70, ms: 10_000 }, visit)
        end = scan.end
      } while (end !== undefined)
      t.same(seen, order === 'oldest first' ? ids : ids.toReversed())
    }
  },
)

t.test('the fields of a type are those of its newest events', async (t) => {
  const workspace = await api.makeWorkspace()
  await store(workspace, [{ old: 1 }])
  await store(workspace, [
    { score: 10, lead: { status: 'new' }, tags: ['a', 'b'] },
    { score: 30.5, lead: { status: 'new' }, tags: ['a'], vip: true },
    { score: '7', lead: null },
  ])
  await store(workspace, [{ other: 1 }], { type: 'DEAL_WON' })
  const { body } = await workspace.callAs('viewer')('GET', '/api/event-types/LEAD_CREATED/fields?events=3')
  t.match(body, { eventType: 'LEAD_CREATED', events: 3, isComplete: true, hasMorePaths: false })
  t.same((body as { fields: object[] }).fields, [
    {
      path: 'lead',
      kinds: ['object', 'null'],
      kindCounts: { object: 2, null: 1 },
      share: 1,
      distinct: 0,
      isDistinctAtLeast: false,
      top: [],
    },
    {
      path: 'score',
      kinds: ['number', 'text'],
      kindCounts: { number: 2, text: 1 },
      share: 1,
      distinct: 3,
      isDistinctAtLeast: false,
      top: [
        { value: '7', count: 1 },
        { value: 30.5, count: 1 },
        { value: 10, count: 1 },
      ],
      smallest: 10,
      largest: 30.5,
    },
    {
      path: 'lead.status',
      kinds: ['text'],
      kindCounts: { text: 2 },
      share: 2 / 3,
      distinct: 1,
      isDistinctAtLeast: false,
      top: [{ value: 'new', count: 2 }],
    },
    {
      path: 'tags',
      kinds: ['list'],
      kindCounts: { list: 2 },
      share: 2 / 3,
      distinct: 2,
      isDistinctAtLeast: false,
      top: [
        { value: 'a', count: 2 },
        { value: 'b', count: 1 },
      ],
    },
    {
      path: 'vip',
      kinds: ['boolean'],
      kindCounts: { boolean: 1 },
      share: 1 / 3,
      distinct: 1,
      isDistinctAtLeast: false,
      top: [{ value: true, count: 1 }],
    },
  ])
  t.match(await workspace.call('GET', '/api/event-types/NOT_THERE/fields'), { status: 404 })
  t.match(await workspace.call('GET', '/api/event-types/LEAD_CREATED/fields?events=50001'), { status: 400 })
})

t.test('the search finds what the engine finds', async (t) => {
  const workspace = await api.makeWorkspace()
  const list = Array.from({ length: 400 }, (_, index) => ({
    score: (index * 37) % 100,
    tag: index % 3 ? 'a' : 'b',
  }))
  const ids = await store(workspace, list)
  const conditions = [{ any: [hot, { not: { field: 'tag', operator: 'equals', value: 'a' } }] }]
  const rule = compileRule({ conditions, actions: [] })
  const expected = ids.filter((_, index) => ruleHolds(rule, list[index], new Evaluation(0)))
  const { events } = await search(workspace, { conditions, limit: 250 })
  t.same(events.map(({ id }) => id).reverse(), expected)
})

/** Of two letters, in no order that repeats: the worst for patterns that count. */
function someText(length: number): string {
  let state = 1
  let text = ''
  for (let n = 0; n < length; n++) {
    state = (state * 48_271) % 2_147_483_647
    text += state % 2 === 0 ? 'a' : 'b'
  }
  return text
}
