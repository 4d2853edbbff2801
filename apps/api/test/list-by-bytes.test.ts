import { newId, type Prisma } from '@automation/database'
import t, { type Test } from 'tap'
import { presentRule, presentVersion } from '../src/routes/rules/present-rule.js'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const api = await startApi(t)

const large = 'x'.repeat(150_000)
const conditions = [
  { any: [{ field: 'größe', operator: 'equals', value: 'ß 漢 😀 "\\ \u2028 \u0007 </script>' }], all: [] },
  { not: { value: [1e21, -0.5, 9007199254740991, null, true], operator: 'in', field: 'z', a: {} } },
  { field: 'x', operator: 'equals', value: large },
]
const actions = [{ type: 'CREATE_TASK', config: { title: 'Call {{name}} – “now”', dueInDays: 2 } }]

/** Rules whose definitions take several parts; the last ones have no counters, an error and the mode of a shadow. */
async function storeRules({ id: workspaceId, database }: Workspace): Promise<string[]> {
  const fields = { workspaceId, trigger: 'LEAD_CREATED', conditions, actions, isActive: true }
  const ids = Array.from({ length: 7 }, newId)
  for (const [index, id] of ids.entries()) {
    const row = {
      ...fields,
      id,
      name: `Rule "${index}" 😀`,
      description: 'One\nTwo \u0001',
      version: index + 1,
    }
    const counters = { create: { workspaceId, successCount: 3n, failureCount: 1n } }
    await database.rule.create({ data: { ...row, ...(index < 5 && { counters }) } })
  }
  const [first = '', second = ''] = ids
  await database.ruleCounters.update({
    where: { ruleId: first },
    data: { lastError: 'HTTP 500: "ß"', lastSuccessAt: new Date(), lastFailureAt: new Date(0) },
  })
  await database.rule.update({ where: { id: second }, data: { isActive: false, mode: 'shadow' } })
  return ids
}

