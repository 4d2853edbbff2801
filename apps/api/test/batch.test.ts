import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { createLocalBuckets } from '../src/rate-limit/token-bucket.js'
import { type Answer, ruleBody, rules, startApi } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

interface BatchAnswer {
  accepted: number
  results: {
    status: string
    id?: string
    replayed?: boolean
    errors?: { field: string; message: string }[]
    error?: string
  }[]
}

const directory = t.testdir({ mail: {} })
const env = {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
}
// Two APIs and a worker of its own: on a machine that has other work they take their time.
const [api, twin] = await Promise.all([startApi(t, env), startApi(t, env)])
const single = `${rules}/trigger/LEAD_CREATED`
const batch = `${single}/batch`

/** A workspace, and short words for what is done in it. */
async function makeOwnWorkspace() {
  const workspace = await api.makeWorkspace()
  const { call, database, id, tokens } = workspace
  const question = { token: tokens.admin, workspace: id }
  return {
    ...workspace,
    post: (events: unknown, path = batch) => call<BatchAnswer>('POST', path, { body: { events } }),
    postOther: (events: unknown) => twin.call<BatchAnswer>('POST', batch, { ...question, body: { events } }),
    listData: async () => (await database.event.findMany({ orderBy: { id: 'asc' } })).map(({ data }) => data),
  }
}

const statusesOf = ({ body }: Answer<BatchAnswer>) => body.results.map(({ status }) => status)
const nest = (levels: number): unknown => (levels === 0 ? 1 : [nest(levels - 1)])

t.test('500 events are accepted in their order, by one commit', async (t) => {
  const { post, listData, id } = await makeOwnWorkspace()
  const events = Array.from({ length: 500 }, (_, number) => ({ data: { number } }))
  const answer = await post(events)
  t.equal(answer.status, 202)
  t.equal(answer.body.accepted, 500)
  t.ok(answer.body.results.every((result) => Object.keys(result).sort().join() === 'id,status'))
  const ids = answer.body.results.map((result) => result.id ?? '')
  t.strictSame(ids.toSorted(), ids)
  t.equal(new Set(ids).size, 500)
  t.strictSame(
    await listData(),
    events.map(({ data }) => data),
  )
  const [commits] = await api.app.database.run<{ count: number }>(
    'count_commits',
    'SELECT count(DISTINCT xmin::text)::int FROM events WHERE workspace_id = $1',
    [id],
  )
  t.equal(commits?.count, 1)
})

t.test('each event runs once, whatever else is in its batch', async (t) => {
  const { post, call, database } = await makeOwnWorkspace()
  const action = { type: 'CREATE_TASK', config: { title: 'Task {{number}}' } }
  await call('POST', rules, { body: ruleBody({ actions: [action] }) })
  const worker = await startWorker(t, api.config, directory)
  const events = Array.from({ length: 40 }, (_, number) => ({
    data: number % 10 === 0 ? { number: '\0' } : { number },
  }))
  const { body } = await post(events)
  t.equal(body.accepted, 36)
  while ((await database.event.count({ where: { doneAt: null } })) > 0) await setTimeout(20)
  const titles = (await database.task.findMany()).map(({ title }) => Number(title.slice('Task '.length)))
  t.strictSame(
    titles.toSorted((left, right) => left - right),
    Array.from({ length: 40 }, (_, number) => number).filter((number) => number % 10 > 0),
  )
  const stored = await call('GET', `/api/events/${body.results[1]?.id}`)
  t.match(stored, { status: 200, body: { status: 'done', data: { number: 1 } } })
  await worker.stop()
})

t.test('a faulty event refuses itself and no other', async (t) => {
  const { post, listData } = await makeOwnWorkspace()
  const good = { data: { name: 'Ada' } }
  const faulty: [event: unknown, field: string, message: RegExp][] = [
    [{}, '.data', /^Required$/],
    [{ data: [] }, '.data', /object/],
    [{ data: null }, '.data', /object/],
    [5, '', /object/],
    [null, '', /object/],
    [{ ...good, extra: 1 }, '.extra', /^Unknown field\. All: data, idempotencyKey$/],
    [{ ...good, idempotencyKey: '' }, '.idempotencyKey', /^Must be 1 to 255 printable ASCII characters$/],
    [{ ...good, idempotencyKey: 'é' }, '.idempotencyKey', /^Must be 1 to 255 printable ASCII characters$/],
    [{ data: { lead: { name: 'a\0' } } }, '.data.lead.name', /NUL/],
    [{ data: { name: '\ud800' } }, '.data.name', /surrogate/],
    [{ data: { deep: nest(31) } }, `.data.deep${'[0]'.repeat(30)}`, /deeper than 32/],
  ]
  const answer = await post([good, ...faulty.flatMap(([event]) => [event, good])])
  t.equal(answer.status, 202)
  t.equal(answer.body.accepted, faulty.length + 1)
  t.strictSame(statusesOf(answer), ['accepted', ...faulty.flatMap(() => ['refused', 'accepted'])])
  for (const [index, [, field, message]] of faulty.entries()) {
    const { errors = [], id } = answer.body.results[2 * index + 1] ?? {}
    t.equal(id, undefined)
    t.equal(errors.length, 1, JSON.stringify(errors))
    t.equal(errors[0]?.field, `events[${2 * index + 1}]${field}`)
    t.match(errors[0]?.message, message)
  }
  t.strictSame(
    await listData(),
    Array.from({ length: faulty.length + 1 }, () => good.data),
  )
})

