import { setTimeout } from 'node:timers/promises'
import { newId, openPatiently, type WorkspaceTransaction } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, askPatiently, ruleBody, rules, startApi, task, type Workspace } from './fixtures/api.js'

interface RuleList {
  rules: Rule[]
  nextCursor?: string | null
}

const api = await startApi(t)

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const notFound = { error: 'Automation rule not found' }

async function create(workspace: Workspace, fields: Record<string, unknown> = {}): Promise<Rule> {
  const { status, body } = await workspace.call<Rule>('POST', rules, { body: ruleBody(fields) })
  if (status !== 201) throw new Error(`The rule was not created: ${status} ${JSON.stringify(body)}`)
  return body
}

async function list(workspace: Workspace, query = ''): Promise<RuleList> {
  const { status, body } = await workspace.call<RuleList>('GET', `${rules}${query}`)
  if (status !== 200) throw new Error(`The rules were not listed: ${status} ${JSON.stringify(body)}`)
  return body
}

const namesOf = ({ rules }: RuleList) => rules.map(({ name }) => name)

t.test('a rule is created with the defaults, and returned in full with Location and ETag', async (t) => {
  const workspace = await api.makeWorkspace()
  const answer = await workspace.call<Rule>('POST', rules, {
    body: { name: 'Hot', trigger: 'LEAD_CREATED', actions: [task] },
  })
  t.equal(answer.status, 201)
  t.match(answer.headers['content-type'], /^application\/json\b/)
  t.equal(answer.headers.location, `${rules}/${answer.body.id}`)
  t.equal(answer.headers.etag, '"1"')
  const { id, createdAt, updatedAt, ...rest } = answer.body
  t.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.match(createdAt, timestamp)
  t.match(updatedAt, timestamp)
  t.strictSame(rest, {
    name: 'Hot',
    description: '',
    labels: [],
    trigger: 'LEAD_CREATED',
    group: null,
    order: null,
    schedule: null,
    perKey: null,
    conditions: [],
    actions: [task],
    isActive: true,
    mode: 'live',
    nextRunAt: null,
    expectEvery: null,
    workspaceId: workspace.id,
    version: 1,
    executionCount: 0,
    successCount: 0,
    failureCount: 0,
    lastSuccessAt: null,
    lastFailureAt: null,
    lastError: null,
  })

  const read = await workspace.call<Rule>('GET', String(answer.headers.location))
  t.equal(read.status, 200)
  t.equal(read.headers.etag, '"1"')
  t.strictSame(read.body, answer.body)
  t.strictSame((await list(workspace)).rules, [answer.body], 'the list contains the same object')
  t.strictSame((await workspace.call('GET', `${rules}/${id.toUpperCase()}`)).body, answer.body)
  const head = await workspace.call('HEAD', `${rules}/${id}`)
  t.equal(head.status, 200)
  t.equal(head.body, undefined)
})

t.test('a rule is stored unchanged', async (t) => {
  const workspace = await api.makeWorkspace()
  const fields = {
    name: 'Ünïcödé 🦜 <b>"\'\\ {{x}} %_',
    description: 'two\nlines\t‮\u2028',
    trigger: 'DEAL_WON',
    conditions: [
      { field: 'lead.tags[0]', operator: 'in', value: ['a', 1, true, null] },
      { any: [{ not: { field: 'a', operator: 'exists' } }, { all: [{ field: 'b', operator: 'is_true' }] }] },
    ],
    actions: [
      {
        type: 'SEND_WEBHOOK',
        config: { url: 'https://example.org/', body: { z: [1.5, -0.25, 1e21, null, {}], constructor: 'c' } },
        when: { field: 'score', operator: 'between', value: [0, 1] },
        continueOnError: true,
        timeoutMs: 100,
      },
    ],
    isActive: false,
  }
  const created = await create(workspace, fields)
  matchLists(t, created, fields)
  t.strictSame((await workspace.call('GET', `${rules}/${created.id}`)).body, created)
})

t.test('aliases are stored as full names, also in groups and in when', async (t) => {
  const workspace = await api.makeWorkspace()
  const full = {
    eq: 'equals',
    neq: 'not_equals',
    gt: 'greater_than',
    gte: 'greater_than_or_equal',
    lt: 'less_than',
    lte: 'less_than_or_equal',
  }
  const conditionsOf = (names: string[]) => [
    ...names.map((operator) => ({ field: 'a', operator, value: 1 })),
    { not: { any: [{ all: [{ field: 'a', operator: names[0], value: 1 }] }] } },
  ]
  const actionOf = (operator: string) => ({ ...task, when: { field: 'a', operator, value: 1 } })
  const aliased = { conditions: conditionsOf(Object.keys(full)), actions: [actionOf('lte')] }
  const stored = { conditions: conditionsOf(Object.values(full)), actions: [actionOf('less_than_or_equal')] }
  const created = await create(workspace, aliased)
  matchLists(t, created, stored)
  const put = await workspace.call<Rule>('PUT', `${rules}/${created.id}`, { body: aliased })
  t.match(put.body, { ...stored, version: 1 }, 'an alias of what is stored changes nothing')
})

