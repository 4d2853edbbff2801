import { setTimeout } from 'node:timers/promises'
import { newId, readClock } from '@automation/database'
import { startPatientClock } from '@automation/launcher/patient-clock'
import { createClaimRemoval, createUnusedRemovals, type Transaction } from '@automation/ledger'
import { pino } from 'pino'
import t from 'tap'
import { removeGently } from '../src/retention/remove-gently.js'
import { keptDaysOf, removeOld, removeRound, startRetention } from '../src/retention/retention.js'
import { aged, createWorkspace, database, now, openOldRows } from './fixtures/old-rows.js'

// The files of a group share a process, and with it what is known of the clock.
t.teardown(() => readClock({ run: async () => [{ now: Date.now() }] as never[] }))
const hourMs = 60 * 60 * 1_000
const dayMs = 24 * hourMs
const keep = (history: number, tasks = 0, audit = 0) => ({ history, tasks, audit })
await openOldRows(t)

t.test('embed sessions are removed 7 days after they were made', async (t) => {
  const { id: workspaceId } = await database.system.workspace.create({ data: { id: newId(), name: 'Tests' } })
  const fields = { userId: '42', role: 'viewer' as const, pages: ['rules'], publish: false }
  const rest = { createdBy: 'user:ada', linkHash: Buffer.alloc(32), expiresAt: new Date(now) }
  const data = [7.01, 6.99].map((days) => ({ id: aged(days), workspaceId, ...fields, ...rest }))
  await database.system.embedSession.createMany({ data })
  t.match(await removeOld(database, now, keep(30)), { embedSessions: 1 })
  t.match(await database.system.embedSession.findMany({ where: { workspaceId } }), [{ id: data[1]?.id }])
})

t.test('receipts are removed after 30 days, and rejections after 7, in any number', async (t) => {
  const workspaceId = newId()
  const receipts = [...Array<number>(2_500).fill(30.01), 29.99, 1, 0].map((days, index) => ({
    id: aged(days),
    workspaceId,
    provider: 'p',
    key: `${index}`,
    bodyHash: Buffer.alloc(32),
    secretId: newId(),
  }))
  const rejections = [31, 7.01, 6.99, 0].map((days) => ({
    id: aged(days),
    workspaceId,
    provider: 'p',
    verified: false,
    reason: 'signature',
    findings: [],
  }))
  await database.system.webhookReceipt.createMany({ data: receipts })
  await database.system.webhookRejection.createMany({ data: rejections })

  t.match(await removeOld(database, now, keep(30)), { receipts: 2_500, rejections: 2 })
  const left = await database.system.webhookReceipt.findMany({
    orderBy: { id: 'asc' },
    select: { key: true },
  })
  t.strictSame(
    left.map(({ key }) => key),
    ['2500', '2501', '2502'],
  )
  t.equal(await database.system.webhookRejection.count(), 2)
  t.same(
    await removeOld(database, now, keep(30)),
    {
      workspaces: 0,
      receipts: 0,
      backtests: 0,
      embedSessions: 0,
      rejections: 0,
      keys: 0,
      tallies: 0,
      acknowledgements: 0,
      members: 0,
      audit: 0,
      apiKeys: 0,
      secrets: 0,
      history: 0,
      tasks: 0,
      keyClaims: 0,
      versions: 0,
      awaits: 0,
      ruleSets: 0,
      ruleStates: 0,
      deletedVersions: 0,
    },
    'nothing is left to do',
  )
})

t.test('support access that has ended is removed, and no other member', async (t) => {
  const { id: workspaceId, own } = await createWorkspace()
  const ends = { past: new Date(Date.now() - hourMs), future: new Date(Date.now() + hourMs), never: null }
  const members = Object.entries(ends).map(([userId, endsAt]) => ({
    userId,
    role: 'viewer' as const,
    endsAt,
  }))
  await own.member.createMany({ data: members.map((member) => ({ workspaceId, ...member })) })
  t.match(await removeOld(database, now, keep(30)), { members: 1 })
  const left = await own.member.findMany({ orderBy: { userId: 'asc' } })
  t.same(
    left.map(({ userId }) => userId),
    ['future', 'never'],
  )
})

