import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { openPatiently } from '@automation/database'
import { makeTemporaryDirectory, startRedis } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import { openQueue } from '@automation/queue'
import { Redis } from 'ioredis'
import t from 'tap'
import { describeData } from '../src/describe-job.js'
import { authorize, startBoard } from './fixtures/board.js'
import { openTestQueue, workspaceId } from './fixtures/test-queue.js'

const redisUrl = process.env.REDIS_URL ?? ''

t.test('each response forbids frames, sniffing and content from other sites', async (t) => {
  const { ask } = await startBoard(t)
  for (const [path, headers] of [
    ['/', undefined],
    ['/', {}],
    ['/static/favicon.ico', undefined],
    ['/api/queues', undefined],
    ['/else', undefined],
    ['/healthz', {}],
  ] as const) {
    const answer = await ask(path, headers && { headers })
    t.match(answer.headers, {
      'content-security-policy':
        /^default-src 'none'; script-src 'self'; .*connect-src 'self'; .*frame-ancestors 'none'$/,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    })
  }
  t.equal((await ask('/')).headers['cache-control'], 'no-store')
})

t.test('the page loads everything from the board', async (t) => {
  const { ask } = await startBoard(t)
  const page = (await ask('/')).body
  t.match(page, '<base href="/" />')
  const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)
  t.ok(addresses.length > 5)
  t.same(
    addresses.filter((address) => /^(\w+:|\/\/)/.test(address)),
    [],
  )
  for (const address of addresses.filter((address) => address.startsWith('static/')))
    t.equal((await ask(`/${address}`)).statusCode, 200, address)
})

t.test('several queues have a page and jobs each, are paused together, and count together', async (t) => {
  const prefix = `{${randomUUID()}}`
  const queue = openQueue(redisUrl, prefix, 3)
  t.teardown(() => queue.close())
  t.ok(await queue.isReady(5_000))
  const idsOf = (end: number) => `${randomUUID().slice(0, -8)}0000000${end}`
  for (const end of [1, 4, 2])
    await queue.addCaused([{ id: randomUUID(), workspaceId: idsOf(end), addressee: null }])
  const { app, ask } = await startBoard(t, {
    QUEUE_PREFIX: prefix,
    BOARD_WRITES: 'true',
    METRICS_PORT: '0',
  })
  const read = async () => (await ask('/api/queues')).json().queues
  matchLists(t, await read(), [
    { name: 'automation', displayName: 'Events and due executions', counts: { waiting: 0 } },
    { name: 'automation-1', displayName: 'Events and due executions 1', counts: { waiting: 2 } },
    { name: 'automation-2', displayName: 'Events and due executions 2', counts: { waiting: 1 } },
  ])
  const scrape = await (await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`)).text()
  t.match(scrape, 'automation_queue_jobs{state="waiting"} 3')
  const { jobs } = (await ask('/api/queues?activeQueue=automation-2&status=waiting')).json().queues[2]
  t.equal(jobs.length, 1)
  const removed = await ask(`/api/queues/automation-2/${jobs[0].id}/clean`, { method: 'PUT' })
  t.equal(removed.statusCode, 204)
  matchLists(t, await read(), [
    { counts: { waiting: 0 } },
    { counts: { waiting: 2 } },
    { counts: { waiting: 0 } },
  ])
  const pausedOf = async () => (await read()).map(({ isPaused }: { isPaused: boolean }) => isPaused)
  await ask('/api/queues/automation-2/pause', { method: 'PUT' })
  t.same(await pausedOf(), [true, true, true])
  await ask('/api/queues/automation/resume', { method: 'PUT' })
  t.same(await pausedOf(), [false, false, false])
})

t.test('a queue that is gone is shown as long as it has jobs', async (t) => {
  const prefix = `{${randomUUID()}}`
  const redis = new Redis(redisUrl)
  t.teardown(() => redis.disconnect())
  const queue = openQueue(redisUrl, prefix, 4)
  t.ok(await queue.isReady(5_000))
  const job = { id: randomUUID(), workspaceId: `${randomUUID().slice(0, -8)}00000002`, addressee: null }
  await queue.addCaused([job])
  await queue.close()
  const announced = Number(await redis.zscore(`${prefix}:queues`, '4'))
  const announceOne = (later: number) => redis.zadd(`${prefix}:queues`, announced + later, '1')
  await announceOne(20_000)
  const { ask } = await startBoard(t, { QUEUE_PREFIX: prefix, BOARD_WRITES: 'true' })
  const namesOf = async () =>
    (await ask('/api/queues')).json().queues.map(({ name }: { name: string }) => name)
  const four = ['automation', 'automation-1', 'automation-2', 'automation-3']
  t.strictSame(await namesOf(), four, 'who has announced them may live')
  await announceOne(31_000)
  t.strictSame(await namesOf(), four.slice(0, 3), 'up to that which has a job')
  await ask(`/api/queues/automation-2/${job.id}/clean`, { method: 'PUT' })
  t.strictSame(await namesOf(), ['automation'])
  await redis.del(`${prefix}:queues`)
  t.strictSame(await namesOf(), ['automation'], 'also where Redis was flushed')
})

t.test('jobs are shown with our texts, and link to their events', async (t) => {
  const testQueue = await openTestQueue(t, redisUrl)
  const { ask } = await startBoard(t, {
    QUEUE_PREFIX: testQueue.prefix,
    CONSOLE_URL: 'https://console.example/',
  })
  const failed = await testQueue.addFailed('Postgres was away')
  await testQueue.addActive()
  await testQueue.addDelayed()
  const waiting = await testQueue.addWaiting(2)
  const { queues } = (await ask('/api/queues?activeQueue=automation')).json()
  t.equal(queues.length, 1)
  t.match(queues, [
    {
      name: 'automation',
      displayName: 'Events and due executions',
      readOnlyMode: true,
      counts: { waiting: 1, active: 1, delayed: 1, failed: 1 },
    },
  ])
  const { job } = (await ask(`/api/queues/automation/${failed.id}`)).json()
  const eventId = (failed.data as { events: { id: string }[] }).events[0]?.id
  t.match(job, {
    name: `execute: 1 event of workspace ${workspaceId}`,
    failedReason: 'Postgres was away',
    externalUrl: {
      href: `https://console.example/w/${workspaceId}/events?id=${eventId}`,
      displayText: 'Event',
    },
  })
  const found = queues[0].jobs.find(({ id }: { id: string }) => id === waiting.id)
  t.match(found, {
    name: `trigger: 2 events of workspace ${workspaceId}`,
    data: describeData(waiting.data) as object,
  })
})

