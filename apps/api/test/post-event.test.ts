import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

interface Outcome {
  id: string
  status?: string
  triggered: number
  matched: number
  results: { status: string }[]
}

interface BatchAnswer {
  accepted: number
  results: {
    status: string
    id?: string
    replayed?: boolean
    errors?: { field: string; message: string }[]
  }[]
}

const directory = t.testdir({ mail: {} })
const api = await startApi(t, {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
})
await startWorker(t, api.config, directory)

const path = '/api/events'
const trigger = `${rules}/trigger/LEAD_CREATED`
const later = { prefer: 'respond-async' }
const hot = [{ field: 'score', operator: 'greater_than', value: 80 }]
const lead = { eventType: 'LEAD_CREATED', data: { score: 90, name: 'Ada' } }

async function makeOwnWorkspace() {
  const workspace = await api.makeWorkspace()
  const post = <Body = Outcome>(body: unknown, headers = {}, to = path) =>
    workspace.call<Body>('POST', to, { body, headers })
  return { ...workspace, post, countEvents: () => workspace.database.event.count() }
}

t.test('a posted event has its id in the body, and the number of rules that matched', async (t) => {
  const { call, post } = await makeOwnWorkspace()
  await call('POST', rules, { body: ruleBody({ conditions: hot }) })
  await call('POST', rules, { body: ruleBody({ conditions: [{ not: hot[0] }] }) })
  const { status, headers, body } = await post(lead)
  t.equal(status, 200)
  matchLists(t, body, {
    triggered: 2,
    matched: 1,
    results: [{ status: 'succeeded' }, { status: 'not_matched' }],
  })
  t.equal(headers['content-location'], `/api/events/${body.id}`)
  t.match((await call('GET', `/api/events/${body.id}`)).body, {
    id: body.id,
    type: 'LEAD_CREATED',
    data: lead.data,
    triggered: 2,
    matched: 1,
  })
  const asked = await post({ type: 'LEAD_CREATED', data: {} }, later)
  t.match(asked, {
    status: 202,
    body: { status: 'accepted' },
    headers: { 'preference-applied': 'respond-async' },
  })
  t.equal(asked.headers.location, `/api/events/${asked.body.id}`)
})

t.test('a dry run is for viewers, and stores no event', async (t) => {
  const { call, callAs, countEvents } = await makeOwnWorkspace()
  await call('POST', rules, { body: ruleBody({ conditions: hot }) })
  const body = { ...lead, dryRun: true }
  const answer = await callAs('viewer')<Outcome>('POST', `${path}?explain=true`, { body })
  t.match(answer, { status: 200, body: { triggered: 1, matched: 1, dryRun: true, results: [{ trace: {} }] } })
  t.notOk('id' in answer.body)
  t.equal((await callAs('viewer')('POST', path, { body: lead })).status, 403)
  t.equal(await countEvents(), 0)
})

t.test('one key stands for one event on each route that posts events', async (t) => {
  const { post, countEvents } = await makeOwnWorkspace()
  const key = { 'idempotency-key': 'one' }
  const first = await post(lead, key)
  t.equal(first.status, 200)
  const replayed = { 'idempotent-replayed': 'true' }
  const { data } = lead
  const again = [
    await post({ ...lead, idempotencyKey: 'one' }),
    await post({ type: lead.eventType, data: { name: 'Ada', score: 90 } }, key),
    await post({ ...lead, dryRun: false, idempotencyKey: 'one' }, key),
    await post({ dryRun: false, data }, key, trigger),
  ]
  for (const [index, { status, headers, body }] of again.entries()) {
    t.match({ status, headers }, { status: 200, headers: replayed }, String(index))
    t.match(body, index === 3 ? { ...first.body, id: undefined } : first.body, String(index))
  }
  const batches = [
    await post<BatchAnswer>({ events: [{ ...lead, idempotencyKey: 'one' }] }, {}, `${path}/batch`),
    await post<BatchAnswer>({ events: [{ data, idempotencyKey: 'one' }] }, {}, `${trigger}/batch`),
  ]
  for (const { body } of batches)
    t.strictSame(body.results, [{ status: 'accepted', id: first.body.id, replayed: true }])
  t.equal(await countEvents(), 1)
  for (const other of [
    { ...lead, data: {} },
    { ...lead, eventType: 'DEAL_WON' },
  ])
    t.match(await post(other, key), { status: 422, body: { errors: [{ field: 'Idempotency-Key' }] } })
})

