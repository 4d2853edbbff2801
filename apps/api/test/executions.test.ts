import { newId, Prisma } from '@automation/database'
import { type ActionResult, compileRule, findNextAction, type RuleDefinition } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { type Answer, roles, startApi, task, type Workspace } from './fixtures/api.js'
import {
  addressOf,
  countAll,
  idAt,
  storeEvent,
  storeExecution,
  storeNewVersion,
  storeRule,
} from './fixtures/history.js'

interface Execution {
  id: string
  eventId: string
  ruleId: string
  ruleVersion: number | null
  status: string
  actionsExecuted: number
  results?: ActionResult[]
  dueAt: string | null
  [field: string]: unknown
}

interface Page {
  executions: Execution[]
  nextCursor: string | null
}

const api = await startApi(t)
const path = '/api/executions'
const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const notFound = { status: 404, body: { error: 'Execution not found' } }
const conflict = (error: string) => ({ status: 409, body: { error } })
const notRetryable = (status: string) =>
  conflict(`Only a failed or cancelled execution can be retried: this one is ${status}`)

async function list({ call }: Workspace, query = ''): Promise<Page> {
  const { status, body } = await call<Page>('GET', `${path}?${query}`)
  if (status !== 200) throw new Error(`No executions for ${query}: ${status} ${JSON.stringify(body)}`)
  return body
}
const idsOf = ({ executions }: Page) => executions.map(({ id }) => id)
const read = async ({ call }: Workspace, id: string) => (await call<Execution>('GET', `${path}/${id}`)).body

const at = (text: string) => new Date(text)
const webhook = { type: 'SEND_WEBHOOK', config: { url: 'https://example.org' } }
const attempt = {
  startedAt: '2026-01-02T03:04:05.678Z',
  finishedAt: '2026-01-02T03:04:06.000Z',
  error: 'HTTP 500',
}
const failedCall = {
  action: 'SEND_WEBHOOK',
  status: 'failed',
  error: 'HTTP 500',
  failures: 3,
  attempts: [attempt],
}
const success = { action: 'CREATE_TASK', status: 'success' }

t.test('executions are listed newest first, with all fields except results', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace)
  const event = await storeEvent(workspace, {
    acceptedAt: at('2026-01-02T03:04:05.678Z'),
    ruleIds: [rule.id],
  })
  const results = [success, { action: 'SEND_EMAIL', status: 'skipped', reason: 'x' }, failedCall, success]
  const stored = await storeExecution(workspace, event, rule.id, { status: 'failed', results })
  const waiting = await storeExecution(workspace, await storeEvent(workspace), rule.id, {
    status: 'waiting',
    results: [{ action: 'WAIT', status: 'scheduled', until: '2036-01-02T03:04:05.678Z' }],
    dueAt: at('2036-01-02T03:04:05.678Z'),
    lease: newId(),
  })
  const page = await list(workspace)
  t.strictSame(idsOf(page), [waiting.id, stored.id])
  t.strictSame(page.executions[1], {
    id: stored.id,
    workspaceId: workspace.id,
    eventId: event.id,
    eventType: 'LEAD_CREATED',
    ruleId: rule.id,
    subscriptionId: null,
    ruleVersion: 1,
    status: 'failed',
    success: false,
    conditionsPassed: true,
    actionsExecuted: 2,
    dryRun: false,
    error: 'It broke',
    suppressed: null,
    waitsFor: null,
    cancelRequested: false,
    startedAt: '2026-01-02T03:04:05.678Z',
    dueAt: null,
    finishedAt: '2026-01-02T03:04:05.678Z',
  })
  t.match(page.executions[0], {
    status: 'waiting',
    success: true,
    conditionsPassed: true,
    dueAt: '2036-01-02T03:04:05.678Z',
    finishedAt: null,
  })
  for (const listed of page.executions) {
    const { results, ...rest } = await read(workspace, listed.id)
    t.strictSame(rest, listed)
    t.equal(results?.length, listed.id === stored.id ? 4 : 1)
  }
  t.strictSame((await read(workspace, stored.id)).results, results, 'with all attempts')
})

