import { readFile } from 'node:fs/promises'
import { firstIdOf, newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { docsDirectory } from '../src/docs-directory.js'
import { type Api, ruleBody, rules, startApi } from './fixtures/api.js'
import { makeSender, nowText } from './fixtures/sender.js'

const watched = { METRICS_PORT: '0' }

/** What a series stands at; undefined where there is none. */
async function scrape({ app }: Api): Promise<(series: string) => number | undefined> {
  const response = await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`)
  const lines = (await response.text()).split('\n')
  return (series) => {
    const line = lines.find((line) => line.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
}

t.test('without METRICS_PORT nothing listens, and the API itself has no /metrics', async (t) => {
  const api = await startApi(t)
  t.equal(api.app.metricsPort, undefined)
  t.equal((await api.call('GET', '/metrics')).status, 404)
})

t.test('the dashboard has a series for each kind of refusal of the API', async (t) => {
  const { app } = await startApi(t, watched)
  const text = await (await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`)).text()
  const names = [...text.matchAll(/^# TYPE (automation_\w+_(?:limited|refused|closed)_total) /gm)]
  t.ok(names.length >= 5, `${names.length}`)
  const dashboard = await readFile(new URL('grafana/automation.json', docsDirectory), 'utf8')
  for (const [, name = ''] of names) t.match(dashboard, `${name}[`, name)
})

t.test('requests are counted by the pattern of their path, without values of callers', async (t) => {
  const api = await startApi(t, watched)
  const workspace = await api.makeWorkspace()
  for (const id of [newId(), newId()]) await workspace.call('GET', `${rules}/${id}`)
  await api.call('GET', `/${newId()}`)
  await workspace.call('GET', rules)

  const value = await scrape(api)
  const requests = (labels: string) => value(`automation_http_request_seconds_count{${labels}}`)
  t.equal(requests('method="GET",route="/api/automation-rules/:id",status="4xx"'), 2)
  t.equal(requests('method="GET",route="/api/automation-rules",status="2xx"'), 1)
  t.equal(requests('method="GET",route="none",status="4xx"'), 1)
  const text = await (await fetch(`http://127.0.0.1:${api.app.metricsPort}/metrics`)).text()
  t.notMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}/, 'no id is in it')
})

t.test(
  'each delivery of a webhook is counted with one outcome, and each rejection with its reason',
  async (t) => {
    const api = await startApi(t, { ...watched, RATE_LIMIT_ENTERPRISE: '1/4' })
    const { deliver } = await makeSender(api, await api.makeWorkspace())
    const id = newId()
    const statuses = [
      await deliver({ id }),
      await deliver({ id }),
      await deliver({ id, body: '"another"' }),
      await deliver({ headers: { 'x-signature': 'v1=0' } }),
      await deliver({ headers: { 'x-timestamp': undefined } }),
      await deliver({ timestamp: nowText(-3_600) }),
      await deliver({ headers: { 'content-type': 'text/plain' } }),
      await deliver({ headers: { 'content-encoding': 'gzip' } }),
      await deliver({ body: '{' }),
      await deliver(),
    ].map(({ status }) => status)
    t.strictSame(statuses, [202, 200, 422, 401, 400, 401, 415, 415, 400, 429])

    const value = await scrape(api)
    const outcome = (name: string) => value(`automation_webhook_deliveries_total{outcome="${name}"}`)
    t.strictSame([outcome('accepted'), outcome('duplicate'), outcome('rejected')], [1, 1, 8])
    for (const reason of [
      'reused_id',
      'signature',
      'header',
      'timestamp',
      'content_type',
      'content_encoding',
      'body',
      'rate_limit',
    ])
      t.equal(value(`automation_webhook_rejections_total{reason="${reason}"}`), 1, reason)
    t.equal(value('automation_rate_limited_total{bucket="webhooks"}'), 1)
    t.equal(value('automation_events_accepted_total'), 1)
  },
)

