import { NotAdmitted } from '@automation/admission'
import type { BacktestReport } from '@automation/backtest'
import { newId, Prisma } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { ruleBody, startApi, task, type Workspace } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

interface Stored {
  id: string
  ruleId: string | null
  status: string
  progress: number
  report: BacktestReport | null
}

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())

const rulesPath = '/api/automation-rules'
const path = `${rulesPath}/backtests`
const hot = { field: 'score', operator: 'greater_than', value: 80 }
const warm = { field: 'score', operator: 'gt', value: 50 }
const mail = {
  type: 'SEND_EMAIL',
  config: { to: '{{email}}', subject: 'Hello {{nam}}', template: 'hello' },
}
const definition = { trigger: 'LEAD_CREATED', conditions: [warm], actions: [mail, task] }

async function storeEvents({ id: workspaceId, database }: Workspace, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: newId(),
    workspaceId,
    type: index % 5 === 4 ? 'DEAL_WON' : 'LEAD_CREATED',
    data: { score: index % 100, email: `p${index % 7}@mail.example`, name: 'Ada' },
    doneAt: new Date(),
  }))
  for (let start = 0; start < count; start += 500)
    await database.event.createMany({ data: rows.slice(start, start + 500) })
  return rows.map(({ id }) => id)
}

async function run({ call }: Workspace, body: object, status = 200): Promise<Stored> {
  const answer = await call<Stored>('POST', path, { body, headers: { prefer: 'wait=20' } })
  if (answer.status !== status) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

t.test('a backtest compares the rule with a definition, event by event, and does nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const { body: rule } = await workspace.call<{ id: string }>('POST', rulesPath, {
    body: ruleBody({ conditions: [hot] }),
  })
  const ids = await storeEvents(workspace, 2_500)
  const { status, report } = await run(workspace, { ruleId: rule.id, definition, pace: 'full' })
  t.equal(status, 'done')
  const scores = ids.map((id, index) => ({ id, score: index % 100, isLead: index % 5 !== 4 }))
  const leads = scores.filter(({ isLead }) => isLead)
  const byRule = leads.filter(({ score }) => score > 80)
  const byDraft = leads.filter(({ score }) => score > 50)
  t.match(report, {
    scanned: 2_500,
    considered: leads.length,
    isComplete: true,
    active: { version: 1, matched: byRule.length },
    draft: { matched: byDraft.length },
    difference: { same: byRule.length, added: byDraft.length - byRule.length, removed: 0 },
    actions: [
      { index: 0, type: 'SEND_EMAIL', done: byDraft.length, targets: 7, isTargetsEstimated: false },
      { index: 1, type: 'CREATE_TASK', done: byDraft.length, targets: 0 },
    ],
    clauses: [{ path: 'conditions[0]', held: byDraft.length, aloneFailed: leads.length - byDraft.length }],
    fields: [
      { path: 'score', present: leads.length },
      { path: 'email', present: leads.length },
      { path: 'nam', present: 0, didYouMean: 'name' },
      { path: 'name', present: leads.length },
    ],
  })
  t.match(report?.actions[0]?.warnings, [{ message: 'nam is missing', count: byDraft.length }])
  const added = byDraft.filter(({ score }) => score <= 80).map(({ id }) => id)
  t.same(report?.examples.added, added.slice(-20).reverse())
  t.equal(
    report?.overTime.reduce((sum, bucket) => sum + bucket.draft, 0),
    byDraft.length,
  )
  t.equal(await workspace.database.execution.count(), 0)
  t.equal(await workspace.database.task.count(), 0)
})

t.test('a definition without perKey keeps that of the rule, and null takes it out', async (t) => {
  const workspace = await api.makeWorkspace()
  const perKey = { key: '{{name}}', atMost: { runs: 2, per: '7d' } }
  const { body: rule } = await workspace.call<{ id: string }>('POST', rulesPath, {
    body: ruleBody({ conditions: [], perKey }),
  })
  await storeEvents(workspace, 10)
  const tested = { ...definition, conditions: [] }
  const compare = async (more: object) => {
    const { report } = await run(workspace, { ruleId: rule.id, definition: { ...tested, ...more } })
    return report
  }
  const active = { matched: 2, suppressed: 6, replaced: 0 }
  t.match(await compare({}), {
    active,
    draft: { matched: 2, suppressed: 6 },
    difference: { same: 2, added: 0 },
  })
  t.match(await compare({ perKey: null }), {
    active,
    draft: { matched: 8, suppressed: 0 },
    difference: { added: 6 },
  })
  const stricter = { ...perKey, atMost: { runs: 1, per: '7d' } }
  t.match(await compare({ perKey: stricter }), {
    draft: { matched: 1, suppressed: 7 },
    difference: { removed: 1 },
  })
})

