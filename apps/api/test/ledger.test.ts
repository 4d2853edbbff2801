import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'
import { addressOf, countAll, idAt, storeEvent, storeExecution, storeRule } from './fixtures/history.js'
import { makeSender } from './fixtures/sender.js'
import { startWorker } from './fixtures/worker.js'

const directory = t.testdir({ mail: {} })
const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })

interface Ledger {
  from: string
  to: string
  isComplete: boolean
  imbalance: number
  faults: { kind: string; count: number; ids: string[] }[]
  receipts: Record<string, number>
  events: Record<string, number>
  executions: Record<string, number>
  effects: { tasks: number; emittedEvents: number; calls: Record<string, number> }
}

const path = '/api/developer/v1/ledger'
const dayMs = 24 * 60 * 60 * 1_000

async function read({ call }: Workspace, query = ''): Promise<Ledger> {
  const { status, body } = await call<Ledger>('GET', `${path}?${query}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** On a busy machine the time of one request may end before the range does. */
async function readWhole(workspace: Workspace): Promise<Ledger> {
  for (let attempts = 1; ; attempts++) {
    const ledger = await read(workspace)
    if (ledger.isComplete || attempts === 10) return ledger
  }
}

const done = (action: string, output?: object) => ({ action, status: 'success', ...(output && { output }) })

/** A webhook that became an event, whose one execution made a task, emitted an event and called somebody, as all should be. */
async function storeStory(workspace: Workspace) {
  const { id: workspaceId, database } = workspace
  const rule = await storeRule(workspace)
  const event = await storeEvent(workspace, { ruleIds: [rule.id] })
  const receipt = await database.webhookReceipt.create({
    data: {
      id: idAt(event.acceptedAt),
      workspaceId,
      provider: 'billing',
      key: newId(),
      bodyHash: Buffer.alloc(32),
      secretId: newId(),
      eventTypes: ['LEAD_CREATED'],
      eventIds: [event.id],
    },
  })
  const emittedId = idAt(event.acceptedAt)
  const results = [
    done('CREATE_TASK'),
    done('EMIT_EVENT', { eventId: emittedId }),
    { ...done('SEND_WEBHOOK'), attempts: [{ startedAt: event.acceptedAt.toISOString() }] },
  ]
  const execution = await storeExecution(workspace, event, rule.id, { results })
  const emitted = await storeEvent(workspace, { id: emittedId, causedBy: execution.id, depth: 1 })
  const task = await database.task.create({
    data: {
      id: newId(),
      workspaceId,
      executionId: execution.id,
      actionIndex: 0,
      ruleId: rule.id,
      title: 'Call',
      priority: 'normal',
      createdAt: event.acceptedAt,
    },
  })
  await countAll(workspace)
  return { workspace, database, rule, event, receipt, execution, results, emitted, task }
}
type Story = Awaited<ReturnType<typeof storeStory>>

t.test('the ledger of consistent rows is in balance', async (t) => {
  const { workspace } = await storeStory(await api.makeWorkspace())
  const ledger = await read(workspace)
  matchLists(t, ledger, {
    isComplete: true,
    imbalance: 0,
    faults: [],
    receipts: { received: 1, accepted: 1, duplicate: 0, rejected: 0 },
    events: { accepted: 2, fromOutside: 0, fromReceipts: 1, emitted: 1, done: 2, waiting: 0 },
    executions: { begun: 1, succeeded: 1, failed: 0, cancelled: 0, waiting: 0, leased: 0 },
    effects: { tasks: 1, emittedEvents: 1, calls: { succeeded: 1, failed: 0, unknown: 0, open: 0 } },
  })
  t.strictSame(ledger.faults, [])
})

/** The faults, how to cause them, and the id that is reported. */
const faults: Record<string, [kind: string, spoil: (story: Story) => Promise<string>]> = {
  'an event of a webhook is gone': [
    'receipt_without_event',
    async ({ database, receipt }) => {
      await database.webhookReceipt.update({ where: { id: receipt.id }, data: { eventIds: [newId()] } })
      return receipt.id
    },
  ],
  'an event of a webhook is another workspace’s': [
    'receipt_without_event',
    async ({ database, receipt }) => {
      const stranger = await storeEvent(await api.makeWorkspace())
      const eventIds = [...receipt.eventIds, stranger.id]
      await database.webhookReceipt.update({ where: { id: receipt.id }, data: { eventIds } })
      return receipt.id
    },
  ],
  'an event was given up and is not done': [
    'quarantined_not_done',
    async ({ workspace }) => (await storeEvent(workspace, { quarantined: true, doneAt: null })).id,
  ],
  'an event was emitted by nobody': [
    'event_without_cause',
    async ({ workspace }) => (await storeEvent(workspace, { causedBy: idAt(Date.now()) })).id,
  ],
  'an execution has no event': [
    'execution_without_event',
    async ({ database, execution, receipt, event }) => {
      await database.webhookReceipt.delete({ where: { id: receipt.id } })
      await database.event.delete({ where: { id: event.id } })
      return execution.id
    },
  ],
  'an execution was begun before its event was done': [
    'execution_too_early',
    async ({ database, event, execution }) => {
      await database.event.update({ where: { id: event.id }, data: { doneAt: null } })
      return execution.id
    },
  ],
  'an event was given up, and run all the same': [
    'execution_too_early',
    async ({ database, event, execution }) => {
      await database.event.update({ where: { id: event.id }, data: { quarantined: true } })
      return execution.id
    },
  ],
  'a rule ran twice for one event': [
    'execution_twice',
    async ({ workspace, database, event, rule }) => {
      const id = `${event.id.slice(0, 14)}8fff-bfff-ffffffffffff`
      await storeExecution(workspace, event, rule.id, { id })
      await database.ruleCounters.update({ where: { ruleId: rule.id }, data: { successCount: 2 } })
      return id
    },
  ],
  'nobody would ever take an execution up': [
    'execution_adrift',
    async ({ workspace }) => {
      const event = await storeEvent(workspace)
      return (await storeExecution(workspace, event, newId(), { status: 'waiting', dueAt: null })).id
    },
  ],
  'no event would wake an execution that waits for one': [
    'wait_without_key',
    async ({ workspace }) => {
      const event = await storeEvent(workspace)
      const waitsFor = { eventType: 'DEAL_WON', match: { id: 7 } }
      const results = [{ action: 'WAIT', status: 'scheduled', until: new Date().toISOString(), waitsFor }]
      const open = { status: 'waiting' as const, dueAt: new Date(), finishedAt: null, results }
      return (await storeExecution(workspace, event, newId(), open)).id
    },
  ],
  'an event would wake an execution that waits for none': [
    'wait_without_key',
    async ({ workspace }) => {
      const event = await storeEvent(workspace)
      const open = {
        status: 'waiting' as const,
        dueAt: new Date(),
        finishedAt: null,
        results: [],
        waitKey: newId(),
      }
      return (await storeExecution(workspace, event, newId(), open)).id
    },
  ],
  'a finished execution would be taken up again': [
    'execution_adrift',
    async ({ database, execution }) => {
      await database.execution.update({ where: { id: execution.id }, data: { dueAt: new Date() } })
      return execution.id
    },
  ],
  'an execution succeeded before its actions did': [
    'action_left_open',
    async ({ database, execution, results }) => {
      const open = [...results, { action: 'SEND_EMAIL', status: 'retrying' }]
      await database.execution.update({ where: { id: execution.id }, data: { results: open } })
      return execution.id
    },
  ],
  'a task is gone': [
    'task_missing',
    async ({ database, task, execution }) => {
      await database.task.delete({ where: { id: task.id } })
      return execution.id
    },
  ],
  'an action has made its task twice': [
    'task_twice',
    async ({ database, task, execution }) => {
      await database.task.create({ data: { ...task, id: newId(), createdAt: new Date() } })
      return execution.id
    },
  ],
  'a task was made by nobody': [
    'task_without_execution',
    async ({ database, task }) => {
      const stray = { ...task, id: newId(), executionId: idAt(Date.now()) }
      return (await database.task.create({ data: stray })).id
    },
  ],
  'an event counts for a limit, but did not run': [
    'claim_without_execution',
    async ({ database, event, rule, workspace }) => {
      const executionId = idAt(Date.now())
      const claim = {
        executionId,
        workspaceId: workspace.id,
        ruleId: rule.id,
        eventId: event.id,
        keyId: newId(),
      }
      const [acceptedAt, expiresAt] = [new Date(), new Date()]
      await database.keyClaim.create({
        data: { ...claim, acceptedAt, expiresAt, isGranted: true, isCounted: false, isExclusive: false },
      })
      return executionId
    },
  ],
  'an emitted event is gone': [
    'emitted_event_missing',
    async ({ database, emitted, execution }) => {
      await database.event.delete({ where: { id: emitted.id } })
      return execution.id
    },
  ],
  'a rule has counted too few successes': [
    'counter_behind',
    async ({ database, rule: { id } }) => {
      await database.ruleCounters.update({ where: { ruleId: id }, data: { successCount: 0 } })
      return id
    },
  ],
  'a rule has lost its counters': [
    'counter_behind',
    async ({ database, rule: { id } }) => {
      await database.ruleCounters.delete({ where: { ruleId: id } })
      return id
    },
  ],
  'a rule has counted too few failures': [
    'counter_behind',
    async ({ workspace, rule: { id } }) => {
      await storeExecution(workspace, await storeEvent(workspace), id, { status: 'failed' })
      return id
    },
  ],
}

for (const [title, [kind, spoil]] of Object.entries(faults)) {
  t.test(`the ledger reports: ${title}`, async (t) => {
    const story = await storeStory(await api.makeWorkspace())
    const id = await spoil(story)
    const { imbalance, faults } = await read(story.workspace)
    t.strictSame({ imbalance, faults }, { imbalance: 1, faults: [{ kind, count: 1, ids: [id] }] })
  })
}

t.test('waiting and running work is in balance, and reported when it is overdue', async (t) => {
  const workspace = await api.makeWorkspace()
  const acceptedAt = new Date(Date.now() - 60_000)
  await storeEvent(workspace, { acceptedAt, doneAt: null })
  await storeEvent(workspace, { doneAt: null })
  const event = await storeEvent(workspace)
  const lease = { lease: newId(), dueAt: new Date(Date.now() + 8_000) }
  const calling = [{ action: 'SEND_WEBHOOK', status: 'running', attempts: [] }]
  await storeExecution(workspace, event, newId(), { status: 'running', ...lease, results: calling })
  await storeExecution(workspace, event, newId(), { status: 'waiting' })
  await storeExecution(workspace, event, newId(), { status: 'retrying', dueAt: acceptedAt })
  await storeExecution(workspace, event, newId(), { status: 'cancelled' })
  t.match(await read(workspace), {
    imbalance: 0,
    events: { accepted: 3, waiting: 2, overdue: 1, done: 1 },
    executions: { begun: 4, leased: 1, waiting: 2, cancelled: 1, overdue: 1 },
    effects: { calls: { open: 1 } },
  })
})

t.test('deliveries to subscriptions are counted apart', async (t) => {
  const workspace = await api.makeWorkspace()
  await storeEvent(workspace)
  const rule = newId()
  const event = await storeEvent(workspace, { ruleIds: [rule] })
  await storeExecution(workspace, event, rule, { status: 'waiting' })
  const subscription = newId()
  const delivery = await storeEvent(workspace, addressOf(subscription))
  for (const status of ['failed', 'waiting'] as const) {
    const other = status === 'failed' ? delivery : await storeEvent(workspace, addressOf(subscription))
    await storeExecution(workspace, other, subscription, { status })
  }
  const { events, executions, imbalance } = await read(workspace)
  t.match(events, { accepted: 4, fromOutside: 2, service: 2 })
  t.match(executions, {
    begun: 3,
    failed: 1,
    waiting: 2,
    deliveries: { begun: 2, succeeded: 0, failed: 1, cancelled: 0, unfinished: 1 },
  })
  t.equal(imbalance, 0)
})

t.test('what was removed for its age is missed by nobody', async (t) => {
  const workspace = await api.makeWorkspace()
  const story = await storeStory(workspace)
  const old = idAt(Date.now() - 3 * dayMs)
  const { id, database } = workspace
  await database.webhookReceipt.create({ data: { ...story.receipt, id: old, key: newId(), eventIds: [old] } })
  await database.task.create({ data: { ...story.task, id: newId(), executionId: old } })
  await storeEvent(workspace, { causedBy: old })
  const from = new Date(Date.now() - 5 * dayMs).toISOString()
  t.equal((await read(workspace, `from=${from}`)).imbalance, 3, 'as long as it is to be kept it is missed')
  await database.workspace.update({ where: { id }, data: { retentionDays: 2 } })
  const ledger = await read(workspace, `from=${from}`)
  t.match(ledger, { imbalance: 0, isComplete: true, receipts: { accepted: 1 }, events: { accepted: 3 } })
  t.ok(Date.parse(ledger.from) > Date.now() - 2 * dayMs - 60_000, 'it begins where nothing was removed')
})

t.test('only work that was accepted between from and to is counted', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const days of [1, 3, 5])
    await storeEvent(workspace, { acceptedAt: new Date(Date.now() - days * dayMs) })
  const at = (days: number) => new Date(Date.now() - days * dayMs).toISOString()
  t.equal((await read(workspace, `from=${at(4)}&to=${at(2)}`)).events.accepted, 1)
  t.equal((await read(workspace, `from=${at(6)}`)).events.accepted, 3)
  t.equal((await read(workspace)).events.accepted, 0, 'the last hour')
})

t.test('an invalid or too long range is refused', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const query of [
    'from=2026-02-01&to=2026-01-01',
    'from=2026-01-01&to=2026-01-01',
    'from=2026-01-01&to=2026-02-02',
    'from=yesterday',
  ]) {
    const { status } = await call('GET', `${path}?${query}`)
    t.equal(status, 400, query)
  }
})

t.test('the ledger is for admins', async (t) => {
  const { callAs } = await api.makeWorkspace()
  for (const role of ['viewer', 'operator', 'editor'] as const)
    t.equal((await callAs(role)('GET', path)).status, 403, role)
})

t.test('one reconciliation of an owner runs, the next ones wait, and others run beside', async (t) => {
  const own = await startApi(t, { DATABASE_URL, DATABASE_POOL: '10' })
  const busy = await own.makeWorkspace()
  const quiet = await own.makeWorkspace()
  const countBlocked = async () => {
    const [row] = await own.app.database.system.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE datname = current_database() AND relation = 'webhook_receipts'::regclass AND NOT granted`
    return row?.count ?? 0
  }
  const { asked, other } = await api.app.database.system.$transaction(async (transaction) => {
    await transaction.$executeRaw`LOCK TABLE webhook_receipts IN ACCESS EXCLUSIVE MODE`
    const asked = Array.from({ length: 3 }, () => busy.call('GET', path))
    const other = quiet.call('GET', path)
    while ((await countBlocked()) < 2) await setTimeout(20)
    while (own.app.admission.reads.waiting < 2) await setTimeout(20)
    t.equal(await countBlocked(), 2)
    return { asked, other }
  })
  t.equal((await other).status, 200)
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  t.strictSame(statuses, Array(3).fill(200))
})

