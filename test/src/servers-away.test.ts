import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { startRunningProduct, until } from './fixtures/product.js'
import { makeWebhookSender } from './fixtures/webhook-sender.js'

const house = await startRunningProduct({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535' } })
const { product, call, workspaceId, database } = house
t.teardown(() => house.stop())

const own = database.forWorkspace(workspaceId)
const trigger = (prefer = 'wait=5') =>
  call('POST', '/api/automation-rules/trigger/LEAD_CREATED', { data: { name: 'Ada' } }, { prefer })
const probe = async (path: string) => (await fetch(`${product.apis[0]?.baseUrl}${path}`)).status

const sender = await makeWebhookSender(house, 'provider')
/** Signed and delivered once more. */
const deliver = (id: string) => sender.deliver(product.apis[0]?.baseUrl ?? '', { id, body: '{}' })

await call('POST', '/api/automation-rules', {
  name: 'Task',
  trigger: 'LEAD_CREATED',
  actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
})

t.test('without Redis events are accepted, and run when it is back', async (t) => {
  product.redis?.kill('SIGKILL')
  await product.redis?.exited
  t.equal((await trigger('respond-async')).status, 202)
  const patient = await trigger('wait=1')
  t.equal(patient.status, 202, 'who waits is told where the outcome will be')
  t.equal((await call('GET', '/api/automation-rules')).status, 200, 'and reading goes on')
  t.match(await deliver('without-redis'), { status: 202 }, 'webhooks are accepted')
  t.match(await deliver('without-redis'), { status: 200, body: { deduplicated: true } }, 'and known again')
  t.equal(await probe('/readyz'), 503)
  t.equal(await probe('/healthz'), 200)

  await product.restartRedis()
  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  t.equal(await own.task.count(), 2)
  t.match((await call('GET', `/api/events/${patient.body.id}`)).body, { status: 'done', triggered: 1 })
  await until(async () => (await trigger()).status === 200)
  await until(async () => (await probe('/readyz')) === 200)
})

t.test('without Postgres nothing is accepted: 503 and Retry-After; then everything goes on', async (t) => {
  product.postgres?.kill('SIGKILL')
  await product.postgres?.exited
  const paths: [string, string, unknown?][] = [
    ['GET', '/api/automation-rules'],
    ['POST', '/api/automation-rules/trigger/LEAD_CREATED', { data: {} }],
    [
      'POST',
      '/api/automation-rules',
      { name: 'x', trigger: 'LEAD_CREATED', actions: [{ type: 'CREATE_TASK', config: { title: 't' } }] },
    ],
    ['GET', '/api/automation-rules/health'],
  ]
  for (const [method, path, body] of paths) {
    const answer = await call(method, path, body)
    t.equal(answer.status, 503, `${method} ${path}`)
    t.same(answer.body, { error: 'Service temporarily unavailable' })
    t.equal(answer.headers.get('retry-after'), '1')
  }
  t.match(await deliver('without-postgres'), { status: 503 })
  t.equal(await probe('/readyz'), 503)
  t.equal(await probe('/healthz'), 200)

  await product.restartPostgres()
  await until(async () => (await trigger()).status === 200)
  t.equal(await probe('/readyz'), 200)
  t.match(await deliver('without-postgres'), { status: 202 }, 'it was not stored then')
  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
})

t.test('an API that is asked to end answers what it has in hand, and ends', async (t) => {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow = createServer((_request, response) => void released.then(() => response.end()))
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    release()
    slow.close()
    slow.closeAllConnections()
  })
  await call('POST', '/api/automation-rules', {
    name: 'Slow',
    trigger: 'LEAD_UPDATED',
    actions: [
      { type: 'SEND_WEBHOOK', config: { url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` } },
    ],
  })

  const api = product.apis[0]
  const answers = Array.from({ length: 20 }, () =>
    call('POST', '/api/automation-rules/trigger/LEAD_UPDATED', { data: {} }),
  )
  await until(async () => (await own.event.count({ where: { type: 'LEAD_UPDATED' } })) === 20)
  const stopped = api?.stop()
  await until(async () => (await probe('/healthz').catch(() => 0)) !== 200)
  release()
  for (const answer of await Promise.all(answers)) t.match(answer, { status: 200, body: { triggered: 1 } })
  await stopped
  t.same(await api?.exited, { code: 0, signal: null })
})
