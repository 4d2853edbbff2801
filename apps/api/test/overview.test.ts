import { newId } from '@automation/database'
import t from 'tap'
import { startApi, type Workspace } from './fixtures/api.js'
import { addressOf, storeEvent, storeExecution, storeRule } from './fixtures/history.js'

const api = await startApi(t)
const hourMs = 3_600_000

interface Overview {
  failures: { error: string }[]
  redis: string
  from: string
  countedFrom: string
  totals: Record<string, number>
  slices: ({ from: string } & Record<string, number | string>)[]
}

interface RulesOverview extends Pick<Overview, 'from' | 'countedFrom'> {
  to: string
  rules: { id: string; runs: number[]; failed: number[]; attention: object | null }[]
}

async function read({ callAs }: Workspace, query = '') {
  return (await callAs('viewer')<Overview>('GET', `/api/overview?${query}`)).body
}

t.test('events and executions are counted by the time of their event', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace)
  const to = Date.now() + 1_000
  for (const [hoursAgo, status] of [
    [0, 'succeeded'],
    [0, 'failed'],
    [1, 'waiting'],
    [3, 'cancelled'],
    [30, 'failed'],
  ] as const) {
    const acceptedAt = new Date(to - 2_000 - hoursAgo * hourMs)
    const event = await storeEvent(workspace, { ruleIds: [rule.id], acceptedAt })
    await storeExecution(workspace, event, rule.id, { status })
  }
  // A delivery to a subscription is no event of a rule.
  await storeEvent(workspace, { ...addressOf(newId()), acceptedAt: new Date(to - 2_000) })
  const range = `from=${new Date(to - 4 * hourMs).toISOString()}&to=${new Date(to).toISOString()}&slices=4`
  const { totals, slices, from, countedFrom } = await read(workspace, range)
  t.match(totals, { events: 4, succeeded: 1, failed: 1, cancelled: 1, unfinished: 1, rejectedWebhooks: 0 })
  t.match(slices, [
    { events: 1, cancelled: 1 },
    { events: 0 },
    { events: 1, unfinished: 1 },
    { events: 2, succeeded: 1, failed: 1 },
  ])
  t.equal(countedFrom, from, 'everything was counted')
})

t.test(
  'what finished executions took is a percentile of each slice, without those that waited',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const rule = await storeRule(workspace)
    const to = Date.now() + 1_000
    const run = async (hoursAgo: number, tookMs: number | null) => {
      const acceptedAt = new Date(to - 2_000 - hoursAgo * hourMs)
      const event = await storeEvent(workspace, { ruleIds: [rule.id], acceptedAt })
      const { id } = await storeExecution(workspace, event, rule.id, {
        status: tookMs === null ? 'waiting' : 'succeeded',
      })
      await workspace.database.execution.update({
        where: { id },
        data: {
          startedAt: acceptedAt,
          finishedAt: tookMs === null ? null : new Date(acceptedAt.getTime() + tookMs),
        },
      })
    }
    for (let index = 1; index <= 20; index++) await run(1, index * 10)
    for (const tookMs of [400, null, 600_001]) await run(0, tookMs)
    const range = `from=${new Date(to - 3 * hourMs).toISOString()}&to=${new Date(to).toISOString()}&slices=3`
    const { totals, slices } = await read(workspace, range)
    t.strictSame(
      slices.map(({ p95Ms }) => p95Ms),
      [null, 190, 400],
    )
    t.equal(totals.p95Ms, 200, 'of all together')
    t.equal((await read(await api.makeWorkspace())).totals.p95Ms, null)
  },
)