t.test('tallies of webhooks are removed when the ledger no longer needs them', async (t) => {
  const days = (count: number) => new Date(now - count * 24 * 60 * 60 * 1_000)
  const workspaceId = newId()
  const hours = [33, 31.9, 0].map((count) => ({ workspaceId, hour: days(count), rejected: 1 }))
  await database.system.webhookTally.createMany({ data: hours })
  t.match(await removeOld(database, now, keep(30)), { tallies: 1 })
  t.equal(await database.system.webhookTally.count({ where: { workspaceId } }), 2)
})

t.test('the key of any request is removed after 24 hours', async (t) => {
  const [first, second] = [newId(), newId()]
  const key = (key: string, hours: number, rest: object = {}) => ({
    key,
    createdAt: new Date(now - hours * hourMs),
    requestHash: Buffer.alloc(32),
    ...rest,
  })
  await database.system.idempotencyKey.createMany({
    data: [
      { workspaceId: first, ...key('same', 24.01, { eventId: newId() }) },
      { workspaceId: second, ...key('same', 23.99, { eventId: newId() }) },
      { workspaceId: first, ...key('answered', 48, { answer: { status: 201 } }) },
      { workspaceId: first, ...key('new', 0) },
      ...Array.from({ length: 1_500 }, (_, index) => ({ workspaceId: second, ...key(`${index}`, 25) })),
    ],
  })

  t.match(await removeOld(database, now, keep(30)), { keys: 1_502 })
  const left = await database.system.idempotencyKey.findMany({
    orderBy: { key: 'asc' },
    select: { workspaceId: true, key: true },
  })
  t.strictSame(left, [
    { workspaceId: first, key: 'new' },
    { workspaceId: second, key: 'same' },
  ])
})

t.test('after each batch it pauses four times as long as the batch took, until it is closed', async (t) => {
  let batches = 0
  const sleeping = (seconds: number, until: number) => ({
    naps: async (transaction: Transaction) => {
      await transaction.$queryRaw`SELECT 1 AS slept FROM pg_sleep(${seconds})`
      return { removed: 1, isOver: ++batches === until }
    },
  })
  const { signal } = new AbortController()
  const startedAt = performance.now()
  t.same(await removeGently(database, sleeping(0.05, 3), signal), { naps: 3 })
  const tookMs = performance.now() - startedAt
  t.ok(tookMs >= 3 * 50 + 2 * 200, `3 batches and 2 pauses: ${Math.round(tookMs)} ms`)

  const stopping = new AbortController()
  const clock = startPatientClock()
  const napping = removeGently(database, sleeping(1, Number.POSITIVE_INFINITY), stopping.signal)
  while (batches === 3) await setTimeout(5)
  stopping.abort()
  t.same(await napping, { naps: 1 }, 'the pause of 4 s is cut short')
  t.ok(clock() < 4_000, `${clock()} ms`)
})

t.test('a kind that cannot be removed keeps no other from being removed, and is named', async (t) => {
  const { signal } = new AbortController()
  const removed: string[] = []
  const removals = {
    first: removalOf('first'),
    broken: async (transaction: Transaction) => {
      await transaction.$queryRaw`SELECT 1 / 0 AS nothing`
      return { removed: 0, isOver: true }
    },
    last: removalOf('last'),
  }
  await t.rejects(removeGently(database, removals, signal), {
    message: 'broken could not be removed',
    errors: [{ cause: { message: /division by zero/ } }],
  })
  t.strictSame(removed, ['first', 'last'])

  function removalOf(kind: string) {
    return async () => {
      removed.push(kind)
      return { removed: 1, isOver: true }
    }
  }
})

t.test('a closing worker removes nothing more', async (t) => {
  const { store, left } = await createWorkspace()
  await store(60, ['succeeded'])
  t.match(await removeOld(database, now, keep(30), AbortSignal.abort()), { history: 0 })
  await startRetention(database, 30, pino({ level: 'silent' })).stop()
  t.match(await left(), { executions: 1 })
  t.match(await removeOld(database, now, keep(30)), { history: 2 })
})

