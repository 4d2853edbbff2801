import { executionIdOf, newId, Prisma } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { type Answer, roles, startApi, type Workspace } from './fixtures/api.js'
import { addressOf, idAt, storeEvent, storeExecution, storeRule } from './fixtures/history.js'

interface Event {
  id: string
  status: string
  triggered: number
  results?: object[]
  [field: string]: unknown
}

interface Page {
  events: Event[]
  nextCursor: string | null
}

const api = await startApi(t)
const path = '/api/events'
const later = { prefer: 'respond-async' }
const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const refused = (status: number, error: string) => ({ status, body: { error } })

async function list({ call }: Workspace, query = ''): Promise<Page> {
  const { status, body } = await call<Page>('GET', `${path}?${query}`)
  if (status !== 200) throw new Error(`No events for ${query}: ${status} ${JSON.stringify(body)}`)
  return body
}
const idsOf = ({ events }: Page) => events.map(({ id }) => id)
const read = async ({ call }: Workspace, id: string) => (await call<Event>('GET', `${path}/${id}`)).body
const at = (text: string) => new Date(text)

t.test('events are listed newest first, with all fields except data and results', async (t) => {
  const workspace = await api.makeWorkspace()
  const ruleIds = [newId(), newId(), newId()]
  const origin = { depth: 3, causedBy: newId(), replayOf: newId() }
  const event = await storeEvent(workspace, {
    acceptedAt: at('2026-01-02T03:04:05.678Z'),
    data: { score: 1 },
    ruleIds,
    ...origin,
  })
  await storeExecution(workspace, event, ruleIds[0] ?? '')
  await storeExecution(workspace, event, ruleIds[2] ?? '', { status: 'failed' })
  const newer = await storeEvent(workspace, { ruleId: newId(), doneAt: null })
  const page = await list(workspace)
  t.strictSame(idsOf(page), [newer.id, event.id])
  t.strictSame(page.events[1], {
    id: event.id,
    workspaceId: workspace.id,
    type: 'LEAD_CREATED',
    eventType: 'LEAD_CREATED',
    ruleId: null,
    subscriptionId: null,
    ...origin,
    chosenRules: null,
    crashes: 0,
    status: 'done',
    acceptedAt: '2026-01-02T03:04:05.678Z',
    doneAt: '2026-01-02T03:04:05.678Z',
    triggered: 3,
    matched: 2,
    suppressed: 0,
    failed: 1,
    continuesAt: null,
  })
  t.match(page.events[0], { status: 'accepted', doneAt: null, ruleId: newer.addresseeId, triggered: 0 })
  t.strictSame(await read(workspace, event.id), {
    ...page.events[1],
    data: { score: 1 },
    results: [
      {
        ruleId: ruleIds[0],
        success: true,
        status: 'succeeded',
        conditionsPassed: true,
        executionId: executionIdOf({ id: event.id, addressee: null }, ruleIds[0] ?? ''),
      },
      {
        ruleId: ruleIds[1],
        success: true,
        status: 'not_matched',
        conditionsPassed: false,
        executionId: null,
      },
      {
        ruleId: ruleIds[2],
        success: false,
        status: 'failed',
        conditionsPassed: true,
        executionId: executionIdOf({ id: event.id, addressee: null }, ruleIds[2] ?? ''),
        error: 'It broke',
      },
    ],
  })
})