t.test('pages have neither gaps nor duplicates, even with new executions', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const ruleIds = [newId(), newId()]
  const row = (index: number) => {
    // Several of one millisecond, and some executed by hand.
    const eventId = idAt(1_767_225_600_000 + Math.floor(index / 5))
    return {
      id: index % 7 === 0 ? eventId : `${eventId.slice(0, 13)}-8${newId().slice(15)}`,
      workspaceId,
      eventId,
      eventType: 'LEAD_CREATED',
      handlerId: ruleIds[index % 2] ?? '',
      ruleVersion: 1,
      status: 'succeeded' as const,
      results: [],
      startedAt: new Date(),
    }
  }
  await database.execution.createMany({ data: Array.from({ length: 120 }, (_, index) => row(index)) })
  const all = await list(workspace, 'limit=250')
  t.equal(all.executions.length, 120)
  t.equal(all.nextCursor, null)
  t.strictSame(idsOf(all), idsOf(all).toSorted().reverse(), 'newest first')
  t.strictSame(idsOf(await list(workspace)), idsOf(all).slice(0, 50), '50 without a limit')
  for (const filter of ['', `ruleId=${ruleIds[0]}&`]) {
    const whole = idsOf(await list(workspace, `${filter}limit=250`))
    for (const limit of [1, 7, 59, 60, 61]) {
      const seen: string[] = []
      let pages = 0
      for (let cursor: string | null = ''; cursor !== null && pages <= 120; pages++) {
        const page: Page = await list(workspace, `${filter}limit=${limit}${cursor && `&cursor=${cursor}`}`)
        seen.push(...idsOf(page))
        cursor = page.nextCursor
      }
      t.strictSame(seen, whole, `pages of ${limit} are the whole`)
      t.equal(pages, Math.ceil(whole.length / limit))
    }
  }
  const first = await list(workspace)
  await storeExecution(workspace, await storeEvent(workspace), newId())
  t.strictSame(idsOf(await list(workspace, `cursor=${first.nextCursor}`)), idsOf(all).slice(50, 100))
})

t.test('executions are filtered by rule, event, type, status, error and time of the event', async (t) => {
  const workspace = await api.makeWorkspace()
  const [one, two] = [newId(), newId()]
  const rows = [
    [at('2026-01-01T00:00:00Z'), one, { status: 'failed', error: 'HTTP 500 at 100% of A_B' }],
    [at('2026-01-01T23:59:59.999Z'), two, { status: 'cancelled', error: 'The rule was switched off' }],
    [at('2026-01-02T00:00:00Z'), one, { eventType: 'DEAL_WON' }],
    [at('2026-01-02T12:00:00Z'), two, { status: 'waiting' }],
    [at('2026-01-02T12:00:00Z'), one, { status: 'retrying', error: 'a\\b http 503' }],
    [at('2026-01-03T00:00:00Z'), one, { status: 'running' }],
  ] as const
  const stored: { id: string; eventId: string }[] = []
  for (const [acceptedAt, ruleId, fields] of rows)
    stored.push(await storeExecution(workspace, await storeEvent(workspace, { acceptedAt }), ruleId, fields))
  const byHand = await storeEvent(workspace, { acceptedAt: at('2026-01-04T00:00:00Z'), ruleId: two })
  stored.push(await storeExecution(workspace, byHand, two))

  const cases: [query: string, found: number[]][] = [
    [`ruleId=${one}`, [0, 2, 4, 5]],
    [`ruleId=${one.toUpperCase()}&status=failed`, [0]],
    [`ruleId=${newId()}`, []],
    [`eventId=${stored[3]?.eventId}`, [3]],
    [`eventId=${stored[4]?.eventId.toUpperCase()}`, [4]],
    [`eventId=${byHand.id}`, [6]],
    [`eventId=${newId()}`, []],
    ['eventType=DEAL_WON', [2]],
    ['eventType=DEAL_LOST', []],
    ['status=failed', [0]],
    ['status=failed,cancelled', [0, 1]],
    ['status=running,waiting,retrying', [3, 4, 5]],
    ['status=waiting,succeeded', [2, 3, 6]],
    ['from=2026-01-02', [2, 3, 4, 5, 6]],
    ['to=2026-01-02', [0, 1]],
    ['from=2026-01-01T23:59:59.999Z&to=2026-01-02T12:00:00Z', [1, 2]],
    ['from=2026-01-02T02:00:00%2B02:00&to=2026-01-02T12:00:00.001Z', [2, 3, 4]],
    ['from=2026-01-02&to=2026-01-02', []],
    ['from=0000-01-01', [0, 1, 2, 3, 4, 5, 6]],
    ['from=9999-12-31T23:59:59-23:59', []],
    ['to=0000-01-01', []],
    ['error=HTTP', [0, 4]],
    ['error=http%2050', [0, 4]],
    ['error=0%25%20of', [0]],
    ['error=%25', [0]],
    ['error=_', [0]],
    ['error=H_TP', []],
    ['error=%5C', [4]],
    ["error='", []],
    [
      `error=switched&ruleId=${two}&status=cancelled&eventType=LEAD_CREATED&from=2026-01-01&to=2026-01-02`,
      [1],
    ],
  ]
  for (const [query, found] of cases) {
    const names = idsOf(await list(workspace, query)).map((id) => stored.findIndex((row) => row.id === id))
    t.strictSame(names.toSorted(), found, query)
  }
  t.strictSame(idsOf(await list(workspace, 'status=failed,cancelled&limit=1')), [stored[1]?.id])
  t.equal((await workspace.call('GET', `${path}?from=2026-01-03&to=2026-01-01`)).status, 400)
})

