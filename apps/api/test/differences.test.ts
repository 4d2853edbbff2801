import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import type { RuleComparison, RuleDraft } from '../src/routes/rules/draft-schemas.js'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'
import { idAt } from './fixtures/history.js'
import { startWorker } from './fixtures/worker.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())
const above = (value: number) => [{ field: 'score', operator: 'greater_than', value }]

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<Rule> {
  const { status, body } = await call<Rule>('POST', rules, { body: ruleBody(fields) })
  if (status !== 201) throw new Error(`The rule was not created: ${status} ${JSON.stringify(body)}`)
  return body
}

async function saveDraft(
  { call, database }: Workspace,
  { id }: Rule,
  fields: Record<string, unknown>,
  sinceMs = 3_600_000,
) {
  const { status } = await call('PUT', `${rules}/${id}/draft`, { body: ruleBody(fields) })
  if (status !== 200) throw new Error(`The draft was not saved: ${status}`)
  await database.ruleDraft.update({
    where: { ruleId: id },
    data: { savedAt: new Date(Date.now() - sinceMs) },
  })
}

/** Events with these scores, each a second later than the one before, the last one a minute ago. */
async function storeEvents(
  { id: workspaceId, database }: Workspace,
  scores: number[],
  type = 'LEAD_CREATED',
) {
  const first = Date.now() - 60_000 - scores.length * 1_000
  const rows = scores.map((score, index) => {
    const acceptedAt = new Date(first + index * 1_000)
    return { id: idAt(acceptedAt), workspaceId, type, data: { score }, acceptedAt, doneAt: acceptedAt }
  })
  await database.event.createMany({ data: rows })
  return rows.map(({ id }) => id)
}

type Difference = NonNullable<RuleComparison['difference']>

const wait = { prefer: 'wait=25' }
const ask = ({ call }: Workspace, { id }: Rule, headers = {}) =>
  call<RuleDraft>('GET', `${rules}/${id}/draft`, { headers })
const read = async (workspace: Workspace, rule: Rule) =>
  (await ask(workspace, rule, wait)).body.difference as Difference
/** The pause between two parts is over. */
const pass = ({ database }: Workspace, { id: ruleId }: Rule) =>
  database.backtest.updateMany({ where: { ruleId }, data: { finishedAt: new Date(Date.now() - 61_000) } })
const stored = ({ database }: Workspace, { id: ruleId }: Rule) =>
  database.backtest.findMany({ where: { ruleId }, orderBy: { id: 'asc' } })

t.test('the difference says what the draft would have matched since it was saved', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { conditions: above(80) })
  const [, , late = ''] = await storeEvents(workspace, [90, 75, 60, 85])
  await storeEvents(workspace, [99], 'DEAL_WON')
  await saveDraft(workspace, rule, { conditions: [{ field: 'score', operator: 'between', value: [70, 86] }] })
  const difference = await read(workspace, rule)
  t.match(difference, {
    isComplete: true,
    scanned: 5,
    considered: 4,
    active: { matched: 2 },
    draft: { matched: 2 },
    difference: { same: 1, added: 1, removed: 1 },
    clauses: [{ path: 'conditions[0]', held: 2 }],
    actions: [{ type: 'CREATE_TASK', done: 2 }],
  })
  t.equal(difference.examples.added.length, 1)
  t.notOk(difference.examples.added.includes(late))
  t.equal(difference.examples.removed.length, 1)
})

t.test('events from before the draft was saved do not count', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await storeEvents(workspace, [90, 75])
  await saveDraft(workspace, rule, { name: 'Draft' }, 0)
  t.match(await read(workspace, rule), { considered: 0, difference: { same: 0, added: 0, removed: 0 } })
})

t.test('a difference is continued at most once a minute, and counts each event once', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { conditions: above(80) })
  await saveDraft(workspace, rule, { conditions: above(70) })
  await storeEvents(workspace, [90, 75])
  const first = await read(workspace, rule)
  t.match(first, { considered: 2, difference: { same: 1, added: 1, removed: 0 } })
  await workspace.call('POST', `${rules}/trigger/LEAD_CREATED`, {
    body: { data: { score: 72 } },
    headers: { prefer: 'respond-async' },
  })
  t.strictSame(await read(workspace, rule), first, 'within the minute')
  await pass(workspace, rule)
  const second = await read(workspace, rule)
  t.match(
    second,
    { considered: 3, difference: { same: 1, added: 2, removed: 0 } },
    'also what came a moment ago',
  )
  await pass(workspace, rule)
  t.match(await read(workspace, rule), { considered: 3 })
})

t.test('an event whose id is older than its acceptance is counted in the next part', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await saveDraft(workspace, rule, { name: 'Draft' })
  t.match(await read(workspace, rule), { considered: 0 })
  const id = idAt(Date.now() - 300_000)
  await workspace.database.event.create({
    data: { id, workspaceId: workspace.id, type: 'LEAD_CREATED', data: {}, doneAt: new Date() },
  })
  await pass(workspace, rule)
  t.match(await read(workspace, rule), { considered: 1 })
})

