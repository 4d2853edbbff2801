import fc from 'fast-check'
import t from 'tap'
import {
  compileCondition,
  Evaluation,
  findHoursFault,
  findNextInside,
  findRuleFaults,
  findWaitEnd,
  isInside,
  readHours,
} from '../src/index.js'

const office = { days: 'mon-fri', from: '09:00', to: '17:00', timezone: 'Europe/Berlin' }
const night = { days: 'fri', from: '22:00', to: '06:00', timezone: 'Europe/Berlin' }

function insideAt(hours: typeof office, text: string): boolean {
  return isInside(readHours(hours), Date.parse(text))
}

function nextAt(hours: typeof office, text: string): string {
  return new Date(findNextInside(readHours(hours), Date.parse(text)) ?? Number.NaN).toISOString()
}

t.test('hours begin with from, and end before to, on the clock of their zone', async (t) => {
  t.equal(insideAt(office, '2026-07-01T06:59:59.999Z'), false)
  t.equal(insideAt(office, '2026-07-01T07:00:00Z'), true)
  t.equal(insideAt(office, '2026-07-01T14:59:59.999Z'), true)
  t.equal(insideAt(office, '2026-07-01T15:00:00Z'), false)
  t.equal(insideAt(office, '2026-12-01T07:30:00Z'), false, 'in winter the clock is an hour behind')
  t.equal(insideAt(office, '2026-07-04T10:00:00Z'), false, 'a Saturday')
  const whole = { ...office, days: 'sat,sun', from: '00:00', to: '24:00' }
  t.equal(insideAt(whole, '2026-07-04T21:59:59Z'), true)
  t.equal(insideAt(whole, '2026-07-03T21:59:59Z'), false)
})

t.test('a night belongs to the day on which it begins', async (t) => {
  t.equal(insideAt(night, '2026-07-03T20:00:00Z'), true, 'Friday at 22:00')
  t.equal(insideAt(night, '2026-07-04T03:59:00Z'), true, 'Saturday at 05:59')
  t.equal(insideAt(night, '2026-07-04T20:00:00Z'), false, 'Saturday at 22:00')
  t.equal(insideAt(night, '2026-07-03T03:00:00Z'), false, 'Friday at 05:00')
  t.equal(insideAt({ ...night, days: 'sat-mon' }, '2026-07-07T03:00:00Z'), true, 'the night to Tuesday')
})

t.test('the next moment inside is the same moment, or the next one at which the hours begin', async (t) => {
  t.equal(nextAt(office, '2026-07-01T08:00:00.123Z'), '2026-07-01T08:00:00.123Z')
  t.equal(nextAt(office, '2026-07-01T15:00:00Z'), '2026-07-02T07:00:00.000Z')
  t.equal(nextAt(office, '2026-07-03T15:00:00Z'), '2026-07-06T07:00:00.000Z', 'over the weekend')
  t.equal(nextAt(night, '2026-07-04T04:00:00Z'), '2026-07-10T20:00:00.000Z')
  const gap = { ...office, days: 'sun', from: '02:30', to: '12:00' }
  t.equal(nextAt(gap, '2026-03-28T12:00:00Z'), '2026-03-29T01:00:00.000Z', 'the first moment after a gap')
  const swallowed = { ...gap, to: '02:45' }
  t.equal(
    nextAt(swallowed, '2026-03-28T12:00:00Z'),
    '2026-04-05T00:30:00.000Z',
    'no clock shows them on that day',
  )
  const repeated = { ...office, days: 'sun', from: '02:00', to: '02:30' }
  t.equal(
    nextAt(repeated, '2026-10-25T00:40:00Z'),
    '2026-10-25T01:00:00.000Z',
    'in an hour that exists twice',
  )
})

/** What a clock shows, by another way than that of the engine. */
function clockOf(timezone: string, at: number) {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(at)
  const part = (name: string) => parts.find(({ type }) => type === name)?.value ?? ''
  return { day: part('weekday').toLowerCase(), time: `${part('hour')}:${part('minute')}` }
}

const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

