import t from 'tap'
import { describeState } from '../../pages/logic/describe-state.js'

const none = {
  ...{ events: 12, succeeded: 30, failed: 0, cancelled: 1, unfinished: 2, unprocessed: 0 },
  rejectedWebhooks: 0,
}
const at = (iso: string) => iso.slice(11, 16)
const failing = (since: string) => ({ reason: 'failures' as const, since: `2026-11-27T${since}:00Z` })

t.test('the first line of the overview names what is wrong, and never more than is known', async (t) => {
  const describe = (totals: Partial<typeof none>, needing?: Parameters<typeof describeState>[1]) =>
    describeState({ ...none, ...totals }, needing, at)
  t.same(describe({}, []), { tone: 'good', text: 'All well: 12 events, 33 executions, none failed' })
  t.same(describe({}), { tone: '', text: '12 events, 33 executions, none failed' })
  t.same(describe({ failed: 505, succeeded: 5_287 }, [failing('02:10'), failing('01:04')]), {
    tone: 'bad',
    text: '2 rules have been failing since 01:04, 505 of 5,795 executions failed',
  })
  t.equal(describe({ failed: 1 }, []).text, '1 of 34 executions failed')
  const seen = (needing: Parameters<typeof describeState>[1], acknowledged: number) =>
    describeState({ ...none, failed: 2 }, needing, at, acknowledged)
  t.same(seen([], 2), { tone: '', text: '2 of 35 executions failed, all acknowledged' })
  t.same(seen([], 1), { tone: 'bad', text: '2 of 35 executions failed' })
  t.same(seen([{ reason: 'silent', since: '' }], 2), {
    tone: 'bad',
    text: '1 rule needs attention',
    note: '2 of 35 executions failed, all acknowledged',
  })
  const recent = { reason: 'recent_failure' as const, since: '2026-11-27T01:00:00Z' }
  t.equal(describe({ failed: 1 }, [recent]).text, '1 of 34 executions failed', 'a failure is named once')
  t.equal(describe({}, [recent]).text, '1 rule needs attention', 'it failed before the time that is shown')
  t.equal(seen([recent], 2).text, '1 rule needs attention')
  t.equal(describe({}, [{ reason: 'silent', since: '' }]).text, '1 rule needs attention')
  t.equal(
    describe({ rejectedWebhooks: 2 }, [failing('01:04'), { reason: 'silent', since: '' }]).text,
    '1 rule has been failing since 01:04, 1 other rule needs attention, 2 webhooks were refused',
  )
})
