import t from 'tap'
import { describeClockChange, describeTick, findScheduleFaults, nextTick } from '../../src/index.js'

/** The local times of the next ticks after a moment. */
function next(schedule: Parameters<typeof nextTick>[0], after: string, count: number): string[] {
  let at = Date.parse(after)
  return Array.from({ length: count }, () => {
    at = nextTick(schedule, at) ?? Number.NaN
    return describeTick(schedule, at, 0).localTime.replace(':00.000', '')
  })
}

t.test('a time of the clock comes once in an hour that exists twice', async (t) => {
  const schedule = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
  t.strictSame(next(schedule, '2026-10-24T12:00:00Z', 2), [
    '2026-10-25T02:30+02:00',
    '2026-10-26T02:30+01:00',
  ])
})

t.test('times of the clock that do not exist are one tick, at the first moment after them', async (t) => {
  const timezone = 'Europe/Berlin'
  t.strictSame(next({ cron: '0,15,30 2 * * *', timezone }, '2026-03-28T12:00:00Z', 2), [
    '2026-03-29T03:00+02:00',
    '2026-03-30T02:00+02:00',
  ])
  t.strictSame(next({ cron: '30 2,3 * * *', timezone }, '2026-03-29T00:00:00Z', 3), [
    '2026-03-29T03:00+02:00',
    '2026-03-29T03:30+02:00',
    '2026-03-30T02:30+02:00',
  ])
  t.strictSame(
    next({ cron: '0 2,3 * * *', timezone }, '2026-03-29T00:00:00Z', 2),
    ['2026-03-29T03:00+02:00', '2026-03-30T02:00+02:00'],
    'also where that moment is a tick itself',
  )
  t.strictSame(
    next({ cron: '0 0 * * *', timezone: 'America/Sao_Paulo' }, '2018-11-03T12:00:00Z', 2),
    ['2018-11-04T01:00-02:00', '2018-11-05T00:00-02:00'],
    'a midnight that does not exist',
  )
})

t.test('a tick in an hour that exists twice says which time it is, from the change on the second', (t) => {
  const hourly = { cron: '0 * * * *', timezone: 'Europe/Berlin' }
  const tell = (time: string) =>
    /first|second/.exec(describeClockChange(hourly, Date.parse(`2026-10-25T${time}Z`)) ?? '')?.[0]
  t.strictSame(
    ['23:00', '00:00', '00:59', '01:00', '01:59', '02:00'].map((time) => tell(time)),
    [undefined, 'first', undefined, 'second', undefined, undefined],
  )
  t.end()
})

t.test('expressions that begin with a star go on in real time', async (t) => {
  const quarters = { cron: '*/15 * * * *', timezone: 'Europe/Berlin' }
  for (const day of ['2026-03-29', '2026-10-25']) {
    let at = Date.parse(`${day}T00:00:00Z`)
    for (let count = 0; count < 12; count++) {
      const following = nextTick(quarters, at) as number
      t.equal(following - at, 900_000)
      at = following
    }
  }
  t.strictSame(next({ cron: '0 * * * *', timezone: 'Europe/Berlin' }, '2026-10-24T23:00:00Z', 3), [
    '2026-10-25T02:00+02:00',
    '2026-10-25T02:00+01:00',
    '2026-10-25T03:00+01:00',
  ])
})

t.test('every counts from 1970, whenever somebody asks', async (t) => {
  const schedule = { every: '15m' }
  t.strictSame(next(schedule, '2026-03-29T00:59:59.999Z', 2), [
    '2026-03-29T01:00+00:00',
    '2026-03-29T01:15+00:00',
  ])
  t.strictSame(next(schedule, '2026-03-29T01:00:00Z', 1), ['2026-03-29T01:15+00:00'], 'strictly after')
  t.strictSame(next({ every: '1d' }, '2026-03-29T01:00:00Z', 1), ['2026-03-30T00:00+00:00'])
})

