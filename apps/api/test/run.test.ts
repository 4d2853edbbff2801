import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, type Call, ruleBody, rules, startApi, task } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

const directory = t.testdir({ mail: {} })
const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const QUEUE_PREFIX = `{${newId()}}`
const api = await startApi(t, { DATABASE_URL, QUEUE_PREFIX })
const workers = await Promise.all(
  ['worker-1', 'worker-2'].map((name) => startWorker(t, api.config, directory, name)),
)

interface TriggerResult {
  triggered: number
  matched: number
  results: {
    ruleId: string
    success: boolean
    status: string
    conditionsPassed: boolean
    executionId: string | null
    error?: string
  }[]
}

interface ExecuteResult {
  success: boolean
  conditionsPassed: boolean
  actionsExecuted: number
  dryRun: boolean
  results: { action: string; status: string; error?: string; config?: unknown; warnings?: string[] }[]
  trace?: unknown
}

interface TaskList {
  tasks: { id: string; title: string; executionId: string; ruleId: string; [field: string]: unknown }[]
  nextCursor: string | null
}

const noTask: TaskList['tasks'][number] = { id: '', title: '', executionId: '', ruleId: '' }
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const hot = [{ field: 'score', operator: 'greater_than', value: 80 }]
/** Fails where the data holds no title: a task needs one. */
const fallible = { type: 'CREATE_TASK', config: { title: '{{title}}' } }
const later = { prefer: 'respond-async' }

/** A workspace, and short words for what is done in it. */
async function makeOwnWorkspace() {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  return {
    ...workspace,
    async create(fields: Record<string, unknown> = {}): Promise<Rule> {
      const { status, body } = await call<Rule>('POST', rules, { body: ruleBody(fields) })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body
    },
    read: async (id: string) => (await call<Rule>('GET', `${rules}/${id}`)).body,
    execute: (id: string, body: object, headers = {}) =>
      call<ExecuteResult>('POST', `${rules}/${id}/execute`, { body, headers }),
    trigger: (data: object, type = 'LEAD_CREATED', headers = {}) =>
      call<TriggerResult>('POST', `${rules}/trigger/${type}`, { body: { data }, headers }),
    tasks: async (query = '') => (await call<TaskList>('GET', `/api/tasks${query}`)).body,
  }
}

/** Both workers stand still while `work` is done. */
async function whilePaused<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const worker of workers) worker.kill('SIGSTOP')
  try {
    return await work()
  } finally {
    for (const worker of workers) worker.kill('SIGCONT')
  }
}

/** Asks until the answer is another status than these. */
async function untilSettled<Body extends { status: string }>(
  call: Call,
  path: string,
): Promise<Answer<Body>> {
  for (;;) {
    const answer = await call<Body>('GET', path)
    if (answer.status !== 200 || !['pending', 'accepted'].includes(answer.body.status)) return answer
    await delay(20)
  }
}

t.test('a rule whose conditions do not pass is in the response, without an execution', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create({ conditions: hot })
  const notPassed = { success: true, conditionsPassed: false, actionsExecuted: 0, results: [] }
  for (const data of [{}, { score: 80 }, { score: '81x' }, { score: null }, { score: [90] }]) {
    const real = await workspace.execute(rule.id, { data })
    t.strictSame([real.status, real.body], [200, { ...notPassed, dryRun: false }], JSON.stringify(data))
    const dry = await workspace.execute(rule.id, { data, dryRun: true })
    t.strictSame([dry.status, dry.body], [200, { ...notPassed, dryRun: true }])
    const said = await workspace.execute(rule.id, { data, dryRun: false })
    t.strictSame(said.body, real.body)
  }
  const { body } = await workspace.trigger({ score: 1 })
  t.strictSame(body, {
    triggered: 1,
    matched: 0,
    results: [
      {
        ruleId: rule.id,
        success: true,
        status: 'not_matched',
        conditionsPassed: false,
        executionId: null,
      },
    ],
  })
  t.strictSame(await workspace.read(rule.id), rule, 'nothing was counted')
  t.strictSame(await workspace.tasks(), { tasks: [], nextCursor: null })
})

