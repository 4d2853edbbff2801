import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'
import {
  countStatuses,
  describeTimes,
  during,
  type SteadyRequests,
  startRequests,
} from '../fixtures/steady-requests.js'
import { makeWebhookSender } from '../fixtures/webhook-sender.js'

/** The largest run takes as long as the figures in docs/internals/reliability.md say. */
const awayMs = process.env.TEST_LARGE
  ? { postgres: 60_000, redisDead: 30_000, redisPaused: 30_000 }
  : { postgres: 15_000, redisDead: 5_000, redisPaused: 10_000 }
const everyMs = 40

const running = await startRunningProduct()
const { product, call, database, workspaceId } = running
t.teardown(() => running.stop())

const own = database.forWorkspace(workspaceId)
const baseUrl = product.apis[0]?.baseUrl ?? ''
const triggerPath = '/api/automation-rules/trigger/LEAD_CREATED'
const probe = async (path: string) => (await fetch(`${baseUrl}${path}`)).status
const sender = await makeWebhookSender(running, 'provider')

const rule = {
  name: 'Task',
  trigger: 'LEAD_CREATED',
  actions: [{ type: 'CREATE_TASK', config: { title: '{{name}}' } }],
}
await call('POST', '/api/automation-rules', rule)

/** Events, webhooks and reads, with what was promised of them. */
function askForAll() {
  const accepted: { event: string; title: string }[] = []
  const receipts: string[] = []
  /** Refusals that are none of the interface's. */
  const odd: unknown[] = []
  const run = crypto.randomUUID().slice(0, 8)
  const trigger = async (prefer: string, name: string) => {
    const answer = await call('POST', triggerPath, { data: { name } }, { prefer })
    if (answer.status === 202) accepted.push({ event: answer.body.id, title: name })
    noteRefusal(answer)
    return answer.status
  }
  const noteRefusal = ({ status, headers, body }: Awaited<ReturnType<typeof call>>) => {
    if (status < 300) return
    const isRight =
      status === 503 && headers.get('retry-after') === '1' && body.error === 'Service temporarily unavailable'
    if (!isRight) odd.push({ status, body })
  }
  const traffic = {
    triggers: startRequests(everyMs, (index) => trigger('respond-async', `${run} ${index}`)),
    webhooks: startRequests(everyMs, async (index) => {
      const answer = await sender.deliver(baseUrl, { id: `${run}-${index}`, body: '{}' })
      if (answer?.status === 202) receipts.push(answer.body.id)
      return answer?.status
    }),
    reads: startRequests(everyMs * 5, async () => {
      const answer = await call('GET', '/api/automation-rules/health')
      noteRefusal(answer)
      return answer.status
    }),
  }
  return { accepted, receipts, odd, traffic }
}

type Requests = ReturnType<typeof askForAll>

const stopAll = ({ triggers, webhooks, reads }: Requests['traffic']) =>
  Promise.all([triggers.stop(), webhooks.stop(), reads.stop()])

/** How long until the first event is done, and until a caller who waits is told of the outcome again. */
async function measureReturn(back: Date): Promise<string> {
  const begin = performance.now()
  const elapsed = () => `${Math.round(performance.now() - begin)} ms`
  const isDone = { doneAt: { gt: back } }
  await until(async () => (await own.event.count({ where: isDone }).catch(() => 0)) > 0)
  const first = elapsed()
  const data = { name: 'back' }
  await until(async () => (await call('POST', triggerPath, { data }, { prefer: 'wait=1' })).status === 200)
  return `executions went on ${first}, and callers were told ${elapsed()} after its return`
}

/** All that was promised has been done, and each once. */
async function checkPromises(t: Test, { accepted, receipts }: Requests): Promise<void> {
  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  const [events, tasks, stored] = await Promise.all([
    own.event.findMany({ select: { id: true, data: true, type: true } }),
    own.task.findMany({ select: { title: true } }),
    own.webhookReceipt.findMany({ select: { id: true } }),
  ])
  const known = new Set(events.map(({ id }) => id))
  t.strictSame(
    accepted.filter(({ event }) => !known.has(event)),
    [],
    `each of ${accepted.length} events that were accepted is there`,
  )
  const made = new Map<string, number>()
  for (const { title } of tasks) made.set(title, (made.get(title) ?? 0) + 1)
  t.strictSame(
    accepted.filter(({ title }) => made.get(title) !== 1),
    [],
    'and has made its task, once',
  )
  const acknowledged = new Set(
    events
      .filter(({ type }) => type === 'WEBHOOK_RECEIVED')
      .map(({ data }) => (data as { receiptId: string }).receiptId),
  )
  const kept = new Set(stored.map(({ id }) => id))
  t.strictSame(
    receipts.filter((id) => !kept.has(id) || !acknowledged.has(id)),
    [],
    `each of ${receipts.length} webhooks is there, and was run`,
  )
  t.equal(await own.event.count({ where: { quarantined: true } }), 0, 'nothing was given up')
}

