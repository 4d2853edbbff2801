import { type Condition, explainWhy } from '@automation/engine'
import t from 'tap'
import { describeChange } from '../../pages/logic/describe-change.js'

/** What would have made a rule match, as the page says it. */
function say(conditions: Condition[], data: object): string {
  const { change, trace } = explainWhy({ conditions, actions: [] }, data, 0)
  return describeChange(change ?? [], trace.conditions as never)
}

t.test(
  'what a rule lacked is said as its condition, and not as a value that the engine invented',
  async (t) => {
    t.equal(say([{ field: 'score', operator: 'greater_than', value: 80 }], { score: 10 }), 'score > 80')
    t.equal(
      say([{ field: 'country', operator: 'not_in', value: ['DE', 'AT'] }], { country: 'DE' }),
      'country not in ["DE","AT"]',
    )
    t.equal(
      say([{ field: 'country', operator: 'not_equals', value: 'DE' }], { country: 'DE' }),
      'country ≠ "DE"',
    )
  },
)

t.test('a value is said where the rule names it, or where several conditions share the field', async (t) => {
  t.equal(say([{ field: 'country', operator: 'equals', value: 'DE' }], { country: 'FR' }), 'country = "DE"')
  t.equal(
    say(
      [
        { field: 'score', operator: 'greater_than', value: 80 },
        { field: 'score', operator: 'less_than', value: 82 },
      ],
      { score: 10 },
    ),
    'score = 81',
  )
  t.match(
    say([{ not: { field: 'score', operator: 'greater_than', value: 80 } }], { score: 90 }),
    /^score = \d+/,
  )
})
