import t from 'tap'
import { runWaitsStorm } from './storm/waits.js'

// `npm run storm -- --waits --seed` repeats it.
const { TEST_SEED = '20261121', TEST_LONG } = process.env
const size = TEST_LONG ? { races: 2_000, faults: 20 } : { races: 150, faults: 3 }

t.test(
  'events and people that race with the registration and the deadline of a WAIT are not missed, and end it once',
  async (t) => {
    const report = await runWaitsStorm({ seed: Number(TEST_SEED), ...size })
    t.strictSame(report.violations, [])
    t.ok(report.endedByEvent > size.races / 4, `${report.endedByEvent} were ended by an event`)
    t.ok(report.endedByTime > size.races / 4, `${report.endedByTime} were ended by time`)
    t.ok(report.decided > size.races / 8, `${report.decided} were decided`)
    t.ok(report.expired > size.races / 8, `${report.expired} expired`)
  },
)
