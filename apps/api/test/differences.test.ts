import { newId } from '@automation/database'
import t from 'tap'
import type { RuleDifference } from '../src/differences/difference.js'
import { storeDifference } from '../src/differences/stored-difference.js'
import type { RuleDraft } from '../src/routes/rules/draft-schemas.js'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'
import { idAt } from './fixtures/history.js'

const api = await startApi(t)
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

const read = async ({ call }: Workspace, { id }: Rule) =>
  (await call<RuleDraft>('GET', `${rules}/${id}/draft`)).body.difference as RuleDifference
/** The pause between two computations is over. */
const pass = ({ database }: Workspace, { id: ruleId }: Rule) =>
  database.ruleDifference.updateMany({
    where: { ruleId },
    data: { computedAt: new Date(Date.now() - 61_000) },
  })

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

t.test('what one response does not reach is continued by the next one', async (t) => {
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
  let difference = await read(workspace, rule)
  t.equal(difference.isComplete, false)
  t.ok(difference.considered > 0 && difference.considered < count)
  let reads = 1
  for (; !difference.isComplete && reads < 100; reads++) difference = await read(workspace, rule)
  t.match(difference, {
    considered: count,
    scanned: count,
    active: { matched: (count / 100) * 19 },
    draft: { matched: (count / 100) * 29 },
    difference: { same: (count / 100) * 19, added: (count / 100) * 10, removed: 0 },
  })
  t.equal(difference.examples.added.length, 20)
  t.comment(`${reads} responses`)
})

t.test(
  'another draft begins again, and one of another trigger is compared with the version before',
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
  t.match((await workspace.callAs('viewer')('GET', path)).body, {
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
  await workspace.database.ruleVersion.update({
    where: { ruleId_version: { ruleId: rule.id, version: 1 } },
    data: { conditions: [{ field: 'a', operator: 'from_another_release', value: 1 }] },
  })
  const { status, headers, body } = await workspace.call<RuleDraft>('GET', `${rules}/${rule.id}/draft`)
  t.equal(status, 200)
  t.match(body, { name: 'Draft', difference: null, differenceFault: /^A definition does not compile/ })
  t.equal(headers.etag, body.etag)
  t.strictSame(await stored(workspace, rule), [], 'what came no further is not stored')
})

const stored = ({ database }: Workspace, { id: ruleId }: Rule) =>
  database.ruleDifference.findMany({ where: { ruleId } })

t.test('a difference ends with its draft or its shadow, also where it was being computed', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await saveDraft(workspace, rule, { name: 'Draft' })
  await read(workspace, rule)
  const draft = await workspace.database.ruleDraft.findUniqueOrThrow({ where: { ruleId: rule.id } })
  const [row] = await stored(workspace, rule)
  t.ok(row?.report, 'the report is stored beside the state')
  await workspace.call('DELETE', `${rules}/${rule.id}/draft`)
  t.strictSame(await stored(workspace, rule), [])
  const state = { from: 0, to: 0, after: null }
  const late = { state, report: undefined, computedAt: new Date(), before: undefined }
  const definition = { trigger: 'LEAD_CREATED', conditions: [], actions: [] }
  const subject = { ruleId: rule.id, active: undefined, draft: definition }
  await storeDifference(workspace, { ...subject, kind: 'draft', name: draft.id, since: draft.savedAt }, late)
  t.strictSame(await stored(workspace, rule), [])

  await workspace.call('PUT', `${rules}/${rule.id}`, { body: { mode: 'shadow' } })
  const { updatedAt } = await workspace.database.rule.findUniqueOrThrow({ where: { id: rule.id } })
  await workspace.call('GET', `${rules}/${rule.id}/difference`)
  t.equal((await stored(workspace, rule)).length, 1)
  await workspace.call('PUT', `${rules}/${rule.id}`, { body: { mode: 'live' } })
  t.strictSame(await stored(workspace, rule), [])
  await storeDifference(
    workspace,
    { ...subject, kind: 'shadow', name: updatedAt.toISOString(), since: updatedAt },
    late,
  )
  t.strictSame(await stored(workspace, rule), [])
})

t.test(
  'a workspace keeps a hundred differences, and drops the one that was computed longest ago',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const all: Rule[] = []
    while (all.length < 101) all.push(await create(workspace))
    await workspace.database.ruleDifference.createMany({
      data: all.slice(1).map(({ id: ruleId }, index) => ({
        ...{ ruleId, workspaceId: workspace.id, kind: 'draft', subject: newId(), state: {} },
        computedAt: new Date(Date.now() - 1_000_000 - index * 1_000),
      })),
    })
    const [first, ...others] = all as [Rule, ...Rule[]]
    await saveDraft(workspace, first, { name: 'Draft' })
    await read(workspace, first)
    t.equal((await stored(workspace, first)).length, 1)
    t.equal(await workspace.database.ruleDifference.count(), 100)
    t.strictSame(await stored(workspace, others.at(-1) as Rule), [])
  },
)
