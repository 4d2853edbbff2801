import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'
import { type CollectedSpan, openTraceCollector } from '../fixtures/trace-collector.js'

t.setTimeout(60_000)

const collector = await openTraceCollector()
t.teardown(() => collector.close())

/** Whom rules call: 503 the first time, and 200 from then on. */
const received: (string | undefined)[] = []
const target = createServer((request, response) => {
  received.push(request.headers.traceparent as string | undefined)
  response.writeHead(received.length === 1 ? 503 : 200).end()
})
await new Promise<void>((done) => target.listen(0, '127.0.0.1', done))
t.teardown(() => target.close())
const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`

const { call, stop, product } = await startRunningProduct({
  env: { ...collector.env, OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535' },
})
t.teardown(stop)

const rules = '/api/automation-rules'
const canary = `canary-${randomBytes(9).toString('hex')}`
const create = (trigger: string, actions: object[]) =>
  call('POST', rules, { name: canary, trigger, actions, conditions: [] })
await create('LEAD_CREATED', [
  { type: 'SEND_WEBHOOK', config: { url }, retry: { attempts: 2, backoff: 'constant', delayMs: 50 } },
  { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } },
])
await create('DEAL_WON', [
  { type: 'CREATE_TASK', config: { title: '{{secret}}' } },
  { type: 'WAIT', config: { duration: '1s' } },
  { type: 'SEND_WEBHOOK', config: { url } },
])

const traceId = randomBytes(16).toString('hex')
const callersSpan = randomBytes(8).toString('hex')
await call(
  'POST',
  `${rules}/trigger/LEAD_CREATED`,
  { data: { secret: canary } },
  {
    traceparent: `00-${traceId}-${callersSpan}-01`,
    prefer: 'respond-async',
  },
)
await until(async () => received.length === 3)
// What waits to be sent goes when the processes do.
await Promise.all([...product.apis, ...product.workers].map((process) => process.stop()))

const spans = collector.spans.filter((span) => span.traceId === traceId)
const named = (name: string) => spans.filter((span) => span.name === name)
const parentOf = (span: CollectedSpan | undefined) =>
  spans.find(({ spanId }) => spanId === span?.parentSpanId)

t.test('one trace connects the request with everything that it caused, in both processes', async (t) => {
  const [request] = named(`POST ${rules}/trigger/:eventType`)
  t.match(request, { service: 'automation-api', parentSpanId: callersSpan, hasFailed: false })
  t.equal(request?.attributes['http.response.status_code'], 202)
  const [accept] = named('accept')
  t.equal(parentOf(accept)?.spanId, request?.spanId)

  const events = named('event')
  t.equal(events.length, 2, 'the one that was posted, and the one that was emitted')
  const [posted, emitted] = ['LEAD_CREATED', 'DEAL_WON'].map((type) =>
    events.find(({ attributes }) => attributes['automation.event_type'] === type),
  )
  t.match(posted, { service: 'automation-worker', parentSpanId: accept?.spanId })
  t.strictSame(
    named('record')
      .map(({ parentSpanId }) => parentSpanId)
      .sort(),
    [posted?.spanId, emitted?.spanId].sort(),
  )
  const [first, second] = [posted, emitted].map((event) =>
    named('execution').find(({ parentSpanId }) => parentSpanId === event?.spanId),
  )
  t.ok(first && second, 'one execution for each')
  t.match(String(second?.attributes['automation.status']), 'waiting')

  const resumed = named('execution resumed')
  t.equal(resumed.length, 2, 'one after the attempt that failed, one after the WAIT')
  for (const run of [first, second]) {
    const own = resumed.find(({ parentSpanId }) => parentSpanId === run?.spanId)
    t.strictSame(own?.links, [run?.spanId], 'it is linked to the first span')
    t.equal(own?.attributes['automation.status'], 'succeeded')
  }
  t.ok(
    resumed.some(({ spanId }) => spanId === emitted?.parentSpanId),
    'the resumed execution emitted the event',
  )
})

t.test(
  'each attempt of a call is a span of its execution, and its receiver can continue the trace',
  async (t) => {
    const calls = named('SEND_WEBHOOK')
    t.equal(calls.length, 3)
    t.strictSame(
      calls.map(({ hasFailed }) => hasFailed),
      [true, false, false],
    )
    t.strictSame(
      calls.map(({ attributes }) => attributes['http.response.status_code']),
      [503, 200, 200],
    )
    t.strictSame(
      calls.map((span) => parentOf(span)?.name),
      ['execution', 'execution resumed', 'execution resumed'],
    )
    t.strictSame(
      received,
      calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
    )
  },
)

t.test('no step is without the one above it', async (t) => {
  for (const span of spans)
    t.ok(span.parentSpanId === callersSpan || parentOf(span), `${span.service} ${span.name}`)
})

t.test('a trace contains no content of events and rules', async (t) => {
  t.ok(collector.bodies.length > 0)
  t.notMatch(collector.bodies.join('\n'), canary)
})
