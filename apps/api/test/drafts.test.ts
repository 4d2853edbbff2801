import { newId } from '@automation/database'
import t from 'tap'
import type { RuleDraft } from '../src/routes/rules/draft-schemas.js'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, ruleBody, rules, startApi, task, type Workspace } from './fixtures/api.js'

const api = await startApi(t)
const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const noRule = { status: 404, body: { error: 'Automation rule not found' } }
const noDraft = { status: 404, body: { error: 'The rule has no draft' } }
const changed = {
  status: 412,
  body: {
    error: 'The rule or its draft has changed since you read it: read it again, and retry with its new ETag',
  },
}
const stale = {
  status: 412,
  body: { error: 'The rule has changed since the draft was saved: save the draft again' },
}

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<Rule> {
  const { status, body } = await call<Rule>('POST', rules, { body: ruleBody(fields) })
  if (status !== 201) throw new Error(`The rule was not created: ${status} ${JSON.stringify(body)}`)
  return body
}

const tagged = (tag: string | undefined) => (tag === undefined ? {} : { 'if-match': tag })
const save = ({ call }: Workspace, { id }: { id: string }, fields: object = {}, tag?: string) =>
  call<RuleDraft>('PUT', `${rules}/${id}/draft`, {
    body: ruleBody({ name: 'The draft', ...fields }),
    headers: tagged(tag),
  })
const read = ({ call }: Workspace, { id }: { id: string }) => call<RuleDraft>('GET', `${rules}/${id}/draft`)
const remove = ({ call }: Workspace, { id }: { id: string }, tag?: string) =>
  call('DELETE', `${rules}/${id}/draft`, { headers: tagged(tag) })
const promote = ({ call }: Workspace, { id }: { id: string }, body?: object, tag?: string) =>
  call<Rule>('POST', `${rules}/${id}/draft/promote`, { body, headers: tagged(tag) })
const edit = ({ call }: Workspace, { id }: { id: string }, body: object) =>
  call<Rule>('PUT', `${rules}/${id}`, { body })
const etagOf = (answer: Answer) => String(answer.headers.etag)
const readLog = ({ database, id }: Workspace, action: string) =>
  database.auditEntry.findMany({
    where: { workspaceId: id, action },
    orderBy: { id: 'asc' },
    select: { actor: true, subject: true, details: true },
  })
const rulesVersionOf = async ({ database }: Workspace) =>
  (await database.workspace.findFirst({ select: { rulesVersion: true } }))?.rulesVersion

t.test('a draft is saved beside its rule, which stays as it is', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  const before = await rulesVersionOf(workspace)
  t.strictSame(statusAndBody(await read(workspace, rule)), noDraft)
  const saved = await save(workspace, rule, { trigger: 'DEAL_WON' })
  t.equal(saved.status, 200)
  t.match(saved.body, { ruleId: rule.id, name: 'The draft', trigger: 'DEAL_WON', basedOn: 1, isStale: false })
  const found = await read(workspace, rule)
  t.equal(etagOf(found), etagOf(saved))
  t.match(found.body, {
    name: 'The draft',
    conditions: { length: 0 },
    actions: [task],
    savedBy: `user:${workspace.users.admin}`,
  })
  t.strictSame((await workspace.call('GET', `${rules}/${rule.id}`)).body, rule)
  t.equal(await rulesVersionOf(workspace), before, 'workers need not read the rules again')
  t.strictSame(await readLog(workspace, 'draft.saved'), [
    { actor: `user:${workspace.users.admin}`, subject: rule.id, details: { basedOn: 1 } },
  ])
})