t.test(
  'what a version waits for is forgotten when it is superseded and no execution of it may go on',
  async (t) => {
    const { id: workspaceId, own } = await createWorkspace()
    const definition = { name: 'Rule', description: '', trigger: 'LEAD_CREATED', conditions: [], actions: [] }
    const ruleId = newId()
    const statuses = ['succeeded', 'suppressed', 'failed', 'cancelled', 'waiting', 'running'] as const
    const ages = [9, 8, 7, 6, 5, 4, 3, 0.5]
    await own.rule.create({
      data: { ...definition, workspaceId, id: ruleId, isActive: true, version: ages.length },
    })
    await own.ruleVersion.createMany({
      data: ages.map((hours, index) => ({
        ...definition,
        workspaceId,
        ruleId,
        version: index + 1,
        createdAt: new Date(now - hours * hourMs),
        createdBy: 'test',
        awaits: [{ type: 'DEAL_WON', paths: ['id'] }],
      })),
    })
    await own.execution.createMany({
      data: statuses.map((status, index) => ({
        id: aged(((ages[index] ?? 0) - 0.5) / 24),
        workspaceId,
        eventId: newId(),
        eventType: 'LEAD_CREATED',
        handlerId: ruleId,
        ruleVersion: index + 1,
        status,
        results: [],
        startedAt: new Date(now),
      })),
    })
    t.match(await removeOld(database, now, keep(30)), { awaits: 2 })
    const awaiting = async () => {
      const rows = await own.ruleVersion.findMany({ orderBy: { version: 'asc' } })
      return rows.flatMap(({ version, awaits }) => (awaits === null ? [] : version))
    }
    t.same(await awaiting(), [3, 4, 5, 6, 7, 8], 'the seventh was superseded half an hour ago')
    await own.execution.updateMany({ data: { status: 'succeeded' } })
    t.match(await removeOld(database, now, keep(30)), { awaits: 4 })
    t.same(await awaiting(), [7, 8])
    t.match(await removeOld(database, now + hourMs, keep(30)), { awaits: 1 })
  },
)

t.test('an old definition is removed if it is not among the last 20 and no execution needs it', async (t) => {
  const { id: workspaceId, own } = await createWorkspace()
  const definition = { name: 'Rule', description: '', trigger: 'LEAD_CREATED', conditions: [], actions: [] }
  const createRule = async (version: number, daysOf: (version: number) => number) => {
    const id = newId()
    await own.rule.create({ data: { ...definition, workspaceId, id, isActive: true, version } })
    await own.ruleVersion.createMany({
      data: Array.from({ length: version }, (_, index) => ({
        ...definition,
        workspaceId,
        ruleId: id,
        version: index + 1,
        createdAt: new Date(now - daysOf(index + 1) * dayMs),
        createdBy: 'test',
      })),
    })
    return id
  }
  const few = await createRule(20, () => 300)
  const many = await createRule(60, (version) => 101 - version)
  const young = await createRule(60, (version) => (version <= 10 ? 300 : 10))
  const run = (ruleId: string, ruleVersion: number, days: number, finishedAt: Date | null) => ({
    id: aged(days),
    workspaceId,
    eventId: newId(),
    eventType: 'LEAD_CREATED',
    handlerId: ruleId,
    ruleVersion,
    status: finishedAt ? ('succeeded' as const) : ('waiting' as const),
    results: [],
    startedAt: new Date(now),
    finishedAt,
    dueAt: finishedAt ? null : new Date(now),
  })
  await own.execution.createMany({
    data: [run(many, 7, 94, null), run(many, 8, 92.99, new Date(now)), run(many, 60, 1, new Date(now))],
  })
  t.match(await removeOld(database, now, keep(30)), { versions: 38 + 9 })
  const versionsOf = async (ruleId: string) => {
    const rows = await own.ruleVersion.findMany({ where: { ruleId }, orderBy: { version: 'asc' } })
    return rows.map(({ version }) => version)
  }
  const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
  t.same(await versionsOf(few), upTo(1, 20))
  t.same(await versionsOf(many), [7, 8, ...upTo(41, 60)])
  t.same(await versionsOf(young), upTo(10, 60), 'superseded ten days ago')
  await own.execution.updateMany({ where: { ruleVersion: 7 }, data: { ruleVersion: 60 } })
  t.match(
    await removeOld(database, now, keep(30)),
    { versions: 1 },
    'a missing version before it does not keep it',
  )
  t.match(await removeOld(database, now, keep(0)), { versions: 0 })
})