t.test('an execution by hand returns each action with its result, and has effects', async (t) => {
  const workspace = await makeOwnWorkspace()
  const mail = { to: '{{lead.email}}', subject: 'Hello {{name | upper}}', template: 'welcome' }
  const rule = await workspace.create({
    conditions: hot,
    actions: [
      { type: 'CREATE_TASK', config: { title: 'Call {{name}}', dueIn: '24h', priority: 'high' } },
      { type: 'SEND_EMAIL', config: mail },
      { ...task, when: { field: 'score', operator: 'lt', value: 0 } },
    ],
  })
  const before = Date.now()
  const answer = await workspace.execute(rule.id, {
    data: { score: 81, name: 'Ada', lead: { email: 'ada@example.org' } },
  })
  t.equal(answer.status, 200)
  matchLists(t, answer.body, {
    success: true,
    conditionsPassed: true,
    actionsExecuted: 2,
    dryRun: false,
    results: [
      { action: 'CREATE_TASK', status: 'success' },
      { action: 'SEND_EMAIL', status: 'success' },
      { action: 'CREATE_TASK', status: 'skipped' },
    ],
  })
  t.strictSame(Object.keys(answer.body).sort(), [
    'actionsExecuted',
    'conditionsPassed',
    'dryRun',
    'results',
    'success',
  ])

  const { tasks } = await workspace.tasks()
  t.equal(tasks.length, 1)
  const [{ id, executionId, eventId, dueAt, createdAt, ...made } = noTask] = tasks
  t.match([id, executionId, eventId, dueAt, createdAt], [uuid, uuid, uuid, timestamp, timestamp])
  t.strictSame(made, {
    workspaceId: workspace.id,
    actionIndex: 0,
    ruleId: rule.id,
    title: 'Call Ada',
    description: null,
    assigneeId: null,
    priority: 'high',
    eventType: 'LEAD_CREATED',
  })
  const dueInMs = Date.parse(String(dueAt)) - Date.parse(String(createdAt))
  t.equal(dueInMs, 24 * 3_600_000)
  t.ok(Date.parse(String(createdAt)) >= before)

  const mails = await readdir(`${directory}/mail`)
  t.equal(mails.length, 1)
  t.match(
    await readFile(`${directory}/mail/${mails[0]}`, 'utf8'),
    /^To: ada@example\.org\r\nSubject: Hello ADA\r$/m,
  )

  const { id: _, ...execution } = (
    await workspace.call<Record<string, unknown>>('GET', `/api/executions/${executionId}`)
  ).body
  t.match(execution, {
    workspaceId: workspace.id,
    eventId: uuid,
    eventType: 'LEAD_CREATED',
    ruleId: rule.id,
    ruleVersion: 1,
    status: 'succeeded',
    error: null,
    startedAt: timestamp,
    dueAt: null,
    finishedAt: timestamp,
    ...answer.body,
  })
})

t.test('a dry run shows each action with its rendered config, and changes nothing', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create({
    conditions: hot,
    actions: [
      {
        type: 'SEND_EMAIL',
        config: {
          to: '{{lead.email}}',
          subject: 'Hello {{name}}{{missing}}',
          template: 'welcome',
          variables: {
            score: '{{score}}',
            tags: ['{{lead.tags}}', 'x{{lead.tags[0]}}'],
            fixed: 1,
            echo: '{{echo}}',
          },
        },
      },
      task,
    ],
  })
  const rows = () =>
    Promise.all([
      workspace.database.event.count(),
      workspace.database.execution.count(),
      workspace.database.task.count(),
    ])
  const mails = (await readdir(`${directory}/mail`)).length
  const data = {
    score: 99,
    name: 'Ada',
    echo: '{{name}}',
    lead: { email: 'ada@example.org', tags: ['a', 2] },
  }
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    const answer = await workspace.callAs(role)('POST', `${rules}/${rule.id}/execute`, {
      body: { data, dryRun: true },
    })
    t.equal(answer.status, 200)
    t.strictSame(answer.body, {
      success: true,
      conditionsPassed: true,
      actionsExecuted: 0,
      dryRun: true,
      results: [
        {
          action: 'SEND_EMAIL',
          status: 'simulated',
          config: {
            to: 'ada@example.org',
            subject: 'Hello Ada',
            template: 'welcome',
            variables: { score: 99, tags: [['a', 2], 'xa'], fixed: 1, echo: '{{name}}' },
          },
          warnings: ['missing is missing'],
        },
        { action: 'CREATE_TASK', status: 'simulated', config: { title: 'Call Ada' } },
      ],
    })
  }
  const asked = await workspace.execute(rule.id, { data, dryRun: true }, { prefer: 'respond-async' })
  t.equal(asked.status, 200, 'there is nothing to wait for')
  t.strictSame(await workspace.read(rule.id), rule)
  t.strictSame(await rows(), [0, 0, 0])
  t.equal((await readdir(`${directory}/mail`)).length, mails)
  t.match((await workspace.call('GET', `${rules}/health`)).body, { totalExecutions: 0 })
})