t.test('a promoted draft is the next version of its rule, and is gone', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  const saved = await save(workspace, rule, { actions: [task, task] })
  const promoted = await promote(workspace, rule, undefined, etagOf(saved))
  t.equal(promoted.status, 200)
  t.equal(etagOf(promoted), '"2"')
  t.match(promoted.body, {
    id: rule.id,
    version: 2,
    name: 'The draft',
    actions: [task, task],
    isActive: true,
  })
  t.strictSame(statusAndBody(await read(workspace, rule)), noDraft)
  t.strictSame(statusAndBody(await promote(workspace, rule)), noDraft)
  t.match(await readLog(workspace, 'rule.promoted'), [
    { subject: rule.id, details: { from: 1, version: 2, changed: ['name', 'actions'] } },
  ])
  const versions = await workspace.call<{ versions: unknown[] }>('GET', `${rules}/${rule.id}/versions`)
  t.equal(versions.body.versions.length, 2)
})

t.test('a draft is validated like a rule', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  const path = `${rules}/${rule.id}/draft`
  const bad: [body: unknown, status: number][] = [
    [{}, 422],
    [[], 400],
    ['{', 400],
    [ruleBody({ isActive: true }), 422],
    [ruleBody({ mode: 'shadow' }), 422],
    [ruleBody({ conditions: [{ field: 'a', operator: 'is_like', value: 1 }] }), 422],
    [ruleBody({ actions: [] }), 422],
    [ruleBody({ trigger: 'NO_SUCH_TYPE' }), 400],
    [ruleBody({ description: 'x'.repeat(300_000) }), 413],
  ]
  for (const [body, status] of bad)
    t.equal((await workspace.call('PUT', path, { body })).status, status, JSON.stringify(body).slice(0, 80))
  const short = await workspace.call<RuleDraft>('PUT', path, {
    body: ruleBody({ conditions: [{ field: 'a', operator: 'eq', value: 1 }] }),
  })
  t.match(short.body.conditions, [{ operator: 'equals' }], 'short names of operators become full ones')
  t.strictSame(statusAndBody(await read(workspace, { id: newId() })), noRule)
  t.strictSame(statusAndBody(await read(workspace, { id: 'no-uuid' })), noRule)
})

t.test('a draft goes with its rule', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await save(workspace, rule)
  await workspace.call('DELETE', `${rules}/${rule.id}`)
  for (const ask of [read, save, remove, promote] as const)
    t.strictSame(statusAndBody(await ask(workspace, rule)), noRule)
  t.equal(await workspace.database.ruleDraft.count(), 0)
})

t.test('If-Match names the draft and the version of its rule at once', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  t.strictSame(
    statusAndBody(await save(workspace, rule, {}, '"2"')),
    changed,
    'of the rule, while there is no draft',
  )
  const first = await save(workspace, rule, {}, '"1"')
  t.equal(first.status, 200)
  t.strictSame(statusAndBody(await save(workspace, rule, {}, '"1"')), changed, 'somebody else has saved one')
  const second = await save(workspace, rule, { name: 'Second' }, etagOf(first))
  t.equal(second.status, 200)
  for (const ask of [save, promote] as const)
    t.strictSame(statusAndBody(await ask(workspace, rule, {}, etagOf(first))), changed)
  t.strictSame(statusAndBody(await remove(workspace, rule, etagOf(first))), changed)
  await edit(workspace, rule, { name: 'Edited' })
  t.strictSame(
    statusAndBody(await promote(workspace, rule, {}, etagOf(second))),
    changed,
    'the rule is another one',
  )
  t.equal((await remove(workspace, rule, '*')).status, 204)
  t.strictSame(statusAndBody(await remove(workspace, rule)), noDraft)
  t.match(await readLog(workspace, 'draft.deleted'), [{ subject: rule.id }])
})

t.test('a draft of an older version is stale until it is saved again', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await save(workspace, rule)
  await edit(workspace, rule, { name: 'Edited' })
  const found = await read(workspace, rule)
  t.match(found.body, { basedOn: 1, isStale: true })
  t.strictSame(statusAndBody(await promote(workspace, rule)), stale, 'also without If-Match')
  t.strictSame(statusAndBody(await promote(workspace, rule, {}, etagOf(found))), stale)
  const again = await save(workspace, rule, {}, etagOf(found))
  t.match(again.body, { basedOn: 2, isStale: false })
  t.match((await promote(workspace, rule, {}, etagOf(again))).body, { version: 3, name: 'The draft' })
})

