import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { ruleBody, rules, startApi, task, type Workspace } from './fixtures/api.js'

interface Result {
  triggered: number
  dryRun: boolean
  results: {
    ruleId: string
    name: string
    success: boolean
    status: string
    conditionsPassed: boolean
    executionId: null
    error?: string
    results: object[]
    trace?: { conditionsPassed: boolean; conditions: object[] }
  }[]
}

const api = await startApi(t)
const path = `${rules}/trigger/LEAD_CREATED`
const hot = [{ field: 'score', operator: 'greater_than', value: 80 }]

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<string> {
  const created = await call<{ id: string }>('POST', rules, { body: ruleBody(fields) })
  if (created.status !== 201) throw new Error(JSON.stringify(created.body))
  return created.body.id
}

function dryRun({ callAs }: Workspace, data: object, query = '') {
  return callAs('viewer')<Result>('POST', `${path}${query}`, { body: { data, dryRun: true } })
}

t.test('a dry run of an event says what each active rule would do, in the order of creation', async (t) => {
  const workspace = await api.makeWorkspace()
  const first = await create(workspace, { name: 'Hot', conditions: hot })
  const second = await create(workspace, { name: 'Cold', conditions: [{ not: hot[0] }] })
  const email = { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hi', template: 'welcome' } }
  const third = await create(workspace, { name: 'Mail', actions: [email, task] })
  await create(workspace, { name: 'Off', isActive: false })
  await create(workspace, { name: 'Other', trigger: 'DEAL_WON' })
  const { status, body } = await dryRun(workspace, { score: 90, name: 'Ada' })
  t.equal(status, 200)
  t.match(body, { triggered: 3, matched: 2, dryRun: true })
  const common = { executionId: null }
  matchLists(t, body.results, [
    {
      ...common,
      ruleId: first,
      name: 'Hot',
      success: true,
      status: 'simulated',
      conditionsPassed: true,
      results: [{ action: 'CREATE_TASK', status: 'simulated', config: { title: 'Call Ada' } }],
    },
    {
      ...common,
      ruleId: second,
      name: 'Cold',
      success: true,
      status: 'not_matched',
      conditionsPassed: false,
      results: [],
    },
    {
      ...common,
      ruleId: third,
      name: 'Mail',
      success: false,
      status: 'simulated',
      conditionsPassed: true,
      error: 'config.to must have at least 1 character: {{email}} is missing',
    },
  ])
  t.strictSame(
    body.results[2]?.results.map((result) => (result as { status: string }).status),
    ['failed', 'simulated'],
    'it finds the faults of all actions',
  )
  t.notOk(body.results.some((result) => 'trace' in result))
})

t.test('with explain each rule has its trace', async (t) => {
  const workspace = await api.makeWorkspace()
  await create(workspace, { conditions: hot })
  await create(workspace, { conditions: [{ field: 'status', operator: 'equals', value: 'new' }] })
  const { body } = await dryRun(workspace, { score: 10, status: 'old' }, '?explain=true')
  matchLists(
    t,
    body.results.map(({ trace }) => trace),
    [
      {
        conditionsPassed: false,
        conditions: [{ field: 'score', operator: 'greater_than', expected: 80, actual: 10, verdict: false }],
      },
      {
        conditionsPassed: false,
        conditions: [{ field: 'status', operator: 'equals', expected: 'new', actual: 'old', verdict: false }],
      },
    ],
  )
})

t.test('a dry run of an event stores and counts nothing, and needs no more than a viewer', async (t) => {
  const workspace = await api.makeWorkspace()
  const id = await create(workspace)
  const headers = { 'idempotency-key': 'a', prefer: 'respond-async' }
  const question = { body: { data: {}, dryRun: true }, headers }
  t.equal((await workspace.callAs('viewer')('POST', path, question)).status, 200)
  t.equal(await workspace.database.event.count(), 0)
  t.equal(await workspace.database.execution.count(), 0)
  t.equal(await workspace.database.task.count(), 0)
  t.match((await workspace.call('GET', `${rules}/${id}`)).body, { executionCount: 0, lastSuccessAt: null })
  const real = { body: { data: {}, dryRun: false }, headers: { prefer: 'respond-async' } }
  t.equal((await workspace.callAs('viewer')('POST', path, real)).status, 403)
  t.equal((await workspace.callAs('operator')('POST', path, real)).status, 202)
})

t.test('an unknown event type, a faulty body and an empty workspace', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  t.strictSame((await dryRun(workspace, {})).body, { triggered: 0, matched: 0, dryRun: true, results: [] })
  const body = { data: {}, dryRun: true }
  t.match(await call('POST', `${rules}/trigger/NOPE`, { body }), {
    status: 400,
    body: { error: 'Invalid trigger type' },
  })
  t.equal((await call('POST', path, { body: { data: [], dryRun: true } })).status, 422)
  t.equal((await call('POST', path, { body: { data: {}, dryRun: 'yes' } })).status, 422)
})