t.test('an event may be as deep as in a single request', async (t) => {
  const { post, call } = await makeOwnWorkspace()
  for (const [levels, isTaken] of [
    [29, true],
    [30, true],
    [31, false],
  ] as const) {
    const event = { data: { deep: nest(levels) } }
    const alone = await call('POST', single, { body: event, headers: { prefer: 'respond-async' } })
    t.equal(alone.status, isTaken ? 202 : 422)
    t.strictSame(statusesOf(await post([event])), [isTaken ? 'accepted' : 'refused'])
  }
})

t.test('a body that is wrong as a whole is refused as a whole', async (t) => {
  const { post, call, callAs, listData } = await makeOwnWorkspace()
  const good = { data: {} }
  const few = Array.from({ length: 6_000 }, () => 1)
  const wholes: [body: unknown, status: number, expected: object][] = [
    [{}, 422, { errors: [{ field: 'events', message: 'Required' }] }],
    [{ events: [] }, 422, { errors: [{ field: 'events' }] }],
    [{ events: Array(501).fill(good) }, 422, { errors: [{ field: 'events' }] }],
    [{ events: good }, 422, { errors: [{ field: 'events' }] }],
    [
      { events: [good], dryRun: true },
      422,
      { errors: [{ field: 'dryRun', message: 'Unknown field. All: events' }] },
    ],
    [
      { events: Array(4).fill({ data: { few } }) },
      422,
      { errors: [{ field: '', message: 'Body has more than 20000 values' }] },
    ],
    [[good], 400, { error: 'Body must be a JSON object' }],
    [undefined, 400, { error: 'Body must be a JSON object' }],
    ['{', 400, { error: 'Body is not valid JSON: line 1, column 2 should be a name in double quotes or }' }],
  ]
  for (const [body, status, expected] of wholes) {
    const answer = await call('POST', batch, { body })
    t.match(answer, { status, body: expected }, JSON.stringify(body)?.slice(0, 60))
  }
  const unknown = `${rules}/trigger/NOPE/batch`
  t.match(await post([good], unknown), { status: 400, body: { error: 'Invalid trigger type' } })
  t.match(await post([good, {}], unknown), { status: 400 }, 'even if single events are wrong')
  t.equal((await post([], unknown)).status, 422, 'shape before vocabulary')
  t.match(await call('POST', batch, { body: { events: [good] }, headers: { 'idempotency-key': 'k' } }), {
    status: 400,
    body: { error: /idempotencyKey/ },
  })
  t.equal((await callAs('viewer')('POST', batch, { body: { events: [good] } })).status, 403)
  t.strictSame(await listData(), [])
})

t.test('an event with a key is accepted once, in any batch or request', async (t) => {
  const { post, postOther, call, listData } = await makeOwnWorkspace()
  const one = { data: { n: 1 }, idempotencyKey: 'one' }
  const two = { data: { n: 2 }, idempotencyKey: 'two' }
  const first = await post([one, { data: { n: 0 } }, one])
  t.strictSame(statusesOf(first), ['accepted', 'accepted', 'accepted'])
  const id = first.body.results[0]?.id
  t.strictSame(first.body.results[2], { status: 'accepted', id, replayed: true }, 'twice in one batch')

  const second = await postOther([two, one, { ...one, data: { n: 3 } }])
  t.strictSame(second.body.results[1], { status: 'accepted', id, replayed: true }, 'by another process')
  t.strictSame(second.body.results[2], {
    status: 'refused',
    errors: [{ field: 'events[2].idempotencyKey', message: 'Was already used with a different request' }],
  })
  const headers = { 'idempotency-key': 'one', prefer: 'respond-async' }
  const alone = await call<{ id: string }>('POST', single, { body: { data: { n: 1 } }, headers })
  t.match(alone, { status: 202, headers: { 'idempotent-replayed': 'true' }, body: { id } })
  t.equal(alone.headers.location, `/api/events/${id}`)
  const other = { 'idempotency-key': 'three', prefer: 'respond-async' }
  const third = await call<{ id: string }>('POST', single, { body: { data: { n: 3 } }, headers: other })
  t.strictSame((await post([{ data: { n: 3 }, idempotencyKey: 'three' }])).body.results, [
    { status: 'accepted', id: third.body.id, replayed: true },
  ])
  const elsewhere = await post([one], `${rules}/trigger/LEAD_UPDATED/batch`)
  t.strictSame(statusesOf(elsewhere), ['refused'], 'another type is another request')
  t.strictSame(await listData(), [{ n: 1 }, { n: 0 }, { n: 2 }, { n: 3 }])
})