t.test(
  'a difference is null until a worker has stored a report, and then says how far it came',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const rule = await create(workspace, { conditions: above(80) })
    await saveDraft(workspace, rule, { conditions: above(70) }, 24 * 3_600_000)
    const count = 60_000
    // Ten milliseconds apart, from an hour ago on. By Prisma this would take a minute.
    await workspace.database.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
    SELECT (left(hex, 8) || '-' || substr(hex, 9) || '-7' || substr(gen_random_uuid()::text, 16))::uuid, ${workspace.id}::uuid,
           'LEAD_CREATED', json_build_object('score', n % 100), at, at
    FROM generate_series(0, ${count}::int - 1) AS n,
         LATERAL (SELECT now() - interval '1 hour' + n * interval '10 ms' AS at) AS times,
         LATERAL (SELECT lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS hex) AS hexes`
    const first = await ask(workspace, rule)
    t.match(first.body, { name: ruleBody().name, difference: null, differenceFault: null })
    const askedAt = performance.now()
    let difference: Difference | null = null
    while (difference === null) difference = (await ask(workspace, rule)).body.difference
    t.comment(`the first report came after ${Math.round(performance.now() - askedAt)} ms`)
    t.equal(difference.isComplete, false)
    t.ok(difference.considered > 0 && difference.considered < count, `${difference.considered}`)
    while (!difference.isComplete) difference = await read(workspace, rule)
    t.match(difference, {
      considered: count,
      scanned: count,
      active: { matched: (count / 100) * 19 },
      draft: { matched: (count / 100) * 29 },
      difference: { same: (count / 100) * 19, added: (count / 100) * 10, removed: 0 },
    })
    t.equal(difference.examples.added.length, 20)
  },
)

t.test(
  'another draft begins again, and one of another trigger is compared with the previous version',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const rule = await create(workspace)
    await storeEvents(workspace, [1, 2])
    await storeEvents(workspace, [3], 'DEAL_WON')
    await saveDraft(workspace, rule, { name: 'Draft' })
    t.match(await read(workspace, rule), { difference: { same: 2, added: 0, removed: 0 } })
    await saveDraft(workspace, rule, { trigger: 'DEAL_WON' })
    t.match(await read(workspace, rule), {
      scanned: 3,
      considered: 3,
      active: { matched: 2 },
      draft: { matched: 1 },
      difference: { same: 0, added: 1, removed: 2 },
    })
  },
)

t.test('two readers at a time count each event once', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await saveDraft(workspace, rule, { name: 'Draft' })
  await storeEvents(workspace, [1, 2, 3])
  const both = await Promise.all([read(workspace, rule), read(workspace, rule)])
  for (const difference of both) t.match(difference, { considered: 3 })
  await pass(workspace, rule)
  t.match(await read(workspace, rule), { considered: 3 })
})

t.test('a shadow says what it would have done, and a rule that is none does not', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { mode: 'shadow', conditions: above(80) })
  const path = `${rules}/${rule.id}/difference`
  await workspace.database.rule.update({
    where: { id: rule.id },
    data: { updatedAt: new Date(Date.now() - 3_600_000) },
  })
  await storeEvents(workspace, [90, 75, 85])
  const viewer = workspace.callAs('viewer')
  t.strictSame((await viewer('GET', path)).body, { difference: null, differenceFault: null })
  const found = await viewer<RuleComparison>('GET', path, { headers: wait })
  t.equal(found.headers['preference-applied'], 'wait=25')
  t.match(found.body.difference, {
    isComplete: true,
    active: null,
    draft: { matched: 2 },
    difference: null,
    actions: [{ type: 'CREATE_TASK', done: 2 }],
  })
  await workspace.call('PUT', `${rules}/${rule.id}`, { body: { mode: 'live' } })
  t.strictSame((await workspace.call('GET', path)).body, { error: 'The rule is not in shadow mode' })
  t.equal((await workspace.call('GET', `${rules}/${newId()}/difference`)).status, 404)
})

t.test('a shadow with perKey remembers its keys from part to part, and what came before it', async (t) => {
  const workspace = await api.makeWorkspace()
  const perKey = { key: '{{score}}', atMost: { runs: 1, per: '1d' } }
  const rule = await create(workspace, { mode: 'shadow', conditions: [], perKey })
  await storeEvents(workspace, [1, 1, 2, 3])
  await workspace.database.rule.update({
    where: { id: rule.id },
    // The first event is before it.
    data: { updatedAt: new Date(Date.now() - 63_500) },
  })
  const path = `${rules}/${rule.id}/difference`
  const readShadow = async () => (await workspace.call<RuleComparison>('GET', path, { headers: wait })).body
  t.match(await readShadow(), {
    difference: {
      considered: 3,
      draft: { matched: 2, suppressed: 1 },
      actions: [{ done: 2 }],
      notes: [/^`perKey` is simulated for the events since/],
    },
  })
  await pass(workspace, rule)
  await workspace.database.event.create({
    data: {
      id: newId(),
      workspaceId: workspace.id,
      type: 'LEAD_CREATED',
      data: { score: 3 },
      doneAt: new Date(),
    },
  })
  t.match(await readShadow(), { difference: { considered: 4, draft: { matched: 2, suppressed: 2 } } })
})

t.test('conditions are evaluated at the moment of acceptance', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await saveDraft(workspace, rule, {
    conditions: [{ field: 'at', operator: 'within_last', value: '1m' }],
  })
  const acceptedAt = new Date(Date.now() - 1_800_000)
  await workspace.database.event.create({
    data: {
      ...{
        id: idAt(acceptedAt),
        workspaceId: workspace.id,
        type: 'LEAD_CREATED',
        acceptedAt,
        doneAt: acceptedAt,
      },
      data: { at: new Date(acceptedAt.getTime() - 30_000).toISOString() },
    },
  })
  t.match(await read(workspace, rule), { draft: { matched: 1 } })
})

t.test('a draft is sent where its difference cannot be computed, with the reason', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await saveDraft(workspace, rule, { name: 'Draft' })
  await storeEvents(workspace, [1])
  const version = (conditions: object[]) =>
    workspace.database.ruleVersion.update({
      where: { ruleId_version: { ruleId: rule.id, version: 1 } },
      data: { conditions },
    })
  await version([{ field: 'a', operator: 'from_another_release', value: 1 }])
  const failures = async () => (await stored(workspace, rule))[0]?.failures
  await ask(workspace, rule)
  while ((await failures()) !== 1) await delay(20)
  // The fifth one ends it, and the pauses before it are skipped.
  const last = { failures: 4, leaseUntil: null }
  await workspace.database.backtest.updateMany({ where: { ruleId: rule.id }, data: last })
  const { status, headers, body } = await ask(workspace, rule, wait)
  t.equal(status, 200)
  t.match(body, {
    name: 'Draft',
    difference: null,
    differenceFault: /failed too often|failed, too often/,
  })
  t.equal(headers.etag, body.etag)
  await version([])
  t.match((await ask(workspace, rule, wait)).body, { difference: null }, 'within the minute')
  await pass(workspace, rule)
  const mended = (await ask(workspace, rule, wait)).body
  t.match(mended, { difference: { considered: 1 }, differenceFault: null })
})

t.test('a difference is in no list, cannot be cancelled, and takes the place of no backtest', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await saveDraft(workspace, rule, { name: 'Draft' })
  await read(workspace, rule)
  const [row] = await stored(workspace, rule)
  const path = `${rules}/backtests`
  t.match((await workspace.call('GET', path)).body, { backtests: { length: 0 } })
  for (const method of ['GET', 'DELETE'] as const)
    t.equal((await workspace.call(method, `${path}/${row?.id}`)).status, 404)
  // Held by a worker that lives.
  const { id: workspaceId, database } = workspace
  const held = { lease: newId(), leaseUntil: new Date(Date.now() + 600_000), status: 'running' as const }
  const range = { rangeFrom: new Date(0), rangeTo: new Date(1) }
  const other = { workspaceId, kind: 'draft', subject: {}, ...range, pace: 'gentle', createdBy: 'x', ...held }
  await database.backtest.createMany({
    data: Array.from({ length: 5 }, () => ({ ...other, id: newId(), ruleId: newId() })),
  })
  const created = await workspace.call('POST', path, { body: { ruleId: rule.id } })
  t.equal(created.status, 202)
})

t.test('a difference ends with its draft or its shadow, and another tenant finds none of it', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await saveDraft(workspace, rule, { name: 'Draft' })
  await read(workspace, rule)
  t.match(await stored(workspace, rule), [{ kind: 'draft', status: 'done' }])
  const stranger = await api.makeWorkspace()
  for (const path of ['draft', 'difference'])
    t.equal((await stranger.call('GET', `${rules}/${rule.id}/${path}`)).status, 404)
  const ended = { status: 'cancelled', subject: {}, state: null, report: null }
  await workspace.call('DELETE', `${rules}/${rule.id}/draft`)
  t.match(await stored(workspace, rule), [ended])

  await workspace.call('PUT', `${rules}/${rule.id}`, { body: { mode: 'shadow' } })
  const path = `${rules}/${rule.id}/difference`
  await workspace.call('GET', path, { headers: wait })
  const [, shadow] = await stored(workspace, rule)
  t.match(shadow, { kind: 'shadow', status: 'done' })
  await workspace.call('PUT', `${rules}/${rule.id}`, { body: { mode: 'live' } })
  t.match(await stored(workspace, rule), [ended, ended])
})
