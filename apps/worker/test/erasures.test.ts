import { pathToFileURL } from 'node:url'
import { createErasure, type Erasure, findErasure } from '@automation/access'
import { newId } from '@automation/database'
import { ActionResult, Attempt } from '@automation/engine'
import { heldColumns, otherColumns } from '@automation/ledger'
import t from 'tap'
import { takeErasureStep } from '../src/retention/erasures.js'
import { createHarness, type Harness, log } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

const email = 'ada@example.com'

type Columns = Record<string, Record<string, unknown>>

async function post({ inbox, newEvent }: Harness, data: object, type?: string): Promise<string> {
  const event = { ...newEvent(type), data }
  await inbox.accept(event)
  return event.id
}

function ask({ database, workspaceId, sealer }: Harness, path: string, value: string | number) {
  return createErasure({ database, workspaceId, actor: 'user:ada' }, sealer, { path, value })
}

/** Makes all erasures of the database, as workers do. */
async function eraseAll({ database, sealer }: Harness): Promise<void> {
  while (await takeErasureStep(database, sealer, log));
}

async function erase(harness: Harness, path: string, value: string | number): Promise<Erasure> {
  const { id } = await ask(harness, path, value)
  await eraseAll(harness)
  return findErasure(harness.own, id)
}

/** All rows of the workspace that have a text, by their tables. */
async function findText({ database, workspaceId }: Harness, text: string): Promise<string[]> {
  const tables = await database.system.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'workspace_id'`
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await database.system.$queryRawUnsafe<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM ${name} WHERE workspace_id = $1::uuid AND position(lower($2) IN lower(row_to_json(${name})::text)) > 0`,
      workspaceId,
      text,
    )
    if (rows[0]?.count) found.push(name)
  }
  return found
}

t.test('a value is erased from its events, and from all that was made of them', async (t) => {
  const harness = await createHarness(t)
  const { own, workspaceId } = harness
  const target = await openTarget(t, (_request, response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ mail: email })),
  )
  const ruleId = await harness.createRule([
    {
      type: 'CREATE_TASK',
      config: { title: 'Call {{email}}', description: 'About {{email}}', assigneeId: '{{email}}' },
    },
    { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: { who: 'Mail: {{email}}' } } },
    {
      type: 'SEND_WEBHOOK',
      config: { url: target.url, body: { to: '{{email}}' }, capture: { mail: 'body.mail' } },
      retry: { attempts: 1 },
    },
  ])
  const other = await harness.createRule([{ type: 'CREATE_TASK', config: { title: '{{who}}' } }], 'DEAL_WON')
  harness.startWorker()
  harness.startSweeper()
  const id = await post(harness, { email, name: 'Ada', [email]: { note: `Mail to ${email}` } })
  const kept = await post(harness, { email: 'grace@example.com', name: 'Grace' }, 'CONTACT_CREATED')
  for (const event of [id, kept]) await harness.untilDone(event)
  for (;;) {
    const left = await own.execution.count({ where: { finishedAt: null } })
    if (left === 0 && (await own.event.count({ where: { doneAt: null } })) === 0) break
    await new Promise(setImmediate)
  }
  const key = { workspaceId, key: 'k', requestHash: Buffer.alloc(32), eventId: id }
  await own.idempotencyKey.create({
    data: { ...key, answer: { status: 200, headers: {}, body: { success: false, error: `No ${email}` } } },
  })
  await own.webhookReceipt.create({
    data: {
      ...{ id: newId(), workspaceId, provider: 'p', key: `user-${email}`, bodyHash: Buffer.alloc(32) },
      ...{ secretId: newId(), eventTypes: ['LEAD_CREATED'], eventIds: [id] },
    },
  })
  await own.webhookRejection.create({
    data: {
      ...{ id: newId(), workspaceId, provider: 'p', key: email, verified: false, reason: `about ${email}` },
      findings: [{ code: 'refused', message: `The response said: ${email}.` }],
    },
  })
  await own.ruleCounters.updateMany({ where: { ruleId }, data: { lastError: `No ${email}` } })
  const details = { error: `No ${email}`, executionId: newId() }
  await own.auditEntry.create({
    data: {
      id: newId(),
      workspaceId,
      actor: 'user:ada',
      action: 'failures.acknowledged',
      subject: ruleId,
      details,
    },
  })
  await own.acknowledgement.create({
    data: { workspaceId, handlerId: ruleId, error: `No ${email}`, until: new Date(), actor: 'user:ada' },
  })
  t.ok((await findText(harness, email)).length >= 8, 'it is in many tables')

  const erasure = await erase(harness, 'email', email)
  t.match(erasure, {
    path: 'email',
    status: 'done',
    unfinished: 0,
    createdBy: 'user:ada',
    erased: {
      ...{ events: 2, tasks: 2, keptResponses: 1, receipts: 1, rejections: 1, lastErrors: 1 },
      acknowledgements: 1,
      auditEntries: 1,
    },
  })
  t.strictSame(await findText(harness, email), [], 'no table of the workspace has it')
  const event = await own.event.findUniqueOrThrow({ where: { id } })
  t.strictSame(event.data, { email: '[erased]', name: 'Ada', '[erased]': { note: 'Mail to [erased]' } })
  t.ok(event.erasedAt)
  const untouched = await own.event.findUniqueOrThrow({ where: { id: kept } })
  t.match(untouched, { data: { email: 'grace@example.com' }, erasedAt: null })
  const tasks = await own.task.findMany({ where: { ruleId }, orderBy: { id: 'asc' } })
  t.match(tasks[0], { title: 'Call [erased]', description: 'About [erased]', assigneeId: '[erased]' })
  t.equal((await own.task.findFirst({ where: { ruleId: other } }))?.title, 'Mail: [erased]', 'of the chain')
  t.match(await own.auditEntry.findFirst({ where: { action: 'erasure.created' } }), {
    actor: 'user:ada',
    subject: erasure.id,
    details: { path: 'email' },
  })

  const again = await erase(harness, 'email', email)
  const nothing = Object.fromEntries(Object.keys(again.erased).map((kind) => [kind, 0]))
  t.strictSame(again.erased, nothing, 'a second time does nothing more')
})