t.test('an event is running until all of its executions are finished', async (t) => {
  const workspace = await api.makeWorkspace()
  const expected: Record<string, string> = {}
  const acceptedAt = new Date()
  for (const status of ['running', 'waiting', 'retrying', 'succeeded', 'failed', 'cancelled'] as const) {
    const ruleIds = [newId(), newId(), newId()]
    // All in one millisecond: their executions are neighbours.
    const event = await storeEvent(workspace, { acceptedAt, ruleIds })
    await storeExecution(workspace, event, ruleIds[1] ?? '')
    await storeExecution(workspace, event, ruleIds[2] ?? '', { status })
    expected[event.id] = ['running', 'waiting', 'retrying'].includes(status) ? 'running' : 'done'
  }
  const byHand = await storeEvent(workspace, { acceptedAt, ruleId: newId() })
  await storeExecution(workspace, byHand, byHand.addresseeId ?? '', { status: 'waiting' })
  expected[byHand.id] = 'running'
  expected[(await storeEvent(workspace, { acceptedAt })).id] = 'done'
  expected[(await storeEvent(workspace, { acceptedAt, doneAt: null })).id] = 'accepted'

  const { events } = await list(workspace)
  t.strictSame(Object.fromEntries(events.map(({ id, status }) => [id, status])), expected)
  for (const id of Object.keys(expected).slice(0, 6))
    t.equal((await read(workspace, id)).status, expected[id])
  for (const status of ['accepted', 'running', 'done']) {
    const wanted = Object.keys(expected).filter((id) => expected[id] === status)
    t.strictSame(idsOf(await list(workspace, `status=${status}`)).sort(), wanted.sort(), status)
  }
})

t.test('an event says how many rules ran and failed, and when the next of them continues', async (t) => {
  const workspace = await api.makeWorkspace()
  const acceptedAt = new Date()
  const store = async (
    ...statuses: { status: 'succeeded' | 'failed' | 'waiting' | 'running'; dueAt?: Date }[]
  ) => {
    const ruleIds = [newId(), ...statuses.map(() => newId())]
    const event = await storeEvent(workspace, { acceptedAt, ruleIds })
    for (const [index, fields] of statuses.entries())
      await storeExecution(workspace, event, ruleIds[index + 1] ?? '', fields)
    return event.id
  }
  const [soon, late] = [at('2030-01-01T00:00:00.123Z'), at('2031-01-01T00:00:00Z')]
  const expected = {
    [await store()]: { triggered: 1, matched: 0, failed: 0, continuesAt: null },
    [await store({ status: 'succeeded' }, { status: 'failed' })]: {
      triggered: 3,
      matched: 2,
      failed: 1,
      continuesAt: null,
    },
    [await store({ status: 'waiting', dueAt: late }, { status: 'waiting', dueAt: soon })]: {
      matched: 2,
      failed: 0,
      continuesAt: soon.toISOString(),
    },
    [await store({ status: 'waiting', dueAt: late }, { status: 'running', dueAt: soon })]: {
      matched: 2,
      continuesAt: null,
    },
  }
  const { events } = await list(workspace)
  t.equal(events.length, 4)
  for (const event of events) t.match(event, expected[event.id])
  for (const [id, wanted] of Object.entries(expected)) t.match(await read(workspace, id), wanted)
})