t.test('explain=true adds the verdict of each condition to a dry run', async (t) => {
  const workspace = await makeOwnWorkspace()
  const when = { field: 'vip', operator: 'is_true' }
  const rule = await workspace.create({
    conditions: [
      ...hot,
      {
        any: [
          { field: 'status', operator: 'eq', value: 'new' },
          { not: { field: 'a.b', operator: 'exists' } },
        ],
      },
    ],
    actions: [{ ...task, when }],
  })
  const body = { data: { score: 81, status: 'old' }, dryRun: true }
  const path = `${rules}/${rule.id}/execute`
  const { body: explained } = await workspace.call<ExecuteResult>('POST', `${path}?explain=true`, { body })
  t.strictSame(explained.trace, {
    conditionsPassed: true,
    conditions: [
      { field: 'score', operator: 'greater_than', expected: 80, actual: 81, verdict: true },
      {
        group: 'any',
        children: [
          { field: 'status', operator: 'equals', expected: 'new', actual: 'old', verdict: false },
          { group: 'not', children: [{ field: 'a.b', operator: 'exists', verdict: false }], verdict: true },
        ],
        verdict: true,
      },
    ],
    actions: [{ index: 0, type: 'CREATE_TASK', when: { ...when, verdict: false } }],
  })
  matchLists(t, explained.results, [{ action: 'CREATE_TASK', status: 'skipped' }])
  const failing = await workspace.call<ExecuteResult>('POST', `${path}?explain=true`, {
    body: { data: {}, dryRun: true },
  })
  t.match(failing.body, { conditionsPassed: false, trace: { conditionsPassed: false } })
  for (const query of ['', '?explain=false'])
    t.notOk('trace' in (await workspace.call<ExecuteResult>('POST', path + query, { body })).body)
  const real = await workspace.call<ExecuteResult>('POST', `${path}?explain=true`, { body: { data: {} } })
  t.notOk('trace' in real.body)
})

t.test('an inactive rule is executed by hand, and by no event', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create({ isActive: false })
  t.match((await workspace.execute(rule.id, { data: {} })).body, {
    success: true,
    conditionsPassed: true,
    actionsExecuted: 1,
  })
  t.strictSame((await workspace.trigger({})).body, { triggered: 0, matched: 0, results: [] })
  await workspace.call('PATCH', `${rules}/${rule.id}/toggle`)
  t.equal((await workspace.trigger({})).body.triggered, 1)
  await workspace.call('PATCH', `${rules}/${rule.id}/toggle`)
  t.equal((await workspace.trigger({})).body.triggered, 0)
})

