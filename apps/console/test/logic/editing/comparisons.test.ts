import { defaultWorkLimits, describeVocabulary } from '@automation/engine'
import t from 'tap'
import { listComparisons } from '../../../pages/logic/editing/comparisons.js'

const names = describeVocabulary(defaultWorkLimits).operators.map(({ name }) => name)
const offered = (...values: unknown[]) => listComparisons(names, values)

t.test('a number is compared as a number', async (t) => {
  const list = offered(95)
  for (const name of ['equals', 'greater_than', 'between', 'in', 'exists']) t.ok(list.includes(name), name)
  for (const name of ['starts_with', 'contains', 'matches', 'is_true', 'before', 'within_last'])
    t.notOk(list.includes(name), name)
})

t.test('a text, a time, a list and a boolean have comparisons of their own', async (t) => {
  t.ok(offered('Ada').includes('starts_with'))
  t.notOk(offered('Ada').includes('greater_than'))
  t.notOk(offered('Ada').includes('before'))
  t.ok(offered('2026-03-10T12:00:00Z').includes('before'))
  t.ok(offered(1_767_225_600).includes('before'), 'a number may be a time')
  t.ok(offered('80').includes('greater_than'), 'a text may be a number')
  t.ok(offered(true).includes('is_true'))
  t.notOk(offered(true).includes('contains'))
  t.ok(offered(['new']).includes('contains_all'))
  t.notOk(offered(['new']).includes('equals'))
})

t.test('a field of several kinds has the comparisons of each, and an unknown field all', async (t) => {
  t.ok(offered('Ada', 5).includes('greater_than'))
  t.ok(offered('Ada', 5).includes('starts_with'))
  t.strictSame(offered(), names)
  t.strictSame(offered(null), names)
})