t.test('a draft that equals its rule is not promoted', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await save(workspace, rule, { name: rule.name })
  t.strictSame(statusAndBody(await promote(workspace, rule)), {
    status: 409,
    body: { error: 'The draft equals the rule: there is nothing to promote' },
  })
})

t.test('a draft whose event type was deleted is not promoted', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await workspace.call('POST', '/api/event-types', { body: { name: 'PAYMENT_FAILED' } })
  t.equal((await save(workspace, rule, { trigger: 'PAYMENT_FAILED' })).status, 200)
  t.equal((await workspace.call('DELETE', '/api/event-types/PAYMENT_FAILED')).status, 204)
  t.equal((await promote(workspace, rule)).status, 422)
  t.match((await workspace.call('GET', `${rules}/${rule.id}`)).body, { version: 1 })
})

t.test('of many promotions at once one wins', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  const tag = etagOf(await save(workspace, rule))
  const answers = await Promise.all(Array.from({ length: 8 }, () => promote(workspace, rule, {}, tag)))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(412)])
  t.equal((await readLog(workspace, 'rule.promoted')).length, 1)
  t.match((await workspace.call('GET', `${rules}/${rule.id}`)).body, { version: 2 })
})

t.test('an edit and a promotion at once: the promotion is the later one or refused', async (t) => {
  const workspace = await api.makeWorkspace()
  for (let round = 0; round < 10; round++) {
    const rule = await create(workspace)
    await save(workspace, rule)
    const [edited, promoted] = await Promise.all([
      edit(workspace, rule, { description: 'Edited' }),
      promote(workspace, rule),
    ])
    t.equal(edited.status, 200)
    const { body } = await workspace.call<Rule>('GET', `${rules}/${rule.id}`)
    if (promoted.status === 200) t.match(body, { version: 3, name: 'The draft', description: 'Edited' })
    else {
      t.equal(promoted.status, 412)
      t.match(body, { version: 2, name: 'A rule', description: 'Edited' })
    }
  }
})

t.test('drafts count towards the bytes of a workspace', async (t) => {
  const workspace = await api.makeWorkspace()
  const text = 'x'.repeat(10_000)
  const actions = Array.from({ length: 20 }, () => ({
    type: 'CREATE_TASK',
    config: { title: 'A', description: text },
  }))
  const rule = await create(workspace)
  const rows = Array.from({ length: 82 }, () => ({
    id: newId(),
    workspaceId: workspace.id,
    name: 'Large',
    description: '',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions,
    isActive: false,
  }))
  await workspace.database.rule.createMany({ data: rows })
  const saved = await save(workspace, rule, { actions })
  t.equal(saved.status, 200)
  const refused = await workspace.call('PUT', `${rules}/${rows[0]?.id}/draft`, {
    body: ruleBody({ actions }),
  })
  t.strictSame(statusAndBody(refused), {
    status: 409,
    body: { error: 'The rules of a workspace and their drafts may have at most 16 MiB together, as JSON' },
  })
  t.equal((await promote(workspace, rule)).status, 200, 'a promoted draft does not count twice')
})