t.test(
  'nobody finds an execution by an erased recipient, nor reads what was said of a decision',
  async (t) => {
    const harness = await createHarness(t, { SMTP_URL: pathToFileURL(t.testdir()).href })
    const { own, workspaceId } = harness
    const ruleId = await harness.createRule([
      {
        type: 'SEND_EMAIL',
        config: { to: ['{{email}}', 'b@x.y'], cc: '{{email}}', subject: 'x', template: 'x' },
      },
    ])
    harness.startWorker()
    const id = await post(harness, { email })
    await harness.untilDone(id)
    const { id: executionId } = await own.execution.findFirstOrThrow({ where: { handlerId: ruleId } })
    const recipients = { results: [{ to: [email, 'b@x.y', email] }] }
    t.match(await harness.untilStatus(executionId, 'succeeded', 'failed'), recipients)
    await own.idempotencyKey.createMany({
      data: [
        { body: { id: executionId, reason: `${email} asked for it` }, key: 'decided' },
        { body: { executionId, error: `No ${email}` }, key: 'acknowledged' },
      ].map(({ key, body }) => ({
        ...{ workspaceId, key, requestHash: Buffer.alloc(32) },
        answer: { status: 200, headers: {}, body },
      })),
    })
    t.match(await erase(harness, 'email', email), {
      status: 'done',
      erased: { events: 1, executions: 1, keptResponses: 2 },
    })
    t.match((await own.execution.findFirst())?.results, [{ to: ['[erased]', 'b@x.y', '[erased]'] }])
    t.strictSame(await findText(harness, email), [])
  },
)

t.test('each field of a result is erased, or is a word, a time, a count or an id of ours', async (t) => {
  const ours = 'action status attempts failures emitted until waitsFor ended endedBy startedAt finishedAt'
  // Of waitsFor it is `match`, and of a decision `reason`: these names are erased at any depth. Options and actors are ours.
  const known = new Set([...heldColumns.executions.results, ...ours.split(' '), 'decision'])
  const fields = [ActionResult, Attempt].flatMap(({ properties }) => Object.keys(properties))
  t.strictSame(
    fields.filter((name) => !known.has(name)),
    [],
  )
})

t.test('what is not finished is left and counted, and the next erasure takes it', async (t) => {
  const harness = await createHarness(t)
  const { own } = harness
  const ruleId = await harness.createRule([
    { type: 'WAIT', config: { duration: '1h' } },
    { type: 'CREATE_TASK', config: { title: '{{email}}' } },
  ])
  harness.startWorker()
  const id = await post(harness, { email })
  await harness.untilDone(id)
  const [execution] = await own.execution.findMany({ where: { handlerId: ruleId } })
  t.equal(execution?.status, 'waiting')
  t.match(await erase(harness, 'email', email), {
    status: 'incomplete',
    unfinished: 1,
    erased: { events: 0 },
  })
  t.match((await own.event.findUniqueOrThrow({ where: { id } })).data, { email })
  await own.execution.updateMany({
    data: { status: 'cancelled', finishedAt: new Date(), dueAt: null, lease: null },
  })
  t.match(await erase(harness, 'email', email), { status: 'done', unfinished: 0, erased: { events: 1 } })
})