t.test(
  'tasks and the audit log are kept for 400 days, and as long as history where that is longer',
  async (t) => {
    t.same(keptDaysOf(30), { history: 30, tasks: 400, audit: 400 })
    t.same(keptDaysOf(3_650), { history: 3_650, tasks: 3_650, audit: 3_650 })
    t.same(keptDaysOf(0), { history: 0, tasks: 0, audit: 0 })
  },
)

t.test('tasks are removed after their days, once their execution is gone', async (t) => {
  const { id: workspaceId, own, store } = await createWorkspace()
  const taskOf = (days: number, executionId: string = newId()) => ({
    id: aged(days),
    workspaceId,
    executionId,
    actionIndex: 0,
    ruleId: newId(),
    title: `${days}`,
    priority: 'normal',
    createdAt: new Date(now - days * dayMs),
  })
  const eventId = await store(60, ['waiting'], { addresseeKind: 'rule', addresseeId: newId() })
  await own.task.createMany({
    data: [...Array<number>(1_200).fill(91), 89.9, 0].map((days) => taskOf(days)).concat(taskOf(91, eventId)),
  })
  t.match(await removeOld(database, now, keep(30, 0)), { tasks: 0 })
  t.match(await removeOld(database, now, keep(30, 90)), { tasks: 1_200 })
  const left = await own.task.findMany({ orderBy: { id: 'asc' }, select: { title: true } })
  t.strictSame(
    left.map(({ title }) => title),
    ['91', '89.9', '0'],
    'the reconciliation finds the task of every execution that is kept',
  )
  await own.execution.updateMany({ data: { status: 'succeeded', finishedAt: new Date(now - 60 * dayMs) } })
  t.match(await removeOld(database, now, keep(30, 90)), { history: 2, tasks: 1 }, 'gone in the same round')
})

t.test('entries of the audit log are removed after their days; 0 keeps all of them', async (t) => {
  const workspaceId = newId()
  const entryOf = (days: number) => ({
    id: aged(days),
    workspaceId,
    actor: 'user:test',
    action: 'rule.updated',
    subject: `${days}`,
    details: {},
  })
  await database.system.auditEntry.createMany({
    data: [...Array<number>(1_200).fill(401), 399.9, 0].map(entryOf),
  })
  t.match(await removeOld(database, now, keep(30)), { audit: 0 })
  t.match(await removeOld(database, now, keep(30, 0, 400)), { audit: 1_200 })
  const left = await database.system.auditEntry.findMany({ where: { workspaceId }, orderBy: { id: 'asc' } })
  t.strictSame(
    left.map(({ subject }) => subject),
    ['399.9', '0'],
  )
})

t.test('API keys and secrets that ended are removed with the audit log, and no others', async (t) => {
  const { id: workspaceId, own } = await createWorkspace()
  const at = (days: number | null) => (days === null ? null : new Date(now - days * dayMs))
  const keyOf = (name: string, days: number, revoked: number | null, expires: number | null) => ({
    id: aged(days),
    workspaceId,
    name,
    scopes: [],
    hash: Buffer.alloc(32),
    revokedAt: at(revoked),
    expiresAt: at(expires),
  })
  await own.apiKey.createMany({
    data: [
      keyOf('revoked', 900, 401, null),
      keyOf('expired', 900, 5, 401),
      keyOf('living', 900, null, null),
      keyOf('expires', 900, null, -1),
      keyOf('young', 900, 399, null),
    ],
  })
  const secret = { workspaceId, provider: 'p', sealed: Buffer.alloc(1) }
  await own.signingSecret.createMany({
    data: [
      { ...secret, id: aged(900), retiresAt: at(401) },
      { ...secret, id: aged(900), provider: 'living' },
    ],
  })
  t.match(await removeOld(database, now, keep(30)), { apiKeys: 0, secrets: 0 })
  t.match(await removeOld(database, now, keep(30, 0, 400)), { apiKeys: 2, secrets: 1 })
  const left = await own.apiKey.findMany({ orderBy: { name: 'asc' } })
  t.strictSame(
    left.map(({ name }) => name),
    ['expires', 'living', 'young'],
  )
  t.match(await own.signingSecret.findMany(), [{ provider: 'living' }])
})

