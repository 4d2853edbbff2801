import t from 'tap'
import { runMemoryStorm } from './storm/memory.js'

// `npm run storm -- --memory --seed` repeats it.
const { TEST_SEED = '20261121', TEST_LONG } = process.env
const size = TEST_LONG ? { events: 6_000, faults: 20 } : { events: 300, faults: 2 }

t.test(
  'under faults no key has more than its limits, none starves, and no two executions of it overlap',
  async (t) => {
    const report = await runMemoryStorm({ seed: Number(TEST_SEED), ...size })
    t.strictSame(report.violations, [])
    t.ok(report.suppressed > size.events, `${report.suppressed} were suppressed`)
    t.ok(report.replaced > 0, `${report.replaced} were replaced`)
  },
)
