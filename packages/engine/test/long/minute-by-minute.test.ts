import t from 'tap'
import { oracleZones, rareExpressions } from '../schedule/expressions.js'
import { listTicks } from '../schedule/list-ticks.js'
import { MinuteOracle } from '../schedule/minute-oracle.js'

const { TEST_LARGE, TEST_SEED = '1' } = process.env
const [from, to] = [Date.UTC(2018, 0), Date.UTC(2031, 0)]
const minuteMs = 60_000
/** Each takes some minutes. */
const zones = TEST_LARGE
  ? oracleZones
  : [oracleZones[Number.parseInt(TEST_SEED, 16) % oracleZones.length] as string]

for (const zone of zones)
  t.test(
    `the ticks in ${zone}, from 2018 to 2030, are those of a clock that is looked at each minute`,
    { timeout: 1_800_000 },
    async (t) => {
      const oracle = new MinuteOracle(zone, from, (to - from) / minuteMs)
      for (const cron of rareExpressions) {
        const expected = oracle.list(cron)
        const found = listTicks(cron, zone, from, to)
        const wrong = expected.findIndex((at, index) => at !== found[index])
        t.equal(found.length, expected.length, cron)
        t.equal(
          wrong,
          -1,
          `${cron}: ${wrong === -1 ? 'all are equal' : new Date(expected[wrong] ?? 0).toISOString()}`,
        )
      }
    },
  )
