import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi } from './fixtures/api.js'
import { makeSender, nowText, provider } from './fixtures/sender.js'
import { startWorker } from './fixtures/worker.js'

const subscriptions = '/api/developer/v1/subscriptions'
const directory = t.testdir({ mail: {} })

const received: { type: string; data: Record<string, unknown> }[] = []
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  received.push(JSON.parse(String(Buffer.concat(chunks))))
  response.writeHead(204).end()
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
t.teardown(() => receiver.close())
const { port } = receiver.address() as AddressInfo

// The worker takes what it may call from the environment.
process.env.OUTBOUND_ALLOW = '127.0.0.0/8'
process.env.OUTBOUND_PORTS = String(port)
const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })
await startWorker(t, api.config, directory)

async function receive(type: string) {
  for (;;) {
    const found = received.find((one) => one.type === type)
    if (found) return found
    await delay(20)
  }
}

t.test('subscriptions get changes, pings and refused webhooks without a sweeper', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const { deliver } = await makeSender(api, workspace)
  await api.app.database.system.$transaction(async (transaction) => {
    // The lock of the sweeper, so that no worker sweeps.
    await transaction.$queryRaw`SELECT 1 AS locked FROM pg_advisory_xact_lock(7701202611)`
    const eventTypes = ['rule.created', 'rule.deleted', 'receipt.rejected']
    const body = { url: `http://127.0.0.1:${port}/`, eventTypes }
    const { body: subscription } = await call<{ id: string }>('POST', subscriptions, { body })

    const { body: rule } = await call<Rule>('POST', rules, { body: ruleBody() })
    t.match(await receive('rule.created'), { data: { ruleId: rule.id, name: 'A rule' } })
    await call('DELETE', `${rules}/${rule.id}`)
    t.match(await receive('rule.deleted'), { data: { ruleId: rule.id } })
    await call('POST', `${subscriptions}/${subscription.id}/test`)
    t.match(await receive('subscription.ping'), { data: { subscriptionId: subscription.id } })
    t.equal((await deliver({ timestamp: nowText(-1_000) })).status, 401)
    t.match(await receive('receipt.rejected'), { data: { provider, reason: 'timestamp' } })
    t.equal(received.length, 4)
  })
})