t.test('an action that fails is a result: 200, success false, the error, and the rest skipped', async (t) => {
  const workspace = await makeOwnWorkspace()
  const call = { type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:1/' } }
  const stopped = await workspace.create({ actions: [task, call, task] })
  const answer = await workspace.execute(stopped.id, { data: { name: 'Ada' } })
  t.equal(answer.status, 200)
  matchLists(t, answer.body, {
    success: false,
    conditionsPassed: true,
    actionsExecuted: 1,
    dryRun: false,
    results: [
      { action: 'CREATE_TASK', status: 'success' },
      { action: 'SEND_WEBHOOK', status: 'failed', error: /./ },
      { action: 'CREATE_TASK', status: 'skipped' },
    ],
  })
  await workspace.call('PUT', `${rules}/${stopped.id}`, {
    body: { actions: [{ ...call, continueOnError: true }, task] },
  })
  matchLists(t, (await workspace.execute(stopped.id, { data: {} })).body, {
    success: false,
    actionsExecuted: 1,
    results: [{ status: 'failed' }, { status: 'success' }],
  })
  const rule = await workspace.read(stopped.id)
  t.match(rule, {
    executionCount: 2,
    successCount: 0,
    failureCount: 2,
    lastSuccessAt: null,
    lastFailureAt: timestamp,
  })
  t.equal(rule.lastError, answer.body.results[1]?.error)

  const fine = await workspace.create()
  const trigger = await workspace.trigger({ name: 'Ada' })
  t.equal(trigger.status, 200)
  const [bad, good] = trigger.body.results
  t.strictSame(Object.keys(bad ?? {}).sort(), [
    'conditionsPassed',
    'error',
    'executionId',
    'ruleId',
    'status',
    'success',
  ])
  t.match(bad, {
    ruleId: stopped.id,
    success: false,
    status: 'failed',
    conditionsPassed: true,
    error: rule.lastError,
    executionId: uuid,
  })
  t.strictSame(good, {
    ruleId: fine.id,
    success: true,
    status: 'succeeded',
    conditionsPassed: true,
    executionId: good?.executionId,
  })
  const execution = await workspace.call('GET', `/api/executions/${bad?.executionId}`)
  t.match(execution.body, {
    status: 'failed',
    success: false,
    error: rule.lastError,
    ruleId: stopped.id,
    ruleVersion: 2,
  })
})

t.test('an event runs every active rule of its type, one entry each, in creation order', async (t) => {
  const workspace = await makeOwnWorkspace()
  const created: Rule[] = []
  for (let index = 0; index < 12; index++)
    created.push(await workspace.create({ name: `Rule ${index}`, conditions: index % 3 === 0 ? hot : [] }))
  await workspace.create({ isActive: false })
  await workspace.create({ trigger: 'LEAD_UPDATED' })
  const stranger = await makeOwnWorkspace()
  await stranger.create()
  const answer = await workspace.trigger({ score: 5, name: 'Ada' })
  t.equal(answer.status, 200)
  t.strictSame(Object.keys(answer.body).sort(), ['matched', 'results', 'triggered'])
  t.equal(answer.body.triggered, 12)
  t.equal(answer.body.matched, 8)
  t.strictSame(
    answer.body.results.map(({ executionId, ...entry }) => ({
      ...entry,
      isExecuted: uuid.test(executionId ?? ''),
    })),
    created.map(({ id }, index) => ({
      ruleId: id,
      success: true,
      status: index % 3 === 0 ? 'not_matched' : 'succeeded',
      conditionsPassed: index % 3 !== 0,
      isExecuted: index % 3 !== 0,
    })),
  )
  const executionIds = answer.body.results.flatMap(({ executionId }) => executionId ?? [])
  t.equal(new Set(executionIds).size, 8)
  for (const id of executionIds) t.equal((await workspace.call('GET', `/api/executions/${id}`)).status, 200)
  t.equal((await stranger.call('GET', `/api/executions/${executionIds[0]}`)).status, 404)
  t.strictSame((await workspace.trigger({}, 'DEAL_WON')).body, { triggered: 0, matched: 0, results: [] })

  const location = String(answer.headers['content-location'])
  const event = await workspace.call<Record<string, unknown>>('GET', location)
  t.equal(location, `/api/events/${event.body.id}`)
  t.strictSame(event.body, {
    id: event.body.id,
    workspaceId: workspace.id,
    type: 'LEAD_CREATED',
    eventType: 'LEAD_CREATED',
    data: { score: 5, name: 'Ada' },
    ruleId: null,
    subscriptionId: null,
    depth: 0,
    causedBy: null,
    replayOf: null,
    chosenRules: null,
    crashes: 0,
    status: 'done',
    acceptedAt: event.body.acceptedAt,
    doneAt: event.body.doneAt,
    suppressed: 0,
    failed: 0,
    continuesAt: null,
    ...answer.body,
  })
  t.match([event.body.acceptedAt, event.body.doneAt], [timestamp, timestamp])
  t.equal((await stranger.call('GET', location)).status, 404)
})

t.test('Prefer determines how long a caller waits, and unknown preferences are ignored', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create()
  const async_ = ['respond-async', 'Respond-Async', 'handling=lenient, respond-async', 'wait=0', 'wait="0"']
  for (const prefer of async_) {
    const trigger = await workspace.trigger({}, 'LEAD_CREATED', { prefer })
    const execute = await workspace.execute(rule.id, { data: {} }, { prefer })
    for (const [kind, answer] of [
      ['events', trigger],
      ['executions', execute],
    ] as const) {
      t.equal(answer.status, 202, `${kind} with ${prefer}`)
      t.match(answer.headers.location, new RegExp(`^/api/${kind}/[0-9a-f-]{36}$`))
      t.equal(answer.headers['preference-applied'], prefer.startsWith('wait') ? 'wait=0' : 'respond-async')
      t.strictSame(answer.body, { id: String(answer.headers.location).split('/').at(-1), status: 'accepted' })
      const settled = await untilSettled(workspace.call, String(answer.headers.location))
      t.match(settled.body, { status: kind === 'events' ? 'done' : 'succeeded' }, 'the work goes on')
    }
  }
  const waiting = {
    'wait=5': 'wait=5',
    'wait = 5': 'wait=5',
    'wait=30': 'wait=30',
    'wait=31': 'wait=30',
    'wait=999999999': 'wait=30',
  }
  for (const [prefer, applied] of Object.entries(waiting)) {
    const answer = await workspace.trigger({}, 'LEAD_CREATED', { prefer })
    t.equal(answer.status, 200, prefer)
    t.equal(answer.headers['preference-applied'], applied)
  }
  for (const prefer of [
    '',
    'wait',
    'wait=',
    'wait=-1',
    'wait=soon',
    'wait=1.5',
    'wait=1e9',
    'return=minimal',
    ',,;',
    'x'.repeat(5_000),
  ]) {
    const answer = await workspace.execute(rule.id, { data: {} }, { prefer })
    t.equal(answer.status, 200, prefer.slice(0, 20))
    t.equal(answer.headers['preference-applied'], undefined)
  }
})

