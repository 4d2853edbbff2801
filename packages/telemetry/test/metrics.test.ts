import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { openMetrics } from '../src/metrics.js'
import { createReading } from '../src/reading.js'

t.test('a scrape tells every series from the start, and what was noted since', async (t) => {
  const metrics = openMetrics()
  t.teardown(() => metrics.close())
  const outcomes = metrics.counts('automation_outcomes_total', 'Outcomes', 'outcome', ['good', 'bad'])
  const waits = metrics.measures('automation_wait_seconds', 'Waits', [0.1, 1], ['kind', 'result'])
  const wait = waits('mail', 'success')
  metrics.gauge('automation_line', 'Line', async () => 7)
  metrics.gauges('automation_places', 'Places', 'state', () => ({ free: 2, taken: 1 }))
  const scrape = await scraper(metrics)

  const first = await scrape('/metrics')
  t.equal(first.status, 200)
  t.match(first.type, /^text\/plain; version=0\.0\.4/)
  t.match(first.text, 'automation_outcomes_total{outcome="bad"} 0')
  t.match(first.text, 'automation_wait_seconds_count{kind="mail",result="success"} 0')
  t.match(first.text, 'automation_line 7')
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

t.test('there is nothing but /metrics', async (t) => {
  const metrics = openMetrics()
  t.teardown(() => metrics.close())
  const scrape = await scraper(metrics)
  for (const path of ['/', '/metrics/', '/healthz']) t.equal((await scrape(path)).status, 404, path)
  t.equal((await scrape('/metrics', 'POST')).status, 405)
})

t.test('what is asked for is asked once for all who want to know within its time', async (t) => {
  let asked = 0
  let now = 0
  const read = createReading(
    async () => ++asked,
    { keepMs: 1_000, giveUpMs: 100, unknown: -1 },
    () => now,
  )
  t.strictSame(await Promise.all([read(), read()]), [1, 1])
  now = 999
  t.equal(await read(), 1)
  now = 1_000
  t.equal(await read(), 2)
})

t.test('who cannot be asked, or does not answer in time, is unknown', async (t) => {
  const options = { keepMs: 0, giveUpMs: 20, unknown: Number.NaN }
  const faulty = createReading(async () => Promise.reject(new Error('away')), options)
  t.ok(Number.isNaN(await faulty()))
  // Nothing else would keep this process until then.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  const mute = createReading(() => setTimeout(60_000, 1, { ref: false }), options)
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