t.test('a tick says when it was due, also on the clock of its zone', async (t) => {
  const at = Date.parse('2026-03-30T07:00:00Z')
  t.strictSame(describeTick({ cron: '0 9 * * *', timezone: 'Europe/Berlin' }, at, 3), {
    scheduledAt: '2026-03-30T07:00:00.000Z',
    localTime: '2026-03-30T09:00:00.000+02:00',
    missed: 3,
  })
})

t.test('a schedule that is none is refused with what to write', async (t) => {
  const timezone = 'Europe/Berlin'
  const faults: [object, string, RegExp][] = [
    [{}, 'schedule', /^Must have cron with timezone, or every$/],
    [{ cron: '0 9 * * *' }, 'schedule.timezone', /^Required with cron$/],
    [{ cron: '0 9 * * *', timezone, every: '1h' }, 'schedule.every', /^Must be omitted with cron$/],
    [{ every: '1h', timezone }, 'schedule.timezone', /^Must be omitted with every$/],
    [{ every: '30s' }, 'schedule.every', /^Must be at least one minute$/],
    [{ every: '1.5h' }, 'schedule.every', /^Must be a duration/],
    [{ cron: '0 9 * * *', timezone: 'Europe/Atlantis' }, 'schedule.timezone', /^Must be an IANA time zone/],
    [{ cron: '0 9 * * *', timezone: '+02:00' }, 'schedule.timezone', /^Must be an IANA time zone/],
    [{ cron: '0 0 30 2 *', timezone }, 'schedule.cron', /^Must match a date/],
    [{ cron: '0 0 31 4,6 *', timezone }, 'schedule.cron', /^Must match a date/],
    [{ cron: '* * * * * *', timezone }, 'schedule.cron', /^Must have five fields .*Seconds and years/],
    [{ cron: '0 0 9 * * * 2027', timezone }, 'schedule.cron', /^Must have five fields .*Seconds and years/],
    [{ cron: '@daily', timezone }, 'schedule.cron', /^Must have five fields: write 0 0 \* \* \*$/],
    [{ cron: '@reboot', timezone }, 'schedule.cron', /^Must have five fields \(/],
    [{ cron: '60 9 * * *', timezone }, 'schedule.cron', /^Must have a valid minute: 60 is none$/],
    [{ cron: '0 24 * * *', timezone }, 'schedule.cron', /^Must have a valid hour: 24 is none$/],
    [{ cron: '0 0 15W * *', timezone }, 'schedule.cron', /^Must have a valid day of the month: 15W is none$/],
    [{ cron: '0 0 ? * *', timezone }, 'schedule.cron', /^Must have a valid day of the month/],
    [{ cron: '0 9 * FOO *', timezone }, 'schedule.cron', /^Must have a valid month: FOO is none$/],
    [{ cron: '0 9 * * 8', timezone }, 'schedule.cron', /^Must have a valid day of the week: 8 is none$/],
    [{ cron: '0 22-2 * * *', timezone }, 'schedule.cron', /^Must have a valid hour: 22-2 is none$/],
    [{ cron: '', timezone }, 'schedule.cron', /^Must have five fields/],
  ]
  for (const [schedule, field, message] of faults) {
    const [fault] = findScheduleFaults(schedule)
    t.match(fault, { field, message }, JSON.stringify(schedule))
  }
  for (const schedule of [
    { cron: '0 9 * * MON-FRI', timezone },
    { cron: '0 0 29 2 *', timezone: 'UTC' },
    { every: '1m' },
    { cron: ' 0  9 L * * ', timezone },
  ])
    t.strictSame(findScheduleFaults(schedule), [], JSON.stringify(schedule))
})

t.test('decades between two ticks take no time to find', async (t) => {
  // The 29th of February is a Monday in 2044.
  const schedule = { cron: '*/5 * * 2 1#5', timezone: 'Europe/Berlin' }
  nextTick(schedule, Date.UTC(2026, 0))
  const startedAt = process.cpuUsage()
  const at = nextTick(schedule, Date.UTC(2026, 0))
  const ms = process.cpuUsage(startedAt).user / 1_000
  t.equal(describeTick(schedule, at as number, 0).localTime, '2044-02-29T00:00:00.000+01:00')
  t.ok(ms < 150, `${ms} ms`)
})