t.test('after the timeout the response is 202, and the work continues', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create()
  const wait = { prefer: 'wait=1' }
  const [trigger, execute] = await whilePaused(async () => {
    const answers = await Promise.all([
      workspace.trigger({ name: 'A' }, 'LEAD_CREATED', wait),
      workspace.execute(rule.id, { data: { name: 'B' } }, wait),
    ])
    for (const answer of answers) {
      t.equal(answer.status, 202)
      t.equal(answer.headers['preference-applied'], 'wait=1')
    }
    const [event, execution] = await Promise.all(
      answers.map(({ headers }) => workspace.call<Record<string, unknown>>('GET', String(headers.location))),
    )
    matchLists(t, event?.body, {
      status: 'accepted',
      doneAt: null,
      triggered: 0,
      results: [],
      data: { name: 'A' },
    })
    t.strictSame(execution?.body, {
      id: execution?.body.id,
      workspaceId: workspace.id,
      eventId: execution?.body.eventId,
      eventType: 'LEAD_CREATED',
      ruleId: rule.id,
      subscriptionId: null,
      ruleVersion: null,
      status: 'pending',
      success: false,
      conditionsPassed: false,
      actionsExecuted: 0,
      dryRun: false,
      results: [],
      error: null,
      suppressed: null,
      cancelRequested: false,
      startedAt: null,
      dueAt: null,
      waitsFor: null,
      finishedAt: null,
    })
    return answers
  })
  const event = await untilSettled<TriggerResult & { status: string }>(
    workspace.call,
    String(trigger?.headers.location),
  )
  matchLists(t, event.body, {
    status: 'done',
    triggered: 1,
    results: [{ ruleId: rule.id, success: true, status: 'succeeded' }],
  })
  const execution = await untilSettled(workspace.call, String(execute?.headers.location))
  t.match(execution.body, { status: 'succeeded', success: true, actionsExecuted: 1, ruleVersion: 1 })
  t.strictSame((await workspace.tasks()).tasks.map(({ title }) => title).sort(), ['Call A', 'Call B'])
})

t.test('an execution can be read in each of its states, and in no other workspace', async (t) => {
  const workspace = await makeOwnWorkspace()
  const stranger = await makeOwnWorkspace()
  const rule = await workspace.create({ conditions: hot, actions: [fallible] })
  const cases = [
    [{ score: 90, title: 'x' }, 'succeeded', true],
    [{ score: 90 }, 'failed', false],
    [{ score: 1 }, 'not_matched', true],
  ] as const
  for (const [data, status, success] of cases) {
    const { headers } = await workspace.execute(rule.id, { data }, later)
    const path = String(headers.location)
    const settled = await untilSettled<Record<string, unknown> & { status: string }>(workspace.call, path)
    t.match(settled.body, { status, success, ruleId: rule.id, eventId: settled.body.id, dryRun: false })
    t.match(settled.body.error, success ? null : String)
    const upper = `/api/executions/${path.slice(-36).toUpperCase()}`
    t.strictSame((await workspace.callAs('viewer')('GET', upper)).body, settled.body)
    const asked = [path, `/api/executions/${newId()}`].map((url) => stranger.call('GET', url))
    const [foreign, unknown] = await Promise.all(asked)
    t.equal(foreign?.status, 404)
    t.strictSame(foreign?.body, unknown?.body)
  }
  t.match(await workspace.read(rule.id), { executionCount: 2, successCount: 1, failureCount: 1 })
})