t.test('backtests are removed after 30 days, but no comparison of a draft or a shadow', async (t) => {
  const { id: workspaceId, own } = await createWorkspace()
  const made: [days: number, kind: string | null][] = [
    [30.01, null],
    [29.99, null],
    [300, 'draft'],
    [300, 'shadow'],
  ]
  await own.backtest.createMany({
    data: made.map(([days, kind]) => ({
      id: aged(days),
      workspaceId,
      kind,
      ruleId: newId(),
      subject: {},
      rangeFrom: new Date(0),
      rangeTo: new Date(1),
      pace: 'full',
      createdBy: 'test',
    })),
  })
  t.match(await removeOld(database, now, keep(30)), { backtests: 1 })
  const left = await own.backtest.findMany({ orderBy: { id: 'asc' } })
  t.strictSame(
    left.map(({ kind }) => kind),
    ['draft', 'shadow', null],
  )
})

t.test(
  'claims that a suspended workspace keeps are read once in a round, and not for each batch',
  async (t) => {
    const [suspended, other] = [await createWorkspace(), await createWorkspace()]
    await database.system.workspace.update({
      where: { id: suspended.id },
      data: { suspendedAt: new Date(now), suspendedBy: 'user:ada', hasParked: true },
    })
    const insert = (workspaceId: string, count: number, hours: number) => database.system.$executeRaw`
    INSERT INTO key_claims (execution_id, workspace_id, rule_id, key_id, event_id, accepted_at, is_granted, is_counted, is_exclusive, expires_at)
    SELECT gen_random_uuid(), ${workspaceId}::uuid, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), true, false, false,
           ${new Date(now - hours * hourMs)}
    FROM generate_series(1, ${count}::int)`
    await insert(suspended.id, 2_000, 9)
    await insert(other.id, 30, 5)
    const removal = createClaimRemoval(now)
    const reads: number[] = []
    for (const wanted of [10, 10, 10, 0]) {
      const { removed, read } = await database.system.$transaction(async (transaction) => {
        await transaction.$executeRaw`SET LOCAL enable_seqscan = off`
        // It includes transactions from before that were not reported yet.
        const readSoFar = async () => {
          const [row] = await transaction.$queryRaw<{ read: number }[]>`
          SELECT idx_tup_fetch::int AS read FROM pg_stat_xact_user_tables WHERE relname = 'key_claims'`
          return row?.read ?? 0
        }
        const before = await readSoFar()
        const { removed } = await removal(transaction, 10)
        return { removed, read: (await readSoFar()) - before }
      })
      t.equal(removed, wanted)
      reads.push(read)
    }
    t.ok((reads[0] ?? 0) > 2_000, `${reads}`)
    t.ok(
      reads.slice(1).every((read) => read < 1_000),
      `${reads}`,
    )
    t.equal(await suspended.own.keyClaim.count(), 2_000)
    await database.system.keyClaim.deleteMany({ where: { workspaceId: suspended.id } })
  },
)

