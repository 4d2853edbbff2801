import { findScheduleFaults } from '@automation/engine'
import fc from 'fast-check'
import t from 'tap'
import { nameClock, writeRun } from '../../../pages/logic/editing/format-run.js'
import { listTicks } from '../../../pages/logic/editing/list-ticks.js'
import {
  changeScheduleKind,
  describeSchedule,
  readSchedule,
  type ScheduleKind,
  writeCron,
} from '../../../pages/logic/editing/schedule-kinds.js'

const timezone = 'Europe/Berlin'
const of = (cron: string) => ({ cron, timezone })

t.test('a schedule is told in words', async (t) => {
  for (const [cron, words] of [
    ['0 9 * * 1-5', 'every weekday at 09:00'],
    ['30 18 * * 0,6', 'every Saturday and Sunday at 18:30'],
    ['0 9 * * 7', 'every Sunday at 09:00'],
    ['0 9 * * 5-7', 'every Friday, Saturday and Sunday at 09:00'],
    ['5 7 * * *', 'every day at 07:05'],
    ['0 0 31 * *', 'every month on day 31 at 00:00'],
    ['15 * * * *', 'every hour at minute 15'],
    ['*/15 9-17 * * 1-5', 'by cron */15 9-17 * * 1-5'],
    ['0 9 1 1 *', 'by cron 0 9 1 1 *'],
    ['0 9 L * *', 'by cron 0 9 L * *'],
    ['0 9 0 * *', 'by cron 0 9 0 * *'],
  ] as const)
    t.equal(describeSchedule(of(cron)), `${words}, ${timezone}`)
  t.equal(describeSchedule({ every: '15m', catchUp: 'none' }), 'every 15m, not after an outage')
})

t.test('what has chips of its own is written as it was read', async (t) => {
  const kinds: ScheduleKind[] = ['hourly', 'daily', 'weekly', 'monthly']
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 }),
      fc.integer({ min: 1, max: 31 }),
      (kind, hour, minute, days, date) => {
        const time = `${hour}`.padStart(2, '0').concat(':', `${minute}`.padStart(2, '0'))
        const cron = writeCron({ kind, time, days, date })
        const told = readSchedule(of(cron))
        t.strictSame(findScheduleFaults(of(cron)), [], cron)
        t.equal(told.kind, kind, cron)
        t.equal(writeCron(told), cron)
      },
    ),
  )
})

t.test('another kind keeps what both have', async (t) => {
  const noon = { ...of('30 12 * * *'), catchUp: 'none' as const }
  t.strictSame(changeScheduleKind(noon, 'weekly', 'UTC'), { ...noon, cron: '30 12 * * 1-5' })
  t.strictSame(changeScheduleKind(noon, 'cron', 'UTC'), noon)
  t.strictSame(changeScheduleKind(noon, 'every', 'UTC'), { every: '15m', catchUp: 'none' })
  t.strictSame(changeScheduleKind({ every: '1h' }, 'daily', 'UTC'), { cron: '0 9 * * *', timezone: 'UTC' })
})

t.test('the next time is the same on every screen, with its clock', async (t) => {
  const [tick] = listTicks(of('0 9 * * 1-5'), Date.parse('2026-11-27T12:00:00Z'), 1).ticks
  const berlin = { timezone: 'Europe/Berlin' }
  t.equal(writeRun('2026-11-30T08:00:00Z', berlin), `${tick?.time}, Berlin time`)
  t.equal(writeRun('2026-11-30T08:00:00Z', {}), 'Mon, Nov 30, 08:00, UTC')
  t.equal(nameClock({ timezone: 'America/New_York' }), 'New York time')
})

t.test('the next times are those of the service, by the clock of the zone', async (t) => {
  const { ticks } = listTicks(of('30 2 * * *'), Date.parse('2026-03-27T12:00:00Z'), 3)
  t.strictSame(
    ticks.map(({ time }) => time),
    ['Sat, Mar 28, 02:30', 'Sun, Mar 29, 03:00', 'Mon, Mar 30, 02:30'],
  )
  t.match(ticks[1]?.clockChange, '02:30 does not exist on this day')
  t.match(listTicks(of('0 9 * *'), 0, 3), { fault: String, ticks: { length: 0 } })
})