t.test(
  'deliveries to a subscription are listed only to who names it, their event or their type',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const subscription = newId()
    const event = await storeEvent(workspace, { type: 'rule.updated', ...addressOf(subscription) })
    const delivery = await storeExecution(workspace, event, subscription)
    const run = await storeExecution(workspace, await storeEvent(workspace), newId())
    t.strictSame(idsOf(await list(workspace)), [run.id])
    t.strictSame(idsOf(await list(workspace, 'status=succeeded')), [run.id])
    for (const query of [`ruleId=${subscription}`, 'eventType=rule.updated'])
      t.strictSame(idsOf(await list(workspace, query)), [delivery.id], query)
    t.strictSame(
      idsOf(await list(workspace, `eventId=${event.id}`)),
      [event.id],
      'it has the id of its event',
    )
    t.strictSame(idsOf(await list(workspace, 'eventType=subscription.ping')), [])
  },
)

t.test('a long history without matches is searched page by page, to its end', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const rows = 45_000
  await api.app.database.system.$executeRaw(Prisma.sql`
    INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, finished_at)
    SELECT ('018f0000-' || to_char(n / 1000, 'FM0000') || '-8' || to_char(n % 1000, 'FM000') || '-8000-' || left(md5(${workspaceId} || n), 12))::uuid,
           ${workspaceId}::uuid, gen_random_uuid(),
           CASE WHEN n % 15000 = 100 THEN 'DEAL_WON' ELSE 'LEAD_CREATED' END, gen_random_uuid(), 1,
           CASE WHEN n % 15000 = 200 THEN 'failed' ELSE 'succeeded' END::execution_status, '[]', now(), now()
    FROM generate_series(1, ${rows}::int) AS n`)
  const find = (where: Prisma.ExecutionWhereInput) =>
    database.execution.findMany({ where, select: { id: true }, orderBy: { id: 'desc' } })
  const [won, failed] = [await find({ eventType: 'DEAL_WON' }), await find({ status: 'failed' })]
  t.strictSame([won.length, failed.length], [3, 3])
  const seen: string[] = []
  const sizes: number[] = []
  for (let cursor: string | null = ''; cursor !== null && sizes.length < 10; ) {
    const page: Page = await list(workspace, `eventType=DEAL_WON&limit=10${cursor && `&cursor=${cursor}`}`)
    seen.push(...idsOf(page))
    sizes.push(page.executions.length)
    cursor = page.nextCursor
  }
  t.strictSame(
    seen,
    won.map(({ id }) => id),
  )
  t.equal(sizes.length, 3, '20,000 rows for each page')
  const rare = await list(workspace, 'eventType=DEAL_LOST')
  t.strictSame(rare.executions, [])
  t.type(rare.nextCursor, 'string', 'empty, and not the last')

  for (const query of ['status=failed', 'status=failed,cancelled', 'status=failed&eventType=LEAD_CREATED']) {
    const page = await list(workspace, query)
    t.strictSame(
      idsOf(page),
      failed.map(({ id }) => id),
      query,
    )
    t.equal(page.nextCursor, null, 'what succeeded is not looked through for what did not')
  }
  t.strictSame(await list(workspace, 'error=nothing'), { executions: [], nextCursor: null })
})

t.test('an invalid query value is a 400', async (t) => {
  const { call } = await api.makeWorkspace()
  const bad = [
    'limit=0',
    'limit=251',
    'limit=1.5',
    'cursor=x',
    'cursor=',
    'cursor=%00',
    'ruleId=',
    'ruleId=x',
    'eventId=x',
    `eventId=${newId()}&eventId=${newId()}`,
    'eventType=',
    'eventType=lead_created',
    'eventType=a%00.b',
    'eventType=rule.lost',
    'status=',
    'status=Failed',
    'status=failed,',
    'status=failed,done',
    'status=failed&status=cancelled',
    'status=accepted',
    'from=yesterday',
    'from=',
    'from=2026-02-30',
    'from=2026-01-01T00:00:00',
    'from=1767225600000',
    'to=%00',
    'error=',
    'error=%00',
    `error=${'x'.repeat(201)}`,
    'error=a&error=b',
  ]
  for (const query of bad) {
    const { status, body } = await call<{ error: string }>('GET', `${path}?${query}`)
    t.equal(status, 400, query)
    t.match(body, { error: String })
  }
  for (const query of ['x=1', 'workspaceId=x', 'type=x', 'toString=x', '__proto__=x'])
    t.match(await call('GET', `${path}?${query}`), { status: 400, body: { error: / is unknown\. / } }, query)
  for (const query of ['error=%ED%A0%80', `error=${encodeURIComponent('😀')}`])
    t.equal((await call('GET', `${path}?${query}`)).status, 200, query)
})

t.test('a `when` after a WAIT is explained at the end that the WAIT had', async (t) => {
  const workspace = await api.makeWorkspace()
  const wait = { type: 'WAIT' as const, config: { duration: '3d' } }
  const when = { field: 'at', operator: 'within_last', value: '24h' }
  const rule = await storeRule(workspace, { actions: [wait, { ...task, when }] })
  const acceptedAt = at('2026-01-02T03:00:00Z')
  const explain = async (data: object, results: ActionResult[]) => {
    const event = await storeEvent(workspace, { data, acceptedAt, ruleIds: [rule.id] })
    const { id } = await storeExecution(workspace, event, rule.id, { results: results as object[] })
    const { body } = await workspace.call<Execution>('GET', `${path}/${id}?explain=true`)
    return body.trace
  }
  const until = '2026-01-09T03:00:00.000Z'
  const results: ActionResult[] = [{ action: 'WAIT', status: 'success', until }]
  const verdicts = (verdict: boolean) => ({ actions: [{ type: 'WAIT' }, { when: { verdict } }] })
  t.match(await explain({ at: '2026-01-02T02:00:00Z' }, results), verdicts(false))
  t.match(await explain({ at: '2026-01-08T12:00:00Z' }, results), verdicts(true))
  t.match(
    await explain({ at: '2026-01-04T12:00:00Z' }, []),
    verdicts(true),
    'planned, where it has not begun',
  )
})