t.test('a guard needs a time and a limit', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await save(workspace, rule)
  const bad: [guard: unknown, field: string][] = [
    [{}, 'guard.for'],
    [{ for: 'soon', maxRunsPerHour: 1 }, 'guard.for'],
    [{ for: '31d', maxRunsPerHour: 1 }, 'guard.for'],
    [{ for: '1h' }, 'guard'],
    [{ for: '1h', maxRunsPerHour: 0 }, 'guard.maxRunsPerHour'],
    [{ for: '1h', maxRunsPerHour: 1e9 }, 'guard.maxRunsPerHour'],
    [{ for: '1h', maxRunsPerHour: 1.5 }, 'guard.maxRunsPerHour'],
    [{ for: '1h', maxFailureRate: 1.1 }, 'guard.maxFailureRate'],
    [{ for: '1h', maxFailureRate: 0.5, per: 1 }, 'guard.per'],
    [7, 'guard'],
  ]
  for (const [guard, field] of bad) {
    const { status, body } = await workspace.call<{ errors: { field: string }[] }>(
      'POST',
      `${rules}/${rule.id}/draft/promote`,
      { body: { guard } },
    )
    t.equal(status, 422, JSON.stringify(guard))
    t.ok(
      body.errors.some((fault) => fault.field === field),
      JSON.stringify(body),
    )
  }
  const path = `${rules}/${rule.id}/guard`
  t.equal((await workspace.call('GET', path)).status, 404)
  t.equal(
    (await promote(workspace, rule, { guard: { for: '24h', maxRunsPerHour: 200, maxFailureRate: 0.2 } }))
      .status,
    200,
  )
  t.match((await workspace.call('GET', path)).body, {
    version: 2,
    previousVersion: 1,
    maxRunsPerHour: 200,
    maxFailureRate: 0.2,
    trippedAt: null,
  })
  await edit(workspace, rule, { name: 'Edited' })
  t.equal((await workspace.call('GET', path)).status, 404, 'an edit ends the guard')
})

t.test(
  'a new order in the group does not end a guard, and a draft of it may have a guard of its own',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const rule = await create(workspace, { group: 'routing', order: 10 })
    const path = `${rules}/${rule.id}/guard`
    const guarded = { guard: { for: '24h', maxRunsPerHour: 200 } }
    await save(workspace, rule, { group: 'routing', order: 10 })
    t.equal((await promote(workspace, rule, guarded)).status, 200)
    const moved = await workspace.call('PATCH', `${rules}/${rule.id}`, { body: { order: 20 } })
    t.match(moved, { status: 200, body: { version: 3, order: 20 } })
    t.match(await workspace.call('GET', path), { status: 200, body: { version: 2, previousVersion: 1 } })
    await save(workspace, rule, { group: 'routing', order: 30 })
    t.match(await promote(workspace, rule, guarded), { status: 200, body: { version: 4 } })
    t.match(await workspace.call('GET', path), { status: 200, body: { version: 4, previousVersion: 3 } })
  },
)

t.test('an editor ends a guard before its time, once, with an entry in the audit log', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  const path = `${rules}/${rule.id}/guard`
  const noGuard = { status: 404, body: { error: 'The rule has no guard' } }
  t.strictSame(statusAndBody(await workspace.call('DELETE', path)), noGuard)
  await save(workspace, rule)
  t.equal((await promote(workspace, rule, { guard: { for: '24h', maxRunsPerHour: 200 } })).status, 200)
  for (const role of ['viewer', 'operator'] as const)
    t.equal((await workspace.callAs(role)('DELETE', path)).status, 403)
  t.equal((await workspace.call('DELETE', path, { headers: { 'if-match': '"1"' } })).status, 412)
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => workspace.callAs('editor')('DELETE', path)),
  )
  t.strictSame(answers.map(({ status }) => status).sort(), [204, 404, 404, 404])
  t.strictSame(statusAndBody(await workspace.call('GET', path)), noGuard)
  t.match(await readLog(workspace, 'guard.ended'), [
    { subject: rule.id, details: { version: 2, trippedAt: null } },
  ])
  t.match((await workspace.call('GET', `${rules}/${rule.id}`)).body, { version: 2 }, 'the version stays')
})

t.test('an editor changes drafts, a viewer reads them', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await save(workspace, rule)
  const path = `${rules}/${rule.id}/draft`
  t.equal((await workspace.callAs('viewer')('GET', path)).status, 200)
  for (const role of ['viewer', 'operator'] as const) {
    const call = workspace.callAs(role)
    t.equal((await call('PUT', path, { body: ruleBody() })).status, 403)
    t.equal((await call('DELETE', path)).status, 403)
    t.equal((await call('POST', `${path}/promote`)).status, 403)
  }
  t.equal((await workspace.callAs('editor')('POST', `${path}/promote`)).status, 200)
})
