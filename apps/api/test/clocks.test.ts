import { readClock } from '@automation/database'
import t from 'tap'
import { startApi } from './fixtures/api.js'
import { makeProvider } from './fixtures/provider.js'

// The files of a group share a process, and with it what is known of the clock.
t.teardown(() => readClock({ run: async () => [{ now: Date.now() }] as never[] }))
const minutes10 = 600_000
const dayMs = 86_400_000
/** Far more than a slow machine takes, and far less than what the clocks differ by. */
const lateMs = minutes10 / 2

const api = await startApi(t)
const read = Date.now
let aheadMs = 0
t.intercept(Date, 'now', { value: () => read() + aheadMs })

/** From now on the clock of the API is ahead (ms) of that of Postgres, and the API has noticed it. */
async function setClock(ms: number): Promise<void> {
  aheadMs = ms
  await readClock(api.app.database)
}

t.test('a webhook that is told by its body is one, also for APIs whose clocks differ', async (t) => {
  for (const ms of [minutes10, -minutes10]) {
    await setClock(0)
    const workspace = await api.makeWorkspace()
    const { deliver } = await makeProvider(api, workspace, 'generic', { signatureHeader: 'X-Acme-Signature' })
    t.equal((await deliver()).status, 202)
    await setClock(ms)
    t.equal((await deliver()).status, 200, `a clock that is ${ms} ms ahead`)
    t.equal(await workspace.database.event.count(), 1)
  }
})

t.test('what has just happened is in the lists of an API whose clock is behind', async (t) => {
  await setClock(-minutes10)
  const workspace = await api.makeWorkspace()
  const event = { type: 'LEAD_CREATED', data: {} }
  t.equal((await workspace.call('POST', '/api/events', { body: event })).status, 202)
  const { body } = await workspace.call<{ totals: { events: number } }>('GET', '/api/overview')
  t.equal(body.totals.events, 1)
})

t.test("times that an API stores, and ends that it gives, follow Postgres' clock", async (t) => {
  const isNear = (time: string, expected: number) => Math.abs(Date.parse(time) - expected) < lateMs
  for (const ms of [minutes10, -minutes10]) {
    await setClock(ms)
    const workspace = await api.makeWorkspace()
    const post = async (path: string, body: object) =>
      (await workspace.call<Record<string, string>>('POST', path, { body })).body
    const rule = {
      name: 'R',
      trigger: 'LEAD_CREATED',
      actions: [{ type: 'CREATE_TASK', config: { title: 'T' } }],
    }
    const { createdAt = '', updatedAt = '' } = await post('/api/automation-rules', rule)
    t.ok(isNear(createdAt, read()) && isNear(updatedAt, read()), 'a rule')
    const invitation = await post('/api/developer/v1/invitations', { role: 'viewer' })
    t.ok(isNear(invitation.expiresAt ?? '', read() + 7 * dayMs), `an invitation ends ${invitation.expiresAt}`)
    const { id } = await post('/api/developer/v1/signing-secrets', { provider: 'acme' })
    const retired = await post(`/api/developer/v1/signing-secrets/${id}/retire`, { overlap: '1h' })
    t.ok(isNear(retired.retiresAt ?? '', read() + 3_600_000), `a secret retires ${retired.retiresAt}`)
    const expiresAt = new Date(read() + 60_000).toISOString()
    const key = { name: 'K', scopes: ['rules:read'], expiresAt }
    t.match(await post('/api/developer/v1/api-keys', key), { expiresAt }, 'a key that ends in a minute')
  }
})

t.test('an API whose clock differs is not ready while other APIs agree with Postgres', async (t) => {
  await setClock(0)
  const other = await startApi(t, { QUEUE_PREFIX: api.config.queuePrefix })
  await setClock(minutes10)
  await api.app.clocks.look()
  t.match(await api.call('GET', '/readyz'), { status: 200, body: { clock: 'differs' } })
  await setClock(0)
  await other.app.clocks.look()
  await setClock(minutes10)
  await api.app.clocks.look()
  t.match(await other.call('GET', '/readyz'), { status: 200, body: { clock: 'ok' } })
  // What a probe was told is kept for a second, but for the clock, which is asked each time.
  t.match(await api.call('GET', '/readyz'), { status: 503, body: { status: 'unready', clock: 'outvoted' } })
  await setClock(0)
  await api.app.clocks.look()
  t.match(await api.call('GET', '/readyz'), { status: 200, body: { clock: 'ok' } })
})