t.test('an execution that is read while it is recorded is either pending or done', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create()
  const statuses = new Set<string>()
  const follow = async () => {
    const { headers } = await workspace.execute(rule.id, { data: {} }, later)
    for (let status = 'pending'; status === 'pending'; statuses.add(status)) {
      const { body } = await workspace.call<{ status?: string }>('GET', String(headers.location))
      status = body.status ?? JSON.stringify(body)
    }
  }
  for (let round = 0; round < 15; round++) await Promise.all(Array.from({ length: 8 }, follow))
  statuses.delete('pending')
  t.strictSame([...statuses], ['succeeded'])
})

t.test('a deleted rule does not run any more, and its history stays', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create()
  const past = await workspace.trigger({ name: 'Ada' })
  const path = await whilePaused(async () => {
    const { headers } = await workspace.execute(rule.id, { data: {} }, later)
    const waiting = workspace.execute(rule.id, { data: {} })
    await delay(50)
    t.equal((await workspace.call('DELETE', `${rules}/${rule.id}`)).status, 204)
    return { location: String(headers.location), waiting }
  })
  const late = await path.waiting
  t.strictSame([late.status, late.body], [404, { error: 'Automation rule not found' }])
  t.match((await untilSettled(workspace.call, path.location)).body, { status: 'cancelled', success: false })
  t.strictSame((await workspace.trigger({})).body, { triggered: 0, matched: 0, results: [] })
  t.equal((await workspace.tasks()).tasks.length, 1)
  t.match((await workspace.call('GET', `/api/executions/${past.body.results[0]?.executionId}`)).body, {
    status: 'succeeded',
  })
  t.match((await workspace.call('GET', `${rules}/health`)).body, { totalRules: 0, totalExecutions: 0 })
})

t.test(
  'the next event uses a changed rule, even if one process changes it and another runs it',
  async (t) => {
    const workspace = await makeOwnWorkspace()
    const second = await startApi(t, { DATABASE_URL, QUEUE_PREFIX })
    const { id } = await workspace.create({ trigger: 'DEAL_WON' })
    const asked = { token: workspace.tokens.admin, workspace: workspace.id }
    const stale: number[] = []
    for (let index = 0; index < 50; index++) {
      const [writer, reader] = index % 2 === 0 ? [api, second] : [second, api]
      const body = { conditions: [{ field: 'index', operator: 'equals', value: index }] }
      const put = await writer.call('PUT', `${rules}/${id}`, { ...asked, body })
      const event = await reader.call<TriggerResult>('POST', `${rules}/trigger/DEAL_WON`, {
        ...asked,
        body: { data: { index } },
      })
      if (put.status !== 200 || event.body.results[0]?.conditionsPassed !== true) stale.push(index)
    }
    t.strictSame(stale, [])
    t.match(await workspace.read(id), { version: 51, successCount: 50 })

    for (let index = 0; index < 10; index++) {
      await second.call('PATCH', `${rules}/${id}/toggle`, asked)
      const { body } = await workspace.trigger({}, 'DEAL_WON')
      if (body.triggered !== index % 2) t.fail(`toggle ${index} was not seen`)
      const clone = await second.call<Rule>('POST', `${rules}/${id}/clone`, asked)
      await second.call('PATCH', `${rules}/${clone.body.id}/toggle`, asked)
      t.equal((await workspace.trigger({}, 'DEAL_WON')).body.results.at(-1)?.ruleId, clone.body.id)
      await second.call('DELETE', `${rules}/${clone.body.id}`, asked)
    }
  },
)

t.test('counters count each of many concurrent executions once', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create({
    conditions: [{ field: 'run', operator: 'is_true' }],
    actions: [fallible],
  })
  const data = (index: number) => ({
    run: index % 4 !== 3,
    ...(index % 4 === 0 ? {} : { title: `Task ${index}` }),
  })
  const answers = await Promise.all(Array.from({ length: 80 }, (_, index) => workspace.trigger(data(index))))
  t.ok(answers.every(({ status, body }) => status === 200 && body.triggered === 1))
  const after = await workspace.read(rule.id)
  t.match(after, { executionCount: 60, successCount: 40, failureCount: 20, version: 1 })
  t.match(after, { lastSuccessAt: timestamp, lastFailureAt: timestamp, lastError: /./ })
  t.strictSame((await workspace.call('GET', `${rules}/health`)).body, {
    totalRules: 1,
    activeRules: 1,
    inactiveRules: 0,
    totalExecutions: 60,
    successfulExecutions: 40,
    failedExecutions: 20,
    averageSuccessRate: 66.67,
    rulesNeedingAttention: (await workspace.call<{ rules: unknown[] }>('GET', `${rules}/attention`)).body
      .rules.length,
  })
  t.equal((await workspace.tasks('?limit=250')).tasks.length, 40)
})