const values: [title: string, path: string, value: string | number, data: object, left: object][] = [
  [
    'a number',
    'id',
    4711,
    { id: 4711, note: 'No 4711', n: 47110 },
    { id: '[erased]', note: 'No [erased]', n: 47110 },
  ],
  ['a number that is a text', 'id', 4711, { id: '4711' }, { id: '[erased]' }],
  ['a text that is a number', 'id', '4711', { id: 4711 }, { id: '[erased]' }],
  [
    'one character, only where it is all',
    'x',
    'a',
    { x: 'a', y: 'a', z: 'banana' },
    { x: '[erased]', y: '[erased]', z: 'banana' },
  ],
  [
    'a composed letter where two were stored',
    'name',
    'Ren\u00e9e',
    { name: 'Rene\u0301e' },
    { name: '[erased]' },
  ],
  ['quotes, backslashes and controls', 'name', 'a"\\\u0001b', { name: 'a"\\\u0001b' }, { name: '[erased]' }],
  [
    'each item of a list',
    'to.mail',
    email,
    { to: [{ mail: email }, { mail: 'b@x.y' }] },
    { to: [{ mail: '[erased]' }, { mail: 'b@x.y' }] },
  ],
  ['a list of texts', 'to', email, { to: ['b@x.y', email] }, { to: ['b@x.y', '[erased]'] }],
  ['one item of a list', 'to[1]', 'b', { to: ['b', 'b', 'c'] }, { to: ['[erased]', '[erased]', 'c'] }],
  ['a name of Object.prototype', 'constructor', 'abc', { constructor: 'abc' }, { constructor: '[erased]' }],
  ['a word of ours', 'status', 'success', { status: 'success' }, { status: '[erased]' }],
  ['a part of ids', 'code', '019', { code: '019' }, { code: '[erased]' }],
]

t.test('a value is found whatever it is, and structure stays', async (t) => {
  const harness = await createHarness(t)
  const { own } = harness
  const rule = await harness.createRule([
    { type: 'CREATE_TASK', config: { title: 'x' } },
    { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: {} } },
  ])
  void harness.startWorker()
  for (const [title, path, value, data, left] of values) {
    const id = await post(harness, data)
    await harness.untilDone(id)
    t.match(await erase(harness, path, value), { status: 'done' }, title)
    t.strictSame((await own.event.findUniqueOrThrow({ where: { id } })).data, left, title)
    const executions = await own.execution.findMany({ where: { eventId: id, handlerId: rule } })
    t.match(executions[0]?.results, [
      { action: 'CREATE_TASK', status: 'success' },
      { action: 'EMIT_EVENT', status: 'success', output: { eventId: /^[0-9a-f-]{36}$/ } },
    ])
  }
})

t.test('events of other workspaces, and those that come later, are none of it', async (t) => {
  const [harness, other] = [await createHarness(t), await createHarness(t)]
  harness.startWorker()
  other.startWorker()
  const foreign = await post(other, { email })
  await other.untilDone(foreign)
  const { id } = await ask(harness, 'email', email)
  const later = await post(harness, { email })
  await harness.untilDone(later)
  await eraseAll(harness)
  t.match(await findErasure(harness.own, id), { status: 'done', erased: { events: 0 } })
  t.match((await harness.own.event.findUniqueOrThrow({ where: { id: later } })).data, { email })
  t.match((await other.own.event.findUniqueOrThrow({ where: { id: foreign } })).data, { email })
})

t.test('an event that was accepted before, and is committed after, is part of it', async (t) => {
  const harness = await createHarness(t)
  const { database, own, workspaceId, sealer } = harness
  let commit = () => {}
  const committed = new Promise<void>((resolve) => {
    commit = resolve
  })
  let insert = () => {}
  const inserted = new Promise<void>((resolve) => {
    insert = resolve
  })
  const accepting = database.system.$transaction(
    async (transaction) => {
      const event = { id: newId(), workspaceId, type: 'LEAD_CREATED', data: { email }, doneAt: new Date() }
      await transaction.event.create({ data: event })
      insert()
      await committed
    },
    { timeout: 60_000 },
  )
  await inserted
  const { id } = await ask(harness, 'email', email)
  t.equal(await takeErasureStep(database, sealer, log), true)
  t.match(await findErasure(own, id), { status: 'running' }, 'it is not passed by')
  commit()
  await accepting
  await eraseAll(harness)
  t.match(await findErasure(own, id), { status: 'done', erased: { events: 1 } })
})

