import t from 'tap'
import { settleTicks } from '../src/schedules/settle-ticks.js'

const unswept = { sweptSince: null, sweptAt: null }

t.test(
  'a stored schedule in a zone that is none makes no tick, and stays due for a release that knows it',
  async (t) => {
    const now = Date.UTC(2026, 10, 28, 9, 0)
    for (const timezone of ['BST', 'Mars/Base']) {
      const due = { schedule: { cron: '0 9 * * *', timezone }, nextRunAt: now, missed: 2, ...unswept }
      t.strictSame(settleTicks(due, now), {
        nextRunAt: now,
        missed: 2,
        fault: `${timezone} is no IANA time zone`,
      })
    }
    const known = { schedule: { cron: '0 9 * * *', timezone: 'UTC' }, nextRunAt: now, missed: 2, ...unswept }
    t.strictSame(settleTicks(known, now), {
      tick: { at: now, missed: 2 },
      nextRunAt: now + 86_400_000,
      missed: 0,
    })
  },
)
