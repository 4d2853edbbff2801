import t from 'tap'
import { describeCondition } from '../../../pages/logic/editing/describe-condition.js'
import { describeSaved } from '../../../pages/logic/editing/describe-saved.js'

const rule = { mode: 'live', isActive: true, trigger: 'DEAL_WON', version: 1 } as const
const say = (...matches: boolean[]): string =>
  describeSaved(
    rule,
    {
      verdicts: matches.map((one, index) => ({ sample: { id: `${index}` }, matches: one })),
    } as unknown as Parameters<typeof describeSaved>[1],
    String,
  )

t.test('what is said of a saved rule counts one event as one', async (t) => {
  t.equal(say(true), 'Saved as v1. On. The last event would have run it.')
  t.equal(say(false), 'Saved as v1. On. The last event would not have run it.')
  t.equal(say(true, false), 'Saved as v1. On. 1 of the last 2 events would have run it.')
  t.equal(say(), 'Saved as v1. On. There is no event “deal won” yet.')
})

t.test('a number that is not filled in has no words', async (t) => {
  t.equal(
    describeCondition({ field: 'amount', operator: 'greater_than', value: null } as never),
    'amount is above',
  )
  t.equal(
    describeCondition({ field: 'amount', operator: 'between', value: [null, null] } as never),
    'amount is between',
  )
  t.match(describeCondition({ field: 'amount', operator: 'equals', value: null } as never), /null/)
})