t.test('explain shows what each action was done with, as its placeholders were filled', async (t) => {
  const workspace = await api.makeWorkspace()
  const skipped = { ...task, when: { field: 'score', operator: 'less_than', value: 90 } }
  const email = { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello {{name}}', template: 'x' } }
  const long = { type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/{{name}}', body: '{{text}}' } }
  const rule = await storeRule(workspace, { actions: [email, skipped, long] })
  const data = { score: 95, name: 'Ada', email: 'ada@example.com', text: 'x'.repeat(70_000) }
  const event = await storeEvent(workspace, { data, ruleIds: [rule.id] })
  const { id } = await storeExecution(workspace, event, rule.id)
  await storeNewVersion(workspace, rule.id, [task])
  const { body } = await workspace.call<Execution>('GET', `${path}/${id}?explain=true`)
  const { actions } = body.trace as { actions: { config?: object }[] }
  const [sent, ...others] = actions
  t.match(sent, { config: { to: 'ada@example.com', subject: 'Hello Ada', template: 'x' } })
  t.strictSame(
    others.map((action) => 'config' in action),
    [false, false],
    'neither what was skipped, nor more than 65536 characters',
  )
})

t.test('explain shows each clause as the execution evaluated it, though no trace is stored', async (t) => {
  const workspace = await api.makeWorkspace()
  const conditions = [
    { field: 'score', operator: 'greater_than', value: 80 },
    {
      any: [
        { field: 'a', operator: 'exists' },
        { field: 'at', operator: 'within_last', value: '1h' },
      ],
    },
  ]
  const rule = await storeRule(workspace, {
    conditions,
    actions: [{ ...task, when: { field: 'score', operator: 'less_than', value: 90 } }],
  })
  const data = { score: 95, at: '2026-01-02T03:00:00Z' }
  const acceptedAt = at('2026-01-02T03:30:00Z')
  const event = await storeEvent(workspace, { data, acceptedAt, ruleIds: [rule.id] })
  const { id } = await storeExecution(workspace, event, rule.id)
  await storeNewVersion(workspace, rule.id, [webhook])
  const ask = async (query: string, key = id) =>
    (await workspace.callAs('viewer')<Execution>('GET', `${path}/${key}?${query}`)).body
  const { trace, ...rest } = await ask('explain=true')
  matchLists(t, trace, {
    conditionsPassed: true,
    conditions: [
      { field: 'score', operator: 'greater_than', expected: 80, actual: 95, verdict: true },
      { group: 'any', verdict: true, children: [{ verdict: false }, { verdict: true }] },
    ],
    actions: [{ index: 0, type: 'CREATE_TASK', when: { verdict: false } }],
  })
  t.strictSame(rest, await read(workspace, id))
  t.notOk('trace' in (await ask('explain=false')))
  t.equal((await workspace.call('GET', `${path}/${id}?explain=x`)).status, 400)

  await workspace.database.ruleVersion.updateMany({
    where: { ruleId: rule.id, version: 1 },
    data: { conditions: [{ field: 'x', operator: 'no_more' }] },
  })
  t.strictSame((await ask('explain=true')).trace, null, 'it does not compile any more')
  await workspace.database.rule.delete({ where: { id: rule.id } })
  t.strictSame((await ask('explain=true')).trace, null, 'it is gone')
})

t.test('an execution by hand can be read before, and without, a row of its own', async (t) => {
  const workspace = await api.makeWorkspace()
  const ruleId = newId()
  const pending = await storeEvent(workspace, { ruleId, doneAt: null })
  const notMatched = await storeEvent(workspace, { ruleId, ruleIds: [ruleId] })
  const gone = await storeEvent(workspace, { ruleId })
  const undelivered = await storeEvent(workspace, { ...addressOf(ruleId), type: 'rule.created' })
  const unstarted = {
    ruleVersion: null,
    eventType: 'LEAD_CREATED',
    startedAt: null,
    dueAt: null,
    results: [],
  }
  t.match(await read(workspace, pending.id), { ...unstarted, status: 'pending', finishedAt: null })
  t.match((await workspace.call('GET', `/api/events/${pending.id}/why`)).body, {
    isPending: true,
    rules: { length: 0 },
  })
  t.match(await read(workspace, notMatched.id), { ...unstarted, status: 'not_matched', success: true })
  const error = 'Automation rule not found'
  t.match(await read(workspace, gone.id), { ...unstarted, status: 'cancelled', success: false, error })
  t.match(await read(workspace, undelivered.id), { status: 'cancelled', error: 'Subscription not found' })
  const retry = async (id: string) => statusAndBody(await workspace.call('POST', `${path}/${id}/retry`))
  t.strictSame(await retry(pending.id), notRetryable('pending'))
  t.strictSame(await retry(notMatched.id), notRetryable('not_matched'))
  t.strictSame(await retry(gone.id), conflict('The rule was deleted, so this execution cannot be retried'))
  t.strictSame(await retry((await storeEvent(workspace)).id), notFound)
})

t.test('a tick is no execution: the one that it has caused has an id of its own', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace)
  const storeTick = () =>
    storeEvent(workspace, { type: 'SCHEDULE', ...addressOf(rule.id, 'tick'), ruleIds: [rule.id] })
  const [ran, notMatched] = [await storeTick(), await storeTick()]
  const execution = await storeExecution(workspace, ran, rule.id)
  t.not(execution.id, ran.id)
  t.match(await read(workspace, ran.id), { id: execution.id, eventId: ran.id, status: 'succeeded' })
  t.match(await read(workspace, notMatched.id), { id: notMatched.id, status: 'not_matched' })
  t.strictSame(idsOf(await list(workspace, 'status=not_matched')), [notMatched.id])
  for (const change of ['cancel', 'retry'])
    t.match(statusAndBody(await workspace.call('POST', `${path}/${ran.id}/${change}`)), notFound)
})