t.test('a backtest is 202 with its location, is listed, and can be read while it runs', async (t) => {
  const workspace = await api.makeWorkspace()
  const created = await workspace.call<Stored>('POST', path, { body: { definition } })
  t.equal(created.status, 202)
  t.equal(created.headers.location, `${path}/${created.body.id}`)
  t.match(created.body, { status: 'waiting', pace: 'gentle', progress: 0, report: null, ruleId: null })
  const { body: list } = await workspace.call<{ backtests: Stored[] }>('GET', path)
  t.same(
    list.backtests.map(({ id }) => id),
    [created.body.id],
  )
  t.notOk('report' in (list.backtests[0] as Stored))
  const stranger = await api.makeWorkspace()
  t.equal((await stranger.call('GET', `${path}/${created.body.id}`)).status, 404)
  t.equal((await workspace.call('GET', `${path}/none`)).status, 404)
})

t.test('a backtest that was made is never refused, also where it cannot be read', async (t) => {
  const { call, database } = await api.makeWorkspace()
  const { readsOf } = api.app.database
  t.teardown(() => {
    api.app.database.readsOf = readsOf
  })
  api.app.database.readsOf = (...args) => {
    const reads = readsOf(...args)
    const refuse = () => Promise.reject(new NotAdmitted('own', 500))
    const backtest = { count: () => reads.backtest.count(), findFirst: refuse, findUnique: refuse }
    return new Proxy(reads, {
      get: (target, name) => (name === 'backtest' ? backtest : Reflect.get(target, name)),
    })
  }
  for (const prefer of ['wait=0', 'wait=5']) {
    const answer = await call<Stored>('POST', path, { body: { definition }, headers: { prefer } })
    t.match(answer, {
      status: 202,
      headers: { location: new RegExp(answer.body.id) },
      body: { status: 'waiting' },
    })
  }
  t.equal(await database.backtest.count(), 2)
})

t.test('what cannot be tested is refused with its reason', async (t) => {
  const workspace = await api.makeWorkspace()
  const post = async (body: object) => {
    const answer = await workspace.call<{ errors?: { field: string }[] }>('POST', path, { body })
    return [answer.status, ...(answer.body.errors ?? []).map(({ field }) => field)]
  }
  t.same(await post({}), [422, 'ruleId'])
  t.same(await post({ ruleId: 'x' }), [422, 'ruleId'])
  t.same(await post({ ruleId: newId() }), [404])
  t.same(await post({ definition: { ...definition, trigger: 'NOPE' } }), [400])
  t.same(await post({ definition: { ...definition, conditions: [{ field: 'a', operator: 'no' }] } }), [
    422,
    'definition.conditions[0].operator',
  ])
  t.same(await post({ definition: { ...definition, perKey: {} } }), [422, 'definition.perKey'])
  t.same(await post({ definition, from: 'x' }), [422, 'from'])
  t.same(await post({ definition, to: '2099-01-01' }), [422, 'to'])
  t.same(await post({ definition, from: '2020-01-01', to: '2020-01-02' }), [422, 'to'])
  t.same(await post({ definition, from: '2026-01-03T00:00:00Z', to: '2026-01-02T00:00:00Z' }), [422, 'from'])
  t.equal((await workspace.callAs('viewer')('POST', path, { body: { definition } })).status, 403)
  t.equal((await workspace.callAs('operator')('POST', path, { body: { definition } })).status, 202)
})

t.test('a cancelled backtest ends, and one that has ended cannot be cancelled', async (t) => {
  const workspace = await api.makeWorkspace()
  await storeEvents(workspace, 2_000)
  const { body } = await workspace.call<Stored>('POST', path, { body: { definition } })
  const one = `${path}/${body.id}`
  t.equal((await workspace.call('DELETE', one)).status, 204)
  t.equal((await workspace.call('DELETE', one)).status, 204, 'again')
  t.match((await workspace.call<Stored>('GET', one)).body, { status: 'cancelled' })
  const done = await run(workspace, { definition, pace: 'full' })
  t.equal((await workspace.call('DELETE', `${path}/${done.id}`)).status, 409)
  t.match((await workspace.call<Stored>('GET', one)).body, { status: 'cancelled' }, 'no slice came after')
})