t.test('a request refused by the rate limit is counted by its bucket', async (t) => {
  const api = await startApi(t, { ...watched, RATE_LIMIT_ANONYMOUS: '1/1', RATE_LIMIT_AUTHENTICATED: '1/2' })
  const workspace = await api.makeWorkspace()
  for (let call = 0; call < 3; call++) await workspace.call('GET', rules)
  for (let call = 0; call < 3; call++) await api.call('GET', rules, { remoteAddress: '192.0.2.1' })
  const value = await scrape(api)
  const limited = (bucket: string) => value(`automation_rate_limited_total{bucket="${bucket}"}`)
  t.strictSame([limited('authenticated'), limited('anonymous'), limited('enterprise')], [1, 2, 0])
})

t.test('events, idempotent replays and callers that timed out are counted', async (t) => {
  const api = await startApi(t, watched)
  const { call } = await api.makeWorkspace()
  await call('POST', rules, { body: ruleBody() })
  const trigger = (headers: Record<string, string>) =>
    call('POST', `${rules}/trigger/LEAD_CREATED`, { body: { data: {} }, headers })
  const keyed = { 'idempotency-key': newId(), prefer: 'respond-async' }
  await trigger(keyed)
  await trigger(keyed)
  let lates = 0
  // A scrape may take longer than a caller waits.
  for (let isSeen = false; !isSeen; lates++) {
    let isOver = false
    const late = trigger({ prefer: `wait=${2 ** lates}` }).finally(() => {
      isOver = true
    })
    while (!isSeen && !isOver) isSeen = (await scrape(api))('automation_callers_waiting') === 1
    t.equal((await late).status, 202, 'there is no worker')
  }

  const value = await scrape(api)
  t.equal(value('automation_events_accepted_total'), 1 + lates)
  t.equal(value('automation_accept_batch_events_sum'), 1 + lates)
  t.equal(value('automation_accept_commit_seconds_count'), 2 + lates, 'the replay took a commit, too')
  t.equal(value('automation_idempotent_replays_total'), 1)
  t.equal(value('automation_callers_total{ended="timed_out"}'), lates)
  t.equal(value('automation_callers_waiting'), 0)
})

t.test('the age of the oldest due work and the state of the pool are reported', async (t) => {
  const api = await startApi(t, {
    ...watched,
    DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  })
  const { database, id: workspaceId } = await api.makeWorkspace()
  const acceptedAt = new Date(Date.now() - 60_000)
  const event = {
    id: firstIdOf(acceptedAt.getTime()),
    workspaceId,
    acceptedAt,
    type: 'LEAD_CREATED',
    data: {},
  }
  await database.event.create({ data: event })
  const value = await scrape(api)
  t.ok((value('automation_oldest_due_seconds') ?? 0) >= 60)
  t.equal(value('automation_database_connections{state="limit"}'), 5)
  t.ok((value('automation_database_connections{state="idle"}') ?? 0) >= 1)
})

t.test('without Postgres a scrape still succeeds, and reports unknown values', async (t) => {
  const api = await startApi(t, { ...watched, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' })
  t.ok(Number.isNaN((await scrape(api))('automation_oldest_due_seconds')))
})

t.test('violations in the ledger of any workspace are reported by kind', async (t) => {
  const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
  const api = await startApi(t, { ...watched, DATABASE_URL })
  const { database, id: workspaceId } = await api.makeWorkspace()
  const event = { id: newId(), workspaceId, type: 'LEAD_CREATED', data: {}, quarantined: true }
  await database.event.create({ data: event })
  const value = await scrape(api)
  t.equal(value('automation_ledger_imbalance{kind="quarantined_not_done"}'), 1)
  t.equal(value('automation_ledger_imbalance{kind="task_missing"}'), 0)
  t.ok((value('automation_ledger_audited_seconds') ?? 0) >= 3_600)
})
