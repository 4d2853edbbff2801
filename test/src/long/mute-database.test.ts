import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Answer, askPatiently, startRunningProduct } from '../fixtures/product.js'
import { prepareWrites, type WriteRequest } from '../fixtures/write-requests.js'
import { openTcpProxy } from '../storm/tcp-proxy.js'

/**
 * A statement ends within 10 s and a connection is had within 2 s. The deadline of 12 s is looked at twice a second, and one whose event was accepted
 * just before it waits for the outcome for the second that it asked for. On a busy machine an answer comes later by as much as one that needs
 * no Postgres.
 */
const longestMs = 13_500
/** Each way: so that requests which are sent at once are at different statements when the line falls silent. */
const latencyMs = 150
/** Each way: a request has time for all its statements, also on a busy machine. */
const lateMs = 300
/** Each way: the 12 s of a request are over before its fourth statement has ended. */
const tooLateMs = 1_800

const running = await startRunningProduct({ apis: 0, workers: 0 })
const { product } = running
const line = await openTcpProxy(() => product.postgres?.port ?? 0)
const url = new URL(product.databaseUrl)
url.port = String(line.port)
const api = await product.startApi({ DATABASE_URL: url.href, DATABASE_POOL: '60' })
t.teardown(async () => {
  await running.stop()
  await line.close()
})

interface Sample {
  request: WriteRequest
  answer: Answer
  ms: number
}

async function send(request: WriteRequest): Promise<Sample> {
  const begin = performance.now()
  const answer = await request.send()
  return { request, answer, ms: Math.round(performance.now() - begin) }
}

/** Sends requests at once. @returns also the longest wait (ms) for the liveness probe meanwhile */
async function sendAll(requests: WriteRequest[]): Promise<{ samples: Sample[]; probeMs: number }> {
  let isOver = false
  const probing = probe(() => isOver)
  const samples = await Promise.all(requests.map(send))
  isOver = true
  return { samples, probeMs: await probing }
}

async function probe(isOver: () => boolean): Promise<number> {
  let longest = 0
  while (!isOver()) {
    const begin = performance.now()
    await (await fetch(`${api.baseUrl}/healthz`)).arrayBuffer()
    longest = Math.max(longest, performance.now() - begin)
    await delay(50)
  }
  return Math.round(longest)
}

const isServed = ({ answer: { status } }: Sample) => status >= 200 && status < 300
const isRefused = ({ answer: { status, headers, body } }: Sample) =>
  status === 503 && headers.get('retry-after') === '1' && body.error === 'Service temporarily unavailable'

function describe({ request, answer, ms }: Sample): string {
  return `${request.name}: ${answer.status} after ${ms} ms ${JSON.stringify(answer.body)}`
}

/**
 * To be called before the line is good again: what was not committed by then may still come.
 *
 * @param mutedAfterMs when the line fell silent, counted from the requests
 */
async function assertSound(
  t: Test,
  { samples, probeMs }: Awaited<ReturnType<typeof sendAll>>,
  mutedAfterMs = 0,
): Promise<void> {
  const refused = samples.filter(isRefused)
  const slowest = Math.max(...samples.map(({ ms }) => ms))
  t.comment(
    `${refused.length} of ${samples.length} were refused, the slowest answer took ${slowest} ms, a probe ${probeMs} ms`,
  )
  t.strictSame(
    samples.filter((one) => !isServed(one) && !isRefused(one)).map(describe),
    [],
    'what is not served is refused with 503 and Retry-After',
  )
  t.strictSame(
    (await findLost(samples)).map(describe),
    [],
    'what was answered with a success is in the database',
  )
  t.strictSame(
    samples.filter(({ ms }) => ms > mutedAfterMs + longestMs + probeMs).map(describe),
    [],
    `each is answered within ${longestMs} ms, and ${probeMs} ms of a busy machine`,
  )
}

/** Answered with a success, and not in the database. */
async function findLost(samples: Sample[]): Promise<Sample[]> {
  const lost: Sample[] = []
  for (const sample of samples.filter(isServed))
    if (!(await sample.request.isStored(sample.answer))) lost.push(sample)
  return lost
}

/** Each request is repeated after 503, as it asks: on a busy machine not all of them get a new connection in time. */
async function assertServed(t: Test): Promise<void> {
  const requests = await prepareWrites(running)
  const samples = await Promise.all(
    requests.map((request) => send({ ...request, send: () => askPatiently(request.send) })),
  )
  t.strictSame(samples.filter((one) => !isServed(one)).map(describe), [], 'all is served again')
  t.strictSame((await findLost(samples)).map(describe), [], 'and committed')
  t.notOk(api.hasExited(), 'by the same process')
}

/** As many connections as there are requests, and the role of each caller remembered: the silence meets what they write. */
async function warmUp(requests: WriteRequest[]): Promise<void> {
  line.setLatency(latencyMs)
  await Promise.all(requests.map(({ warmUp }) => warmUp()))
}

for (const mutedAfterMs of [0, 1_000, 2_000])
  t.test(`changes over a line that falls silent ${mutedAfterMs} ms after they were asked for`, async (t) => {
    const requests = await prepareWrites(running)
    await warmUp(requests)
    const muted = delay(mutedAfterMs).then(() => line.setBlackHole(true))
    const sent = await sendAll(requests)
    await muted
    await assertSound(t, sent, mutedAfterMs)
    line.setLatency(0)
    line.setBlackHole(false)
    if (mutedAfterMs > 0) return t.ok(sent.samples.some(isRefused), 'some were caught by the silence')
    t.notOk(sent.samples.some(isServed), 'nothing is accepted over a line that is mute from the beginning')
    await assertServed(t)
  })

t.test('those who come while others wait over a mute line do not wait for them as well', async (t) => {
  const requests = await prepareWrites(running)
  await warmUp(requests)
  line.setBlackHole(true)
  const rounds = await Promise.all(
    [0, 600, 9_000].map(async (afterMs) => {
      await delay(afterMs)
      return sendAll(requests)
    }),
  )
  const samples = rounds.flatMap((round) => round.samples)
  await assertSound(t, { samples, probeMs: Math.max(...rounds.map(({ probeMs }) => probeMs)) })
  line.setLatency(0)
  line.setBlackHole(false)
  t.notOk(samples.some(isServed), 'nothing is accepted over a mute line')
})

for (const [late, isAwaited] of [
  [lateMs, isServed],
  [tooLateMs, isRefused],
] as const)
  t.test(`where each statement is answered ${2 * late} ms late, requests are answered in time`, async (t) => {
    const requests = await prepareWrites(running)
    await warmUp(requests)
    line.setLatency(late)
    const sent = await sendAll(requests)
    await assertSound(t, sent)
    line.setLatency(0)
    t.ok(sent.samples.some(isAwaited), 'as their number of statements allows')
    await assertServed(t)
  })