t.test('concurrent repetitions of a batch add its events once', async (t) => {
  const { post, postOther, listData } = await makeOwnWorkspace()
  const events = Array.from({ length: 20 }, (_, n) => ({ data: { n }, idempotencyKey: `key ${n}` }))
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, turn) =>
      (turn % 2 ? post : postOther)(turn % 3 ? events : events.toReversed()),
    ),
  )
  for (const answer of answers) t.equal(answer.body.accepted, 20)
  const firsts = answers.flatMap(({ body }) => body.results.filter(({ replayed }) => replayed === undefined))
  t.equal(firsts.length, 20)
  t.equal(new Set(answers.flatMap(({ body }) => body.results.map(({ id }) => id))).size, 20)
  t.equal((await listData()).length, 20)
})

t.test('data that Postgres refuses fails its own event only', async (t) => {
  const own = await startApi(t, {
    ...env,
    DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  })
  const { call } = await own.makeWorkspace()
  const { database } = own.app
  await database.run('poison', `ALTER TABLE events ADD CHECK (data->>'name' <> 'poison')`, [])
  const post = (...names: string[]) =>
    call<BatchAnswer>('POST', batch, { body: { events: names.map((name) => ({ data: { name } })) } })
  const some = await post('Ada', 'poison', 'Bo')
  t.strictSame([some.status, statusesOf(some)], [202, ['accepted', 'failed', 'accepted']])
  t.strictSame(some.body.results[1], { status: 'failed', error: 'Service temporarily unavailable' })
  t.match(await post('poison', 'poison'), { status: 500, body: { error: 'Internal server error' } })
})

t.test('each 50 events cost a token, all of them or none', async (t) => {
  // One token a minute: none comes back while this lasts.
  const limited = await startApi(t, {
    ...env,
    RATE_LIMIT_AUTHENTICATED: '1/20',
    QUEUE_PREFIX: `{${newId()}}`,
  })
  const { call, database } = await limited.makeWorkspace()
  const post = (count: number) =>
    call('POST', batch, { body: { events: Array.from({ length: count }, () => ({ data: {} })) } })
  const left: [events: number, status: number, remaining: number][] = [
    [1, 202, 19],
    [50, 202, 18],
    [51, 202, 16],
    [500, 202, 6],
    [350, 429, 5],
    [250, 202, 0],
  ]
  for (const [events, status, remaining] of left) {
    const answer = await post(events)
    t.equal(answer.status, status, `${events}`)
    t.equal(Number(answer.headers['x-ratelimit-remaining']), remaining, `${events}`)
    if (status !== 429) continue
    t.strictSame(answer.body, { error: 'Rate limit exceeded' })
    const seconds = Number(answer.headers['retry-after'])
    t.ok(seconds > 60 && seconds <= 120, `six more where five are, and one to ask with: ${seconds} s`)
  }
  t.equal((await post(1)).status, 429)
  t.equal(await database.event.count(), 1 + 50 + 51 + 500 + 250)
})

t.test('no batch costs more than a full bucket has', async (t) => {
  const limited = await startApi(t, { ...env, RATE_LIMIT_AUTHENTICATED: '1/3', QUEUE_PREFIX: `{${newId()}}` })
  const { call } = await limited.makeWorkspace()
  const answer = await call('POST', batch, { body: { events: Array(500).fill({ data: {} }) } })
  t.equal(answer.status, 202)
  t.equal(Number(answer.headers['x-ratelimit-remaining']), 0)
})

t.test('without Redis, too, a batch gets all of its tokens or none', (t) => {
  const draw = createLocalBuckets()
  const take = (tokens: number) => draw({ buckets: [{ key: 'a key', perMinute: 1, burst: 5 }], tokens }, 0)
  t.strictSame(take(4), { isRefused: false, index: 0, remaining: 1, waitMs: 0 })
  t.strictSame(take(2), { isRefused: true, index: 0, remaining: 1, waitMs: 60_000 })
  t.strictSame(take(1), { isRefused: false, index: 0, remaining: 0, waitMs: 0 })
  t.end()
})