t.test('version and ETag count the changes of the definition and nothing else', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { conditions: [{ field: 'a', operator: 'equals', value: 1 }] })
  const path = `${rules}/${rule.id}`
  const steps: [body: object, version: number][] = [
    [{}, 1],
    [{ name: rule.name }, 1],
    [{ ...ruleBody(), conditions: [{ value: 1, operator: 'eq', field: 'a' }], isActive: true }, 1],
    [{ isActive: false }, 1],
    [{ name: 'Other' }, 2],
    [{ description: 'Other' }, 3],
    [{ trigger: 'LEAD_UPDATED' }, 4],
    [{ conditions: [] }, 5],
    [{ conditions: [] }, 5],
    [{ actions: [task, task] }, 6],
    [{ name: 'Third', description: 'Third', isActive: true }, 7],
  ]
  for (const [body, version] of steps) {
    const answer = await workspace.call<Rule>('PUT', path, { body })
    t.equal(answer.status, 200)
    t.match(answer.body, Object.hasOwn(body, 'conditions') ? {} : body)
    t.equal(answer.body.version, version, JSON.stringify(body))
    t.equal(answer.headers.etag, `"${version}"`)
  }
  t.equal((await workspace.call('PATCH', `${path}/toggle`)).status, 200)
  const { body } = await workspace.call<Rule>('GET', path)
  t.equal(body.version, 7, 'a toggle is no change of the definition')
  t.match(body, { name: 'Third', description: 'Third', trigger: 'LEAD_UPDATED', isActive: false })
  t.equal(body.createdAt, rule.createdAt)
  t.ok(body.updatedAt > rule.updatedAt)
})

t.test('with If-Match, a change of another version is refused and changes nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const refused = ['"2"', 'W/"1"', '1', '', '"01"', '""', '"1', '"2", W/"1"', "'1'", '"*"', '"0","2","3"']
  const taken = ['"1"', '*', ' * ', '"2", "1"', '"1","9"', 'W/"1", "1"']
  for (const tag of refused) {
    const rule = await create(workspace)
    const headers = { 'if-match': tag }
    const put = await workspace.call('PUT', `${rules}/${rule.id}`, { headers, body: { name: 'Changed' } })
    t.equal(put.status, 412, `PUT ${tag}`)
    t.match(put.body, { error: String })
    t.equal((await workspace.call('PATCH', `${rules}/${rule.id}/toggle`, { headers })).status, 412)
    t.equal((await workspace.call('DELETE', `${rules}/${rule.id}`, { headers })).status, 412)
    t.equal((await workspace.call('POST', `${rules}/${rule.id}/clone`, { headers })).status, 412)
    t.strictSame((await workspace.call('GET', `${rules}/${rule.id}`)).body, rule)
  }
  for (const tag of taken) {
    const rule = await create(workspace)
    const headers = { 'if-match': tag }
    const put = await workspace.call('PUT', `${rules}/${rule.id}`, { headers, body: { isActive: false } })
    t.equal(put.status, 200, `PUT ${tag}`)
    t.equal((await workspace.call('DELETE', `${rules}/${rule.id}`, { headers })).status, 204)
  }
  const unknown = await workspace.call('PUT', `${rules}/${newId()}`, {
    headers: { 'if-match': '*' },
    body: { name: 'x' },
  })
  t.equal(unknown.status, 404, 'what is not there has no version')
})

t.test('of many changes for the same version, one is made', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace)
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      askPatiently(() =>
        workspace.call<Rule>('PUT', `${rules}/${id}`, {
          headers: { 'if-match': '"1"' },
          body: { name: `Writer ${index}` },
        }),
      ),
    ),
  )
  const won = answers.filter(({ status }) => status === 200)
  t.equal(won.length, 1)
  t.equal(answers.filter(({ status }) => status === 412).length, 29)
  t.strictSame((await workspace.call('GET', `${rules}/${id}`)).body, won[0]?.body)
})

