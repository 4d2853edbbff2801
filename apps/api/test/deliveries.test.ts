import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'
import { loadPageReceiver } from './fixtures/page-receiver.js'
import { startWorker } from './fixtures/worker.js'

interface Received {
  path: string
  headers: Record<string, unknown>
  body: Buffer
}
interface Delivery {
  id: string
  eventType: string
  status: string
  attempts: number
  lastStatusCode: number | null
  error: string | null
}

const subscriptions = '/api/developer/v1/subscriptions'
const secrets = '/api/developer/v1/signing-secrets'
const directory = t.testdir({ mail: {} })
const { isFromThem } = await loadPageReceiver(directory)

/** What the receiver answers at a path, one after the other; then 204. */
const answers: Record<string, number[]> = {}
const received: Received[] = []
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const path = request.url ?? ''
  received.push({ path, headers: request.headers, body: Buffer.concat(chunks) })
  response.writeHead(answers[path]?.shift() ?? 204).end()
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
t.teardown(() => receiver.close())
const { port } = receiver.address() as AddressInfo
// Most of the time is spent waiting for the sweeper, which is one for all.
t.jobs = 4

// The worker takes what it may call from the environment.
process.env.OUTBOUND_ALLOW = '127.0.0.0/8'
process.env.OUTBOUND_PORTS = String(port)
const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL, QUEUE_PREFIX: `{${newId()}}` })
await startWorker(t, api.config, directory)

async function subscribe({ call }: Workspace, path: string, ...eventTypes: string[]) {
  const url = `http://127.0.0.1:${port}${path}`
  const { body } = await call<{ id: string; secret: string }>('POST', subscriptions, {
    body: { url, eventTypes },
  })
  return body
}

/** Waits for so many at a path. */
async function receive(path: string, count: number): Promise<Received[]> {
  for (;;) {
    const found = received.filter((one) => one.path === path)
    if (found.length >= count) return found
    await delay(20)
  }
}

const isOver = new Set(['succeeded', 'failed', 'cancelled'])

/** Waits until none is under way any more. */
async function settle({ call }: Workspace, id: string, count: number): Promise<Delivery[]> {
  for (;;) {
    const { data } = (await call<{ data: Delivery[] }>('GET', `${subscriptions}/${id}/deliveries`)).body
    if (data.length >= count && data.every(({ status }) => isOver.has(status))) return data
    await delay(20)
  }
}

t.test(
  'a change is delivered with a signature, and again with the same id after a refusal',
  { buffered: true },
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { id, secret } = await subscribe(workspace, '/changes', 'rule.created')
    answers['/changes'] = [503]
    const { body: rule } = await workspace.call<Rule>('POST', rules, { body: ruleBody() })
    const both = await receive('/changes', 2)
    for (const { headers, body } of both) {
      t.ok(isFromThem(secret, headers, body))
      t.notOk(isFromThem(secret, headers, Buffer.concat([body, Buffer.from(' ')])))
      t.equal(headers['idempotency-key'], headers['webhook-id'])
    }
    t.equal(both[0]?.headers['webhook-id'], both[1]?.headers['webhook-id'])
    t.strictSame(both[0]?.body, both[1]?.body)
    const payload = JSON.parse(String(both[0]?.body)) as object
    t.match(payload, { type: 'rule.created', timestamp: String, data: { ruleId: rule.id, name: 'A rule' } })
    const deliveries = await settle(workspace, id, 1)
    matchLists(t, deliveries, [
      { eventType: 'rule.created', status: 'succeeded', attempts: 2, lastStatusCode: 204, error: null },
    ])
    t.equal(both[0]?.headers['webhook-id'], `${deliveries[0]?.id}:0`)
  },
)