t.test('failures are grouped by rule and error, and each group says when it began', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const [shop, pager] = [await storeRule(workspace), await storeRule(workspace)]
  const foreign = await storeRule(other)
  const now = Date.now()
  const fail = async (owner: Workspace, ruleId: string, hoursAgo: number, error: string) => {
    const acceptedAt = new Date(now - hoursAgo * hourMs)
    const event = await storeEvent(owner, { ruleIds: [ruleId], acceptedAt })
    await storeExecution(owner, event, ruleId, { status: 'failed', error })
    return acceptedAt.toISOString()
  }
  const long = 'x'.repeat(300)
  const firstAt = await fail(workspace, shop.id, 3, 'refused')
  await fail(workspace, shop.id, 2, 'refused')
  const lastAt = await fail(workspace, shop.id, 1, 'refused')
  await fail(workspace, shop.id, 30, 'refused')
  await fail(workspace, shop.id, 1, 'timed out')
  for (const end of ['a', 'b']) await fail(workspace, pager.id, 2, long + end)
  await fail(other, foreign.id, 1, 'refused')
  const { failures } = await read(workspace, 'failures=2')
  t.match(failures, [
    { ruleId: shop.id, ruleName: String, error: 'refused', count: 3, firstAt, lastAt },
    { ruleId: pager.id, error: long.slice(0, 200), count: 2 },
  ])
  t.equal(failures.length, 2, 'the largest ones')
  const { error } = failures[1] as { error: string }
  const found = await workspace.call<{ executions: object[] }>('GET', `/api/executions?error=${error}`)
  t.equal(found.body.executions.length, 2, 'the error of a group finds its executions')
  t.strictSame((await read(workspace)).failures, [], 'only where they are asked for')
  const some = `failures=5&from=${new Date(now - 2.5 * hourMs).toISOString()}`
  t.match((await read(workspace, `${some}&ruleId=${shop.id}`)).failures, [{ count: 2 }, { count: 1 }])
  t.equal((await read(workspace, `${some}&ruleId=${shop.id}`)).failures.length, 2)
  for (const query of ['failures=51', 'failures=-1', 'failures=x'])
    t.equal((await workspace.call('GET', `/api/overview?${query}`)).status, 400, query)
})

t.test('an acknowledged group comes last, and needs attention again when it fails again', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const rule = await storeRule(workspace)
  const start = Date.now() - hourMs
  const fail = async (minute: number, error: string, hoursAgo = 1) => {
    const event = await storeEvent(workspace, {
      ruleIds: [rule.id],
      acceptedAt: new Date(Date.now() - hoursAgo * hourMs),
    })
    const { id } = await storeExecution(workspace, event, rule.id, { status: 'failed', error })
    const finishedAt = new Date(start + minute * 60_000)
    await workspace.database.execution.update({ where: { id }, data: { finishedAt } })
    return id
  }
  const setLast = (minute: number, lastError: string) => {
    const lastFailureAt = new Date(start + minute * 60_000)
    const data = { lastError, lastFailureAt, failureCount: 9, consecutiveFailures: 9 }
    return workspace.database.ruleCounters.update({ where: { ruleId: rule.id }, data })
  }
  type Group = { error: string; newestId: string; acknowledgement: { by: string; at: string } | null }
  const groups = async () => (await read(workspace, 'failures=5')).failures as Group[]
  const needing = async () => {
    const { body } = await workspace.call<{ rules: object[] }>('GET', '/api/automation-rules/attention')
    return body.rules.length
  }
  const long = `${'🙂'.repeat(250)} refused`
  // What failed last is not what was accepted last.
  const newest = await fail(2, long, 5)
  for (const minute of [0, 1]) await fail(minute, long)
  await fail(-1, 'older')
  await setLast(2, long)
  t.equal(await needing(), 1)
  t.match(await groups(), [{ newestId: newest, count: 3, acknowledgement: null }, { error: 'older' }])

  const path = `/api/executions/${newest}/acknowledgement`
  t.equal((await other.call('PUT', path)).status, 404, 'not of another workspace')
  const { status, body } = await workspace.callAs('operator')<{ by: string }>('PUT', path)
  t.equal(status, 200)
  t.match(body, { ruleId: rule.id, error: '🙂'.repeat(200), until: new Date(start + 120_000).toISOString() })
  t.match(await groups(), [{ error: 'older', acknowledgement: null }, { acknowledgement: { by: body.by } }])
  t.equal(await needing(), 0, 'the last failure of the rule is acknowledged')
  t.equal((await other.call('DELETE', path)).status, 404)

  await fail(3, long)
  await setLast(3, long)
  t.match(await groups(), [{ count: 4, acknowledgement: null }, { error: 'older' }], 'it failed again')
  t.equal(await needing(), 1)
  const again = (await groups())[0]?.newestId
  await workspace.call('PUT', `/api/executions/${again}/acknowledgement`)
  await workspace.call('PUT', path)
  t.equal(await needing(), 0, 'an older failure takes nothing back')
  await fail(4, 'another error')
  await setLast(4, 'another error')
  t.equal(await needing(), 1, 'it failed in another way')

  t.equal((await workspace.call('DELETE', path)).status, 204)
  t.equal((await workspace.call('DELETE', path)).status, 204, 'a second time changes nothing')
  t.ok((await groups()).every(({ acknowledgement }) => acknowledgement === null))
  const entries = await workspace.database.auditEntry.findMany({
    where: { subject: rule.id, action: { startsWith: 'failures.' } },
    orderBy: { id: 'asc' },
  })
  t.strictSame(
    entries.map(({ action }) => action),
    [...Array(3).fill('failures.acknowledged'), 'failures.unacknowledged'],
  )
  const event = await storeEvent(workspace, { ruleIds: [rule.id] })
  const { id } = await storeExecution(workspace, event, rule.id, { status: 'succeeded' })
  const refused = await workspace.call('PUT', `/api/executions/${id}/acknowledgement`)
  t.equal(refused.status, 409)
  t.equal(refused.headers['x-error-code'], 'execution_not_failed')
  for (const unknown of [newId(), 'x'])
    for (const method of ['PUT', 'DELETE'] as const)
      t.equal((await workspace.call(method, `/api/executions/${unknown}/acknowledgement`)).status, 404)
})