t.test('a body that names no type, or two, or two keys, is refused', async (t) => {
  const { post, countEvents } = await makeOwnWorkspace()
  const faults: [body: object, field: string, message: string | RegExp][] = [
    [{ data: {} }, 'eventType', 'Required'],
    [{ ...lead, type: 'DEAL_WON' }, 'type', 'Must be the same as eventType'],
    [{ ...lead, idempotencyKey: 'two' }, 'idempotencyKey', 'Must be the same as the header Idempotency-Key'],
    [{ ...lead, idempotencyKey: '' }, 'idempotencyKey', /./],
    [{ ...lead, trigger: 'LEAD_CREATED' }, 'trigger', /Unknown field/],
    [{ eventType: 'LEAD_CREATED' }, 'data', 'Required'],
  ]
  for (const [body, field, message] of faults)
    t.match(await post(body, { 'idempotency-key': 'one' }), {
      status: 422,
      body: { errors: [{ field, message }] },
    })
  t.match(await post({ eventType: 'LEAD_CREATE', data: {} }), {
    status: 400,
    body: { error: 'Invalid trigger type' },
    headers: { link: /LEAD_CREATED/ },
  })
  t.match(await post({ ...lead, type: lead.eventType }, later), { status: 202 }, 'twice the same')
  t.equal(await countEvents(), 1)
})

t.test('a repeat gets its response although the type of the event was deleted', async (t) => {
  const { call, post } = await makeOwnWorkspace()
  await call('POST', '/api/event-types', { body: { name: 'PAYMENT_FAILED' } })
  const body = { eventType: 'PAYMENT_FAILED', data: {}, idempotencyKey: 'one' }
  const first = await post(body)
  const batched = { events: [body, { ...body, idempotencyKey: 'two' }] }
  t.equal((await call('DELETE', '/api/event-types/PAYMENT_FAILED')).status, 204)
  t.match(await post(body), { status: 200, body: { id: first.body.id } })
  t.equal((await post({ ...body, idempotencyKey: 'two' })).status, 400)
  const { results } = (await post<BatchAnswer>(batched, {}, `${path}/batch`)).body
  matchLists(t, results, [
    { status: 'accepted', id: first.body.id, replayed: true },
    { status: 'refused', errors: [{ field: 'events[1].eventType', message: /^Must be an event type/ }] },
  ])
})

t.test('of the unknown types of a batch, the first few are explained', async (t) => {
  const { post } = await makeOwnWorkspace()
  const events = Array.from({ length: 7 }, (_, n) => ({ eventType: `LEAD_CREATED${n}`, data: {} }))
  const { results } = (await post<BatchAnswer>({ events }, {}, `${path}/batch`)).body
  const messages = (results as { errors: { message: string }[] }[]).map(
    ({ errors }) => errors[0]?.message ?? '',
  )
  t.equal(messages.filter((message) => message.includes('Nearest: LEAD_CREATED')).length, 5)
  t.equal(messages.at(-1), 'Must be an event type.')
})

t.test('a batch has events of several types, and refuses those with a fault alone', async (t) => {
  const { call, post, database } = await makeOwnWorkspace()
  await call('POST', '/api/event-types', { body: { name: 'PAYMENT_FAILED' } })
  const events = [
    lead,
    { type: 'DEAL_WON', data: { n: 1 } },
    { data: {} },
    { eventType: 'LEAD_CREATE', data: {} },
    { eventType: 'PAYMENT_FAILED', data: {} },
    { eventType: 'DEAL_WON', type: 'LEAD_CREATED', data: {} },
    'no event',
    { eventType: 'LEAD_CREATED', data: { text: '\0' } },
  ]
  const { status, body } = await post<BatchAnswer>({ events }, {}, `${path}/batch`)
  t.equal(status, 202)
  t.equal(body.accepted, 3)
  matchLists(t, body.results, [
    { status: 'accepted' },
    { status: 'accepted' },
    { status: 'refused', errors: [{ field: 'events[2].eventType', message: 'Required' }] },
    { status: 'refused', errors: [{ field: 'events[3].eventType', message: /Nearest: LEAD_CREATED/ }] },
    { status: 'accepted' },
    { status: 'refused', errors: [{ field: 'events[5].type' }] },
    { status: 'refused', errors: [{ field: 'events[6]' }] },
    { status: 'refused', errors: [{ field: 'events[7].data.text' }] },
  ])
  const stored = await database.event.findMany({ orderBy: { id: 'asc' }, select: { id: true, type: true } })
  t.strictSame(
    stored.map(({ type }) => type),
    ['LEAD_CREATED', 'DEAL_WON', 'PAYMENT_FAILED'],
  )
  t.match(await post({ events: [lead] }, { 'idempotency-key': 'one' }, `${path}/batch`), { status: 400 })
})