t.test(
  'a board is connected to Postgres before somebody looks, so that its first page has names',
  async (t) => {
    const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
    t.teardown(() => database.close())
    const name = `board-${randomUUID()}`
    const { app } = await startBoard(t, {
      DATABASE_URL: `${process.env.DATABASE_URL}?application_name=${name}`,
    })
    await app.ready()
    const countConnections = () =>
      database.system.$queryRaw<unknown[]>`SELECT FROM pg_stat_activity WHERE application_name = ${name}`
    while ((await countConnections()).length === 0) await setTimeout(20)
    t.pass('nobody has asked for a page')
  },
)

t.test(
  'with Postgres, jobs are named by type and workspace, and by their ids while it is unavailable',
  async (t) => {
    const testQueue = await openTestQueue(t, redisUrl)
    const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
    t.teardown(() => database.close())
    const owner = randomUUID()
    await database.system.workspace.create({ data: { id: owner, name: 'Demo' } })
    const job = await testQueue.addWaiting(2, [owner])
    const { events } = job.data as { events: { id: string }[] }
    for (const { id } of events)
      await database.system.event.create({ data: { id, workspaceId: owner, type: 'LEAD_CREATED', data: {} } })
    const env = { QUEUE_PREFIX: testQueue.prefix, DATABASE_URL: process.env.DATABASE_URL }
    const { ask } = await startBoard(t, env)
    const { queues } = (await ask('/api/queues?activeQueue=automation')).json()
    t.match(queues[0].jobs, [{ name: 'trigger: 2 × LEAD_CREATED in Demo' }])
    t.match((await ask(`/api/queues/automation/${job.id}`)).json().job.name, 'in Demo')
    await database.system.workspace.update({ where: { id: owner }, data: { name: 'Renamed' } })
    const renamed = (await ask(`/api/queues/automation/${job.id}`)).json().job
    t.equal(renamed.name, 'trigger: 2 × LEAD_CREATED in Renamed')
    const away = await startBoard(t, { ...env, DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/none' })
    const { job: unnamed } = (await away.ask(`/api/queues/automation/${job.id}`)).json()
    t.equal(unnamed.name, `trigger: 2 events of workspace ${owner}`)
  },
)

t.test('a page has at most 100 jobs of each state, however many a query asks for', async (t) => {
  const testQueue = await openTestQueue(t, redisUrl)
  const { ask } = await startBoard(t, { QUEUE_PREFIX: testQueue.prefix })
  await Promise.all(Array.from({ length: 120 }, () => testQueue.addWaiting()))
  await testQueue.addDelayed()
  const count = async (query: string) => {
    const { queues } = (await ask(`/api/queues?activeQueue=automation&${query}`)).json()
    return queues[0].jobs.length
  }
  t.equal(await count('jobsPerPage=1000000000'), 101)
  t.equal(await count('status=waiting&jobsPerPage=1000000000'), 100)
  t.equal(await count('status=waiting&jobsPerPage=30&page=4'), 30)
})

t.test('without the URL of the console no job has a link', async (t) => {
  const testQueue = await openTestQueue(t, redisUrl)
  const { ask } = await startBoard(t, { QUEUE_PREFIX: testQueue.prefix })
  const { id } = await testQueue.addWaiting()
  t.notOk('externalUrl' in (await ask(`/api/queues/automation/${id}`)).json().job)
})

t.test(
  'a read-only board changes nothing, whether Bull Board treats the request as a write or not',
  async (t) => {
    const testQueue = await openTestQueue(t, redisUrl)
    const { ask } = await startBoard(t, { QUEUE_PREFIX: testQueue.prefix })
    const failed = await testQueue.addFailed('x')
    const queue = '/api/queues/automation'
    for (const [method, path, payload] of [
      ['PUT', `${queue}/${failed.id}/retry`],
      ['PUT', `${queue}/${failed.id}/clean`],
      ['PATCH', `${queue}/${failed.id}/update-data`, { jobData: {} }],
      ['PUT', `${queue}/retry/failed`],
      ['PUT', `${queue}/obliterate`, { force: true }],
      ['PUT', `${queue}/pause`],
      ['PUT', '/api/queues/pause'],
      ['POST', `${queue}/add`, { name: 'trigger', data: {} }],
      ['POST', '/api/else'],
      ['DELETE', '/'],
    ] as const) {
      const answer = await ask(path, { method, ...(payload && { payload }) })
      t.equal(answer.statusCode, 403, `${method} ${path}`)
      t.strictSame(answer.json(), { error: 'The board is read-only' })
    }
    t.ok(await failed.isFailed())
    t.notOk(await testQueue.queue.isPaused())
  },
)

t.test('a read-only board writes nothing to Redis', async (t) => {
  const testQueue = await openTestQueue(t, redisUrl)
  const prefix = testQueue.prefix.replace('}', '-untouched}')
  const { ask } = await startBoard(t, { QUEUE_PREFIX: prefix })
  for (const path of ['/', '/api/queues?activeQueue=automation', '/api/redis/stats', '/readyz'])
    t.equal((await ask(path)).statusCode, 200, path)
  t.same(await testQueue.redis.keys(`${prefix}*`), [])
})

t.test('allowed writes are performed, but not for a page of another site', async (t) => {
  const testQueue = await openTestQueue(t, redisUrl)
  const { ask } = await startBoard(t, { QUEUE_PREFIX: testQueue.prefix, BOARD_WRITES: 'true' })
  const failed = await testQueue.addFailed('x')
  const retry = { method: 'PUT' as const, url: `/api/queues/automation/${failed.id}/retry` }
  const from = (site: string) => ({ ...authorize(), 'sec-fetch-site': site })
  for (const site of ['cross-site', 'same-site', 'none']) {
    t.equal((await ask(retry.url, { ...retry, headers: from(site) })).statusCode, 403, site)
  }
  for (const origin of ['http://evil.example', 'http://board.example:81', 'null']) {
    const headers = { ...authorize(), host: 'board.example', origin }
    const { statusCode } = await ask(retry.url, { ...retry, headers })
    t.equal(statusCode, 403, `over plain HTTP, without Sec-Fetch-Site, from ${origin}`)
  }
  const form = await ask('/api/queues/automation/add', {
    method: 'POST',
    headers: { ...from('same-origin'), 'content-type': 'text/plain' },
    payload: '{"name":"trigger","data":{}}',
  })
  t.equal(form.statusCode, 415, 'what a form can send is not read')
  t.ok(await failed.isFailed())
  const { job } = (await ask(`/api/queues/automation/${failed.id}`)).json()
  t.strictSame(job.data, failed.data, 'what can be edited is shown as it is')
  const plain = { ...authorize(), host: 'board.example', origin: 'http://board.example' }
  t.equal(
    (await ask(`${retry.url}?`, { ...retry, url: '/api/queues/automation/none/retry', headers: plain }))
      .statusCode,
    404,
  )
  t.equal((await ask(retry.url, { ...retry, headers: from('same-origin') })).statusCode, 204)
  t.ok(await failed.isWaiting())
  t.equal(await testQueue.queue.count(), 1)
})

t.test('while Redis is away the board reports it, and it works as soon as Redis is back', async (t) => {
  const directory = await makeTemporaryDirectory()
  t.teardown(directory.remove)
  const options = { directory: `${directory.path}/redis`, persistent: false }
  const first = await startRedis(options)
  await first.stop()
  const { ask } = await startBoard(t, { REDIS_URL: first.url })

  const tellsAway = async () => {
    const page = await ask('/queue/automation')
    t.equal(page.statusCode, 503)
    t.match(page.body, '<h1>Redis is unavailable</h1>')
    const data = await ask('/api/queues')
    t.equal(data.statusCode, 503)
    t.match(data.json(), { error: 'Redis is unavailable', queues: [{ displayName: 'Redis is unavailable' }] })
    t.equal(data.json().queues.length, 1)
    t.equal((await ask('/healthz', { headers: {} })).statusCode, 200)
    t.strictSame((await ask('/readyz', { headers: {} })).json(), { status: 'unready', redis: 'away' })
  }
  const untilReady = async () => {
    while ((await ask('/readyz', { headers: {} })).statusCode !== 200) await setTimeout(20)
    const { queues } = (await ask('/api/queues')).json()
    t.match(queues, [{ displayName: 'Events and due executions' }])
    t.equal(queues.length, 1)
  }
  await tellsAway()
  const redis = await startRedis({ ...options, port: first.port })
  t.teardown(() => redis.stop())
  await untilReady()
  redis.kill('SIGSTOP')
  await tellsAway()
  redis.kill('SIGCONT')
  await untilReady()
})