t.test('the slices of a long range are added up, and each fault is reported once', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const count = 2_400
  const startedAt = new Date(Date.now() - 60_000)
  const [ruleId, base] = [newId(), startedAt.getTime()]
  const events = Array.from({ length: count }, (_, at) => idAt(base + (at >> 2)))
  const event = { workspaceId, type: 'LEAD_CREATED', data: {}, doneAt: startedAt }
  await database.event.createMany({ data: events.map((id) => ({ ...event, id })) })
  const run = { workspaceId, eventType: 'LEAD_CREATED', handlerId: ruleId, ruleVersion: 1, startedAt }
  const finished = {
    ...run,
    status: 'succeeded' as const,
    results: [done('SEND_EMAIL')],
    finishedAt: startedAt,
  }
  await database.execution.createMany({
    data: events.map((id, at) => ({
      ...finished,
      id: `${id.slice(0, 14)}8${id.slice(15)}`,
      eventId: at % 200 === 0 ? newId() : id,
    })),
  })
  const ledger = await readWhole(workspace)
  matchLists(t, ledger, {
    isComplete: true,
    imbalance: 12,
    faults: [{ kind: 'execution_without_event', count: 12 }],
    events: { accepted: count, done: count },
    executions: { begun: count, succeeded: count },
    effects: { calls: { succeeded: count } },
  })
  t.equal(ledger.faults[0]?.ids.length, 10)
})

