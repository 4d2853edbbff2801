import t from 'tap'
import { testPage } from '../fixtures/page.js'

await testPage(
  t,
  ['guides/explain.md', 'guides/event-types.md', 'guides/drafts.md'],
  async (t, { answers, shown: [shown, differs] }) => {
    const [hot, , , why, found, , type, , fields] = answers
    const [, , , drafted, promoted, guard] = answers.slice(9)
    t.strictSame(
      why.rules.map(({ name, verdict }: { name: string; verdict: string }) => [name, verdict]),
      [
        ['All leads', 'matched'],
        ['Hot leads', 'not_matched'],
      ],
    )
    const { ruleId, ...missed } = why.rules[1]
    t.equal(ruleId, hot.id)
    t.strictSame(missed, shown)
    t.match(found, { events: [{ id: why.eventId }], scanned: 1, nextCursor: null })
    t.match(type, { name: 'CARD_DECLINED' })
    t.match(drafted.difference, { ...differs, isComplete: true, actions: [{ done: 2 }] })
    t.match(promoted, { version: 2, conditions: [{ value: 500 }] })
    t.match(guard, { version: 2, previousVersion: 1, maxRunsPerHour: 200, trippedAt: null })
    t.match(fields, { events: 1, fields: [{ path: 'amount', kinds: ['number'], smallest: 49.5 }, {}, {}] })
  },
)