t.test('the rules of one event share the work that an event may cost, as at a worker', async (t) => {
  const small = await startApi(t, {}, { workLimits: { rule: 10_000, event: 10_000 } })
  const workspace = await small.makeWorkspace()
  const conditions = [{ field: 'text', operator: 'matches', value: '(?i)a[ab]{10}[cd]' }]
  for (let n = 0; n < 5; n++) await create(workspace, { name: `Rule ${n}`, conditions })
  const { body } = await dryRun(workspace, { text: 'ab'.repeat(1_000) })
  const errors = body.results.map(
    ({ error = '' }) => /cost units per event|shared evaluation limit/.exec(error)?.[0] ?? 'evaluated',
  )
  t.ok(errors.includes('shared evaluation limit'), errors.join())
  t.notOk(errors.slice(0, 1).includes('shared evaluation limit'), errors.join())
  for (const result of body.results) t.equal(result.success, result.error === undefined)
})

t.test('the trace of a rule that was not evaluated has the verdict of its result', async (t) => {
  const small = await startApi(t, {}, { workLimits: { rule: 10_000, event: 10_000 } })
  const workspace = await small.makeWorkspace()
  const conditions = [{ field: 'text', operator: 'contains', value: 'b' }]
  for (let n = 0; n < 4; n++) await create(workspace, { name: `Rule ${n}`, conditions })
  const { body } = await dryRun(workspace, { text: `${'a'.repeat(30_000)}b` }, '?explain=true')
  const verdicts = body.results.map(({ conditionsPassed, trace }) => [
    conditionsPassed,
    trace?.conditionsPassed,
  ])
  t.same(verdicts, [
    [true, true],
    [true, true],
    [false, false],
    [false, false],
  ])
})

t.test('a dry run that renders too much is refused', async (t) => {
  const workspace = await api.makeWorkspace()
  const webhook = { type: 'SEND_WEBHOOK', config: { url: 'https://example.com', body: { text: '{{text}}' } } }
  for (let n = 0; n < 3; n++)
    await create(workspace, { name: `Rule ${n}`, actions: Array.from({ length: 10 }, () => webhook) })
  const { status, body } = await dryRun(workspace, { text: 'x'.repeat(700_000) })
  t.strictSame(
    [status, body],
    [400, { error: 'The result is larger than 4 MiB: send less data, or dry-run the rules one by one' }],
  )
  t.equal((await dryRun(workspace, { text: 'x' })).status, 200)
})

t.test('a rule that no longer compiles is a result, and the others are evaluated', async (t) => {
  const workspace = await api.makeWorkspace()
  const broken = await create(workspace)
  await create(workspace)
  const conditions = [{ field: 'score', operator: 'from_a_later_version', value: 1 }]
  await workspace.database.rule.update({ where: { id: broken }, data: { conditions } })
  const { body } = await dryRun(workspace, { name: 'Ada' })
  matchLists(t, body.results, [
    { success: false, error: /^The rule does not compile: / },
    { success: true, status: 'simulated' },
  ])
})

t.test('a rule that no longer compiles is a result of its own dry run, too', async (t) => {
  const workspace = await api.makeWorkspace()
  const id = await create(workspace)
  const conditions = [{ field: 'score', operator: 'from_a_later_version', value: 1 }]
  await workspace.database.rule.update({ where: { id }, data: { conditions } })
  for (const query of ['', '?explain=true']) {
    const body = { data: {}, dryRun: true }
    const response = await workspace.call('POST', `${rules}/${id}/execute${query}`, { body })
    t.equal(response.status, 200)
    const error = /^The rule does not compile: /
    t.match(response.body, { success: false, conditionsPassed: false, results: { length: 0 }, error })
  }
})

t.test(
  'a stored config with a fault makes its action fail, and the check goes on with other rules',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const id = await create(workspace, { name: 'Old', conditions: hot })
    await create(workspace, { name: 'Never', conditions: [hot[0], { not: hot[0] }] })
    const actions = [task, { type: 'SEND_WEBHOOK', config: { url: '{{base}}/leads' } }]
    await workspace.database.rule.update({ where: { id }, data: { actions } })
    const { body } = await dryRun(workspace, { score: 90, name: 'Ada', base: 'https://crm.example.com' })
    t.match(body.results[0], {
      success: false,
      conditionsPassed: true,
      results: [{ status: 'simulated' }, { status: 'failed', error: /^config\.url must begin with http/ }],
    })
    t.match((await dryRun(workspace, { score: 1 })).body.results[0], {
      success: true,
      conditionsPassed: false,
    })
    const check = await workspace.call<{ findings: object[]; notKnown: object[] }>('POST', `${rules}/check`, {
      body: {},
    })
    t.equal(check.status, 200)
    t.match(check.body.findings, [{ code: 'never_matches', rule: { name: 'Never' } }])
    const reason = /^The stored rule is invalid: Must begin with http/
    t.match(check.body.notKnown, [{ rule: { name: 'Old' }, path: 'actions[1].config.url', reason }])
  },
)
