import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { openTracing } from '../../src/telemetry/tracing.js'

// Nobody listens there.
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:1'
process.env.OTEL_BSP_SCHEDULE_DELAY = '10'
process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '100'

const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache).filter((path) =>
    /opentelemetry.(sdk|exporter)/.test(path),
  )
const pattern = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/
const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
const traceOf = (traceparent: string) => traceparent.split('-')[1]

t.test('the tracing packages are loaded only when tracing is opened', async (t) => {
  t.strictSame(loaded(), [])
  await (await openTracing('test', () => {})).close()
  t.ok(loaded().length > 0)
})

t.test('a span continues the trace of its parent, and passes on its own position', async (t) => {
  const tracing = await openTracing('test', () => {})
  t.teardown(() => tracing.close())
  const span = tracing.begin('one', 'server', { parent: `00-${traceId}-${spanId}-01` })
  t.match(span.traceparent, pattern)
  t.equal(traceOf(span.traceparent), traceId)
  t.not(span.traceparent.split('-')[2], spanId)
  const next = span.begin('two')
  t.equal(traceOf(next.traceparent), traceId)
  t.not(next.traceparent, span.traceparent)
})

t.test('a trace that the caller did not sample stays unsampled', async (t) => {
  const tracing = await openTracing('test', () => {})
  t.teardown(() => tracing.close())
  const span = tracing.begin('one', 'server', { parent: `00-${traceId}-${spanId}-00` })
  t.match(span.traceparent, new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
})

t.test('a value that is no traceparent begins a new trace', async (t) => {
  const tracing = await openTracing('test', () => {})
  t.teardown(() => tracing.close())
  for (const parent of [
    undefined,
    '',
    ['a'],
    `00-${traceId}-${spanId}`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01\r\nx: y`,
  ]) {
    const { traceparent } = tracing.begin('one', 'server', { parent })
    t.match(traceparent, pattern)
    t.not(traceOf(traceparent), traceId)
  }
})

t.test('a collector that is away is logged once, and delays nothing', async (t) => {
  const messages: string[] = []
  const tracing = await openTracing('test', (message) => messages.push(message))
  for (let count = 0; count < 20; count++) {
    tracing.begin('one', 'internal', {}).end()
    await setTimeout(20)
  }
  while (messages.length === 0) await setTimeout(20)
  await tracing.close()
  t.equal(messages.length, 1, messages.join('\n'))
})

t.test('spans that were dropped are logged once, with their number', async (t) => {
  const timeout = process.env.OTEL_EXPORTER_OTLP_TIMEOUT
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '10000'
  process.env.OTEL_BSP_MAX_QUEUE_SIZE = '10'
  process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE = '10'
  const collector = createServer((request, response) => {
    request.resume()
    request.once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await once(collector.listen(0, '127.0.0.1'), 'listening')
  const away = process.env.OTEL_EXPORTER_OTLP_ENDPOINT
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  t.teardown(() => {
    delete process.env.OTEL_BSP_MAX_QUEUE_SIZE
    delete process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = away
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = timeout
    collector.close()
  })
  const messages: string[] = []
  const tracing = await openTracing('test', (message) => messages.push(message))
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 100; count++) tracing.begin('one', 'internal', {}).end()
    await setTimeout(50)
  }
  while (messages.length === 0) {
    tracing.begin('one', 'internal', {}).end()
    await setTimeout(20)
  }
  await tracing.close()
  t.equal(messages.length, 1, messages.join('\n'))
  t.match(messages[0], /^traces are incomplete: Dropped \d+ spans because maxQueueSize reached$/)
})