t.test('health summarizes all rules of the workspace, with two decimals in the rate', async (t) => {
  const workspace = await makeOwnWorkspace()
  const health = async () => (await workspace.callAs('viewer')('GET', `${rules}/health`)).body
  const nothing = {
    totalExecutions: 0,
    successfulExecutions: 0,
    failedExecutions: 0,
    averageSuccessRate: 0,
    rulesNeedingAttention: 0,
  }
  t.strictSame(await health(), { totalRules: 0, activeRules: 0, inactiveRules: 0, ...nothing })
  const [first, second] = [await workspace.create(), await workspace.create({ isActive: false })]
  t.strictSame(await health(), { totalRules: 2, activeRules: 1, inactiveRules: 1, ...nothing })
  const rates: [success: number, failure: number, rate: number][] = [
    [1, 2, 33.33],
    [2, 1, 66.67],
    [1, 0, 100],
    [0, 1, 0],
    [1, 7, 12.5],
    [199, 1, 99.5],
    [99_999, 1, 100],
    [1, 99_999, 0],
    [5, 6, 45.45],
    [2_000_000_000, 1_000_000_000, 66.67],
  ]
  for (const [successCount, failureCount, averageSuccessRate] of rates) {
    await workspace.database.ruleCounters.update({ where: { ruleId: first.id }, data: { successCount } })
    await workspace.database.ruleCounters.update({ where: { ruleId: second.id }, data: { failureCount } })
    t.match(await health(), {
      totalExecutions: successCount + failureCount,
      successfulExecutions: successCount,
      failedExecutions: failureCount,
      averageSuccessRate,
    })
  }
})

t.test('attention lists rules of the last 7 days that fail in a row or half of the time', async (t) => {
  const workspace = await makeOwnWorkspace()
  const { id } = await workspace.create({ name: 'Weak', actions: [fallible] })
  const attention = async () =>
    (await workspace.callAs('viewer')<{ rules: object[] }>('GET', `${rules}/attention`)).body
  let firstFailureAt: unknown
  for (let failures = 1; failures <= 3; failures++) {
    const listed = (await attention()).rules
    if (failures === 1) t.strictSame(listed, [])
    else matchLists(t, listed, [{ id, reason: 'recent_failure', failuresInARow: failures - 1 }])
    await workspace.trigger({})
    if (failures === 1) firstFailureAt = (await workspace.read(id)).lastFailureAt
  }
  const { lastError, lastFailureAt } = await workspace.read(id)
  const item = {
    id,
    name: 'Weak',
    failureCount: 3,
    lastError,
    lastFailureAt,
    reason: 'failures',
    since: firstFailureAt,
    failuresInARow: 3,
  }
  const seen = async () =>
    (await attention()).rules.map(({ explanation, ...rest }: { explanation?: string }) => {
      t.match(explanation, /fail/)
      return rest
    })
  t.strictSame(await seen(), [item])
  t.match((await workspace.call('GET', `${rules}/health`)).body, {
    rulesNeedingAttention: 1,
    averageSuccessRate: 0,
  })
  await workspace.trigger({ title: 'x' })
  t.strictSame(await attention(), { rules: [] }, 'one success ends the row')
  await workspace.trigger({ title: 'x' })
  const often = { ...item, since: lastFailureAt, failuresInARow: 0 }
  t.strictSame(await seen(), [often], '3 of 5 failed')
  await workspace.trigger({ title: 'x' })
  t.strictSame(await seen(), [often], '3 of 6 are half')
  await workspace.trigger({ title: 'x' })
  t.strictSame(await attention(), { rules: [] }, '3 of 7 are less')

  const ago = (days: number) => new Date(Date.now() - days * 86_400_000)
  const cases: [counters: Record<string, unknown>, isListed: boolean][] = [
    [{ consecutiveFailures: 3, failureCount: 3, successCount: 97, lastFailureAt: ago(6.9) }, true],
    [
      {
        consecutiveFailures: 3,
        failureCount: 3,
        successCount: 97,
        lastFailureAt: ago(7.1),
        lastSuccessAt: ago(9),
      },
      false,
    ],
    [
      {
        consecutiveFailures: 0,
        failureCount: 4,
        successCount: 4,
        lastFailureAt: ago(30),
        lastSuccessAt: ago(1),
      },
      true,
    ],
    [{ consecutiveFailures: 2, failureCount: 2, successCount: 3, lastFailureAt: ago(1) }, false],
    [{ consecutiveFailures: 2, failureCount: 2, successCount: 2, lastFailureAt: ago(1) }, false],
    [{ consecutiveFailures: 2, failureCount: 3, successCount: 2, lastFailureAt: ago(1) }, true],
  ]
  for (const [counters, isListed] of cases) {
    await workspace.database.ruleCounters.update({
      where: { ruleId: id },
      data: { lastSuccessAt: null, ...counters },
    })
    t.equal((await attention()).rules.length, isListed ? 1 : 0, JSON.stringify(counters))
    t.match((await workspace.call('GET', `${rules}/health`)).body, {
      rulesNeedingAttention: isListed ? 1 : 0,
    })
  }
})