t.test('events whose rules have not run are counted, with the time of the oldest', async (t) => {
  const workspace = await api.makeWorkspace()
  const acceptedAt = new Date(Date.now() - hourMs)
  await storeEvent(workspace, { acceptedAt, doneAt: null })
  await storeEvent(workspace, { acceptedAt: new Date(Date.now() - 1_000), doneAt: null })
  await storeEvent(workspace, { acceptedAt: new Date(Date.now() - 2 * hourMs) })
  const { totals, redis } = await read(workspace)
  t.match(totals, { events: 3, unprocessed: 2, oldestUnprocessedAt: acceptedAt.toISOString() })
  t.equal(redis, 'ok')
})

t.test('the counts have the filters of the lists, so that a chart counts what its list has', async (t) => {
  const workspace = await api.makeWorkspace()
  const [rule, other] = [await storeRule(workspace), await storeRule(workspace)]
  const acceptedAt = new Date(Date.now() - hourMs)
  const store = async (ruleId: string, type: string, status: 'succeeded' | 'failed' | 'waiting') => {
    const event = await storeEvent(workspace, { ruleIds: [ruleId], acceptedAt, type })
    await storeExecution(workspace, event, ruleId, { status })
  }
  await store(rule.id, 'LEAD_CREATED', 'succeeded')
  await store(rule.id, 'LEAD_CREATED', 'waiting')
  await store(rule.id, 'DEAL_CREATED', 'failed')
  await store(other.id, 'LEAD_CREATED', 'failed')
  await storeEvent(workspace, { acceptedAt, doneAt: null })
  const count = async (query: string) => {
    const { totals } = await read(workspace, query)
    return [totals.events, totals.succeeded, totals.failed, totals.unfinished]
  }
  t.strictSame(await count(''), [5, 1, 2, 1])
  t.strictSame(await count(`ruleId=${rule.id}`), [3, 1, 1, 1])
  t.strictSame(await count('eventType=LEAD_CREATED'), [4, 1, 1, 1])
  t.strictSame(await count(`eventType=LEAD_CREATED&ruleId=${rule.id}`), [2, 1, 0, 1])
  t.strictSame(await count('eventStatus=running'), [1, 1, 2, 1])
  t.strictSame(await count('eventStatus=accepted'), [1, 1, 2, 1])
  t.strictSame(await count('error=BROKE'), [5, 0, 2, 0])
  for (const query of ['', `ruleId=${rule.id}`, 'eventType=LEAD_CREATED', `error=broke&ruleId=${other.id}`]) {
    const { body } = await workspace.call<{ executions: object[] }>('GET', `/api/executions?${query}`)
    const [, ...executions] = await count(query)
    t.equal(
      executions.reduce((sum = 0, n) => sum + (n ?? 0), 0),
      body.executions.length,
      query,
    )
  }
  for (const query of [
    'ruleId=x',
    'eventType=NO_TYPE',
    'eventStatus=x',
    'error=',
    'error=%00',
    'status=failed',
  ])
    t.equal((await workspace.call('GET', `/api/overview?${query}`)).status, 400, query)
})

