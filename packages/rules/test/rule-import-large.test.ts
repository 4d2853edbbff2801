import t from 'tap'
import { planImport } from '../src/plan-import.js'
import { matchRows } from './fixtures/match-rows.js'
import {
  apply,
  countRulesVersion,
  database,
  fileOf,
  listLog,
  listRules,
  makeAdministrator,
  own,
  rule,
} from './fixtures/rule-files.js'

t.teardown(() => database.close())

t.test('one import creates, changes and deletes 1,000 rules, and one more rule is refused', async (t) => {
  const administrator = await makeAdministrator()
  const many = (count: number, fields: object = {}) =>
    fileOf(Array.from({ length: count }, (_, index) => rule(`Rule ${index}`, fields)))
  await apply(administrator, many(1_000))
  t.equal(await own(administrator).ruleCounters.count(), 1_000)
  await apply(administrator, many(1_000, { description: 'x', isActive: false }))
  t.equal(
    await own(administrator).rule.count({ where: { description: 'x', isActive: false, version: 2 } }),
    1_000,
  )
  t.equal(await own(administrator).ruleVersion.count(), 2_000)
  const planned = await planImport(own(administrator), fileOf([rule('One more')]), { prune: false })
  matchRows(t, 'faults' in planned ? planned.faults : [], [
    { field: 'rules', message: 'A workspace may have 1000 rules, and this would make 1001' },
  ])
  await apply(administrator, fileOf([rule('One more')]), true)
  matchRows(t, await listRules(administrator), [{ name: 'One more', version: 1 }])
  t.equal(await own(administrator).ruleVersion.count(), 1)
  t.equal((await listLog(administrator)).length, 3_001)
  t.equal(await countRulesVersion(administrator), 3)
})