t.test('it goes on in a suspended workspace, and what waits there is left', async (t) => {
  const harness = await createHarness(t)
  const { own, workspaceId } = harness
  await harness.createRule([{ type: 'WAIT', config: { duration: '1h' } }], 'DEAL_WON')
  harness.startWorker()
  for (const type of ['LEAD_CREATED', 'DEAL_WON'])
    await harness.untilDone(await post(harness, { email }, type))
  const { id } = await ask(harness, 'email', email)
  const where = { id: workspaceId }
  await own.workspace.update({ where, data: { suspendedAt: new Date(), suspendedBy: 'user:ada' } })
  await eraseAll(harness)
  t.match(await findErasure(own, id), { status: 'incomplete', unfinished: 1, erased: { events: 1 } })
})

t.test('a step that fails has done nothing, and the next one begins there', async (t) => {
  const harness = await createHarness(t)
  const { database, own, sealer } = harness
  harness.startWorker()
  const ids = await Promise.all(Array.from({ length: 250 }, (_, n) => post(harness, { email, n })))
  for (const id of ids) await harness.untilDone(id)
  const { id } = await ask(harness, 'email', email)
  const countErased = () => own.event.count({ where: { NOT: { erasedAt: null } } })
  await database.system.$executeRaw`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`
  await database.system
    .$executeRaw`CREATE TRIGGER refuse BEFORE UPDATE OF position ON erasures FOR EACH ROW EXECUTE FUNCTION refuse()`
  t.equal(await takeErasureStep(database, sealer, log), true)
  t.equal(await countErased(), 0, 'its transaction was rolled back')
  await database.system.$executeRaw`DROP TRIGGER refuse ON erasures`
  await database.system.$executeRaw`DROP FUNCTION refuse`
  await takeErasureStep(database, sealer, log)
  t.equal(await countErased(), 100, 'a step takes a hundred')
  const both = await ask(harness, 'n', 7)
  while ((await Promise.all([1, 2, 3].map(() => takeErasureStep(database, sealer, log)))).includes(true));
  t.match(await findErasure(own, id), { status: 'done', erased: { events: 250 } })
  t.match(await findErasure(own, both.id), { status: 'done', erased: { events: 1 } }, 'beside another one')
  t.strictSame(await findText(harness, email), [])
})

t.test(
  'what a rule remembers of a key forgets it, and a batch that collected an event has it no more',
  async (t) => {
    const harness = await createHarness(t)
    const { own } = harness
    const ruleId = await harness.createRule(
      [
        { type: 'CREATE_TASK', config: { title: 'All: {{collected.events | json}}' } },
        {
          type: 'EMIT_EVENT',
          config: { eventType: 'DEAL_LOST', data: { all: '{{collected.events | json}}' } },
        },
      ],
      'LEAD_CREATED',
      { key: '{{company}}', collect: { for: '2s' } },
    )
    const waiting = await harness.createRule(
      [
        {
          type: 'WAIT',
          config: { for: { eventType: 'CONTACT_CREATED', match: { email: '{{email}}' } }, duration: '1h' },
        },
      ],
      'DEAL_WON',
    )
    harness.startWorker()
    harness.startSweeper()
    const byMail = await harness.createRule(
      [{ type: 'CREATE_TASK', config: { title: '{{email}}' } }],
      'CONTACT_CREATED',
      { key: '{{email}}', collect: { for: '2s' } },
    )
    const first = await post(harness, { company: 'acme', email: 'grace@example.com' })
    await harness.untilDone(first)
    const second = await post(harness, { company: 'acme', email })
    await harness.untilDone(second)
    const came = await post(harness, { email }, 'CONTACT_CREATED')
    await harness.untilDone(came)
    const again = await post(harness, { email }, 'CONTACT_CREATED')
    await harness.untilDone(again)
    for (const [eventId, handlerId] of [
      [first, ruleId],
      [came, byMail],
    ] as const) {
      const { id } = await own.execution.findFirstOrThrow({ where: { eventId, handlerId } })
      await harness.untilStatus(id, 'succeeded')
    }
    const claims = () => own.keyClaim.findMany({ where: { ruleId }, orderBy: { eventId: 'asc' } })
    const suppressed = () => own.execution.findFirst({ where: { eventId: again, handlerId: byMail } })
    const before = await claims()
    t.equal(await own.eventKey.count({ where: { eventId: came } }), 1)
    t.match(await own.task.findFirst({ where: { ruleId } }), { title: new RegExp(email) })
    t.match(await suppressed(), { suppression: { reason: 'collected', key: email } })

    t.match(await erase(harness, 'email', email), { status: 'done', erased: { events: 4, tasks: 2 } })
    t.strictSame(await findText(harness, email), [])
    t.match(await own.task.findFirst({ where: { ruleId } }), { title: /grace@example.com.*\[erased\]/ })
    t.match(await suppressed(), { suppression: { reason: 'collected', key: '[erased]' } })
    const after = await claims()
    t.equal(after[0]?.keyId, before[0]?.keyId)
    t.not(after[1]?.keyId, before[1]?.keyId)
    t.equal(after[1]?.batchId, before[1]?.batchId)
    t.equal(await own.eventKey.count({ where: { eventId: came } }), 0, 'no WAIT finds it by a digest')
    t.ok(waiting)
  },
)

