import t from 'tap'
import { partsOfExecutions } from '../../pages/logic/parts-of-executions.js'

t.test('the lines under the executions add up to their number, the suppressed ones included', async (t) => {
  const ended = { succeeded: 288, failed: 71, cancelled: 1, suppressed: 32 }
  const open = { waiting: 57, leased: 2, overdue: 4 }
  const deliveries = { begun: 5, succeeded: 2, failed: 1, cancelled: 1, unfinished: 1 }
  const begun = Object.values(ended).reduce((sum, count) => sum + count, open.waiting + open.leased)
  const parts = partsOfExecutions({ begun, ...ended, ...open, deliveries })
  t.equal(
    parts.reduce((sum, [count]) => sum + count, 0),
    begun,
  )
  t.match(parts, [
    [286, 'of rules succeeded'],
    [70, 'of rules failed'],
    [0, 'of rules cancelled'],
    [32, 'of rules suppressed'],
  ])
})
