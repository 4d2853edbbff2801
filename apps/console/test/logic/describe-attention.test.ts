import t from 'tap'
import { describeAttention } from '../../pages/logic/describe-attention.js'

const item = {
  reason: 'failures' as const,
  since: '2026-11-27T01:04:43.000Z',
  lastFailureAt: '2026-11-27T01:06:11.000Z',
  failuresInARow: 150,
  failureCount: 171,
}

t.test('a rule that fails says how often in a row, and since the first of them', async (t) => {
  t.strictSame(describeAttention(item), {
    text: 'failed 150 times in a row',
    word: 'since',
    at: item.since,
  })
  t.strictSame(describeAttention({ ...item, failuresInARow: 0 }), {
    text: 'has failed 171 times',
    word: 'last',
    at: item.lastFailureAt,
  })
  t.match(describeAttention({ ...item, reason: 'auto_paused' }), { word: 'since', at: item.since })
  t.strictSame(describeAttention({ ...item, reason: 'recent_failure', failuresInARow: 2 }), {
    text: 'failed in its latest execution',
    word: 'last',
    at: item.lastFailureAt,
  })
  const later = { ...item, reason: 'of_a_later_version' as 'failures' }
  t.match(describeAttention(later), { text: 'needs attention: of_a_later_version' })
})
