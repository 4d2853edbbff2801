import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule, RuleVersion } from '../src/routes/rules/rule-schemas.js'
import { type Answer, mint, roles, ruleBody, rules, startApi, task, type Workspace } from './fixtures/api.js'

interface VersionList {
  versions: RuleVersion[]
  nextCursor: string | null
}

const api = await startApi(t)
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const noRule = { status: 404, body: { error: 'Automation rule not found' } }
const noVersion = { status: 404, body: { error: 'Version not found' } }
const statusAndBody = ({ status, body }: Answer) => ({ status, body })

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<Rule> {
  const { status, body } = await call<Rule>('POST', rules, { body: ruleBody(fields) })
  if (status !== 201) throw new Error(`The rule was not created: ${status} ${JSON.stringify(body)}`)
  return body
}

const put = ({ call }: Workspace, { id }: { id: string }, body: object) =>
  call<Rule>('PUT', `${rules}/${id}`, { body })
const restore = ({ call }: Workspace, { id }: { id: string }, version: number | string, tag?: string) =>
  call<Rule>('POST', `${rules}/${id}/versions/${version}/restore`, {
    headers: tag === undefined ? {} : { 'if-match': tag },
  })
const list = ({ call }: Workspace, { id }: { id: string }, query = '') =>
  call<VersionList>('GET', `${rules}/${id}/versions${query}`)
const definitionOf = ({
  name,
  description,
  labels,
  trigger,
  group,
  order,
  schedule,
  perKey,
  conditions,
  actions,
}: Rule | RuleVersion) => ({
  name,
  description,
  labels,
  trigger,
  group,
  order,
  schedule,
  perKey,
  conditions,
  actions,
})
const rulesVersionOf = async ({ database }: Workspace) =>
  (await database.workspace.findFirst({ select: { rulesVersion: true } }))?.rulesVersion
const readLog = ({ database, id }: Workspace, action: string) =>
  database.auditEntry.findMany({
    where: { workspaceId: id, action },
    orderBy: { id: 'asc' },
    select: { actor: true, subject: true, details: true },
  })

t.test('each definition of a rule is a version, and no other change creates one', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { conditions: [{ field: 'a', operator: 'eq', value: 1 }] })
  const steps: object[] = [
    { name: 'Second' },
    { isActive: false },
    { name: 'Second' },
    { conditions: [], actions: [task, task], isActive: true },
    { conditions: [] },
  ]
  const seen: Rule[] = [rule]
  for (const body of steps) {
    const { body: changed } = await put(workspace, rule, body)
    if (changed.version > (seen.at(-1)?.version ?? 0)) seen.push(changed)
  }
  await workspace.call('PATCH', `${rules}/${rule.id}/toggle`)
  const { status, body } = await workspace.callAs('viewer')<VersionList>(
    'GET',
    `${rules}/${rule.id}/versions`,
  )
  t.equal(status, 200)
  t.equal(body.nextCursor, null)
  t.strictSame(
    body.versions.map(({ createdAt: _, ...version }) => version),
    seen
      .map((one) => ({
        version: one.version,
        ...definitionOf(one),
        createdBy: `user:${workspace.users.admin}`,
      }))
      .reverse(),
  )
  t.strictSame(
    body.versions.map(({ version }) => version),
    [3, 2, 1],
  )
  for (const version of body.versions) {
    t.match(version.createdAt, timestamp)
    const one = await workspace.call('GET', `${rules}/${rule.id}/versions/${version.version}`)
    t.strictSame(statusAndBody(one), { status: 200, body: version })
  }
})

t.test('a clone begins its own history, with its creator as actor', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await put(workspace, rule, { name: 'Second' })
  const { body: clone } = await workspace.callAs('editor')<Rule>('POST', `${rules}/${rule.id}/clone`)
  const { body } = await list(workspace, clone)
  matchLists(t, body.versions, [
    { version: 1, ...definitionOf(clone), createdBy: `user:${workspace.users.editor}` },
  ])
  t.equal(body.versions.length, 1)
})