t.test('many changes without a version are all made, one after another, and each is counted', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace)
  const fields = ['name', 'description']
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      askPatiently(() =>
        workspace.call<Rule>('PUT', `${rules}/${id}`, {
          body: { [fields[index % 2] ?? '']: `Value ${index}` },
        }),
      ),
    ),
  )
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200])
  const versions = answers.map(({ body }) => body.version).sort((a, b) => a - b)
  t.strictSame(
    versions,
    Array.from({ length: 40 }, (_, index) => index + 2),
  )
  const toggles = await Promise.all(
    Array.from({ length: 21 }, () => askPatiently(() => workspace.call('PATCH', `${rules}/${id}/toggle`))),
  )
  t.ok(toggles.every(({ status }) => status === 200))
  t.equal((await workspace.call<Rule>('GET', `${rules}/${id}`)).body.isActive, false)
})

t.test(
  "changes that wait for their turn in one workspace are in nobody else's way, and none is given up",
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { id } = await create(workspace)
    const other = await api.makeWorkspace()
    let changing: Promise<Answer<Rule>[]> | undefined
    const database = openPatiently(api.config.databaseUrl, 1)
    t.teardown(() => database.close())
    await database.forWorkspace(workspace.id).$transaction(async (transaction) => {
      await transaction.$queryRaw`SELECT 1 FROM workspaces WHERE id = ${workspace.id}::uuid FOR NO KEY UPDATE`
      changing = Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          askPatiently(() =>
            workspace.call<Rule>('PUT', `${rules}/${id}`, { body: { name: `Name ${index}` } }),
          ),
        ),
      )
      while (!(await holdsSomebodyUp(transaction))) await setTimeout(10)
      t.equal((await other.call('GET', rules)).status, 200)
      t.equal((await other.call('POST', rules, { body: ruleBody() })).status, 201)
    })
    t.strictSame([...new Set((await changing)?.map(({ status }) => status))], [200])
  },
)

/** Whether anybody waits for a lock of this transaction. */
async function holdsSomebodyUp(transaction: WorkspaceTransaction): Promise<boolean> {
  const waiting = await transaction.$queryRaw<unknown[]>`
    SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))`
  return waiting.length > 0
}

t.test('toggle returns id and isActive, in both directions', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace)
  for (const isActive of [false, true, false]) {
    const answer = await workspace.call('PATCH', `${rules}/${id}/toggle`)
    t.equal(answer.status, 200)
    t.strictSame(answer.body, { id, isActive })
    t.match((await workspace.call('GET', `${rules}/${id}`)).body, { isActive })
  }
})

t.test('a deleted rule is gone for every call', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace)
  const gone = await workspace.call('DELETE', `${rules}/${id}`)
  t.equal(gone.status, 204)
  t.equal(gone.body, undefined)
  t.equal(gone.headers['content-type'], undefined)
  const calls = [
    workspace.call('GET', `${rules}/${id}`),
    workspace.call('PUT', `${rules}/${id}`, { body: { name: 'x' } }),
    workspace.call('DELETE', `${rules}/${id}`),
    workspace.call('PATCH', `${rules}/${id}/toggle`),
    workspace.call('POST', `${rules}/${id}/clone`),
    workspace.call('POST', `${rules}/${id}/execute`, { body: { data: {} } }),
    workspace.call('POST', `${rules}/${id}/execute`, { body: { data: {}, dryRun: true } }),
  ]
  for (const { status, body } of await Promise.all(calls))
    t.strictSame({ status, body }, { status: 404, body: notFound })
  t.strictSame((await list(workspace)).rules, [])
})

t.test('of many deletes of one rule, one succeeds', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await create(workspace)
  const calls = Array.from({ length: 10 }, () => workspace.call('DELETE', `${rules}/${id}`))
  const statuses = (await Promise.all(calls)).map(({ status }) => status).sort()
  t.strictSame(statuses, [204, ...Array(9).fill(404)])
})

t.test('a clone is a new inactive rule with the same definition and its own history', async (t) => {
  const workspace = await api.makeWorkspace()
  const source = await create(workspace, {
    description: 'About it',
    trigger: 'TAG_ADDED',
    conditions: [{ field: 'a', operator: 'gt', value: 1 }],
  })
  await workspace.call('PUT', `${rules}/${source.id}`, { body: { description: 'About' } })
  await workspace.database.ruleCounters.update({
    where: { ruleId: source.id },
    data: { successCount: 5, failureCount: 1, lastSuccessAt: new Date(), lastError: 'x' },
  })
  const answer = await workspace.call<Rule>('POST', `${rules}/${source.id}/clone`)
  t.equal(answer.status, 201)
  const clone = answer.body
  t.not(clone.id, source.id)
  t.equal(answer.headers.location, `${rules}/${clone.id}`)
  t.equal(answer.headers.etag, '"1"')
  const { id, createdAt, updatedAt, ...rest } = clone
  t.match([createdAt, updatedAt], [timestamp, timestamp])
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...same } = source
  t.strictSame(rest, { ...same, description: 'About', name: 'Copy of A rule', isActive: false, version: 1 })
  t.strictSame((await workspace.call('GET', `${rules}/${id}`)).body, clone)
  const again = await workspace.call<Rule>('POST', `${rules}/${id}/clone`)
  t.equal(again.body.name, 'Copy of Copy of A rule')
})