t.test(
  'property: around changes of the clocks, hours are what a clock shows, and the next moment is the first',
  async () => {
    const moments: [string, number][] = [
      ['Europe/Berlin', Date.UTC(2026, 2, 29, 1)],
      ['Europe/Berlin', Date.UTC(2026, 9, 25, 1)],
      ['America/Sao_Paulo', Date.UTC(2018, 10, 4, 3)],
      ['Australia/Lord_Howe', Date.UTC(2026, 3, 4, 15)],
      ['Australia/Lord_Howe', Date.UTC(2026, 9, 3, 15, 30)],
      ['Asia/Beirut', Date.UTC(2026, 2, 28, 22)],
    ]
    const time = fc
      .integer({ min: 0, max: 95 })
      .map(
        (quarter) =>
          `${String(Math.floor(quarter / 4)).padStart(2, '0')}:${String((quarter % 4) * 15).padStart(2, '0')}`,
      )
    fc.assert(
      fc.property(
        fc.constantFrom(...moments),
        fc.subarray(names, { minLength: 1 }),
        time,
        time,
        fc.integer({ min: -1_800, max: 1_800 }),
        ([timezone, change], days, from, to, minutes) => {
          fc.pre(from !== to)
          const hours = readHours({ days: days.join(), from, to, timezone })
          const isShown = (at: number) => {
            const { day, time } = clockOf(timezone, at)
            const before = names[(names.indexOf(day) + 6) % 7] as string
            if (from < to) return days.includes(day) && from <= time && time < to
            return (days.includes(day) && time >= from) || (days.includes(before) && time < to)
          }
          const at = change + minutes * 60_000
          if (isInside(hours, at) !== isShown(at)) return false
          const next = findNextInside(hours, at)
          if (next === null || !isShown(next)) return false
          // No quarter of an hour before it is inside: hours begin and end with one, and so do changes of the clocks.
          for (
            let moment = at;
            moment < next && moment < at + 2 * 86_400_000;
            moment += 15 * 60_000 - (moment % (15 * 60_000))
          )
            if (isShown(moment)) return false
          return true
        },
      ),
      { numRuns: process.env.TEST_LONG ? 5_000 : 400 },
    )
  },
)

t.test('a condition asks for the moment of the evaluation, and says how far outside it was', async (t) => {
  const condition = compileCondition({ time: office })
  const at = (text: string) => new Evaluation(Date.parse(text))
  t.equal(condition.holds({}, at('2026-07-01T10:00:00Z')), true)
  t.equal(condition.holds({}, at('2026-07-01T05:00:00Z')), false)
  t.match(condition.explain({}, at('2026-07-01T05:00:00Z'), at('2026-07-01T05:00:00Z')), {
    field: 'time',
    operator: 'inside',
    expected: office,
    actual: 'Wednesday 2026-07-01T07:00:00.000+02:00',
    verdict: false,
    distanceMs: 7_200_000,
  })
  t.equal(compileCondition({ not: { time: office } }).holds({}, at('2026-07-01T05:00:00Z')), true)
})

t.test('hours that are none are refused, and those of an item', async (t) => {
  t.match(findHoursFault({ ...office, to: '09:00' }), { field: 'to', message: /^must be another time/ })
  t.match(findHoursFault({ ...office, timezone: 'Mars/Base' }), { field: 'timezone' })
  const faults = (conditions: object[]) => findRuleFaults({ conditions, actions: [] })
  t.strictSame(faults([{ time: office }]), [])
  t.match(faults([{ time: { ...office, timezone: 'Mars' } }]), [
    { field: 'conditions[0].time.timezone', message: 'Must be an IANA time zone such as Europe/Berlin' },
  ])
  t.match(faults([{ some: 'items', that: [{ time: office }] }]), [
    { field: 'conditions[0].that[0].time', message: /about the event/ },
  ])
  const emit = {
    type: 'EMIT_EVENT',
    config: { eventType: 'A', forEach: 'items', where: [{ time: office }], data: {} },
  }
  t.match(findRuleFaults({ conditions: [], actions: [emit] }), [{ field: 'actions[0].config.where[0].time' }])
  const wait = { type: 'WAIT', config: { duration: '1h', time: { ...office, to: '09:00' } } }
  t.match(findRuleFaults({ conditions: [], actions: [wait] }), [{ field: 'actions[0].config.time.to' }])
})

t.test('a WAIT ends at the next moment within its hours', async (t) => {
  const end = (config: object, text: string) => {
    const found = findWaitEnd(config as never, Date.parse(text))
    return 'end' in found ? new Date(found.end).toISOString() : found.fault
  }
  t.equal(end({ duration: '1h', time: office }, '2026-07-01T10:00:00Z'), '2026-07-01T11:00:00.000Z')
  t.equal(end({ duration: '8h', time: office }, '2026-07-03T10:00:00Z'), '2026-07-06T07:00:00.000Z')
  t.equal(
    end({ until: '2026-07-04', offset: '+1h', time: office }, '2026-07-01T10:00:00Z'),
    '2026-07-06T07:00:00.000Z',
  )
  const past = (text: string) => findWaitEnd({ until: '2026-07-01', time: office } as never, Date.parse(text))
  t.strictSame(past('2026-07-04T10:00:00Z'), {
    end: Date.parse('2026-07-06T07:00:00Z'),
    past: Date.parse('2026-07-01'),
    warning:
      'config.until: 2026-07-01T00:00:00.000Z is past, so config.time alone decides when the WAIT ends',
  })
  t.match(past('2026-07-03T10:00:00Z'), {
    end: Date.parse('2026-07-03T10:00:00Z'),
    warning: /so the next action follows at once$/,
  })
})