t.test('versions are listed in pages, which a new version does not shift', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { name: 'Name 1' })
  for (let version = 2; version <= 12; version++) await put(workspace, rule, { name: `Name ${version}` })
  const { body: first } = await list(workspace, rule, '?limit=5')
  await put(workspace, rule, { name: 'Meanwhile' })
  const { body: second } = await list(workspace, rule, `?limit=5&cursor=${first.nextCursor}`)
  const { body: third } = await list(workspace, rule, `?limit=5&cursor=${second.nextCursor}`)
  const names = [first, second, third].map(({ versions }) => versions.map(({ name }) => name))
  t.strictSame(names, [
    ['Name 12', 'Name 11', 'Name 10', 'Name 9', 'Name 8'],
    ['Name 7', 'Name 6', 'Name 5', 'Name 4', 'Name 3'],
    ['Name 2', 'Name 1'],
  ])
  t.equal(third.nextCursor, null)
  const { body: exact } = await list(workspace, rule, '?limit=13')
  t.equal(exact.versions.length, 13)
  t.equal(exact.nextCursor, null, 'a full last page has no next one')
  const bad = ['limit=0', 'limit=251', 'limit=x', 'cursor=', 'cursor=x', `cursor=${btoa('0')}`]
  for (const query of [...bad, `cursor=${btoa(newId())}`, `cursor=${btoa('1e3')}`]) {
    const { status, body } = await list(workspace, rule, `?${query}`)
    t.match({ status, body }, { status: 400, body: { error: String } }, query)
  }
})

t.test('a version is restored as a new one, and the rule stays active or inactive', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const isActive of [true, false]) {
    const rule = await create(workspace, { name: 'First', description: 'Old', isActive })
    await put(workspace, rule, {
      name: 'Second',
      trigger: 'DEAL_WON',
      description: '',
      actions: [task, task],
    })
    const counted = await rulesVersionOf(workspace)
    const answer = await restore({ ...workspace, call: workspace.callAs('editor') }, rule, 1)
    t.equal(answer.status, 200)
    t.equal(answer.headers.etag, '"3"')
    const { updatedAt, ...rest } = answer.body
    const { updatedAt: before, ...original } = rule
    t.strictSame(rest, { ...original, version: 3 })
    t.ok(updatedAt > before)
    t.strictSame((await workspace.call('GET', `${rules}/${rule.id}`)).body, answer.body)
    const { versions } = (await list(workspace, rule)).body
    t.strictSame(versions.map(definitionOf).at(0), definitionOf(rule))
    matchLists(
      t,
      versions.map(({ version, name, createdBy }) => ({ version, name, createdBy })),
      [
        { version: 3, name: 'First', createdBy: `user:${workspace.users.editor}` },
        { version: 2, name: 'Second' },
        { version: 1, name: 'First' },
      ],
    )
    const log = (await readLog(workspace, 'rule.restored')).filter(({ subject }) => subject === rule.id)
    matchLists(t, log, [{ actor: `user:${workspace.users.editor}`, details: { from: 1, version: 3 } }])
    t.equal(log.length, 1)
    t.equal(await rulesVersionOf(workspace), (counted ?? 0) + 1, 'the rules version changes')
  }
})

t.test('restoring the current version changes nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await put(workspace, rule, { name: 'Second' })
  await put(workspace, rule, { name: rule.name })
  const { body: current } = await workspace.call('GET', `${rules}/${rule.id}`)
  const counted = await rulesVersionOf(workspace)
  for (const version of [3, 1]) {
    const answer = await restore(workspace, rule, version)
    t.strictSame(statusAndBody(answer), { status: 200, body: current })
    t.equal(answer.headers.etag, '"3"')
  }
  t.equal((await list(workspace, rule)).body.versions.length, 3)
  t.strictSame(await readLog(workspace, 'rule.restored'), [])
  t.equal(await rulesVersionOf(workspace), counted)
})

t.test('a restore respects If-Match, and each of many concurrent ones creates a version', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { name: 'First' })
  await put(workspace, rule, { name: 'Second' })
  t.match(statusAndBody(await restore(workspace, rule, 1, '"1"')), {
    status: 412,
    body: { error: 'The rule has changed since you read it: read it again, and retry with its new ETag' },
  })
  t.equal((await list(workspace, rule)).body.versions.length, 2)
  t.equal((await restore(workspace, rule, 1, '"2"')).status, 200)

  const answers = await Promise.all([1, 2, 1, 2, 1, 2, 1, 2].map((from) => restore(workspace, rule, from)))
  t.ok(answers.every(({ status }) => status === 200))
  const { versions } = (await list(workspace, rule)).body
  const { body: last } = await workspace.call<Rule>('GET', `${rules}/${rule.id}`)
  t.equal(versions[0]?.version, last.version)
  t.strictSame(
    versions.map(({ version }) => version),
    Array.from({ length: last.version }, (_, index) => last.version - index),
    'without a gap',
  )
  for (const [index, { name }] of versions.entries())
    t.equal(name, index % 2 === versions.length % 2 ? 'Second' : 'First', 'each differs from the one before')
})