t.test('a retry continues where the execution failed, and keeps the finished actions', async (t) => {
  const workspace = await api.makeWorkspace()
  const skippedByWhen = {
    action: 'CREATE_TASK',
    status: 'skipped',
    reason: 'the condition in `when` did not match',
  }
  const waited = { action: 'WAIT', status: 'success', until: '2026-01-02T03:04:05.678Z' }
  const actions = [
    task,
    { ...task, when: { field: 'x', operator: 'exists' } },
    { type: 'WAIT', config: { duration: '1h' } },
    { ...webhook, continueOnError: true },
    webhook,
    task,
    webhook,
  ]
  const rule = await storeRule(workspace, { actions })
  // The engine's own words for what it skips.
  const results = [success, skippedByWhen, waited, failedCall, failedCall] as ActionResult[]
  const compiled = compileRule({ conditions: [], actions } as unknown as RuleDefinition)
  t.equal(findNextAction(compiled, {}, 0, results), undefined)
  t.equal(results.length, 7)
  const stored = await storeExecution(workspace, await storeEvent(workspace), rule.id, {
    status: 'failed',
    results: results as unknown as Prisma.InputJsonArray,
  })
  await countAll(workspace)
  const answer = await workspace.callAs('operator')('POST', `${path}/${stored.id.toUpperCase()}/retry`)
  t.strictSame(statusAndBody(answer), { status: 202, body: { id: stored.id, status: 'accepted' } })
  t.equal(answer.headers.location, `${path}/${stored.id}`)

  const row = await workspace.database.execution.findUniqueOrThrow({ where: { id: stored.id } })
  t.strictSame(row.results, [
    success,
    skippedByWhen,
    waited,
    { action: 'SEND_WEBHOOK', status: 'pending', attempts: [attempt] },
    { action: 'SEND_WEBHOOK', status: 'pending', attempts: [attempt] },
    { action: 'CREATE_TASK', status: 'pending' },
    { action: 'SEND_WEBHOOK', status: 'pending' },
  ])
  const { dueAt, results: _, ...rest } = row
  const { dueAt: _before, results: _results, ...before } = stored
  const reopened = { status: 'retrying', error: null, finishedAt: null, lease: null, reopened: 1 }
  t.strictSame(rest, { ...before, ...reopened })
  t.ok(dueAt && Math.abs(dueAt.getTime() - Date.now()) < 60_000)
  t.match(await read(workspace, stored.id), {
    status: 'retrying',
    success: true,
    error: null,
    finishedAt: null,
  })
  const next = findNextAction(compiled, {}, 0, row.results as unknown as ActionResult[])
  t.equal(next?.of.index, 3, 'the engine goes on with the first that is not done')

  t.match(await workspace.database.ruleCounters.findUnique({ where: { ruleId: rule.id } }), {
    successCount: 0,
    failureCount: 0,
    consecutiveFailures: 0,
  })
  t.strictSame(
    statusAndBody(await workspace.call('POST', `${path}/${stored.id}/retry`)),
    notRetryable('retrying'),
    'it is under way',
  )
  matchLists(t, await workspace.database.auditEntry.findMany({ where: { subject: stored.id } }), [
    {
      action: 'execution.retried',
      actor: `user:${workspace.users.operator}`,
      details: { version: 'same' },
    },
  ])
})

