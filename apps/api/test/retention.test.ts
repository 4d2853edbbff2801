import { newId, type WorkspaceDatabase } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { rules, startApi, type Workspace } from './fixtures/api.js'
import { countAll, storeEvent, storeExecution, storeRule } from './fixtures/history.js'

const api = await startApi(t)

/** As a worker does when they are old (remove-history.ts of the ledger): an event goes with all of its executions. */
async function removeEvents(database: WorkspaceDatabase, ids: string[]): Promise<void> {
  await database.execution.deleteMany({ where: { eventId: { in: ids } } })
  await database.event.deleteMany({ where: { id: { in: ids } } })
}

async function storeHistory(workspace: Workspace, ruleId: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const event = await storeEvent(workspace, {
      ruleIds: [ruleId],
      acceptedAt: new Date(Date.now() - 1_000 * index),
    })
    await storeExecution(workspace, event, ruleId, { status: index % 2 === 0 ? 'succeeded' : 'failed' })
    ids.push(event.id)
  }
  return ids
}

t.test('an admin sets the days of retention, and can read them', async (t) => {
  const workspace = await api.makeWorkspace()
  const path = `/api/developer/v1/workspaces/${workspace.id}`
  const patch = (retentionDays: unknown, role: 'admin' | 'editor' = 'admin') =>
    workspace.callAs(role)<{ errors: object[] }>('PATCH', path, { body: { retentionDays } })
  t.match((await workspace.callAs('viewer')('GET', path)).body, { retentionDays: null })
  for (const days of [1, 3_650, 3_650, null, 90]) {
    t.match(await patch(days), { status: 200, body: { retentionDays: days, autoPauseAfter: null } })
    t.match((await workspace.callAs('viewer')('GET', path)).body, { retentionDays: days })
  }
  const paused = await workspace.call('PATCH', path, { body: { autoPauseAfter: 5 } })
  t.match(paused.body, { autoPauseAfter: 5, retentionDays: 90 }, 'what is not sent stays')
  for (const days of [0, 3_651, -1, 1.5, '30', true, [], {}]) {
    const { status, body } = await patch(days)
    matchLists(
      t,
      { status, body },
      { status: 422, body: { errors: [{ field: 'retentionDays', message: String }] } },
    )
    t.equal(body.errors.length, 1, `one fault: ${JSON.stringify(days)}`)
  }
  t.equal((await patch(5, 'editor')).status, 403)
  const entries = await workspace.database.auditEntry.findMany({
    where: { action: 'workspace.updated' },
    orderBy: { id: 'asc' },
  })
  t.strictSame(
    entries.map(({ details }) => details),
    [
      { retentionDays: 1 },
      { retentionDays: 3_650 },
      { retentionDays: null },
      { retentionDays: 90 },
      { autoPauseAfter: 5 },
    ],
  )
})

t.test('a workspace may be created with its days of retention', async (t) => {
  const workspace = await api.makeWorkspace()
  const create = (fields: object) =>
    workspace.call<{ id: string; retentionDays: number | null }>('POST', '/api/developer/v1/workspaces', {
      body: { name: 'Another', ...fields },
    })
  t.match(await create({ retentionDays: 7 }), { status: 201, body: { retentionDays: 7 } })
  t.match(await create({}), { status: 201, body: { retentionDays: null } })
  t.match(await create({ retentionDays: 0 }), { status: 422 })
})

t.test('no route finds removed history', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: ruleId } = await storeRule(workspace)
  const byHand = await storeEvent(workspace, { ruleId, ruleIds: [ruleId] })
  const run = await storeExecution(workspace, byHand, ruleId, { status: 'failed' })
  await removeEvents(workspace.database, [byHand.id])
  const event = { status: 404, body: { error: 'Event not found' } }
  const execution = { status: 404, body: { error: 'Execution not found' } }
  t.match(await workspace.call('GET', `/api/events/${byHand.id}`), event)
  t.match(await workspace.call('POST', `/api/events/${byHand.id}/replay`), event)
  t.match(await workspace.call('GET', `/api/executions/${run.id}`), execution)
  t.match(await workspace.call('GET', `/api/executions/${run.id}?explain=true`), execution)
  t.match(await workspace.call('POST', `/api/executions/${run.id}/retry`), execution)
})