t.test('events are filtered by type, rule and time: from is inclusive, to is exclusive', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = newId()
  const rows = [
    { acceptedAt: at('2026-01-01T00:00:00Z') },
    { acceptedAt: at('2026-01-01T23:59:59.999Z'), type: 'DEAL_WON', ruleIds: [newId(), rule] },
    { acceptedAt: at('2026-01-02T00:00:00Z'), ruleId: rule },
    { acceptedAt: at('2026-01-02T12:00:00Z'), type: 'DEAL_WON' },
    { acceptedAt: at('2026-01-03T00:00:00Z'), doneAt: null },
    { acceptedAt: at('2026-01-03T00:00:00Z'), type: 'rule.updated', ...addressOf(newId()) },
    { acceptedAt: at('2026-01-03T00:00:00Z'), type: 'rule.updated', ...addressOf(newId()) },
  ]
  const stored: { id: string; addresseeId: string | null }[] = []
  for (const row of rows) stored.push(await storeEvent(workspace, row))
  const cases: [query: string, found: number[]][] = [
    ['', [0, 1, 2, 3, 4]],
    ['eventType=DEAL_WON', [1, 3]],
    ['eventType=rule.updated', [5, 6]],
    [`ruleId=${stored[5]?.addresseeId}`, [5]],
    [`ruleId=${stored[6]?.addresseeId}`, [6]],
    [`ruleId=${rule}`, [1, 2]],
    [`ruleId=${rule.toUpperCase()}&eventType=DEAL_WON&status=done`, [1]],
    ['from=2026-01-02', [2, 3, 4]],
    ['to=2026-01-02', [0, 1]],
    ['from=2026-01-01T23:59:59.999Z&to=2026-01-02T12:00:00Z', [1, 2]],
    ['from=2026-01-02&to=2026-01-02', []],
    ['from=0000-01-01', [0, 1, 2, 3, 4]],
    ['from=9999-12-31T23:59:59-23:59', []],
    ['to=0000-01-01', []],
    ['status=accepted', [4]],
    ['status=accepted&to=2026-01-02', []],
  ]
  for (const [query, found] of cases) {
    const places = idsOf(await list(workspace, query)).map((id) => stored.findIndex((row) => row.id === id))
    t.strictSame(places.toSorted(), found, query)
  }
  for (const query of [
    'limit=0',
    'cursor=x',
    'eventType=',
    'eventType=lead_created',
    'eventType=rule.lost',
    'ruleId=x',
    'status=failed',
    'status=done,accepted',
    'from=x',
    'to=',
    'to=2026-02-30',
  ])
    t.equal((await workspace.call('GET', `${path}?${query}`)).status, 400, query)
})

t.test('the time of an event is that of Postgres, though the clock of an API differs', async (t) => {
  const workspace = await api.makeWorkspace()
  const acceptedAt = at('2026-01-02T00:00:00Z')
  const halfAnHour = 30 * 60_000
  const early = await storeEvent(workspace, { acceptedAt, id: idAt(Number(acceptedAt) - halfAnHour) })
  const late = await storeEvent(workspace, { acceptedAt, id: idAt(Number(acceptedAt) + halfAnHour) })
  t.strictSame(idsOf(await list(workspace, 'from=2026-01-02&to=2026-01-02T00:00:00.001Z')), [
    late.id,
    early.id,
  ])
  for (const query of ['to=2026-01-02', 'from=2026-01-02T00:00:00.001Z'])
    t.strictSame(idsOf(await list(workspace, query)), [], query)
})

t.test('pages of events have neither gaps nor duplicates, even with new events', async (t) => {
  const workspace = await api.makeWorkspace()
  for (let index = 0; index < 30; index++) await storeEvent(workspace)
  const all = await list(workspace, 'limit=250')
  t.strictSame(idsOf(all), idsOf(all).toSorted().reverse())
  for (const limit of [1, 7, 29, 30, 31]) {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null && seen.length <= 30; ) {
      const page: Page = await list(workspace, `limit=${limit}${cursor && `&cursor=${cursor}`}`)
      seen.push(...idsOf(page))
      cursor = page.nextCursor
    }
    t.strictSame(seen, idsOf(all), `pages of ${limit} are the whole`)
  }
  const first = await list(workspace, 'limit=10')
  await storeEvent(workspace)
  const second = await list(workspace, `limit=10&cursor=${first.nextCursor}`)
  t.strictSame(idsOf(second), idsOf(all).slice(10, 20))
})