t.test('a retried cancelled execution starts its WAIT again, and changes no counter', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace, {
    actions: [task, { type: 'WAIT', config: { duration: '1h' } }, task],
  })
  const results = [success, { action: 'WAIT', status: 'scheduled', until: '2036-01-02T03:04:05.678Z' }]
  const { id } = await storeExecution(workspace, await storeEvent(workspace), rule.id, {
    status: 'cancelled',
    results,
  })
  await storeExecution(workspace, await storeEvent(workspace), rule.id, { status: 'failed' })
  await countAll(workspace)
  t.equal((await workspace.call('POST', `${path}/${id}/retry`, { body: { version: 'same' } })).status, 202)
  t.strictSame((await read(workspace, id)).results, [success, { action: 'WAIT', status: 'pending' }])
  t.match(await workspace.database.ruleCounters.findFirst(), { failureCount: 1, consecutiveFailures: 1 })
})

t.test('a retry with the latest version matches actions by their index', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace, { actions: [task, webhook, webhook, task] })
  const skipped = { action: 'CREATE_TASK', status: 'skipped', reason: 'an earlier action failed' }
  const sent = { action: 'SEND_WEBHOOK', status: 'success', attempts: [attempt] }
  const fail = async () =>
    storeExecution(workspace, await storeEvent(workspace), rule.id, {
      status: 'failed',
      results: [success, sent, failedCall, skipped],
    })
  const [same, latest] = [await fail(), await fail()]
  await storeNewVersion(workspace, rule.id, [task, task, webhook])
  const retry = (id: string, version: string) =>
    workspace.call('POST', `${path}/${id}/retry`, { body: { version } })
  t.equal((await retry(same.id, 'same')).status, 202)
  matchLists(t, await read(workspace, same.id), {
    ruleVersion: 1,
    results: [success, sent, { status: 'pending' }, { status: 'pending' }],
  })
  t.equal((await retry(latest.id, 'latest')).status, 202)
  const { ruleVersion, results } = await read(workspace, latest.id)
  t.equal(ruleVersion, 2)
  t.strictSame(results, [
    success,
    { action: 'CREATE_TASK', status: 'pending' },
    { action: 'SEND_WEBHOOK', status: 'pending', attempts: [attempt] },
  ])
})

t.test('a retry is refused if there is nothing to continue', async (t) => {
  const workspace = await api.makeWorkspace()
  const other = await api.makeWorkspace()
  const rule = await storeRule(workspace)
  const failedOf = async (ruleId: string, fields: object = {}) =>
    (await storeExecution(workspace, await storeEvent(workspace, fields), ruleId, { status: 'failed' })).id
  const retry = async (id: string, own = workspace) =>
    statusAndBody(await own.call('POST', `${path}/${id}/retry`))

  for (const status of ['succeeded', 'running', 'waiting', 'retrying'] as const) {
    const { id } = await storeExecution(workspace, await storeEvent(workspace), rule.id, { status })
    t.strictSame(await retry(id), notRetryable(status), status)
    t.equal((await read(workspace, id)).status, status)
  }
  const gone = conflict('The rule was deleted, so this execution cannot be retried')
  t.strictSame(await retry(await failedOf(newId())), gone, 'no such rule')
  const unversioned = await failedOf(rule.id)
  await workspace.database.execution.update({ where: { id: unversioned }, data: { ruleVersion: 7 } })
  t.strictSame(await retry(unversioned), gone, 'no such version')
  const foreign = await storeRule(other)
  t.strictSame(await retry(await failedOf(foreign.id)), gone, 'not of this workspace')

  const off = await storeRule(workspace, { isActive: false })
  const switchedOff = await failedOf(off.id)
  t.strictSame(
    await retry(switchedOff),
    conflict('The rule is switched off, so this execution cannot be retried'),
  )
  const byHand = await failedOf(off.id, { ruleId: off.id })
  t.equal((await retry(byHand)).status, 202, 'by hand it runs all the same')

  for (const id of [newId(), 'x', '%00']) t.strictSame(await retry(id), notFound)
  const own = await failedOf(rule.id)
  t.strictSame(await retry(own, other), notFound)
  t.strictSame(statusAndBody(await other.call('GET', `${path}/${own}`)), notFound)
  t.equal((await read(workspace, own)).status, 'failed')

  const bodies: [body: unknown, status: number, field?: string][] = [
    [{ version: 'newest' }, 422, 'version'],
    [{ version: 'same', x: 1 }, 422, 'x'],
    ['[]', 400],
    ['null', 400],
    ['{', 400],
  ]
  for (const [body, status, field] of bodies) {
    const answer = await workspace.call('POST', `${path}/${own}/retry`, { body })
    t.equal(answer.status, status, JSON.stringify(body))
    if (field !== undefined) matchLists(t, answer.body, { errors: [{ field }] })
  }
  t.equal((await workspace.call('POST', `${path}/${own}/retry`, { body: {} })).status, 202)
})

