import t from 'tap'
import { sayValue } from '../src/conditions/say-comparison.js'
import { describeChange } from '../src/explaining/describe-change.js'
import { explainWhy } from '../src/explaining/why.js'

const tell = (conditions: object[], data: object) => {
  const { change, trace } = explainWhy({ conditions, actions: [] } as never, data, 0)
  return describeChange(change ?? [], trace.conditions)
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

t.test('a value that is another field is named, with what it was', async (t) => {
  const above = clause('amount', 'greater_than', { field: 'customer.limit' })
  t.equal(
    tell([above], { amount: 9_000, customer: { limit: 20_000 } }),
    'amount is above the customer.limit (20,000)',
  )
  t.equal(
    tell([clause('owner', 'equals', { field: 'author' })], { owner: 'bo', author: 'ada' }),
    'owner is the author ("ada")',
  )
  t.equal(
    tell([clause('year', 'equals', 20_260)], { year: 1 }),
    'year is 20260',
    'what may be an id is no amount',
  )
})

t.test('an item of a list is told by its place, and its condition by its words', async (t) => {
  const items = { items: [{ qty: 5 }, { qty: 4, max: 3 }] }
  const some = (that: object) => ({ some: 'items', that: [that] })
  t.equal(tell([some(clause('qty', 'greater_than', 5))], items), 'qty of the first of items is above 5')
  t.equal(
    tell([{ every: 'items', that: [clause('qty', 'greater_than', 4)] }], items),
    'qty of the second of items is above 4',
  )
  t.equal(
    tell([{ none: 'items', that: [clause('qty', 'less_than', 5)] }], items),
    'not (qty of the second of items is below 5)',
  )
  t.equal(
    tell([{ some: 'tags', that: [clause('.', 'equals', 'vip')] }], { tags: ['new'] }),
    'the first of tags is "vip"',
  )
  t.equal(
    tell([some(clause('qty', 'greater_than', { root: 'limit' }))], { ...items, limit: 9 }),
    'qty of the first of items is above the limit (9)',
  )
  const sixth = { tags: ['a', 'a', 'a', 'a', 'a', 'b'] }
  t.equal(tell([{ every: 'tags', that: [clause('.', 'equals', 'a')] }], sixth), 'item 6 of tags is "a"')
})

t.test(
  'a value that is no constant, a long list and a value that changes as well are said without nonsense',
  async (t) => {
    const hours = { days: 'mon-fri', from: '09:00', to: '17:00', timezone: 'UTC' }
    t.match(sayValue('inside', hours), /^\{"days":"mon-fri"/)
    const both = [clause('a', 'greater_than', { field: 'b' }), clause('b', 'less_than', 20)]
    t.equal(tell(both, { a: 10, b: 50 }), 'a is above b and b is below 20')
    t.ok(
      sayValue(
        'in',
        Array.from({ length: 1_000 }, (_, n) => `value ${n}`),
      ).length <= 161,
    )
  },
)