t.test('tasks are listed newest first, page by page, of one rule or one execution', async (t) => {
  const workspace = await makeOwnWorkspace()
  const [first, second] = [
    await workspace.create({ actions: [task, task] }),
    await workspace.create({ trigger: 'TAG_ADDED' }),
  ]
  const executionIds: string[] = []
  for (const name of ['A', 'B', 'C']) {
    executionIds.push((await workspace.trigger({ name })).body.results[0]?.executionId ?? '')
    executionIds.push(
      (await workspace.trigger({ name: `tag ${name}` }, 'TAG_ADDED')).body.results[0]?.executionId ?? '',
    )
  }
  const titles = (list: TaskList) => list.tasks.map(({ title }) => title)
  const all = [
    'Call tag C',
    'Call C',
    'Call C',
    'Call tag B',
    'Call B',
    'Call B',
    'Call tag A',
    'Call A',
    'Call A',
  ]
  const whole = await workspace.tasks()
  t.strictSame(titles(whole), all)
  t.equal(whole.nextCursor, null)
  for (const limit of [1, 2, 4, 9, 250]) {
    const pages: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: TaskList = await workspace.tasks(`?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      t.ok(page.tasks.length <= limit)
      pages.push(...titles(page))
      cursor = page.nextCursor
    }
    t.strictSame(pages, all, `pages of ${limit}`)
  }
  t.strictSame(titles(await workspace.tasks(`?ruleId=${second.id}`)), [
    'Call tag C',
    'Call tag B',
    'Call tag A',
  ])
  t.strictSame(titles(await workspace.tasks(`?ruleId=${first.id.toUpperCase()}&limit=2`)), [
    'Call C',
    'Call C',
  ])
  t.strictSame(titles(await workspace.tasks(`?executionId=${executionIds[0]}`)), ['Call A', 'Call A'])
  t.strictSame(titles(await workspace.tasks(`?executionId=${executionIds[0]}&ruleId=${second.id}`)), [])
  t.strictSame(titles(await workspace.tasks(`?ruleId=${newId()}`)), [])
  const ofOne = (await workspace.tasks(`?executionId=${executionIds[0]}`)).tasks
  t.strictSame(ofOne.map(({ actionIndex }) => actionIndex).sort(), [0, 1])
  const stranger = await makeOwnWorkspace()
  t.strictSame(await stranger.tasks(`?executionId=${executionIds[0]}`), { tasks: [], nextCursor: null })
})

t.test('the data of an event is stored and used unchanged', async (t) => {
  const workspace = await makeOwnWorkspace()
  await workspace.create({
    conditions: [{ field: 'constructor', operator: 'not_exists' }],
    actions: [{ type: 'CREATE_TASK', config: { title: '<{{ text }}>' } }],
  })
  const data = {
    text: 'é 🦜 \u2028 \u0001 {{text}} "\\',
    '': { '': [] },
    toString: 'own',
    numbers: [0, -1.5, 1e21, 1e-7, 9007199254740991],
    deep: JSON.parse('['.repeat(30) + ']'.repeat(30)),
    long: 'x'.repeat(1_000_000),
    toJSON: 'x',
    valueOf: { prototype: 1 },
    length: -1,
  }
  const answer = await workspace.trigger(data)
  matchLists(t, answer.body, { results: [{ conditionsPassed: true, success: true }] })
  const event = await workspace.call<{ data: unknown }>('GET', String(answer.headers['content-location']))
  t.strictSame(event.body.data, data)
  t.strictSame((await workspace.tasks()).tasks[0]?.title, `<${data.text}>`)
})