t.test('a replay is a new event with the same type and data, for the current rules', async (t) => {
  const workspace = await api.makeWorkspace()
  const data = { name: 'Ada', tags: ['a', { b: null }], score: 1.5 }
  const event = await storeEvent(workspace, { data, ruleIds: [newId()], depth: 2, causedBy: newId() })
  const answer = await workspace.callAs('operator')<Event>('POST', `${path}/${event.id}/replay`, {
    headers: later,
  })
  t.match(answer, { status: 202, body: { status: 'accepted' } })
  const { id } = answer.body
  t.equal(answer.headers.location, `${path}/${id}`)
  const { acceptedAt, ...replay } = await read(workspace, id)
  t.strictSame(replay, {
    id,
    workspaceId: workspace.id,
    type: event.type,
    eventType: event.type,
    data,
    ruleId: null,
    subscriptionId: null,
    depth: 0,
    causedBy: null,
    replayOf: event.id,
    chosenRules: null,
    crashes: 0,
    status: 'accepted',
    doneAt: null,
    triggered: 0,
    matched: 0,
    suppressed: 0,
    failed: 0,
    continuesAt: null,
    results: [],
  })
  matchLists(t, await workspace.database.auditEntry.findMany({ where: { subject: event.id } }), [
    { action: 'event.replayed', actor: `user:${workspace.users.operator}`, details: { eventId: id } },
  ])
})

t.test('a replay has the same addressee, as long as it exists', async (t) => {
  const workspace = await api.makeWorkspace()
  const other = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const rule = await storeRule(workspace, { isActive: false })
  const { id: subscription } = await database.subscription.create({
    data: {
      id: newId(),
      workspaceId,
      url: 'https://example.org',
      description: '',
      eventTypes: ['rule.updated'],
    },
  })
  const byHand = await storeEvent(workspace, { ruleId: rule.id })
  const delivery = await storeEvent(workspace, addressOf(subscription))
  const replay = async (id: string, house = workspace, headers: Record<string, string> = {}) => {
    const answer = await house.call<Event>('POST', `${path}/${id}/replay`, {
      headers: { ...later, ...headers },
    })
    return { ...statusAndBody(answer), location: String(answer.headers.location) }
  }
  for (const event of [byHand, delivery]) {
    const { addresseeKind, addresseeId: ruleId, type } = event
    for (const headers of [{}, { 'idempotency-key': event.id }]) {
      const { location } = await replay(event.id, workspace, headers)
      t.match((await workspace.call('GET', location)).body, { ruleId, type, replayOf: event.id })
    }
    const replays = await database.event.findMany({ where: { replayOf: event.id } })
    t.strictSame(
      replays.map((row) => [row.addresseeId, row.addresseeKind]),
      Array(2).fill([ruleId, addresseeKind]),
    )
  }
  const missing = refused(404, 'Event not found')
  for (const id of [newId(), 'x', '%00']) t.match(await replay(id), missing)
  t.match(await replay(byHand.id, other), missing)
  await database.rule.delete({ where: { id: rule.id } })
  await database.subscription.delete({ where: { id: subscription } })
  const before = await database.event.count()
  t.match(await replay(byHand.id), refused(404, 'Automation rule not found'))
  t.match(await replay(delivery.id), refused(404, 'Subscription not found'))
  t.equal(await database.event.count(), before)
})

t.test('a replay under an Idempotency-Key happens once', async (t) => {
  const workspace = await api.makeWorkspace()
  const event = await storeEvent(workspace)
  const replay = () =>
    workspace.call<Event>('POST', `${path}/${event.id}/replay`, {
      headers: { ...later, 'idempotency-key': 'once' },
    })
  const [first, second] = [await replay(), await replay()]
  t.equal(first.status, 202)
  t.strictSame(statusAndBody(second), statusAndBody(first))
  t.equal(second.headers['idempotent-replayed'], 'true')
  t.equal(await workspace.database.event.count({ where: { replayOf: event.id } }), 1)
  t.equal(await workspace.database.auditEntry.count(), 1)
})

