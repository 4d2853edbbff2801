import { matchLists } from '@automation/launcher/match-lists'
import { exportRules, planImport } from '@automation/rules'
import t from 'tap'
import { startApi, task } from './fixtures/api.js'

interface Rule {
  id: string
}

const api = await startApi(t)
const rules = '/api/automation-rules'
const body = { name: 'Orders', trigger: 'DEAL_WON', actions: [task], expectEvery: '24h' }

t.test('a rule says how often it should match, and a change of that makes no version', async (t) => {
  const { call, database } = await api.makeWorkspace()
  const created = await call<Rule>('POST', rules, { body })
  t.match(created, { status: 201, body: { expectEvery: '24h', version: 1 } })
  const { id } = created.body
  t.match(await database.ruleSilence.findUnique({ where: { ruleId: id } }), {
    seconds: 86_400,
    silentAt: null,
  })
  t.match((await call('PATCH', `${rules}/${id}`, { body: { expectEvery: '2d' } })).body, {
    expectEvery: '2d',
    version: 1,
  })
  t.match(await database.ruleSilence.findUnique({ where: { ruleId: id } }), { seconds: 172_800 })
  t.match((await call('GET', rules)).body, { rules: [{ expectEvery: '2d' }] })
  t.match((await call<Rule>('POST', `${rules}/${id}/clone`)).body, { expectEvery: '2d', isActive: false })
  t.match((await call('PUT', `${rules}/${id}`, { body: { expectEvery: null } })).body, {
    expectEvery: null,
    version: 1,
  })
  t.equal(await database.ruleSilence.count({ where: { ruleId: id } }), 0)
  t.equal(await database.ruleVersion.count({ where: { ruleId: id } }), 1)
  const { expectEvery: _, ...silentBody } = body
  t.match((await call('POST', rules, { body: silentBody })).body, { expectEvery: null })
})

t.test('a duration that says nothing is refused', async (t) => {
  const { call } = await api.makeWorkspace()
  const refused: [expectEvery: unknown, message: RegExp][] = [
    ['59s', /^Must be at least 1m$/],
    ['', /^Must be a duration/],
    ['1 day', /^Must be a duration/],
    ['367d', /^Must be a duration/],
    [5, /./],
    ['9'.repeat(11), /./],
  ]
  for (const [expectEvery, message] of refused)
    t.match(
      await call('POST', rules, { body: { ...body, expectEvery } }),
      { status: 422, body: { errors: [{ field: 'expectEvery', message }] } },
      JSON.stringify(expectEvery),
    )
  const { id } = (await call<Rule>('POST', rules, { body })).body
  const { expectEvery: _, ...draft } = body
  t.match((await call('PUT', `${rules}/${id}/draft`, { body: { ...draft, expectEvery: '1h' } })).status, 422)
})

t.test('an export names it, and an import of the same file changes nothing', async (t) => {
  const { call, database } = await api.makeWorkspace()
  await call('POST', rules, { body })
  const file = await exportRules(database)
  t.match(file.rules, [{ expectEvery: '24h' }])
  const options = { prune: false }
  const planOf = async (changed: typeof file) => {
    const planned = await planImport(database, changed, options)
    if (!('plan' in planned)) throw new Error(JSON.stringify(planned))
    return planned.plan.rules
  }
  t.match(await planOf(file), { unchanged: ['Orders'], toChange: { length: 0 } })
  const without = { ...file, rules: file.rules.map(({ expectEvery: _, ...rule }) => rule) }
  matchLists(t, (await planOf(without)).toChange, [
    { changed: ['expectEvery'], fields: { expectEvery: null } },
  ])
})

t.test('a silent rule needs attention', async (t) => {
  const { call, database } = await api.makeWorkspace()
  const { id } = (await call<Rule>('POST', rules, { body })).body
  t.strictSame((await call('GET', `${rules}/attention`)).body, { rules: [] })
  const silentAt = new Date('2026-01-02T03:04:05.678Z')
  await database.ruleSilence.update({ where: { ruleId: id }, data: { silentAt } })
  t.match((await call('GET', `${rules}/attention`)).body, {
    rules: [{ id, name: 'Orders', reason: 'silent', since: silentAt.toISOString(), failureCount: 0 }],
  })
  t.match((await call('GET', `${rules}/health`)).body, { rulesNeedingAttention: 1 })
})