t.test(
  'one delivery, a range of a subscription, and all that failed are delivered again',
  { buffered: true },
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call } = workspace
    const { id, secret } = await subscribe(workspace, '/again', 'rule.created')
    const other = await subscribe(workspace, '/elsewhere', 'rule.created')
    answers['/again'] = [400]
    const makeRule = () => call<Rule>('POST', rules, { body: ruleBody() })
    const { body: first } = await makeRule()
    const [failed] = await settle(workspace, id, 1)
    t.match(failed, { status: 'failed', lastStatusCode: 400 })

    const filter = { subscriptionId: id }
    t.match(await call('POST', '/api/executions/retry', { body: { filter, dryRun: false } }), {
      status: 202,
      body: { retried: 1 },
    })
    const [refused, retried] = await receive('/again', 2)
    t.equal(retried?.headers['webhook-id'], refused?.headers['webhook-id'], 'a retry keeps the id')
    await makeRule()
    const both = await settle(workspace, id, 2)

    t.equal((await call('POST', `/api/events/${both.at(-1)?.id}/replay`)).status, 200)
    const again = (await receive('/again', 4)).at(-1)
    t.ok(again && isFromThem(secret, again.headers, again.body))
    t.match(JSON.parse(String(again?.body)), { type: 'rule.created', data: { ruleId: first.id } })
    t.not(
      again?.headers['webhook-id'],
      refused?.headers['webhook-id'],
      'a receiver that knows the first takes it',
    )

    const range = { body: { filter: { ...filter, from: '2020-01-01' }, dryRun: false } }
    t.match(await call('POST', '/api/events/replay', range), {
      status: 202,
      body: { matched: 2, replayed: 2 },
    })
    t.equal((await receive('/again', 6)).length, 6, 'what was delivered again is not delivered a third time')
    t.equal((await settle(workspace, other.id, 2)).length, 2, 'and nothing goes to others')
    const stranger = await api.makeWorkspace()
    t.equal((await stranger.call('POST', `/api/events/${both[0]?.id}/replay`)).status, 404)
    t.match((await stranger.call('POST', '/api/events/replay', range)).body, { matched: 0, replayed: 0 })
  },
)

t.test('a ping is delivered, and not repeated after a permanent refusal', { buffered: true }, async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, secret } = await subscribe(workspace, '/pings', 'rule.created')
  const ping = async () =>
    (await workspace.call<{ id: string }>('POST', `${subscriptions}/${id}/test`)).body.id
  const first = await ping()
  matchLists(t, await settle(workspace, id, 1), [
    { id: first, eventType: 'subscription.ping', status: 'succeeded' },
  ])
  answers['/pings'] = [410]
  const second = await ping()
  matchLists(t, await settle(workspace, id, 2), [
    { id: second, status: 'failed', attempts: 1, lastStatusCode: 410 },
    { id: first },
  ])
  const calls = await receive('/pings', 2)
  t.equal(calls.length, 2)
  t.ok(calls.every(({ headers, body }) => isFromThem(secret, headers, body)))
})

t.test('a failed execution is published, and a failed delivery is not', { buffered: true }, async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await subscribe(workspace, '/failures', 'execution.failed')
  answers['/failures'] = [400]
  const actions = [{ type: 'CREATE_TASK', config: { title: '{{missing}}' } }]
  const { body: rule } = await workspace.call<Rule>('POST', rules, { body: ruleBody({ actions }) })
  await workspace.call('POST', `${rules}/${rule.id}/execute`, { body: { data: {} } })
  const [failure] = await receive('/failures', 1)
  t.match(JSON.parse(String(failure?.body)), {
    type: 'execution.failed',
    data: { ruleId: rule.id, error: String },
  })
  matchLists(t, await settle(workspace, id, 1), [
    { eventType: 'execution.failed', status: 'failed', lastStatusCode: 400 },
  ])
  t.equal(await workspace.database.event.count({ where: { addresseeId: id } }), 1)
})

t.test(
  'during a change of secrets both sign, and a deleted subscription gets no more calls',
  { buffered: true },
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { id, secret } = await subscribe(workspace, '/exchange', 'rule.created')
    const body = { provider: id, direction: 'outgoing' }
    const made = await workspace.call<{ secret: string }>('POST', secrets, { body })
    answers['/exchange'] = Array(100).fill(503)
    await workspace.call('POST', rules, { body: ruleBody() })
    const [first] = await receive('/exchange', 1)
    for (const one of [secret, made.body.secret])
      t.ok(isFromThem(one, first?.headers ?? {}, first?.body ?? ''))
    await workspace.call('DELETE', `${subscriptions}/${id}`)
    const read = () => workspace.database.execution.findFirst({ where: { handlerId: id } })
    // A call that is under way may have to come to its end first.
    while ((await read())?.dueAt !== null) await delay(20)
    t.match(await read(), { status: 'cancelled' })
  },
)
