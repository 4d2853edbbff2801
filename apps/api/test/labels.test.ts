import t from 'tap'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const api = await startApi(t)

interface Rule {
  id: string
  name: string
  labels: string[]
  version: number
}
interface Changes {
  create: string[]
  change: { name: string }[]
  delete: string[]
  others: string[]
}
type Imported = { rules: Changes; emailTemplates: Changes } & { errors?: object[] }

const create = async ({ call }: Workspace, name: string, labels?: string[]) =>
  (await call<Rule>('POST', rules, { body: ruleBody({ name, ...(labels && { labels }) }) })).body
const namesOf = async ({ call }: Workspace, query: string) =>
  (await call<{ rules: Rule[] }>('GET', `${rules}?${query}`)).body.rules.map(({ name }) => name).sort()

t.test('labels are a part of the definition, and keep their order', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  t.strictSame((await create(workspace, 'Plain')).labels, [])
  const { id } = await create(workspace, 'Hot', ['team-b', 'Billing'])
  const path = `${rules}/${id}`
  t.match((await call('GET', path)).body, { labels: ['team-b', 'Billing'], version: 1 })
  const patched = await call('PATCH', path, { body: { labels: ['Billing', 'team-b', 'a, b'] } })
  t.match(patched.body, { labels: ['Billing', 'team-b', 'a, b'], version: 2 })
  t.match((await call('PATCH', path, { body: { labels: ['Billing', 'team-b', 'a, b'] } })).body, {
    version: 2,
  })
  t.match((await call('GET', `${path}/versions/1`)).body, { labels: ['team-b', 'Billing'] })
  t.match((await call('POST', `${path}/versions/1/restore`)).body, {
    labels: ['team-b', 'Billing'],
    version: 3,
  })
  t.match((await call('POST', `${path}/clone`)).body, { labels: ['team-b', 'Billing'] })
  const draft = { ...ruleBody({ name: 'Hot' }), labels: ['draft'] }
  t.match((await call('PUT', `${path}/draft`, { body: draft })).body, { labels: ['draft'] })
  t.match((await call('POST', `${path}/draft/promote`)).body, { labels: ['draft'], version: 4 })
})

t.test('a rule has at most 20 labels of 1 to 50 characters, each once', async (t) => {
  const { call } = await api.makeWorkspace()
  const refuse = async (labels: unknown, errors: object[]) => {
    const { status, body } = await call('POST', rules, { body: ruleBody({ labels }) })
    t.match({ status, body }, { status: 422, body: { errors } }, JSON.stringify(errors))
  }
  await refuse(['a', 'a'], [{ field: 'labels', message: 'Must have no item twice' }])
  await refuse([''], [{ field: 'labels[0]', message: 'Must have at least 1 character' }])
  await refuse(['x'.repeat(51)], [{ field: 'labels[0]', message: 'Must have at most 50 characters' }])
  await refuse('a', [{ field: 'labels', message: 'Must be a list' }])
  await refuse(
    Array.from({ length: 21 }, (_, index) => `${index}`),
    [{ field: 'labels', message: 'Must have at most 20 items' }],
  )
  t.equal(
    (await call('POST', rules, { body: ruleBody({ labels: ['A', 'a', '👍'.repeat(50)] }) })).status,
    201,
  )
})

t.test('lists and exports are narrowed to the rules with all labels that are named', async (t) => {
  const workspace = await api.makeWorkspace()
  await create(workspace, 'Both', ['billing', 'eu'])
  await create(workspace, 'One', ['billing'])
  await create(workspace, 'Other', ['Billing'])
  await create(workspace, 'None')
  t.strictSame(await namesOf(workspace, 'label=billing'), ['Both', 'One'])
  t.strictSame(await namesOf(workspace, 'label=billing&label=eu'), ['Both'])
  t.strictSame(await namesOf(workspace, 'label=bill'), [])
  t.strictSame(await namesOf(workspace, 'limit=9'), ['Both', 'None', 'One', 'Other'])
  const { body } = await workspace.call<{ rules: Partial<Rule>[] }>('GET', `${rules}/export?label=billing`)
  t.strictSame(
    body.rules.map(({ name, labels }) => ({ name, labels })),
    [
      { name: 'Both', labels: ['billing', 'eu'] },
      { name: 'One', labels: ['billing'] },
    ],
  )
  const all = await workspace.call<{ rules: Partial<Rule>[] }>('GET', `${rules}/export`)
  t.notOk('emailTemplates' in body, 'which are of everybody')
  t.ok('emailTemplates' in all.body)
  t.notOk('labels' in (all.body.rules.find(({ name }) => name === 'None') ?? {}), 'a file has no empty list')
})

t.test('a label in a query that no rule can have is refused', async (t) => {
  const { call } = await api.makeWorkspace()
  const said = async (query: string) => (await call<{ error: string }>('GET', `${rules}?${query}`)).body.error
  t.equal(await said('label=%00'), 'Query parameter label must have no NUL')
  t.equal(await said('label=a&label='), 'Query parameter label must have at least 1 character')
  t.equal(await said('label=a&label=a'), 'Query parameter label must have no item twice')
})

t.test('an import by label touches only rules that have it', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  await create(workspace, 'Kept', ['billing'])
  await create(workspace, 'Gone', ['billing'])
  await create(workspace, 'Foreign', ['crm'])
  await create(workspace, 'Unlabelled')
  await call('POST', '/api/email-templates', { body: { name: 'welcome', text: 'Hello' } })
  const fileOf = (...list: object[]) => ({ version: 1, rules: list, emailTemplates: [] })
  const kept = ruleBody({ name: 'Kept', labels: ['billing'], description: 'Changed' })
  const added = ruleBody({ name: 'Added', labels: ['billing', 'eu'] })
  const send = async (list: object[], more: object) => {
    const body = { file: fileOf(...list), labels: ['billing'], ...more }
    return (await call<Imported>('POST', `${rules}/import`, { body })).body
  }
  const plan = await send([kept, added], { prune: true })
  t.match(plan.rules, { create: ['Added'], change: [{ name: 'Kept' }] })
  t.strictSame([plan.rules.delete, plan.rules.others, plan.emailTemplates.delete], [['Gone'], [], []])
  t.strictSame((await send([kept, added], {})).rules.others, ['Gone'], 'the rules of others are not named')
  t.match((await send([kept, added], { prune: true, dryRun: false, maxDeletions: 1 })).rules, {
    delete: ['Gone'],
  })
  t.strictSame(await namesOf(workspace, 'limit=9'), ['Added', 'Foreign', 'Kept', 'Unlabelled'])

  const none = [{ field: 'labels', message: 'Must have at least 1 item' }]
  t.match(await send([kept], { labels: [] }), { errors: none }, 'an empty list is not all rules')
  t.match(await send([ruleBody({ name: 'Kept' })], {}), {
    errors: [
      { field: 'file.rules[0].labels', message: 'Must have "billing": the import is for rules with it' },
    ],
  })
  t.match(await send([ruleBody({ name: 'Unlabelled', labels: ['billing'] })], {}), {
    errors: [
      {
        field: 'file.rules[0].name',
        message: 'The rule of this name in the workspace lacks "billing": add it there first',
      },
    ],
  })
})