t.test('a value is followed from batch to batch, and back to executions that began before', async (t) => {
  const harness = await createHarness(t)
  const { own } = harness
  const all = { all: '{{collected.events | json}}' }
  const emit = (eventType: string, data: object) => ({ type: 'EMIT_EVENT', config: { eventType, data } })
  const collect = (within: string) => ({ key: 'all', collect: { for: within } })
  const awaited = (eventType: string) => ({
    type: 'WAIT',
    config: { for: { eventType, match: { order: 7 }, then: 'go_on' }, duration: '1h' },
  })
  // Began first, and ends last.
  await harness.createRule(
    [awaited('DEAL_LOST'), emit('TASK_COMPLETED', { x: '{{waited.mail}}' })],
    'CONTACT_UPDATED',
  )
  await harness.createRule(
    [awaited('CONTACT_CREATED'), emit('DEAL_LOST', { order: 7, mail: '{{waited.email}}' })],
    'DEAL_UPDATED',
  )
  await harness.createRule([emit('DEAL_WON', all)], 'LEAD_CREATED', collect('1s'))
  await harness.createRule([emit('LEAD_UPDATED', all)], 'DEAL_WON', collect('5s'))
  harness.startWorker()
  harness.startSweeper()
  const settled = async () => {
    for (;;) {
      const left = await own.execution.count({ where: { finishedAt: null, waitType: null } })
      if (left === 0 && (await own.event.count({ where: { doneAt: null } })) === 0) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  // The digest of another batch, which collects that of the first one too.
  for (const type of ['CONTACT_UPDATED', 'DEAL_UPDATED'])
    await harness.untilDone(await post(harness, {}, type))
  const other = await post(harness, { from: 'other' }, 'DEAL_WON')
  await harness.untilDone(other)
  for (const data of [{ n: 1 }, { n: 2, email }]) await harness.untilDone(await post(harness, data))
  await harness.untilDone(await post(harness, { order: 7, email }, 'CONTACT_CREATED'))
  await settled()
  const types = async (text: string) =>
    (await own.event.findMany()).flatMap(({ type, data }) =>
      JSON.stringify(data).includes(text) ? type : [],
    )
  const made = ['CONTACT_CREATED', 'DEAL_LOST', 'DEAL_WON', 'LEAD_CREATED', 'LEAD_UPDATED', 'TASK_COMPLETED']
  t.strictSame((await types(email)).sort(), made)
  t.match(await erase(harness, 'email', email), { status: 'done', unfinished: 0, erased: { events: 6 } })
  t.strictSame(await types(email), [])
  t.strictSame(await findText(harness, email), [])
})

t.test('what a batch was left with is erased by the next erasure, once it is finished', async (t) => {
  const harness = await createHarness(t)
  const { own } = harness
  await harness.createRule(
    [{ type: 'CREATE_TASK', config: { title: '{{collected.events | json}}' } }],
    'LEAD_CREATED',
    { key: 'all', collect: { for: '1s' } },
  )
  const slow = await harness.createRule([{ type: 'WAIT', config: { duration: '1h' } }])
  harness.startWorker()
  harness.startSweeper()
  const ids = []
  for (const data of [{ n: 1 }, { n: 2, email }]) {
    ids.push(await post(harness, data))
    await harness.untilDone(ids.at(-1) ?? '')
  }
  while ((await own.task.count()) === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  for (;;) {
    const batches = { handlerId: { not: slow }, finishedAt: null }
    if ((await own.execution.count({ where: batches })) === 0) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const end = { status: 'cancelled', finishedAt: new Date(), dueAt: null, lease: null } as const
  await own.execution.updateMany({ where: { handlerId: slow, eventId: ids[1] ?? '' }, data: end })
  // The event of the batch waits in another rule.
  t.match(await erase(harness, 'email', email), { status: 'incomplete', unfinished: 1 })
  await own.execution.updateMany({ where: { handlerId: slow, finishedAt: null }, data: end })
  t.match(await erase(harness, 'email', email), { status: 'done' })
  t.strictSame(await findText(harness, email), [])
})

t.test(
  'an execution whose WAIT was ended by such an event has it no more, nor what came of it',
  async (t) => {
    const harness = await createHarness(t)
    const { own, workspaceId } = harness
    const ruleId = await harness.createRule([
      {
        type: 'WAIT',
        config: {
          for: { eventType: 'CONTACT_CREATED', match: { order: '{{order}}' }, then: 'go_on' },
          duration: '1h',
        },
      },
      { type: 'CREATE_TASK', config: { title: 'Came: {{waited.email}}' } },
      { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: { mail: '{{waited.email}}' } } },
      { type: 'WAIT', config: { duration: '1s' } },
    ])
    harness.startWorker()
    harness.startSweeper()
    const waiting = await post(harness, { order: 7 })
    await harness.untilDone(waiting)
    const came = await post(harness, { order: 7, email }, 'CONTACT_CREATED')
    await harness.untilDone(came)
    const { id } = await own.execution.findFirstOrThrow({ where: { handlerId: ruleId } })
    await harness.untilStatus(id, 'succeeded')
    while ((await own.event.count({ where: { doneAt: null } })) > 0) await new Promise(setImmediate)
    t.match(await own.task.findFirst(), { title: `Came: ${email}` })
    const { results } = await own.execution.findUniqueOrThrow({ where: { id } })
    const answer = { status: 200, headers: {}, body: { eventId: waiting, results } }
    const kept = { workspaceId, requestHash: Buffer.alloc(32) }
    await own.idempotencyKey.createMany({
      data: [
        { ...kept, key: 'waiting', eventId: waiting, answer },
        { ...kept, key: 'bare', eventId: newId(), answer: { body: { error: 'None' } } },
      ],
    })
    t.match(await erase(harness, 'email', email), {
      status: 'done',
      erased: { events: 2, executions: 1, tasks: 1, keptResponses: 1 },
    })
    t.strictSame(await findText(harness, email), [])
    t.match(await own.task.findFirst(), { title: 'Came: [erased]' })
    t.match((await own.event.findUniqueOrThrow({ where: { id: waiting } })).erasedAt, null)
  },
)

t.test('each column of texts or JSON is erased, or says why it holds nothing of events', async (t) => {
  const { database } = await createHarness(t)
  const columns = await database.system.$queryRaw<{ table: string; name: string }[]>`
    SELECT table_name AS table, column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name NOT LIKE '\\_%' AND data_type IN ('text', 'json', 'jsonb', 'ARRAY', 'character varying')
      AND udt_name <> '_uuid'
    ORDER BY 1, 2`
  const held = (table: string, name: string) => name in ((heldColumns as Columns)[table] ?? {})
  const other = (table: string, name: string) => name in (otherColumns[table] ?? {})
  const missing = columns.filter(({ table, name }) => held(table, name) === other(table, name))
  t.strictSame(missing, [], 'each stands in one of the two lists')
  const known = new Set(columns.map(({ table, name }) => `${table}.${name}`))
  const listed = [heldColumns as Columns, otherColumns].flatMap((lists) =>
    Object.entries(lists).flatMap(([table, names]) => Object.keys(names).map((name) => `${table}.${name}`)),
  )
  t.strictSame(
    listed.filter((name) => !known.has(name)),
    [],
    'and no other one does',
  )
})

t.test('a value that no key opens ends its erasure, and others go on', async (t) => {
  const harness = await createHarness(t)
  const other = await createHarness(t, { ENCRYPTION_KEY: Buffer.alloc(32, 'other').toString('base64') })
  const { id } = await ask(other, 'email', email)
  await eraseAll(harness)
  t.match(await findErasure(other.own, id), { status: 'failed' })
})
