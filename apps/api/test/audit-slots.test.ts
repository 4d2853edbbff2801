import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { openDatabase } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t, { type Test } from 'tap'
import { AuditSlots } from '../src/routes/developer/audit-slots.js'
import { startApi } from './fixtures/api.js'

const path = '/api/developer/v1/ledger'
const refused = { message: 'Service temporarily unavailable' }

/** Audits that end when the test says so. */
function openSlots(count: number, patienceMs = 60_000) {
  const slots = new AuditSlots(count, patienceMs)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    run: (workspaceId: string, name = workspaceId, isGone = () => false) =>
      slots.run(workspaceId, isGone, () => {
        begun.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      }),
    async end(name: string) {
      ends.get(name)?.()
      await setImmediate()
    },
  }
}

t.test('a workspace has one audit at a time, and all of them a few', async (t) => {
  const { run, begun, end } = openSlots(2)
  const all = [run('a', 'a1'), run('a', 'a2'), run('b'), run('c')]
  await setImmediate()
  t.strictSame(begun, ['a1', 'b'])
  await end('a1')
  t.strictSame(begun, ['a1', 'b', 'c'], 'c has had no turn yet')
  await end('b')
  t.strictSame(begun, ['a1', 'b', 'c', 'a2'])
  await end('c')
  await end('a2')
  await Promise.all(all)
})

t.test('slots go round the workspaces: nobody waits behind all requests of another', async (t) => {
  const { run, begun, end } = openSlots(2)
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name))
  all.push(...['b1', 'b2', 'b3'].map((name) => run('b', name)), run('c'))
  await setImmediate()
  for (const name of ['a1', 'b1', 'c', 'a2']) await end(name)
  t.strictSame(begun, ['a1', 'b1', 'c', 'a2', 'b2', 'a3'])
  for (const name of ['b2', 'a3', 'b3', 'a4']) await end(name)
  await Promise.all(all)
})

t.test(
  'whoever has waited too long is refused at that time, and not when the audit before ends',
  async (t) => {
    const { run, begun, end } = openSlots(2, 20)
    const first = run('a')
    await t.rejects(run('a', 'second'), refused)
    await end('a')
    await first
    t.strictSame(begun, ['a'])
    const third = run('a', 'third')
    await setImmediate()
    await end('third')
    await third
  },
)

t.test('an audit for a caller who is gone does not begin, and one that fails leaves its slot', async (t) => {
  const slots = new AuditSlots(1, 60_000)
  let isGone = false
  let fail = (_reason: Error) => {}
  const lost = new Promise<void>((_resolve, reject) => (fail = reject))
  const failing = slots.run(
    'a',
    () => false,
    () => lost,
  )
  const begun: string[] = []
  const run = (name: string, hasLeft: () => boolean) => slots.run('b', hasLeft, async () => begun.push(name))
  const left = t.rejects(
    run('left', () => isGone),
    refused,
  )
  const stays = run('stays', () => false)
  isGone = true
  fail(new Error('lost'))
  await t.rejects(failing, { message: 'lost' })
  await left
  await stays
  await t.rejects(
    run('gone', () => true),
    refused,
  )
  t.strictSame(begun, ['stays'])
})

/** An API whose audits stop at a lock until it is released, and the number of those that have begun. */
async function openLocked(t: Test) {
  const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
  const api = await startApi(t, { DATABASE_URL, DATABASE_POOL: '10' })
  const others = openDatabase(DATABASE_URL, 1)
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  let hold = () => {}
  const held = new Promise<void>((resolve) => (hold = resolve))
  const holding = others.system.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`LOCK TABLE webhook_receipts IN ACCESS EXCLUSIVE MODE`
      hold()
      await released
    },
    { timeout: 60_000 },
  )
  await held
  t.teardown(async () => {
    release()
    await holding
    await others.close()
  })
  const { system } = api.app.database
  const begun = { count: 0 }
  const counting = new Proxy(system, {
    get(target, name) {
      if (name === '$transaction') begun.count += 1
      return Reflect.get(target, name)
    },
  })
  t.intercept(api.app.database, 'system', { value: counting })
  return { api, begun, release }
}

t.test('a workspace that asks again and again neither holds up another one nor waits for long', async (t) => {
  const { api, begun, release } = await openLocked(t)
  const [busy, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  begun.count = 0
  const since = performance.now()
  const asked = Array.from({ length: 5 }, () => busy.call('GET', path))
  while (begun.count < 1) await setTimeout(5)
  const answered = other.call('GET', path)
  while (begun.count < 2) await setTimeout(5)
  t.ok(performance.now() - since < 4_000, 'the other one does not wait')
  const [first, ...later] = asked
  for (const { status, headers, body } of await Promise.all(later))
    t.strictSame(
      { status, retryAfter: headers['retry-after'], body },
      { status: 503, retryAfter: '1', body: { error: 'Service temporarily unavailable' } },
    )
  t.ok(performance.now() - since < 10_000)
  release()
  t.equal((await answered).status, 200)
  t.equal((await first)?.status, 200)
  t.equal(begun.count, 2)
  t.equal((await busy.call('GET', path)).status, 200, 'and may ask again')
})

t.test('a request whose caller has hung up while it waited does not start an audit', async (t) => {
  const { api, begun, release } = await openLocked(t)
  const { id, tokens, call } = await api.makeWorkspace()
  const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
  begun.count = 0
  const first = call('GET', path)
  while (begun.count < 1) await setTimeout(5)
  const begins = once(api.app.server, 'request')
  const caller = connect(Number(port), '127.0.0.1')
  const head = [`GET ${path} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${tokens.admin}`]
  caller.write(`${[...head, `x-workspace-id: ${id}`].join('\r\n')}\r\n\r\n`)
  await begins
  caller.destroy()
  // Until the API has noticed.
  while ((await new Promise((resolve) => api.app.server.getConnections((_, count) => resolve(count)))) !== 0)
    await setTimeout(5)
  release()
  t.equal((await first).status, 200)
  t.equal((await call('GET', path)).status, 200)
  t.equal(begun.count, 2, 'the first and the last')
})
