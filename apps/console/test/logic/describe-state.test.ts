import t from 'tap'
import { describeState } from '../../pages/logic/describe-state.js'

t.test('the first line of Today names what is wrong, and never more than is known', async (t) => {
  const none = { failed: 0, rejectedWebhooks: 0 }
  t.strictSame(describeState(none, 0), { tone: 'good', text: 'All well' })
  t.strictSame(describeState(none, undefined), { tone: '', text: 'No execution failed' })
  t.strictSame(describeState({ failed: 3, rejectedWebhooks: 2 }, 1), {
    tone: 'bad',
    text: '1 rule needs attention',
  })
  t.strictSame(describeState({ failed: 1, rejectedWebhooks: 2 }, 0), {
    tone: 'bad',
    text: '1 execution failed, 2 webhooks were refused',
  })
  t.strictSame(describeState({ failed: 0, rejectedWebhooks: 1 }, undefined), {
    tone: 'bad',
    text: '1 webhook was refused',
  })
})