t.test('the work of a worker leaves the ledger in balance', async (t) => {
  const worker = await startWorker(t, api.config, directory)
  const workspace = await api.makeWorkspace()
  const { deliver } = await makeSender(api, workspace)
  const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } }
  const task = { type: 'CREATE_TASK', config: { title: 'Call' } }
  const broken = { type: 'CREATE_TASK', config: { title: '{{nothing}}' } }
  await workspace.call('POST', rules, { body: ruleBody({ actions: [task, emit] }) })
  await workspace.call('POST', rules, { body: ruleBody({ actions: [broken] }) })
  await workspace.call('POST', rules, { body: ruleBody({ trigger: 'DEAL_WON', actions: [task] }) })
  for (let count = 0; count < 5; count++)
    await workspace.call('POST', `${rules}/trigger/LEAD_CREATED`, { body: { data: {} } })
  const id = newId()
  const webhook = { id, body: JSON.stringify({ type: 'lead.created', data: {} }) }
  t.strictSame([(await deliver(webhook)).status, (await deliver(webhook)).status], [202, 200])
  t.equal((await deliver({ headers: { 'x-signature': 'v1=00' } })).status, 401)
  for (;;) {
    const { events } = await read(workspace)
    if (events.accepted === 13 && events.waiting === 0) break
  }
  t.match(await read(workspace), {
    imbalance: 0,
    receipts: { accepted: 1 },
    events: { fromOutside: 5, fromReceipts: 2, emitted: 6 },
    executions: { begun: 18, succeeded: 12, failed: 6 },
    effects: { tasks: 12, emittedEvents: 6 },
  })
  await worker.stop()
})

t.test('replays and refusals are counted for their workspace, by any number of processes', async (t) => {
  const workspace = await api.makeWorkspace()
  for (let process = 0; process < 2; process++) {
    const owner = {
      close: async (): Promise<unknown> => undefined,
      teardown(close: () => Promise<unknown>) {
        this.close = close
      },
    }
    const own = await startApi(owner, { DATABASE_URL })
    const { deliver } = await makeSender(own, workspace, `shop-${process}`)
    const id = newId()
    for (let copy = 0; copy < 3; copy++) await deliver({ id })
    await deliver({ headers: { 'x-signature': 'v1=00' } })
    await deliver({ path: `/api/incoming-webhooks/shop/${newId()}` })
    // What it has counted is written when it closes, at the latest.
    await owner.close()
  }
  // Hours that begin before the range are not counted.
  const hour = new Date(Math.floor(Date.now() / 3_600_000 - 1) * 3_600_000).toISOString()
  const { receipts } = await read(workspace, `from=${hour}`)
  t.strictSame(receipts, { received: 8, accepted: 2, duplicate: 4, rejected: 2 })
})
