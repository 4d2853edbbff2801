import t from 'tap'
import { formatOverview } from '../src/client/format-overview.js'

const at = (minute: string) => `2026-11-29T22:${minute}:00.000Z`
const none = { events: 0, succeeded: 0, failed: 0, cancelled: 0, unfinished: 0, p95Ms: null }

t.test('an overview shows totals, failures by rule, and the times with any', async (t) => {
  const text = formatOverview({
    from: at('00'),
    to: at('59'),
    countedFrom: at('00'),
    totals: { ...none, events: 2, failed: 1, unprocessed: 0, oldestUnprocessedAt: null, rejectedWebhooks: 3 },
    slices: [
      { from: at('00'), ...none },
      { from: at('30'), ...none, events: 2, failed: 1, p95Ms: 20 },
    ],
    failures: [
      {
        ruleId: 'r-1',
        ruleName: 'Tell CRM',
        error: 'ENOTFOUND',
        count: 1,
        firstAt: at('31'),
        lastAt: at('31'),
        newestId: 'x-1',
        acknowledgement: null,
      },
    ],
    redis: 'ok',
  })
  t.match(text, /^rejectedWebhooks +3$/m)
  t.match(text, /^1 +Tell CRM +r-1 +ENOTFOUND +2026-11-29 22:31:00Z +x-1$/m)
  t.match(text, /^2026-11-29 22:30:00Z +2 +0 +1 +0 +0 +20$/m)
  t.notMatch(text, /22:00:00Z +0/)
})