t.test('events are replayed by a filter, after a dry run has counted them', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const rule = await storeRule(workspace)
  const subscription = await database.subscription.create({
    data: {
      id: newId(),
      workspaceId,
      url: 'https://example.org',
      description: '',
      eventTypes: ['rule.updated'],
    },
  })
  const rows = [
    { acceptedAt: at('2026-01-01'), data: { n: 0 }, ruleIds: [rule.id] },
    { acceptedAt: at('2026-01-02'), data: { n: 1 }, type: 'DEAL_WON' },
    { acceptedAt: at('2026-01-03'), data: { n: 2 }, ruleId: rule.id },
    { acceptedAt: at('2026-01-04'), data: { n: 3 }, ruleId: newId() },
    { acceptedAt: at('2026-01-05'), data: { n: 4 }, doneAt: null },
    { acceptedAt: at('2026-01-06'), data: { n: 5 }, replayOf: newId() },
    { acceptedAt: at('2026-01-07'), data: { n: 6 }, causedBy: newId(), depth: 1 },
    { acceptedAt: at('2026-01-08'), data: { n: 7 }, type: 'rule.updated', ...addressOf(subscription.id) },
    { acceptedAt: at('2026-01-09'), data: { n: 8 }, type: 'rule.updated', ...addressOf(subscription.id) },
    { acceptedAt: at('2026-01-10'), data: { n: 9 }, type: 'rule.updated', ...addressOf(newId()) },
  ]
  const stored: { id: string }[] = []
  for (const row of rows) stored.push(await storeEvent(workspace, row))
  const replay = (body: object) => workspace.callAs('operator')('POST', `${path}/replay`, { body })
  const filters: [filter: object, matched: number][] = [
    [{}, 3],
    [{ eventType: 'DEAL_WON' }, 1],
    [{ eventType: 'DEAL_LOST' }, 0],
    [{ ruleId: rule.id }, 2],
    [{ ruleId: subscription.id }, 2],
    [{ eventType: 'rule.updated' }, 2],
    [{ from: '2026-01-02', to: '2026-01-03' }, 1],
    [{ from: '2026-01-02' }, 2],
  ]
  for (const [filter, matched] of filters)
    t.strictSame(
      statusAndBody(await replay({ filter })),
      { status: 200, body: { matched, dryRun: true } },
      JSON.stringify(filter),
    )
  t.equal(await database.event.count(), rows.length, 'nothing has happened')
  t.equal(await database.auditEntry.count(), 0)

  const answer = await replay({ filter: { to: '2026-02-01' }, dryRun: false })
  t.strictSame(statusAndBody(answer), { status: 202, body: { matched: 3, replayed: 3, nextCursor: null } })
  const replays = await database.event.findMany({
    where: { replayOf: { in: stored.map(({ id }) => id) } },
    orderBy: { id: 'asc' },
  })
  matchLists(
    t,
    replays,
    [0, 1, 2].map((index) => ({
      type: rows[index]?.type ?? 'LEAD_CREATED',
      data: { n: index },
      addresseeId: rows[index]?.ruleId ?? null,
      replayOf: stored[index]?.id,
      doneAt: null,
      depth: 0,
    })),
  )
  t.equal(replays.length, 3)
  matchLists(t, await database.auditEntry.findMany(), [
    { action: 'event.replayed', subject: workspaceId, details: { matched: 3, filter: { to: '2026-02-01' } } },
  ])
  t.strictSame((await replay({ filter: { eventType: 'DEAL_LOST' }, dryRun: false })).body, {
    matched: 0,
    replayed: 0,
    nextCursor: null,
  })
})

