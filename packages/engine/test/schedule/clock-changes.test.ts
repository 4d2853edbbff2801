import t from 'tap'
import { frequentExpressions, oracleZones, rareExpressions } from './expressions.js'
import { listTicks } from './list-ticks.js'
import { MinuteOracle } from './minute-oracle.js'

const minuteMs = 60_000
const dayMs = 86_400_000
const seed = Number.parseInt(process.env.TEST_SEED ?? '1', 16)

/** Around one change of the clocks, of all pairs of change and expression. */
const share = process.env.TEST_LONG ? 1 : 12

function listDays(zone: string): number[] {
  const days: number[] = []
  const offsets = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offsetOf = (at: number) =>
    offsets.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value
  for (let day = Date.UTC(2018, 0); day < Date.UTC(2031, 0); day += dayMs)
    if (offsetOf(day) !== offsetOf(day + dayMs)) days.push(day)
  return days
}

for (const zone of oracleZones)
  t.test(
    `around each change of the clocks of ${zone}, ticks are those of a clock that is looked at each minute`,
    async (t) => {
      const days = listDays(zone)
      t.ok(days.length >= 2, 'the clocks are changed')
      let compared = 0
      for (const [place, day] of days.entries()) {
        const [from, to] = [day - dayMs / 2, day + 1.5 * dayMs]
        let oracle: MinuteOracle | undefined
        for (const [index, cron] of [...rareExpressions, ...frequentExpressions].entries()) {
          if ((index + place + seed) % share !== 0) continue
          // A day before, so that the oracle has seen the clock.
          oracle ??= new MinuteOracle(zone, from - dayMs, (to - from + dayMs) / minuteMs)
          const expected = oracle.list(cron).filter((at) => at >= from)
          const found = listTicks(cron, zone, from, to)
          compared += expected.length
          if (String(found) !== String(expected))
            t.strictSame(found.map(show), expected.map(show), `${cron} in ${zone} around ${show(day)}`)
        }
      }
      t.ok(compared > 20, `${compared} ticks were compared`)
    },
  )

function show(at: number): string {
  return new Date(at).toISOString()
}