t.test('a claim is removed an hour after it expires, unless its key or its batch needs it', async (t) => {
  const { id: workspaceId, own } = await createWorkspace()
  const claimOf = (hours: number, isExclusive = false, batchId: string | null = null) => ({
    executionId: newId(),
    workspaceId,
    ruleId: newId(),
    keyId: newId(),
    eventId: newId(),
    acceptedAt: new Date(now - 30 * dayMs),
    isGranted: true,
    isCounted: false,
    isExclusive,
    batchId,
    expiresAt: new Date(now - hours * hourMs),
  })
  const kept = [claimOf(0.99), claimOf(-1), claimOf(500, true), claimOf(500, false, newId())]
  const waited = [claimOf(5), claimOf(6)]
  await own.keyClaim.createMany({ data: [...kept, ...waited, claimOf(1.01), claimOf(9)] })
  const event = await own.event.create({
    data: {
      id: newId(),
      workspaceId,
      type: 'LEAD_CREATED',
      data: {},
      acceptedAt: new Date(now - 7 * hourMs),
    },
  })
  t.match(await removeOld(database, now, keep(30)), { keyClaims: 1 }, 'an event waits since the others')
  await own.event.update({ where: { id: event.id }, data: { doneAt: new Date(now) } })
  t.match(await removeOld(database, now, keep(30)), { keyClaims: 3 })
  const left = await own.keyClaim.findMany({ select: { executionId: true } })
  t.strictSame(
    new Set(left.map(({ executionId }) => executionId)),
    new Set(kept.map((one) => one.executionId)),
  )
})

t.test('a set of rules is removed once no stored event refers to it', async (t) => {
  const { id: workspaceId, own, store } = await createWorkspace()
  const sets = ['unused', 'needed', 'recent'].map((name) => ({ name, id: newId() }))
  const [unused, needed, recent] = sets.map(({ id }) => id)
  const usedAt = (id: string | undefined) => new Date(now - (id === recent ? 30.1 : 60) * dayMs)
  await own.ruleSet.createMany({
    data: sets.map(({ id }) => ({ workspaceId, id, ruleIds: [newId()], usedAt: usedAt(id) })),
  })
  await store(60.01, ['succeeded'], { ruleSetId: unused ?? '' })
  await store(60.01, ['succeeded', 'waiting'], { ruleSetId: needed ?? '' })
  t.match(await removeOld(database, now, keep(30)), { history: 2, ruleSets: 1 })
  const left = await own.ruleSet.findMany({ select: { id: true } })
  t.same(new Set(left.map(({ id }) => id)), new Set([needed, recent]))
  t.match(await removeOld(database, now + dayMs, keep(0)), { ruleSets: 0 })
  t.match(await removeOld(database, now + dayMs, keep(30)), { ruleSets: 1 }, 'last used a month ago')
})

t.test('a worker whose clock differs from that of Postgres removes nothing, and logs it', async (t) => {
  const workspaceId = newId()
  const keyOf = (key: string, hours: number) => ({
    workspaceId,
    key,
    requestHash: Buffer.alloc(32),
    createdAt: new Date(Date.now() - hours * hourMs),
  })
  await database.system.idempotencyKey.createMany({ data: [keyOf('old', 25), keyOf('young', 23)] })
  const lines: object[] = []
  const round = {
    database,
    keptDays: keep(30),
    log: pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) }),
    signal: new AbortController().signal,
  }
  const read = Date.now
  let aheadMs = 0
  t.intercept(Date, 'now', { value: () => read() + aheadMs })
  const left = async () => {
    const keys = await database.system.idempotencyKey.findMany({
      where: { workspaceId },
      orderBy: { key: 'asc' },
    })
    return keys.map(({ key }) => key)
  }

  for (aheadMs of [dayMs, -dayMs, 70_000]) await removeRound(round)
  t.strictSame(await left(), ['old', 'young'])
  const msg = 'removed nothing: the clocks of this worker and of Postgres differ'
  t.match(lines, [{ level: 50, aheadSeconds: 86_400, msg }, { aheadSeconds: -86_400 }, { aheadSeconds: 70 }])

  aheadMs = 50_000
  await removeRound(round)
  t.strictSame(await left(), ['young'], 'a small difference is fine, and the clock of Postgres decides')
})