t.test('a workspace has five unfinished backtests at most', async (t) => {
  const workspace = await api.makeWorkspace()
  const subject = { draft: definition, from: 0, to: 1 }
  const row = {
    workspaceId: workspace.id,
    subject,
    rangeFrom: new Date(0),
    rangeTo: new Date(1),
    pace: 'full',
  }
  // Held by a worker that lives.
  const held = { lease: newId(), leaseUntil: new Date(Date.now() + 600_000) }
  await workspace.database.backtest.createMany({
    data: Array.from({ length: 5 }, () => ({ ...row, ...held, id: newId(), createdBy: 'x' })),
  })
  t.equal((await workspace.call('POST', path, { body: { definition } })).status, 409)
})

t.test('the oldest backtests that ended make room for new ones', async (t) => {
  const { id: workspaceId, call, database } = await api.makeWorkspace()
  const range = { rangeFrom: new Date(0), rangeTo: new Date(1) }
  const row = {
    workspaceId,
    subject: {},
    ...range,
    pace: 'full',
    status: 'cancelled' as const,
    createdBy: 'x',
  }
  const rows = Array.from({ length: 1_001 }, () => ({ ...row, id: newId() }))
  await database.backtest.createMany({ data: rows })
  t.equal((await call('POST', path, { body: { definition } })).status, 202)
  const kept = await database.backtest.findMany({ where: { status: 'cancelled' }, orderBy: { id: 'asc' } })
  t.same(
    kept.map(({ id }) => id),
    rows.slice(1).map(({ id }) => id),
  )
})

interface Version {
  version: number
  trigger: string
  conditions: object[]
  actions: object[]
}

t.test(
  'a backtest of each version over the time in which it was active names the events that it ran for',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call, database } = workspace
    const { body: rule } = await call<{ id: string }>('POST', rulesPath, {
      body: ruleBody({ conditions: [hot] }),
    })
    const one = `${rulesPath}/${rule.id}`
    const send = async (score: number) => {
      const answer = await call('POST', `${rulesPath}/trigger/LEAD_CREATED`, {
        body: { data: { score, name: 'Ada' } },
      })
      if (answer.status !== 200) throw new Error(`The event got ${answer.status}`)
    }
    const scores = [10, 51, 81, 99]
    const edits = [[warm], [], [{ not: hot }], [hot]]
    for (const conditions of edits) {
      for (const score of scores) await send(score)
      await call('POST', `${one}/execute`, { body: { data: { score: 99 } } })
      await call('PATCH', `${one}/toggle`)
      await send(99)
      await call('PATCH', `${one}/toggle`)
      const [last] = await database.event.findMany({ orderBy: { id: 'desc' }, take: 1 })
      await call('POST', `/api/events/${last?.id}/replay`)
      await call('PUT', one, { body: { conditions } })
    }
    for (const score of scores) await send(score)

    const states = await database.ruleState.findMany({ orderBy: { rulesVersion: 'asc' } })
    const ends = [...states.slice(1).map(({ at }) => at), new Date()]
    let named = 0
    for (const [index, state] of states.entries()) {
      if (!state.isActive) continue
      const { body: version } = await call<Version>('GET', `${one}/versions/${state.version}`)
      const { trigger, conditions, actions } = version
      const range = { from: state.at, to: ends[index] as Date }
      const { report } = await run(workspace, {
        ruleId: rule.id,
        definition: { trigger, conditions, actions },
        from: range.from.toISOString(),
        to: range.to.toISOString(),
        pace: 'full',
      })
      const executed = await database.$queryRaw<{ eventId: string }[]>(Prisma.sql`
      SELECT events.id AS "eventId" FROM events JOIN executions ON executions.event_id = events.id
      WHERE events.workspace_id = ${workspace.id}::uuid AND accepted_at >= ${range.from} AND accepted_at < ${range.to}`)
      const { same = 0, added = 0 } = report?.difference ?? {}
      t.equal(report?.draft?.matched, executed.length, `version ${state.version}`)
      t.equal(same + added, executed.length)
      const names = executed.map(({ eventId }) => eventId)
      for (const id of report?.examples.added ?? []) t.ok(names.includes(id))
      named += executed.length
    }
    t.equal(named, await database.execution.count())
    t.ok(named > 10, `${named} executions`)
  },
)

t.test('a backtest of a rule without events is empty', async (t) => {
  const workspace = await api.makeWorkspace()
  const { body: rule } = await workspace.call<{ id: string }>('POST', rulesPath, { body: ruleBody() })
  const { report } = await run(workspace, { ruleId: rule.id })
  t.match(report, {
    scanned: 0,
    considered: 0,
    active: { version: 1, matched: 0 },
    draft: null,
    difference: null,
  })
})