t.test('a delivery is retried as long as its subscription exists', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const subscription = await database.subscription.create({
    data: {
      id: newId(),
      workspaceId,
      url: 'https://example.org',
      description: '',
      eventTypes: ['rule.updated'],
    },
  })
  const fail = async () => {
    const event = await storeEvent(workspace, addressOf(subscription.id))
    return storeExecution(workspace, event, subscription.id, { status: 'failed', results: [failedCall] })
  }
  const retry = (id: string) => workspace.call('POST', `${path}/${id}/retry`)
  const [{ id }, left] = [await fail(), await fail()]
  t.equal((await retry(id)).status, 202)
  t.strictSame((await read(workspace, id)).results, [
    { action: 'SEND_WEBHOOK', status: 'pending', attempts: [attempt] },
  ])
  await database.subscription.update({ where: { id: subscription.id }, data: { isActive: false } })
  const gone = conflict('The subscription was deleted or switched off, so this delivery cannot be retried')
  t.strictSame(statusAndBody(await retry(left.id)), gone)
})

t.test('a retry takes its failure off the counters, which stay equal to the rows', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace)
  const statuses = ['failed', 'failed', 'succeeded', 'failed', 'failed', 'failed'] as const
  const stored: { id: string }[] = []
  for (const [index, status] of statuses.entries()) {
    const event = await storeEvent(workspace, { acceptedAt: new Date(Date.now() - 60_000 + index * 1_000) })
    stored.push(await storeExecution(workspace, event, rule.id, { status }))
  }
  await countAll(workspace)
  const counters = () => workspace.database.ruleCounters.findUnique({ where: { ruleId: rule.id } })
  t.match(await counters(), { successCount: 1, failureCount: 5, consecutiveFailures: 3 })
  const steps = [
    [0, { successCount: 1, failureCount: 4, consecutiveFailures: 3 }],
    [4, { successCount: 1, failureCount: 3, consecutiveFailures: 2 }],
    [5, { successCount: 1, failureCount: 2, consecutiveFailures: 1 }],
  ] as const
  for (const [index, expected] of steps) {
    t.equal((await workspace.call('POST', `${path}/${stored[index]?.id}/retry`)).status, 202)
    t.match(await counters(), expected)
  }
  const twins = await Promise.all(
    Array.from({ length: 8 }, () => workspace.call('POST', `${path}/${stored[1]?.id}/retry`)),
  )
  t.strictSame(twins.map(({ status }) => status).sort(), [202, ...Array(7).fill(409)])
  t.match(await counters(), { failureCount: 1, consecutiveFailures: 1 })
  const failed = await workspace.database.execution.count({ where: { status: 'failed' } })
  t.equal(failed, 1)
})

t.test('executions are retried by a filter, after a dry run has counted them', async (t) => {
  const workspace = await api.makeWorkspace()
  const [rule, second] = [await storeRule(workspace), await storeRule(workspace)]
  const off = await storeRule(workspace, { isActive: false })
  const rows = [
    [rule.id, '2026-01-01', 'failed', 'HTTP 500'],
    [rule.id, '2026-01-02', 'failed', 'HTTP 404'],
    [rule.id, '2026-01-02', 'cancelled', 'The rule was paused'],
    [rule.id, '2026-01-03', 'succeeded', null],
    [second.id, '2026-01-03', 'failed', 'HTTP 503'],
    [off.id, '2026-01-03', 'failed', 'HTTP 503'],
    [newId(), '2026-01-03', 'failed', 'HTTP 503'],
  ] as const
  const stored: string[] = []
  for (const [ruleId, day, status, error] of rows) {
    const event = await storeEvent(workspace, { acceptedAt: at(day) })
    stored.push((await storeExecution(workspace, event, ruleId, { status, error })).id)
  }
  await countAll(workspace)
  const retry = (body: object) => workspace.callAs('operator')('POST', `${path}/retry`, { body })
  const filters: [filter: object, matched: number, refused: number][] = [
    [{}, 4, 2],
    [{ ruleId: rule.id }, 3, 0],
    [{ status: ['cancelled'] }, 1, 0],
    [{ status: ['failed'] }, 3, 2],
    [{ error: 'http 5' }, 2, 2],
    [{ from: '2026-01-02' }, 3, 2],
    [{ from: '2026-01-02', to: '2026-01-03T00:00:00Z' }, 2, 0],
    [{ eventType: 'DEAL_WON' }, 0, 0],
    [{ ruleId: off.id }, 0, 1],
  ]
  for (const [filter, matched, refused] of filters)
    t.strictSame(
      statusAndBody(await retry({ filter })),
      { status: 200, body: { matched, refused, dryRun: true } },
      JSON.stringify(filter),
    )
  t.strictSame(statusAndBody(await retry({ filter: {}, dryRun: true })).status, 200)
  t.equal(
    await workspace.database.execution.count({ where: { status: 'retrying' } }),
    0,
    'nothing has changed',
  )
  t.equal(await workspace.database.auditEntry.count(), 0)

  const answer = await retry({ filter: { ruleId: rule.id, to: '2026-01-02T12:00:00Z' }, dryRun: false })
  t.strictSame(statusAndBody(answer), { status: 202, body: { matched: 3, refused: 0, retried: 3 } })
  const opened = await workspace.database.execution.findMany({
    where: { status: 'retrying' },
    orderBy: { dueAt: 'asc' },
  })
  t.strictSame(
    opened.map(({ id }) => id),
    stored.slice(0, 3).toSorted(),
    'the oldest first',
  )
  const due = opened.map(({ dueAt }) => dueAt?.getTime() ?? 0)
  t.strictSame(
    due.map((time) => time - (due[0] ?? 0)),
    [0, 60, 120],
    'one after another',
  )
  t.match(await workspace.database.ruleCounters.findUnique({ where: { ruleId: rule.id } }), {
    failureCount: 0,
  })
  t.match(await workspace.database.ruleCounters.findUnique({ where: { ruleId: second.id } }), {
    failureCount: 1,
  })
  matchLists(t, await workspace.database.auditEntry.findMany(), [
    { action: 'execution.retried', subject: workspace.id, details: { matched: 3, retried: 3 } },
  ])
  const again = await retry({ filter: { ruleId: rule.id }, dryRun: false })
  t.strictSame(statusAndBody(again), { status: 202, body: { matched: 0, refused: 0, retried: 0 } })
  t.equal(await workspace.database.auditEntry.count(), 1)
})

