import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createCachedReading } from '../../src/telemetry/cached-reading.js'
import { measureRequests } from '../../src/telemetry/measure-requests.js'
import { openMetrics } from '../../src/telemetry/metrics.js'

t.test('a scrape contains every series from the start, with the values recorded since', async (t) => {
  const metrics = openMetrics()
  t.teardown(() => metrics.close())
  const outcomes = metrics.counters('automation_outcomes_total', 'Outcomes', 'outcome', ['good', 'bad'])
  const waits = metrics.histograms('automation_wait_seconds', 'Waits', [0.1, 1], ['kind', 'result'])
  const wait = waits('mail', 'success')
  metrics.gauge('automation_queue', 'Queue', async () => 7)
  metrics.gauges('automation_places', 'Places', 'state', () => ({ free: 2, taken: 1 }))
  const scrape = await scraper(metrics)

  const first = await scrape('/metrics')
  t.equal(first.status, 200)
  t.match(first.type, /^text\/plain; version=0\.0\.4/)
  t.match(first.text, 'automation_outcomes_total{outcome="bad"} 0')
  t.match(first.text, 'automation_wait_seconds_count{kind="mail",result="success"} 0')
  t.match(first.text, 'automation_queue 7')
  t.match(first.text, 'automation_places{state="taken"} 1')
  t.match(first.text, /^nodejs_eventloop_lag_p99_seconds /m)
  t.match(first.text, /^process_cpu_seconds_total /m)

  outcomes.bad.inc()
  outcomes.bad.inc(2)
  wait.observe(0.5)
  const { text } = await scrape('/metrics')
  t.match(text, 'automation_outcomes_total{outcome="bad"} 3')
  t.match(text, 'automation_outcomes_total{outcome="good"} 0')
  t.match(text, 'automation_wait_seconds_bucket{le="1",kind="mail",result="success"} 1')
  t.match(text, 'automation_wait_seconds_bucket{le="0.1",kind="mail",result="success"} 0')
})

t.test('the series of server errors of a route exists before its first error', async (t) => {
  const metrics = openMetrics()
  t.teardown(() => metrics.close())
  const measure = measureRequests(metrics)
  measure({ method: 'GET', routeOptions: { url: '/rules/:id' } }, { statusCode: 204, elapsedTime: 5 })
  measure({ method: 'GET', routeOptions: {} }, { statusCode: 404, elapsedTime: 5 })
  const { text } = await (await scraper(metrics))('/metrics')
  const countOf = (route: string, status: string) =>
    `automation_http_request_seconds_count{method="GET",route="${route}",status="${status}"}`
  t.match(text, `${countOf('/rules/:id', '2xx')} 1`)
  t.match(text, `${countOf('/rules/:id', '5xx')} 0`)
  t.match(text, `${countOf('none', '4xx')} 1`, 'a path that callers choose is no series')
})

t.test('only /metrics is served', async (t) => {
  const metrics = openMetrics()
  t.teardown(() => metrics.close())
  const scrape = await scraper(metrics)
  for (const path of ['/', '/metrics/', '/healthz']) t.equal((await scrape(path)).status, 404, path)
  t.equal((await scrape('/metrics', 'POST')).status, 405)
})

t.test('a cached reading is queried once for all readers within its time', async (t) => {
  let queries = 0
  let now = 0
  const read = createCachedReading(
    async () => ++queries,
    { keepMs: 1_000, timeoutMs: 100, unknown: -1 },
    () => now,
  )
  t.strictSame(await Promise.all([read(), read()]), [1, 1])
  now = 999
  t.equal(await read(), 1)
  now = 1_000
  t.equal(await read(), 2)
})

t.test('a query that fails or exceeds the timeout gives the unknown value', async (t) => {
  const options = { keepMs: 0, timeoutMs: 20, unknown: Number.NaN }
  const faulty = createCachedReading(async () => Promise.reject(new Error('away')), options)
  t.ok(Number.isNaN(await faulty()))
  // Nothing else keeps this process alive until the timeout.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  const mute = createCachedReading(() => setTimeout(60_000, 1, { ref: false }), options)
  t.ok(Number.isNaN(await mute()))
})

async function scraper(metrics: ReturnType<typeof openMetrics>) {
  const port = await metrics.listen(0, '127.0.0.1')
  return async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text: await response.text(),
    }
  }
}