t.test(
  'a call replays a thousand events, and its cursor leads to the others, without repetitions',
  async (t) => {
    const workspace = await api.makeWorkspace()
    await api.app.database.system.$executeRaw(Prisma.sql`
    INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
    SELECT ('018f0000-' || to_char(n, 'FM0000') || '-7000-8000-' || left(md5(${workspace.id} || n), 12))::uuid,
           ${workspace.id}::uuid, 'LEAD_CREATED', json_build_object('n', n), now(), now()
    FROM generate_series(1, 1100) AS n`)
    const replay = (cursor?: string) =>
      workspace.call<{ matched: number; replayed: number; nextCursor: string | null }>(
        'POST',
        `${path}/replay`,
        {
          body: { filter: {}, dryRun: false, ...(cursor === undefined ? {} : { cursor }) },
        },
      )
    const first = (await replay()).body
    t.match(first, { matched: 1_100, replayed: 1_000, nextCursor: String })
    const dry = { filter: {}, cursor: first.nextCursor }
    t.strictSame((await workspace.call('POST', `${path}/replay`, { body: dry })).body, {
      matched: 100,
      dryRun: true,
    })
    t.strictSame((await replay(first.nextCursor ?? '')).body, {
      matched: 100,
      replayed: 100,
      nextCursor: null,
    })
    const replays = await workspace.database.event.findMany({
      where: { replayOf: { not: null } },
      select: { replayOf: true, data: true },
      orderBy: { id: 'asc' },
    })
    t.equal(new Set(replays.map(({ replayOf }) => replayOf)).size, 1_100)
    t.strictSame(
      replays.map(({ data }) => (data as { n: number }).n),
      Array.from({ length: 1_100 }, (_, index) => index + 1),
      'the oldest first',
    )
  },
)

t.test('matches are counted up to a hundred thousand, and more are marked as more', async (t) => {
  const workspace = await api.makeWorkspace()
  const add = (first: number, last: number) =>
    api.app.database.system.$executeRaw(Prisma.sql`
      INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
      SELECT gen_random_uuid(), ${workspace.id}::uuid, 'LEAD_CREATED', '{}', now(), now()
      FROM generate_series(${first}::int, ${last}::int)`)
  const replay = () => workspace.call('POST', `${path}/replay`, { body: { filter: {} } })
  await add(1, 100_000)
  t.strictSame((await replay()).body, { matched: 100_000, dryRun: true })
  await add(100_001, 100_002)
  t.strictSame((await replay()).body, { matched: 100_000, atLeast: true, dryRun: true })
})

t.test('all faults of a filter are reported', async (t) => {
  const { call } = await api.makeWorkspace()
  const cases: [body: unknown, fields: string[]][] = [
    [{}, ['filter']],
    [
      { filter: { ruleId: 'x', from: 'x', to: 'x', eventType: 'x' } },
      ['filter.eventType', 'filter.from', 'filter.ruleId', 'filter.to'],
    ],
    [{ filter: { status: 'done' } }, ['filter.status']],
    [{ filter: {}, cursor: 'x' }, ['cursor']],
    [{ filter: {}, cursor: 7, dryRun: 'no', x: 1 }, ['cursor', 'dryRun', 'x']],
  ]
  for (const [body, fields] of cases) {
    const answer = await call<{ errors: { field: string }[] }>('POST', `${path}/replay`, { body })
    t.equal(answer.status, 422, JSON.stringify(body))
    t.strictSame(answer.body.errors.map(({ field }) => field).sort(), fields)
  }
  t.equal((await call('POST', `${path}/replay`, { body: '[]' })).status, 400)
  t.equal((await call('GET', `${path}/replay`)).status, 405)
})

t.test('viewers read, operators replay, and a workspace sees its own events only', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const event = await storeEvent(workspace)
  for (const role of roles) {
    const call = workspace.callAs(role)
    t.equal((await call('GET', path)).status, 200)
    t.equal((await call('GET', `${path}/${event.id}`)).status, 200)
    const isAllowed = role !== 'viewer'
    const one = await call('POST', `${path}/${event.id}/replay`, { headers: later })
    t.equal(one.status, isAllowed ? 202 : 403, role)
    const bulk = await call('POST', `${path}/replay`, { body: { filter: {} } })
    t.equal(bulk.status, isAllowed ? 200 : 403, role)
  }
  t.strictSame(await list(other), { events: [], nextCursor: null })
  const bulk = await other.call('POST', `${path}/replay`, { body: { filter: {}, dryRun: false } })
  t.match(bulk.body, { matched: 0, replayed: 0 })
})