async function get(workspace: Workspace, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${workspace.tokens.viewer}`, 'x-workspace-id': workspace.id }
  const { statusCode, body } = await api.app.inject({ url: path, headers })
  if (statusCode !== 200) throw new Error(`${statusCode} ${body}`)
  return body
}

/** The longest JSON (characters) that was parsed or written meanwhile. */
async function measureJson(t: Test, work: () => Promise<unknown>): Promise<number> {
  const { parse, stringify } = JSON
  let longest = 0
  const note = (text: string | undefined) => {
    longest = Math.max(longest, text?.length ?? 0)
  }
  const parsing = t.intercept(JSON, 'parse', {
    value: (...[text, reviver]: Parameters<typeof parse>) => {
      note(text)
      return parse(text, reviver)
    },
  })
  const writing = t.intercept(JSON, 'stringify', {
    value: (...parameters: Parameters<typeof stringify>) => {
      const text = stringify(...parameters)
      note(text)
      return text
    },
  })
  await work()
  parsing.restore()
  writing.restore()
  return longest
}

t.test('a list of rules is, to the letter, the JSON of its rules', async (t) => {
  const workspace = await api.makeWorkspace()
  t.equal(await get(workspace, rules), '{"rules":[]}')
  await storeRules(workspace)
  const include = { counters: true }
  const rows = await workspace.database.rule.findMany({ include, orderBy: { id: 'desc' } })
  const presented = JSON.stringify(rows.map(presentRule))
  t.ok((await get(workspace, rules)) === `{"rules":${presented}}`)
  t.ok((await get(workspace, `${rules}?limit=20`)) === `{"rules":${presented},"nextCursor":null}`)
})

t.test('a list of versions is, to the letter, the JSON of its versions', async (t) => {
  const workspace = await api.makeWorkspace()
  const [ruleId = ''] = await storeRules(workspace)
  const fields = { ruleId, workspaceId: workspace.id, trigger: 'LEAD_CREATED', conditions, actions }
  for (let version = 1; version <= 5; version++) {
    const data = { ...fields, version, name: `Rule ${version} 😀`, description: '"', createdBy: 'user:ß' }
    await workspace.database.ruleVersion.create({ data })
  }
  const rows = await workspace.database.ruleVersion.findMany({
    where: { ruleId },
    orderBy: { version: 'desc' },
  })
  const presented = JSON.stringify(rows.map(presentVersion))
  t.ok(
    (await get(workspace, `${rules}/${ruleId}/versions`)) === `{"versions":${presented},"nextCursor":null}`,
  )
})

t.test('lists parse and write no definitions', async (t) => {
  const workspace = await api.makeWorkspace()
  const [ruleId = ''] = await storeRules(workspace)
  const version = { ruleId, version: 1, workspaceId: workspace.id, name: 'One', description: '' }
  await workspace.database.ruleVersion.create({
    data: { ...version, trigger: 'LEAD_CREATED', conditions, actions, createdBy: 'test' },
  })
  for (const path of [rules, `${rules}?limit=20`, `${rules}/${ruleId}/versions`]) {
    const longest = await measureJson(t, () => get(workspace, path))
    t.ok(longest > 0 && longest < large.length, `${path}: ${longest} characters at a time`)
  }
})

t.test('a part of a list has few rules where their names, descriptions and errors are long', async (t) => {
  const { id: workspaceId, call, database } = await api.makeWorkspace()
  const fields = { workspaceId, trigger: 'LEAD_CREATED', conditions: [], actions: [], isActive: true }
  const rows = Array.from({ length: 300 }, (_, n) => ({
    ...fields,
    id: newId(),
    name: `${n}`,
    description: 'ß'.repeat(2_000),
  }))
  await database.rule.createMany({ data: rows })
  const counters = { workspaceId, lastError: 'ß'.repeat(1_000) }
  await database.ruleCounters.createMany({ data: rows.map(({ id }) => ({ ...counters, ruleId: id })) })
  const readsOf = api.app.database.readsOf
  const sizes: number[] = []
  const note = <Row extends object>(found: Row[]) => {
    if (found.some((row) => 'description' in row)) sizes.push(found.length)
    return found
  }
  t.intercept(api.app.database, 'readsOf', {
    value: (id: string) => {
      const reads = readsOf(id)
      const $queryRows = async (sql: Prisma.Sql) => note(await reads.$queryRows(sql))
      const findMany = async (query: object) => note(await reads.rule.findMany(query))
      return new Proxy(reads, {
        get: (target, name) =>
          name === '$queryRows' ? $queryRows : name === 'rule' ? { findMany } : Reflect.get(target, name),
      })
    },
  })
  for (const path of [rules, `${rules}/summaries?limit=1000`]) {
    sizes.length = 0
    const { body } = await call<{ rules: { id: string }[] }>('GET', path)
    t.strictSame(
      body.rules.map(({ id }) => id),
      rows.map(({ id }) => id).reverse(),
    )
    t.ok(sizes.length > 1 && Math.max(...sizes) <= 110, `${path}: ${sizes.join(', ')} rules at a time`)
  }
})

t.test('lists and pages of large rules are whole', async (t) => {
  const { call } = await api.makeWorkspace()
  const conditions = [{ field: 'x', operator: 'equals', value: 'x'.repeat(150_000) }]
  const created: string[] = []
  for (let n = 0; n < 5; n++) {
    const body = ruleBody({ name: `Large ${n}`, conditions })
    created.unshift((await call<{ id: string }>('POST', rules, { body })).body.id)
  }
  interface List {
    rules: { id: string; conditions: unknown }[]
    nextCursor?: string | null
  }
  const all = (await call<List>('GET', rules)).body
  t.strictSame(Object.keys(all), ['rules'])
  t.strictSame(
    all.rules.map(({ id }) => id),
    created,
  )
  t.strictSame(all.rules[0]?.conditions, conditions)
  const first = (await call<List>('GET', `${rules}?limit=3`)).body
  const second = (await call<List>('GET', `${rules}?limit=3&cursor=${first.nextCursor}`)).body
  t.strictSame(
    [first, second].map((page) => page.rules.map(({ id }) => id)),
    [created.slice(0, 3), created.slice(3)],
  )
  t.equal(second.nextCursor, null)
  t.strictSame((await call('GET', `${rules}?q=nothing`)).body, {
    rules: [],
    nextCursor: null,
  })
})