t.test('what a rule was is removed once no stored event was evaluated before its next state', async (t) => {
  const { id: workspaceId, own, store } = await createWorkspace()
  const [edited, deleted] = [newId(), newId()]
  const at = (days: number) => new Date(now - days * dayMs)
  await own.ruleState.createMany({
    data: [
      { workspaceId, ruleId: edited, rulesVersion: 1, version: 1, isActive: true, at: at(90) },
      { workspaceId, ruleId: edited, rulesVersion: 3, version: 2, isActive: true, at: at(60) },
      { workspaceId, ruleId: edited, rulesVersion: 4, version: 2, isActive: false, at: at(29) },
      { workspaceId, ruleId: deleted, rulesVersion: 2, version: 1, isActive: true, at: at(80) },
      {
        workspaceId,
        ruleId: deleted,
        rulesVersion: 5,
        version: 1,
        isActive: false,
        isDeleted: true,
        at: at(50),
      },
    ],
  })
  const definition = {
    name: 'A',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [],
    bytes: 1,
    createdAt: at(80),
  }
  await own.deletedRuleVersion.create({
    data: { ...definition, workspaceId, ruleId: deleted, version: 1, deletedAt: at(50) },
  })
  await store(85, ['waiting'])
  t.match(await removeOld(database, now, keep(30)), { ruleStates: 0, deletedVersions: 0 })
  await own.execution.deleteMany()
  t.match(await removeOld(database, now, keep(30)), { history: 1, ruleStates: 3, deletedVersions: 1 })
  const left = await own.ruleState.findMany({ orderBy: { rulesVersion: 'asc' } })
  t.same(
    left.map(({ rulesVersion }) => rulesVersion),
    [3, 4],
  )
  t.match(await removeOld(database, now, keep(0)), { ruleStates: 0 })
})

t.test('a round passes the states of rules once, in slices', async (t) => {
  const { id: workspaceId, own } = await createWorkspace()
  const gone = newId()
  const at = (days: number) => new Date(now - days * dayMs)
  const stateOf = (workspace: string, ruleId: string, rulesVersion: number) => {
    return {
      workspaceId: workspace,
      ruleId,
      rulesVersion,
      version: 1,
      isActive: true,
      at: at(60 - rulesVersion),
    }
  }
  const rules = Array.from({ length: 4 }, () => newId())
  const states = rules.flatMap((ruleId) =>
    [1, 2, 3, 4, 5].map((version) => stateOf(workspaceId, ruleId, version)),
  )
  await database.system.ruleState.createMany({ data: [...states, stateOf(gone, newId(), 1)] })
  const { ruleStates } = createUnusedRemovals(now, 30)
  const counts: number[] = []
  for (let isOver = false; !isOver; ) {
    const slice = await database.system.$transaction((transaction) => ruleStates(transaction, 3))
    counts.push(slice.removed)
    isOver = slice.isOver
  }
  const total = counts.reduce((sum, count) => sum + count, 0)
  t.equal(total, 4 * 4 + 1, 'the last state of each rule stays, but not in a workspace that is gone')
  t.ok(counts.length <= 10 && counts.every((count) => count <= 3), counts.join(' '))
  t.equal(await own.ruleState.count({ where: { rulesVersion: 5 } }), 4)
})

t.test('a definition stays while an event is stored that met it, even without an execution', async (t) => {
  const { id: workspaceId, own, store } = await createWorkspace()
  const ruleId = newId()
  const definition = { name: 'Rule', description: '', trigger: 'LEAD_CREATED', conditions: [], actions: [] }
  await own.rule.create({ data: { ...definition, workspaceId, id: ruleId, isActive: true, version: 60 } })
  await own.ruleVersion.createMany({
    data: Array.from({ length: 60 }, (_, index) => ({
      ...definition,
      workspaceId,
      ruleId,
      version: index + 1,
      createdAt: new Date(now - (101 - (index + 1)) * dayMs),
      createdBy: 'test',
    })),
  })
  // It keeps its event, which another rule matched.
  await store(90.5, ['waiting'])
  t.match(await removeOld(database, now, keep(30)), { versions: 39 })
  const left = await own.ruleVersion.findMany({ where: { version: { lte: 40 } } })
  t.same(
    left.map(({ version }) => version),
    [10],
  )
  await own.execution.deleteMany()
  t.match(await removeOld(database, now, keep(30)), { history: 1, versions: 1 })
})
