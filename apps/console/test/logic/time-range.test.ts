import t from 'tap'
import { formatDay, readMoment, timeOfId, writeMoment } from '../../pages/logic/format-time.js'
import { rangeOfSlices, readShownRange } from '../../pages/logic/time-range.js'

const now = Date.parse('2026-11-27T12:07:33Z')
const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())

t.test('a span begins at a whole slice, and nothing of it is missing', async (t) => {
  for (const [last, from, slices] of [
    ['1h', '2026-11-27T11:06:00.000Z', 31],
    ['24h', '2026-11-26T12:00:00.000Z', 49],
    ['7d', '2026-11-20T12:00:00.000Z', 57],
    ['30d', '2026-10-28T12:00:00.000Z', 61],
  ] as const) {
    const range = readShownRange({ last }, '24h', now)
    t.match(range, { to: undefined, slices })
    t.equal(iso(range.from), from, last)
    t.ok(range.counted.to >= now, 'the chart reaches until now')
  }
})

t.test(
  'a list and its chart end where the address says, and a `to` alone does not open the past',
  async (t) => {
    const range = readShownRange({ last: '1h', to: '2026-11-20T10:00:00Z' }, '24h', now)
    t.strictSame([iso(range.from), iso(range.to)], ['2026-11-20T09:00:00.000Z', '2026-11-20T10:00:00.000Z'])
    t.strictSame(range.counted, { from: range.from, to: range.to })
    const own = readShownRange({ from: '2026-11-20T10:00:00Z', to: '2026-11-20T13:00:00Z' }, '24h', now)
    t.equal(own.slices, 36, 'five minutes each')
    const open = readShownRange({ from: '2026-11-20T10:00:00Z' }, '24h', now)
    t.strictSame([open.to, open.counted.to], [undefined, now])
    const long = readShownRange({ from: '2026-01-01', to: '2026-11-01' }, '24h', now)
    t.equal(iso(long.counted.from), '2026-10-01T00:00:00.000Z', 'the chart has the last 31 days of it')
    t.equal(iso(long.from), '2026-01-01T00:00:00.000Z')
    const backwards = readShownRange({ from: '2026-11-20', to: '2026-11-10' }, '24h', now)
    t.ok(backwards.from < (backwards.to ?? 0), 'no address makes a range that the API refuses')
    t.match(readShownRange({ from: 'x', to: 'y' }, '24h', now), { to: undefined, slices: 49 })
  },
)

t.test('a bar leads to its own time, and a drag to that of all its bars', async (t) => {
  const range = readShownRange({ last: '24h' }, '24h', now)
  t.strictSame(rangeOfSlices(range, 2, 2), {
    from: '2026-11-26T13:00:00.000Z',
    to: '2026-11-26T13:30:00.000Z',
  })
  t.strictSame(rangeOfSlices(range, 3, 2), {
    from: '2026-11-26T13:00:00.000Z',
    to: '2026-11-26T14:00:00.000Z',
  })
})

t.test('a moment is typed by a clock of 24 hours, in the zone of the page', async (t) => {
  const today = new Date(now)
  t.equal(readMoment('13:17', 'UTC', today), '2026-11-27T13:17:00.000Z')
  t.equal(readMoment('2026-11-20', 'UTC', today), '2026-11-20T00:00:00.000Z')
  t.equal(readMoment(' 2026-11-20 9:05:07 ', 'UTC', today), '2026-11-20T09:05:07.000Z')
  for (const text of ['', 'x', '2026-02-31', '25:00', '2026-11-20 12', '1:17 PM'])
    t.equal(readMoment(text, 'UTC', today), undefined, text)
  t.equal(writeMoment('2026-11-20T13:17:00.000Z', 'UTC'), '2026-11-20 13:17')
  t.equal(writeMoment('2026-11-20T13:17:09.000Z', 'UTC'), '2026-11-20 13:17:09')
  t.equal(writeMoment(undefined, 'UTC'), '')
  for (const zone of ['UTC', 'local'] as const)
    t.equal(
      readMoment(writeMoment('2026-11-20T13:17:00.000Z', zone), zone, today),
      '2026-11-20T13:17:00.000Z',
    )
})

t.test('a day near today has a word', async (t) => {
  const day = (text: string) => formatDay(text, 'UTC', new Date(now))
  t.equal(day('2026-11-28T09:00:00Z'), 'tomorrow 09:00')
  t.equal(day('2026-11-27T09:00:00Z'), 'today 09:00')
  t.equal(day('2026-11-26T23:59:00Z'), 'yesterday 23:59')
  t.equal(day('2026-11-30T09:00:00Z'), 'Nov 30, 09:00')
  t.equal(timeOfId('019abcde-f012-7000-8000-000000000000'), 0x019abcdef012)
})