t.test('a list continues after rows that were removed meanwhile, without repetitions', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: ruleId } = await storeRule(workspace)
  const ids = await storeHistory(workspace, ruleId, 9)
  interface Page {
    events?: { id: string }[]
    executions?: { eventId: string }[]
    nextCursor: string | null
  }
  const read = async (kind: string, cursor: string | null) =>
    (await workspace.call<Page>('GET', `/api/${kind}?limit=3${cursor ? `&cursor=${cursor}` : ''}`)).body
  const eventIdsOf = ({ events = [], executions = [] }: Page) => [
    ...events.map(({ id }) => id),
    ...executions.map(({ eventId }) => eventId),
  ]
  const first = { events: await read('events', null), executions: await read('executions', null) }
  // The row behind which the next page begins is among them.
  await removeEvents(workspace.database, [ids[2], ids[3], ids[8]] as string[])
  for (const kind of ['events', 'executions'] as const) {
    t.same(eventIdsOf(first[kind]), ids.slice(0, 3))
    const second = await read(kind, first[kind].nextCursor)
    t.same(eventIdsOf(second), ids.slice(4, 7))
    const third = await read(kind, second.nextCursor)
    t.same(eventIdsOf(third), [ids[7]])
    t.equal(third.nextCursor, null)
  }
})

t.test('health and attention count all executions, including removed ones', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: ruleId } = await storeRule(workspace)
  const ids = await storeHistory(workspace, ruleId, 6)
  await countAll(workspace)
  const lastFailureAt = new Date()
  await workspace.database.ruleCounters.updateMany({ data: { lastFailureAt, lastError: 'It broke' } })
  const readAll = async () => ({
    health: (await workspace.call('GET', `${rules}/health`)).body,
    attention: (await workspace.call('GET', `${rules}/attention`)).body,
    rule: (await workspace.call('GET', `${rules}/${ruleId}`)).body,
  })
  const before = await readAll()
  t.match(before.health, { totalExecutions: 6, successfulExecutions: 3, failedExecutions: 3 })
  matchLists(t, before.attention, { rules: [{ id: ruleId }] })
  await removeEvents(workspace.database, ids)
  t.same(await readAll(), before)
})

t.test('a receipt outlives its events', async (t) => {
  const workspace = await api.makeWorkspace()
  const event = await storeEvent(workspace)
  await workspace.database.webhookReceipt.create({
    data: {
      id: newId(),
      workspaceId: workspace.id,
      provider: 'billing',
      key: 'evt_1',
      bodyHash: Buffer.alloc(32),
      secretId: newId(),
      eventTypes: ['WEBHOOK_RECEIVED'],
      eventIds: [event.id],
    },
  })
  await removeEvents(workspace.database, [event.id])
  matchLists(t, await workspace.call('GET', '/api/developer/v1/webhook-receipts?provider=billing'), {
    status: 200,
    body: { data: [{ idempotencyKey: 'evt_1', eventIds: [event.id] }] },
  })
})

t.test('a repeated request with a key gets the same response after its event was removed', async (t) => {
  const workspace = await api.makeWorkspace()
  const send = () =>
    workspace.call<{ id: string }>('POST', `${rules}/trigger/LEAD_CREATED`, {
      body: { data: {} },
      headers: { 'idempotency-key': 'once', prefer: 'respond-async' },
    })
  const first = await send()
  t.equal(first.status, 202)
  await removeEvents(workspace.database, [first.body.id])
  const again = await send()
  t.match(again, { status: 202, headers: { 'idempotent-replayed': 'true' }, body: first.body })
  t.equal(await workspace.database.event.count(), 0)
})
