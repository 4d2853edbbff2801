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
  t.strictSame(await readRollouts(workspace), { rules: [] })
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
  t.strictSame(await readRollouts(workspace), { rules: [] })
})
