import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { rules, startApi } from './fixtures/api.js'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const sampled = { traceparent: `00-${traceId}-${spanId}-01` }
const unsampled = { traceparent: `00-${traceId}-${spanId}-00` }

interface Sent {
  name: string
  traceId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  links?: { traceId: string; spanId: string }[]
}

/** An API that sends its traces here, and the spans of what was asked of it: they arrive when it closes. */
async function startTracedApi(t: Test) {
  const spans: Sent[] = []
  const collector = createServer(async (request, response) => {
    const { resourceSpans } = JSON.parse(await text(request))
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await once(collector.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => collector.close())
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const api = await startApi({ teardown: () => {} }, { OTEL_TRACES_EXPORTER: 'otlp' })
  return {
    ...api,
    async finish() {
      await api.app.close()
      return spans
    },
  }
}

t.test(
  'a request of a stranger, and a webhook, begins a trace of its own that is linked to theirs',
  async (t) => {
    const { call, makeWorkspace, finish } = await startTracedApi(t)
    const { id, call: callAsMember } = await makeWorkspace()
    const strangers = await makeWorkspace()
    await call('GET', rules, { headers: sampled })
    await call('GET', rules, { token: 'eyJ.wrong.token', headers: sampled })
    await strangers.call('GET', rules, { workspace: id, headers: sampled })
    await call('POST', `/api/incoming-webhooks/github/${id}`, { body: {}, headers: sampled })
    await call('GET', '/unknown', { headers: sampled })
    await callAsMember('GET', rules, { headers: sampled })
    const requests = (await finish()).filter(({ name }) => /^(GET|POST)/.test(name))
    t.equal(requests.length, 6)
    for (const { name, traceId: own, parentSpanId, links } of requests.slice(0, 5)) {
      t.not(own, traceId, name)
      t.notOk(parentSpanId, name)
      t.match(links, [{ traceId, spanId }], name)
    }
    const [member] = requests.slice(5)
    t.match(member, { traceId, parentSpanId: spanId }, 'a caller with permissions continues its trace')
    t.notOk(member?.links?.length)
  },
)

t.test('a stranger does not decide whether a request is sampled', async (t) => {
  process.env.OTEL_TRACES_SAMPLER = 'parentbased_always_off'
  t.teardown(() => delete process.env.OTEL_TRACES_SAMPLER)
  const quiet = await startTracedApi(t)
  await quiet.call('GET', rules, { headers: sampled })
  t.strictSame(await quiet.finish(), [], 'sampled against the setting')
  delete process.env.OTEL_TRACES_SAMPLER
  const loud = await startTracedApi(t)
  await loud.call('GET', rules, { headers: unsampled })
  t.equal((await loud.finish()).length, 1, 'hidden against the setting')
})

t.test('the span of a request begins with it, before its caller is identified', async (t) => {
  const { makeWorkspace, finish } = await startTracedApi(t)
  const { call } = await makeWorkspace()
  const before = Date.now()
  await call('POST', `${rules}/trigger/LEAD_CREATED`, {
    body: { data: {} },
    headers: { prefer: 'respond-async' },
  })
  const after = Date.now()
  const spans = await finish()
  const [request] = spans.filter(({ name }) => name.startsWith('POST'))
  const [accept] = spans.filter(({ name }) => name === 'accept')
  t.ok(request && accept)
  const ms = (nanoseconds: string | undefined) => Number(nanoseconds) / 1e6
  t.ok(ms(request?.startTimeUnixNano) >= before - 1)
  t.ok(ms(request?.startTimeUnixNano) <= ms(accept?.startTimeUnixNano))
  t.ok(ms(request?.endTimeUnixNano) >= ms(accept?.endTimeUnixNano))
  t.ok(ms(request?.endTimeUnixNano) <= after + 1)
})