t.test(
  'executions are counted by rule and time, and each rule says whether it needs attention',
  async (t) => {
    const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
    const [busy, failing, idle] = [
      await storeRule(workspace),
      await storeRule(workspace),
      await storeRule(workspace),
    ]
    const to = Date.now() + 1_000
    const run = async (ruleId: string, hoursAgo: number, status: 'succeeded' | 'failed' | 'waiting') => {
      const acceptedAt = new Date(to - 2_000 - hoursAgo * hourMs)
      const event = await storeEvent(workspace, { ruleIds: [ruleId], acceptedAt })
      await storeExecution(workspace, event, ruleId, { status })
    }
    for (const hoursAgo of [0, 0, 2]) await run(busy.id, hoursAgo, 'succeeded')
    await run(busy.id, 2, 'waiting')
    await run(failing.id, 1, 'failed')
    // Before the range, and of a rule that is gone.
    await run(busy.id, 5, 'failed')
    await run(newId(), 0, 'succeeded')
    await workspace.database.ruleCounters.update({
      where: { ruleId: failing.id },
      data: { attentionReason: 'unknown_outcome', attentionAt: new Date(), lastError: 'The worker died' },
    })
    const range = `from=${new Date(to - 4 * hourMs).toISOString()}&to=${new Date(to).toISOString()}&slices=4`
    const path = '/api/automation-rules/overview'
    const { body } = await workspace.callAs('viewer')<RulesOverview>('GET', `${path}?${range}`)
    t.equal(body.countedFrom, body.from, 'everything was counted')
    t.match(body.rules, [
      {
        id: failing.id,
        runs: [0, 0, 1, 0],
        failed: [0, 0, 1, 0],
        attention: { reason: 'unknown_outcome', lastError: 'The worker died' },
      },
      { id: busy.id, runs: [0, 2, 0, 2], failed: [0, 0, 0, 0], attention: null },
    ])
    t.equal(body.rules.length, 2, `neither ${idle.id}, which did nothing, nor a rule that is gone`)
    const foreign = await other.call<RulesOverview>('GET', path)
    t.strictSame(
      [foreign.body.rules, Date.parse(foreign.body.to) - Date.parse(foreign.body.from)],
      [[], 24 * hourMs],
    )
    for (const query of ['slices=49', 'from=2026-02-01&to=2026-01-01'])
      t.equal((await workspace.call('GET', `${path}?${query}`)).status, 400, query)
  },
)

t.test('an empty workspace has an overview, and a wrong range is refused', async (t) => {
  const workspace = await api.makeWorkspace()
  t.equal((await read(workspace)).slices.length, 48)
  for (const query of [
    'from=2026-02-01&to=2026-01-01',
    'from=2026-01-01&to=2026-03-01',
    'slices=0',
    'from=x',
  ])
    t.equal((await workspace.call('GET', `/api/overview?${query}`)).status, 400, query)
})

t.test('sample events have their data, newest first, of one type and one workspace', async (t) => {
  const workspace = await api.makeWorkspace()
  const other = await api.makeWorkspace()
  for (const [index, type] of ['LEAD_CREATED', 'DEAL_CREATED', 'LEAD_CREATED'].entries())
    await storeEvent(workspace, {
      type,
      data: { index },
      acceptedAt: new Date(Date.now() - 10_000 + index * 1_000),
    })
  await storeEvent(other, { type: 'LEAD_CREATED', data: { index: 'foreign' } })
  const ruleId = newId()
  await storeEvent(workspace, { type: 'SCHEDULE', ruleId, data: { index: 'own' } })
  await storeEvent(workspace, { type: 'SCHEDULE', ruleId: newId(), data: { index: 'of another rule' } })
  const ofRule = await workspace.call('GET', `/api/events/samples?eventType=SCHEDULE&ruleId=${ruleId}`)
  t.strictSame(
    (ofRule.body as { events: { data: object }[] }).events.map(({ data }) => data),
    [{ index: 'own' }],
  )
  const { status, body } = await workspace.callAs('viewer')(
    'GET',
    '/api/events/samples?eventType=LEAD_CREATED',
  )
  t.equal(status, 200)
  t.match(body, { events: [{ data: { index: 2 } }, { data: { index: 0 } }] })
  t.equal((body as { events: unknown[] }).events.length, 2)
  t.equal((await workspace.call('GET', '/api/events/samples?eventType=NO_TYPE')).status, 400)
})

t.test('samples together have at most a mebibyte of data', async (t) => {
  const workspace = await api.makeWorkspace()
  for (let index = 0; index < 4; index++)
    await storeEvent(workspace, { type: 'LEAD_CREATED', data: { text: 'x'.repeat(400_000) } })
  const { body } = await workspace.call<{ events: unknown[] }>(
    'GET',
    '/api/events/samples?eventType=LEAD_CREATED',
  )
  t.equal(body.events.length, 2)
})
