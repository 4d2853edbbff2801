import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'
import { openRoundRobin } from '../fixtures/round-robin.js'
import {
  countStatuses,
  describeTimes,
  type SteadyRequests,
  startRequests,
} from '../fixtures/steady-requests.js'
import { openTargets } from '../fixtures/targets.js'

/** Of each kind of requests. */
const everyMs = 60
/** A job that had stalled would take longer (ms). */
const patienceMs = 8_000

let release = () => {}
const released = new Promise<boolean>((resolve) => {
  release = () => resolve(true)
})
const targets = await openTargets(({ name }) => (name === 'slow' ? released : true))
const running = await startRunningProduct({
  apis: 2,
  workers: 2,
  env: { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535' },
})
const { product } = running
const own = running.database.forWorkspace(running.workspaceId)
const balancer = await openRoundRobin(running)
t.teardown(async () => {
  balancer.close()
  await running.stop()
  targets.close()
})

const title = { title: '{{name}}' }
await addRule('LEAD_CREATED', [{ type: 'CREATE_TASK', config: title }])
await addRule('LEAD_UPDATED', [
  { type: 'SEND_WEBHOOK', config: { url: `${targets.url}/quick` } },
  { type: 'CREATE_TASK', config: title },
])

t.test('APIs and workers are restarted one after another, and nobody notices', async (t) => {
  const accepted: string[] = []
  const kinds = {
    async: keepPosting('LEAD_CREATED', 'respond-async'),
    sync: keepPosting('LEAD_CREATED', 'wait=10'),
    calls: keepPosting('LEAD_UPDATED', 'wait=10'),
    reads: startRequests(everyMs, async () => {
      return (await balancer.ask({ method: 'GET', path: '/api/automation-rules' })).status
    }),
  }
  await untilMore(kinds.sync)
  for (const old of [...product.apis]) {
    await old.stop()
    t.match(await old.exited, { code: 0, signal: null }, `${old.name} has ended in order`)
    await untilMore(kinds.sync)
    await product.startApi()
    await untilMore(kinds.sync)
  }
  for (const old of [...product.workers]) {
    await old.stop()
    t.match(await old.exited, { code: 0, signal: null }, `${old.name} has ended in order`)
    await untilMore(kinds.async)
    await product.startWorker()
    await untilMore(kinds.sync)
  }
  const [async, sync, calls, reads] = await Promise.all(Object.values(kinds).map((kind) => kind.stop()))
  t.strictSame(countStatuses(async ?? []), { 202: async?.length }, 'every event was accepted')
  for (const samples of [sync, calls, reads])
    t.strictSame(countStatuses(samples ?? []), { 200: samples?.length }, 'every other request was answered')

  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  await until(async () => (await own.execution.count({ where: { finishedAt: null } })) === 0)
  const tasks = await own.task.findMany({ select: { title: true } })
  t.ok(accepted.length > 0)
  t.strictSame(tasks.map((task) => task.title).sort(), accepted.sort(), 'each event made its task, once')
  const events = await own.event.findMany({ select: { acceptedAt: true, doneAt: true, crashes: true } })
  const times = events.map(({ acceptedAt, doneAt }) => Number(doneAt) - Number(acceptedAt))
  t.ok(Math.max(...times) < patienceMs, 'none of them waited for a stalled job')
  t.ok(
    events.every(({ crashes }) => crashes === 0),
    'and none was running in a worker that ended',
  )
  const keys = targets.calls.map(({ key }) => key)
  t.equal(new Set(keys).size, keys.length, 'no call was made twice')
  t.comment(`${accepted.length} events done in ${describeTimes(times)}`)
  t.comment(`their callers waited ${describeTimes((sync ?? []).map(({ ms }) => ms))}`)
  t.comment(`${balancer.repeats()} requests met a connection that had just been closed`)

  function keepPosting(type: string, prefer: string): SteadyRequests {
    return startRequests(everyMs, async (index) => {
      const name = `${type} ${prefer} ${index}`
      const answer = await balancer.ask({
        method: 'POST',
        path: `/api/automation-rules/trigger/${type}`,
        body: { data: { name } },
        headers: { prefer, 'idempotency-key': name.replaceAll(' ', '-') },
      })
      if (answer.status < 300) accepted.push(name)
      return answer.status
    })
  }
})

t.test('an API that is asked to end answers what it has in hand, and ends', async (t) => {
  const slow = { type: 'SEND_WEBHOOK', config: { url: `${targets.url}/slow` } }
  await addRule('TAG_ADDED', [slow])
  const api = product.apis.find((one) => !one.hasExited())
  const path = '/api/automation-rules/trigger/TAG_ADDED'
  const answers = Array.from({ length: 20 }, () => balancer.ask({ method: 'POST', path, body: { data: {} } }))
  await until(async () => (await own.event.count({ where: { type: 'TAG_ADDED' } })) === 20)
  const stopped = api?.stop()
  await until(async () => (await fetch(`${api?.baseUrl}/healthz`).catch(() => undefined))?.status !== 200)
  release()
  const all = await Promise.all(answers)
  t.ok(
    all.every(({ status, body }) => status === 200 && body.triggered === 1),
    'all of them',
  )
  await stopped
  t.same(await api?.exited, { code: 0, signal: null })
})

async function addRule(trigger: string, actions: object[]): Promise<void> {
  const body = { name: trigger, trigger, actions }
  await balancer.ask({ method: 'POST', path: '/api/automation-rules', body })
}

/** Waits for some requests more. */
async function untilMore({ samples }: SteadyRequests): Promise<void> {
  const wanted = samples.length + 15
  while (samples.length < wanted) await delay(20)
}
