import t from 'tap'
import { describeCondition } from '../src/conditions/describe-condition.js'
import { operators } from '../src/operators/index.js'
import { listPhrases, phrases } from '../src/operators/phrases.js'
import { quantifiers } from '../src/operators/quantifiers.js'
import type { Condition } from '../src/rule.js'

const some = { some: 'items', that: [{ field: 'qty', operator: 'greater_than', value: 5 }] }
const none: Condition = { none: 'items', that: some.that }
const two: Condition = { field: 'amount', operator: 'greater_than', value: { field: 'limit' } }
const high: Condition = { field: 'score', operator: 'greater_than', value: 80 }
const low: Condition = { field: 'score', operator: 'less_than', value: 50 }

t.test('every operator has a phrase', async (t) => {
  for (const { name } of operators) t.ok(Object.hasOwn(phrases, name), `${name} has a phrase in phrases.ts`)
})

t.test('conditions on lists and between two fields are written in words', async (t) => {
  t.same(Object.keys(listPhrases), quantifiers)
  t.equal(describeCondition(some), 'at least one of items with qty is above 5')
  t.equal(describeCondition(none), 'none of items with qty is above 5')
  t.equal(
    describeCondition({ count: 'items', operator: 'gte', value: 3 }),
    'the number of items is at least 3',
  )
  t.equal(describeCondition(two), 'amount is above limit')
  t.equal(
    describeCondition({
      every: 'items',
      that: [{ field: '.', operator: 'in', value: { root: 'allowed' } }, { any: [high, low] }],
    }),
    'every one of items with . is one of allowed and (score is above 80 or score is below 50)',
  )
})