t.test('the name of a clone stays within 200 characters and is never cut inside one', async (t) => {
  const workspace = await api.makeWorkspace()
  const cases = [
    ['x'.repeat(192), `Copy of ${'x'.repeat(192)}`],
    ['x'.repeat(193), `Copy of ${'x'.repeat(192)}`],
    ['x'.repeat(200), `Copy of ${'x'.repeat(192)}`],
    ['🦜'.repeat(200), `Copy of ${'🦜'.repeat(192)}`],
    [`${'x'.repeat(191)}🦜🦜`, `Copy of ${'x'.repeat(191)}🦜`],
  ] as const
  for (const [name, expected] of cases) {
    const { id } = await create(workspace, { name })
    const clone = await workspace.call<Rule>('POST', `${rules}/${id}/clone`)
    t.equal(clone.status, 201)
    t.equal(clone.body.name, expected)
    const saved = await workspace.call('PUT', `${rules}/${clone.body.id}`, {
      body: { name: clone.body.name },
    })
    t.equal(saved.status, 200, 'the copy can be saved again')
  }
})

t.test('the list returns all rules, newest first, or pages on request', async (t) => {
  const workspace = await api.makeWorkspace()
  t.strictSame(await list(workspace), { rules: [] })
  await workspace.database.rule.createMany({ data: manyRules(workspace.id, 120) })
  const all = await list(workspace)
  t.strictSame(
    namesOf(all),
    Array.from({ length: 120 }, (_, index) => `Rule ${119 - index}`),
  )
  t.strictSame(Object.keys(all), ['rules'], 'without query there is no next page to name')

  for (const limit of [1, 7, 60, 119, 120, 121, 250]) {
    const seen: Rule[] = []
    let pages = 0
    for (let cursor: string | null = ''; cursor !== null && pages <= 120; pages++) {
      const page: RuleList = await list(
        workspace,
        `?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      if (page.rules.length > limit || page.nextCursor === undefined) t.fail(`page ${pages} of ${limit}`)
      seen.push(...page.rules)
      cursor = page.nextCursor ?? null
    }
    t.strictSame(seen, all.rules, `pages of ${limit} are the whole`)
    t.equal(pages, Math.ceil(120 / limit))
  }

  const first = await list(workspace, '?limit=10')
  await create(workspace, { name: 'Newcomer' })
  const second = await list(workspace, `?limit=10&cursor=${first.nextCursor}`)
  t.strictSame(second.rules, all.rules.slice(10, 20), 'a page stays in place when rules are added')
  await workspace.call('DELETE', `${rules}/${second.rules.at(-1)?.id}`)
  const third = await list(workspace, `?limit=10&cursor=${second.nextCursor}`)
  t.strictSame(third.rules, all.rules.slice(20, 30), 'and also when the rule at its edge is deleted')
})

t.test('a query without filters returns all rules', async (t) => {
  const workspace = await api.makeWorkspace()
  await workspace.database.rule.createMany({ data: manyRules(workspace.id, 60) })
  for (const query of ['', '?']) t.equal((await list(workspace, query)).rules.length, 60, query)
})

t.test('the list is filtered by eventType, isActive and q, alone and together', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const fields of [
    { name: 'alpha', trigger: 'LEAD_CREATED' },
    { name: 'beta', trigger: 'LEAD_UPDATED', isActive: false },
    { name: '100% of ALPHA_x', trigger: 'LEAD_UPDATED' },
    { name: 'back\\slash', description: 'the Alpha of it', isActive: false },
    { name: 'Grüße 🦜' },
  ])
    await create(workspace, fields)
  const cases: [query: Record<string, string>, names: string[]][] = [
    [{ eventType: 'LEAD_UPDATED' }, ['100% of ALPHA_x', 'beta']],
    [{ eventType: 'DEAL_WON' }, []],
    [{ isActive: 'false' }, ['back\\slash', 'beta']],
    [{ isActive: 'true', eventType: 'LEAD_UPDATED' }, ['100% of ALPHA_x']],
    [{ q: 'alpha' }, ['back\\slash', '100% of ALPHA_x', 'alpha']],
    [{ q: 'ALPHA', limit: '2' }, ['back\\slash', '100% of ALPHA_x']],
    [{ q: 'alpha', isActive: 'true', eventType: 'LEAD_CREATED' }, ['alpha']],
    [{ q: '%' }, ['100% of ALPHA_x']],
    [{ q: '0%' }, ['100% of ALPHA_x']],
    [{ q: '_' }, ['100% of ALPHA_x']],
    [{ q: 'a_p' }, []],
    [{ q: 'a%a' }, []],
    [{ q: '\\' }, ['back\\slash']],
    [{ q: 'k\\s' }, ['back\\slash']],
    [{ q: '\\%' }, []],
    [{ q: "'" }, []],
    [{ q: '🦜' }, ['Grüße 🦜']],
    [{ q: 'GRÜ' }, ['Grüße 🦜']],
    [{ q: '' }, ['Grüße 🦜', 'back\\slash', '100% of ALPHA_x', 'beta', 'alpha']],
  ]
  for (const [query, names] of cases) {
    const answer = await list(workspace, `?${new URLSearchParams(query)}`)
    t.strictSame(namesOf(answer), names, JSON.stringify(query))
    t.ok('nextCursor' in answer)
  }
})

t.test('a workspace has at most 1,000 rules: the next create or clone is a conflict', async (t) => {
  const workspace = await api.makeWorkspace()
  await workspace.database.rule.createMany({ data: manyRules(workspace.id, 995) })
  const attempts = await Promise.all(
    Array.from({ length: 20 }, () =>
      askPatiently(() => workspace.call<Rule>('POST', rules, { body: ruleBody() })),
    ),
  )
  t.equal(attempts.filter(({ status }) => status === 201).length, 5, 'also where many come at once')
  const refused = attempts.filter(({ status }) => status === 409)
  t.equal(refused.length, 15)
  t.match(refused[0]?.body, { error: String })
  const { rules: all } = await list(workspace)
  t.equal(all.length, 1_000, 'all of them are listed at once')
  const [newest] = all
  const clones = await Promise.all(
    Array.from({ length: 4 }, () => workspace.call('POST', `${rules}/${newest?.id}/clone`)),
  )
  t.strictSame(statusesOf(clones), [409, 409, 409, 409])
  t.equal((await workspace.call('PUT', `${rules}/${newest?.id}`, { body: { name: 'x' } })).status, 200)
  t.equal((await workspace.call('DELETE', `${rules}/${newest?.id}`)).status, 204)
  const refill = await Promise.all([
    workspace.call('POST', rules, { body: ruleBody() }),
    workspace.call('POST', `${rules}/${all[1]?.id}/clone`),
  ])
  t.strictSame(statusesOf(refill).sort(), [201, 409], 'one place is free again')
  const other = await api.makeWorkspace()
  t.equal(
    (await other.call('POST', rules, { body: ruleBody() })).status,
    201,
    'each workspace counts its own',
  )
})

t.test('the summaries of rules are the rules without conditions and actions, in pages', async (t) => {
  const workspace = await api.makeWorkspace()
  await create(await api.makeWorkspace(), { name: 'Theirs' })
  for (const name of ['First', 'Second', 'Third']) await create(workspace, { name })
  await workspace.database.ruleCounters.updateMany({ data: { successCount: 2, lastError: 'It failed' } })
  const read = async (query: string) => {
    const { status, body } = await workspace.callAs('viewer')<RuleList>('GET', `${rules}/summaries${query}`)
    t.equal(status, 200)
    return body
  }
  const full = await list(workspace)
  t.strictSame(
    (await read('?limit=1000')).rules,
    full.rules.map(({ conditions, actions, ...rest }) => rest),
  )
  const first = await read('?limit=2')
  const second = await read(`?limit=2&cursor=${first.nextCursor}`)
  t.strictSame([namesOf(first), namesOf(second)], [['Third', 'Second'], ['First']])
  t.equal(second.nextCursor, null)
  for (const wrong of ['limit=1001', 'cursor=x'])
    t.equal((await workspace.call('GET', `${rules}/summaries?${wrong}`)).status, 400, wrong)
})

function statusesOf(answers: Answer[]): number[] {
  return answers.map(({ status }) => status)
}

function manyRules(workspaceId: string, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: newId(),
    workspaceId,
    name: `Rule ${index}`,
    description: '',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [task],
    isActive: true,
  }))
}