t.test('a version that is no longer valid is not restored', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  const old: [fields: Record<string, unknown>, fields: string[]][] = [
    [{ trigger: 'LEAD_VANISHED' }, ['trigger']],
    [{ actions: [{ type: 'SEND_FAX', config: { to: '1' } }] }, ['actions[0].type']],
    [{ conditions: [{ field: 'a', operator: 'resembles', value: 1 }] }, ['conditions[0].operator']],
    [{ conditions: [{ field: 'a', operator: 'matches', value: '(' }] }, ['conditions[0].value']],
    [{ actions: [{ type: 'CREATE_TASK', config: { title: '{{a | shout}}' } }] }, ['actions[0].config.title']],
    [{ name: '', trigger: 'X', actions: [] }, ['actions', 'name', 'trigger']],
  ]
  for (const [index, [fields, faulty]] of old.entries()) {
    const version = 1_000 + index
    const { name, description, trigger, conditions, actions } = { ...definitionOf(rule), ...fields }
    await workspace.database.ruleVersion.create({
      data: {
        ruleId: rule.id,
        version,
        workspaceId: workspace.id,
        name,
        description,
        trigger,
        conditions: conditions as object[],
        actions: actions as object[],
        createdBy: 'cli:tests',
      },
    })
    const { status, body } = await restore(workspace, rule, version)
    t.equal(status, 422, JSON.stringify(fields))
    const { errors } = body as unknown as { errors: { field: string; message: string }[] }
    t.strictSame(errors.map(({ field }) => field).sort(), faulty)
    const shown = await workspace.call('GET', `${rules}/${rule.id}/versions/${version}`)
    t.match(shown, { status: 200, body: fields }, 'but it is shown')
  }
  t.strictSame((await workspace.call('GET', `${rules}/${rule.id}`)).body, rule)
})

t.test('an unknown rule is reported before an unknown version, also one of another workspace', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const [rule, foreign] = [await create(workspace), await create(other)]
  for (const id of [newId(), foreign.id, 'x', '%00'])
    for (const answer of [
      await list(workspace, { id }),
      await workspace.call('GET', `${rules}/${id}/versions/1`),
      await workspace.call('GET', `${rules}/${id}/versions/x`),
      await restore(workspace, { id }, 1),
      await restore(workspace, { id }, 'x'),
    ])
      t.strictSame(statusAndBody(answer), noRule, id)
  for (const version of ['2', '0', '-1', '01', '1.0', '1e0', 'x', '99999999999999999999', '%00'])
    for (const answer of [
      await workspace.call('GET', `${rules}/${rule.id}/versions/${version}`),
      await restore(workspace, rule, version),
    ])
      t.strictSame(statusAndBody(answer), noVersion, version)
  t.strictSame((await workspace.call('GET', `${rules}/${rule.id}`)).body, rule)
  t.equal((await other.call('DELETE', `${rules}/${foreign.id}`)).status, 204)
  t.strictSame(statusAndBody(await list(other, foreign)), noRule, 'a deleted rule takes its versions along')
})

t.test('viewers read versions, editors restore them, and others do neither', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  const stranger = { token: await mint(`stranger-${newId()}`) }
  const routes = [
    { method: 'GET', path: `${rules}/${rule.id}/versions`, role: 'viewer' },
    { method: 'GET', path: `${rules}/${rule.id}/versions/1`, role: 'viewer' },
    { method: 'POST', path: `${rules}/${rule.id}/versions/1/restore`, role: 'editor' },
  ] as const
  for (const { method, path, role: needed } of routes) {
    for (const role of roles) {
      const may = roles.indexOf(role) >= roles.indexOf(needed)
      t.equal(
        (await workspace.callAs(role)(method, path)).status,
        may ? 200 : 403,
        `${method} ${path} ${role}`,
      )
    }
    t.equal((await workspace.call(method, path, stranger)).status, 403)
    t.equal((await workspace.call(method, path, { token: undefined })).status, 401)
  }
  const wrong = await workspace.call('PUT', `${rules}/${rule.id}/versions/1/restore`, { body: {} })
  t.match(wrong, { status: 405, headers: { allow: 'POST' } })
})