async function withoutRedis(t: Test, ms: number, end: () => Promise<void>, begin: () => Promise<unknown>) {
  const requests = askForAll()
  await until(async () => requests.accepted.length > 20)
  await end()
  const gone = performance.now()
  t.equal(await probe('/healthz'), 200)
  await until(async () => (await call('GET', '/readyz')).body.redis === 'away')
  t.equal(await probe('/readyz'), 200, 'it wants requests')
  const patient = await call('POST', triggerPath, { data: { name: 'patient' } }, { prefer: 'wait=1' })
  t.equal(patient.status, 202, 'who waits is told where the outcome will be')
  const twice = { id: t.name.replaceAll(/\W/g, '-'), body: '{}' }
  t.match(await sender.deliver(baseUrl, twice), { status: 202 })
  t.match(
    await sender.deliver(baseUrl, twice),
    { status: 200, body: { deduplicated: true } },
    'replays are known',
  )
  await until(async () => performance.now() > gone + ms)
  const back = performance.now()
  await begin()
  const returned = await measureReturn(new Date())
  await until(async () => (await call('GET', '/readyz')).body.redis === 'ok')
  const [triggers, webhooks, reads] = await stopAll(requests.traffic)
  const away = [...during(triggers, gone, back), ...during(webhooks, gone, back)]
  t.strictSame(countStatuses(away), { 202: away.length }, 'every event and webhook was accepted meanwhile')
  t.strictSame(countStatuses(reads), { 200: reads.length }, 'and reading went on')
  const times = away.map((sample) => sample.ms)
  const slow = times.filter((time) => time > 400).length
  // A mute Redis costs each call 500 ms, unless it is known to be mute. On a busy machine some are slow for other reasons.
  t.ok(slow < times.length / 2, `${slow} of ${times.length} have waited for a Redis that does not answer`)
  t.comment(`${t.name}: accepted in ${describeTimes(times)}; ${returned}`)
  await checkPromises(t, requests)
}

t.test('without Redis all is accepted, and run when it is back', async (t) => {
  await withoutRedis(
    t,
    awayMs.redisDead,
    async () => {
      product.redis?.kill('SIGKILL')
      await product.redis?.exited
    },
    () => product.restartRedis(),
  )
})

t.test('the same with a Redis that is there and does not answer', async (t) => {
  await withoutRedis(
    t,
    awayMs.redisPaused,
    async () => product.redis?.kill('SIGSTOP'),
    async () => product.redis?.kill('SIGCONT'),
  )
})

t.test('without Postgres nothing is accepted: 503 and Retry-After; then everything goes on', async (t) => {
  const requests = askForAll()
  await until(async () => requests.accepted.length > 20)
  product.postgres?.kill('SIGKILL')
  await product.postgres?.exited
  const gone = performance.now()
  t.equal(await probe('/healthz'), 200)
  await until(async () => (await probe('/readyz')) === 503)
  const answer = await call('POST', '/api/automation-rules', rule)
  t.match(
    { ...answer, retryAfter: answer.headers.get('retry-after') },
    { status: 503, retryAfter: '1' },
    'nor a rule',
  )
  await delay(awayMs.postgres)
  const back = performance.now()
  await product.restartPostgres()
  const restarted = performance.now()
  const returned = await measureReturn(new Date())
  await until(async () => (await probe('/readyz')) === 200)
  const whole = performance.now()
  await untilSent(requests.traffic.triggers, 20)
  const all = (await stopAll(requests.traffic)).flat()
  const away = during(all, gone, back)
  t.strictSame(countStatuses(away), { 503: away.length }, 'each request was asked to come again')
  t.strictSame(requests.odd, [], 'in the words of the interface')
  const isFine = ({ status }: { status: number | undefined }) => status === 200 || status === 202
  t.ok(during(all, whole).every(isFine), 'and nothing is refused from then on')
  const lastRefusal = Math.max(...all.filter((sample) => !isFine(sample)).map(({ at }) => at))
  const times = describeTimes(away.map(({ ms }) => ms))
  const normalMs = Math.round(Math.max(0, lastRefusal - restarted))
  t.comment(`${t.name}: told in ${times}; last refusal ${normalMs} ms, ${returned}`)
  await checkPromises(t, requests)
})

/** Waits for so many requests more. */
async function untilSent({ samples }: SteadyRequests, count: number): Promise<void> {
  const wanted = samples.length + count
  await until(async () => samples.length >= wanted)
}
