import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const api = await startApi(t)
const readRollouts = async ({ call }: Workspace) => (await call('GET', `${rules}/rollouts`)).body
const create = async ({ call }: Workspace, name: string) =>
  (await call<Rule>('POST', rules, { body: ruleBody({ name }) })).body

t.test('the rollouts name each rule with a draft or a guard, and no other', async (t) => {
  const workspace = await api.makeWorkspace()
  const [drafted, guarded] = [await create(workspace, 'Drafted'), await create(workspace, 'Guarded')]
  await create(workspace, 'Neither')
  t.strictSame(await readRollouts(workspace), { rules: [], nextCursor: null })
  for (const { id } of [drafted, guarded])
    await workspace.call('PUT', `${rules}/${id}/draft`, { body: ruleBody({ name: 'Other' }) })
  const guard = { for: '1h', maxRunsPerHour: 5 }
  await workspace.call('POST', `${rules}/${guarded.id}/draft/promote`, { body: { guard } })
  const { body: watching } = await workspace.call('GET', `${rules}/${guarded.id}/guard`)
  t.match(await readRollouts(workspace), {
    rules: [
      { id: guarded.id, name: 'Other', draft: null, guard: watching },
      {
        id: drafted.id,
        name: 'Drafted',
        draft: { basedOn: 1, isStale: false, savedBy: `user:${workspace.users.admin}` },
        guard: null,
      },
    ],
  })

  for (const { id } of [drafted, guarded])
    await workspace.call('PUT', `${rules}/${id}`, { body: { description: 'Another' } })
  t.match(
    await readRollouts(workspace),
    { rules: [{ id: drafted.id, draft: { isStale: true }, guard: null }] },
    'a change ends the guard, and the draft is stale',
  )
})

t.test('the rollouts of another workspace are not named', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const { id } = await create(other, 'Theirs')
  await other.call('PUT', `${rules}/${id}/draft`, { body: ruleBody({ name: 'Other' }) })
  t.strictSame(await readRollouts(workspace), { rules: [], nextCursor: null })
})

t.test('the rollouts come in pages, and of one rule', async (t) => {
  const workspace = await api.makeWorkspace()
  const created: Rule[] = []
  for (const name of ['First', 'Second', 'Third', 'Fourth']) created.push(await create(workspace, name))
  // A guard and a draft of one rule, a guard alone, and drafts.
  const guard = { for: '1h', maxRunsPerHour: 5 }
  for (const { id } of created)
    await workspace.call('PUT', `${rules}/${id}/draft`, { body: ruleBody({ name: 'Other' }) })
  for (const { id } of created.slice(1, 3))
    await workspace.call('POST', `${rules}/${id}/draft/promote`, { body: { guard } })
  const second = created[1] as Rule
  await workspace.call('PUT', `${rules}/${second.id}/draft`, { body: ruleBody({ name: 'Another' }) })

  const read = async (query: string) =>
    (await workspace.call<{ rules: Rule[]; nextCursor: string | null }>('GET', `${rules}/rollouts?${query}`))
      .body
  const found: string[] = []
  let query = 'limit=1'
  for (let pages = 0; pages < 10; pages++) {
    const { rules: page, nextCursor } = await read(query)
    t.equal(page.length, 1)
    found.push(...page.map(({ id }) => id))
    if (nextCursor === null) break
    query = `limit=1&cursor=${nextCursor}`
  }
  t.strictSame(found, created.map(({ id }) => id).reverse(), 'each once, newest first')
  t.match(await read(`ruleId=${second.id}`), {
    rules: [{ id: second.id, draft: { basedOn: 2 }, guard: { version: 2 } }],
    nextCursor: null,
  })
  for (const wrong of ['ruleId=1', 'cursor=1', 'limit=0'])
    t.equal((await workspace.call('GET', `${rules}/rollouts?${wrong}`)).status, 400, wrong)
})
