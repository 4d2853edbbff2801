import type { TriggerResult } from '@automation/client'
import t from 'tap'
import { createClient } from '../src/create-client.js'
import type { AcceptedRun } from '../src/run.js'
import { openFlakyServer, type Turn } from './fixtures/flaky-server.js'

const result: TriggerResult = { triggered: 0, matched: 0, results: [] }
const done: Turn = { status: 200, headers: { 'content-location': '/api/events/e1' }, body: result }
const accepted: Turn = {
  status: 202,
  headers: { location: '/api/events/e2', 'idempotent-replayed': 'true' },
  body: { id: 'e2', status: 'accepted' },
}

t.test('`status` distinguishes a run that is done from one that is accepted', async (t) => {
  const { baseUrl } = await openFlakyServer(t, [done, accepted])
  const client = createClient({ baseUrl })
  const first = await client.trigger('LEAD_CREATED', {})
  if (first.status !== 'done') throw new Error('it is done')
  t.equal(first.triggered, 0, 'the type narrows, too')
  t.strictSame(first, {
    ...result,
    status: 'done',
    id: 'e1',
    eventId: 'e1',
    location: '/api/events/e1',
    isReplayed: false,
  })
  const second = (await client.trigger('LEAD_CREATED', {})) as AcceptedRun
  t.strictSame(second, {
    id: 'e2',
    eventId: 'e2',
    status: 'accepted',
    location: '/api/events/e2',
    isReplayed: true,
  })
})

t.test('the API gets the time to wait in the Prefer header', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, [], done)
  const client = createClient({ baseUrl })
  await client.trigger('LEAD_CREATED', {})
  await client.trigger('LEAD_CREATED', {}, { wait: 5 })
  await client.rules.execute('r1', {}, { async: true })
  await client.events.replay('e1', { wait: 0 })
  t.same(
    asked.map(({ headers }) => headers.prefer),
    [undefined, 'wait=5', 'respond-async', 'wait=0'],
  )
})

t.test('a replay is for all rules, or for those that it names', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, [], done)
  const client = createClient({ baseUrl })
  await client.events.replay('e1')
  await client.events.replay('e1', { rules: ['r1', 'r2'], async: true })
  t.same(
    asked.map(({ body, headers }) => [body, headers.prefer]),
    [
      ['{}', undefined],
      ['{"rules":["r1","r2"]}', 'respond-async'],
    ],
  )
})

t.test('the timeout of an attempt is added to the time that the API waits', async (t) => {
  const { baseUrl } = await openFlakyServer(t, [], 'hang')
  const client = createClient({ baseUrl, timeoutMs: 100, retries: 0 })
  const begin = performance.now()
  await t.rejects(client.trigger('LEAD_CREATED', {}, { wait: 1 }), { message: /within 1100 ms/ })
  t.ok(performance.now() - begin >= 1_050)
})

t.test('waitUntilDone looks until the event is done', async (t) => {
  const statuses = ['accepted', 'running', 'done'].map((status) => ({ status: 200, body: { status } }))
  const { baseUrl, asked } = await openFlakyServer(t, statuses)
  t.match(await createClient({ baseUrl }).events.waitUntilDone('e1'), { status: 'done' })
  t.equal(asked.length, 3)
})

t.test('waitUntilDone ends after its timeout, or when its signal is aborted', async (t) => {
  const { baseUrl } = await openFlakyServer(t, [], { status: 200, body: { status: 'waiting' } })
  const { executions } = createClient({ baseUrl })
  await t.rejects(executions.waitUntilDone('x1', { timeoutMs: 250 }), { message: 'Not done within 250 ms' })
  const reason = new Error('enough')
  const ending = new AbortController()
  const waiting = executions.waitUntilDone('x1', { signal: ending.signal })
  setImmediate(() => ending.abort(reason))
  await t.rejects(waiting, reason)
})

t.test('the token function is called for each attempt', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, ['cut'])
  let count = 0
  const client = createClient({ baseUrl, token: async () => `token-${++count}` })
  await client.rules.health()
  t.same(
    asked.map(({ headers }) => headers.authorization),
    ['Bearer token-1', 'Bearer token-2'],
  )
})
