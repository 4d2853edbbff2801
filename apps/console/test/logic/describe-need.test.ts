import { explainWhy } from '@automation/engine'
import t from 'tap'
import { describeNeed } from '../../pages/logic/describe-need.js'

const tell = (conditions: object[], data: object) => {
  const { change, trace } = explainWhy({ conditions, actions: [] } as never, data, 0)
  return describeNeed(change ?? [], trace.conditions as never)
}
const clause = (field: string, operator: string, value?: unknown) => ({
  field,
  operator,
  ...(value !== undefined && { value }),
})

t.test('the nearest data is told as its condition, and not as a value that no event has', async (t) => {
  t.equal(tell([clause('country', 'not_in', ['DE'])], { country: 'DE' }), 'country is none of "DE"')
  t.equal(tell([clause('score', 'greater_than', 80)], { score: 70 }), 'score is above 80')
  t.equal(tell([clause('lead.score', 'equals', 1)], {}), 'lead.score is 1')
  t.equal(tell([clause('vip', 'is_true')], { vip: false }), 'vip is true')
  t.equal(
    tell([clause('score', 'between', [1, 5]), clause('country', 'not_equals', 'DE')], {
      score: 9,
      country: 'DE',
    }),
    'score is between 1 and 5 and country is not "DE"',
  )
  t.equal(tell([{ not: clause('country', 'equals', 'DE') }], { country: 'DE' }), 'not (country is "DE")')
})

t.test('where several conditions decide about a field, one value says it', async (t) => {
  const conditions = [clause('score', 'greater_than', 80), clause('score', 'less_than', 90)]
  t.equal(tell(conditions, { score: 70 }), 'score is 80.01')
})
