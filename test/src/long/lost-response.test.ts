import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'
import { openTarget } from '../storm/target.js'
import { openTcpProxy } from '../storm/tcp-proxy.js'

const running = await startRunningProduct({
  workers: 0,
  env: { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535' },
})
const { product, database, call } = running
t.teardown(() => running.stop())
const target = await openTarget(1, 0)
t.teardown(() => target.close())
const line = await openTcpProxy(() => product.postgres?.port ?? 0)
t.teardown(() => line.close())
const url = new URL(product.databaseUrl)
url.port = String(line.port)
// The one that hears all would continue what the other one leaves.
for (const _ of ['one', 'other']) await product.startWorker({ DATABASE_URL: url.href })

const action = {
  type: 'SEND_WEBHOOK',
  onUncertain: 'stop',
  config: { url: `${target.url}/{{name}}`, body: {} },
}
const rule = { name: 'Once', trigger: 'DEAL_WON', actions: [action] }
t.equal((await call('POST', '/api/automation-rules', rule)).status, 201)

/** Posts an event. @returns its execution, once it has ended, and how often it has called */
async function runOne(name: string, meanwhile: () => Promise<unknown>) {
  const isLost = line.loseResponseTo('finish_events')
  const path = '/api/automation-rules/trigger/DEAL_WON'
  const answer = await call('POST', path, { data: { name } }, { prefer: 'respond-async' })
  t.equal(answer.status, 202)
  await isLost
  await meanwhile()
  const find = () =>
    database.system.execution
      .findFirst({ where: { eventId: answer.body.id, finishedAt: { not: null } } })
      .catch(() => null)
  await until(async () => (await find()) !== null)
  const { status, error, interruptions } = (await find()) ?? {}
  const calls = [...target.calls.values()].filter(({ names }) => names.has(name))
  return { status, error, interruptions, calls: calls.map(({ count }) => count) }
}

const made = { status: 'succeeded', error: null, interruptions: 0, calls: [1] }

t.test(
  'a call whose intent was committed is made once, although its worker did not hear of the commit',
  async (t) => {
    t.strictSame(await runOne('lost', async () => {}), made)
  },
)

t.test('the same if Postgres is then unavailable for longer than a lease', async (t) => {
  const stopPostgres = async () => {
    product.postgres?.kill('SIGQUIT')
    await product.postgres?.exited
    await delay(12_000)
    await product.restartPostgres()
  }
  for (const name of ['first', 'second']) t.strictSame(await runOne(name, stopPostgres), made)
})