t.test('a call retries a thousand executions over a minute, and the next call continues', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const rule = await storeRule(workspace)
  await database.execution.createMany({
    data: Array.from({ length: 1_100 }, (_, index) => ({
      id: idAt(1_767_225_600_000 + index),
      workspaceId,
      eventId: newId(),
      eventType: 'LEAD_CREATED',
      handlerId: rule.id,
      ruleVersion: 1,
      status: 'failed' as const,
      results: [failedCall],
      startedAt: new Date(),
      finishedAt: new Date(),
    })),
  })
  await countAll(workspace)
  const retry = () => workspace.call('POST', `${path}/retry`, { body: { filter: {}, dryRun: false } })
  t.strictSame((await retry()).body, { matched: 1_100, refused: 0, retried: 1_000 })
  const { _min: min, _max: max } = await database.execution.aggregate({
    _min: { dueAt: true },
    _max: { dueAt: true },
  })
  t.equal(Number(max.dueAt) - Number(min.dueAt), 59_940)
  t.match(await database.ruleCounters.findFirst(), { failureCount: 100, consecutiveFailures: 100 })
  t.strictSame((await retry()).body, { matched: 100, refused: 0, retried: 100 })
  t.match(await database.ruleCounters.findFirst(), { failureCount: 0, consecutiveFailures: 0 })
})

t.test('all faults of a filter are reported', async (t) => {
  const { call } = await api.makeWorkspace()
  const cases: [body: unknown, fields: string[]][] = [
    [{}, ['filter']],
    [{ filter: [] }, ['filter']],
    [{ filter: { ruleId: 'x', from: 'x', to: 7 } }, ['filter.to']],
    [
      { filter: { ruleId: 'x', from: 'x', eventType: 'x' } },
      ['filter.ruleId', 'filter.from', 'filter.eventType'],
    ],
    [{ filter: { status: ['running'] } }, ['filter.status[0]']],
    [{ filter: { status: [] } }, ['filter.status']],
    [{ filter: { status: 'failed' } }, ['filter.status']],
    [{ filter: { eventId: newId() } }, ['filter.eventId']],
    [{ filter: { error: '' } }, ['filter.error']],
    [{ filter: { error: 'a\0' } }, ['filter.error']],
    [{ filter: {}, dryRun: 'no', limit: 5 }, ['dryRun', 'limit']],
  ]
  for (const [body, fields] of cases) {
    const answer = await call<{ errors: { field: string }[] }>('POST', `${path}/retry`, { body })
    t.equal(answer.status, 422, JSON.stringify(body))
    t.strictSame([...new Set(answer.body.errors.map(({ field }) => field))].sort(), fields.toSorted())
  }
  t.equal((await call('POST', `${path}/retry`, { body: '[]' })).status, 400)
  t.equal((await call('POST', `${path}/retry`)).status, 400)
  t.equal((await call('GET', `${path}/retry`)).status, 405)
})

t.test('viewers read, operators retry, and a workspace sees its own executions only', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const rule = await storeRule(workspace)
  const { id } = await storeExecution(workspace, await storeEvent(workspace), rule.id, { status: 'failed' })
  for (const role of roles) {
    const call = workspace.callAs(role)
    t.equal((await call('GET', path)).status, 200)
    t.equal((await call('GET', `${path}/${id}`)).status, 200)
    const bulk = await call('POST', `${path}/retry`, { body: { filter: {} } })
    t.equal(bulk.status, role === 'viewer' ? 403 : 200, role)
  }
  t.equal((await workspace.callAs('viewer')('POST', `${path}/${id}/retry`)).status, 403)
  t.strictSame(await list(other, `ruleId=${rule.id}`), { executions: [], nextCursor: null })
  t.strictSame(await list(other), { executions: [], nextCursor: null })
  const bulk = await other.call('POST', `${path}/retry`, {
    body: { filter: { ruleId: rule.id }, dryRun: false },
  })
  t.strictSame(statusAndBody(bulk), { status: 202, body: { matched: 0, refused: 0, retried: 0 } })
  t.equal((await read(workspace, id)).status, 'failed')
})
