import fc from 'fast-check'
import t from 'tap'
import { findTimeFault, readTime } from '../src/times/read-time.js'

const noon = '2026-03-10T12:00:00.000Z'

function read(value: unknown): string | undefined {
  const instant = readTime(value)
  return Number.isNaN(instant) ? undefined : new Date(instant).toISOString()
}

t.test('all forms of RFC 3339, and those of ISO 8601 beside them, are the same instant', async (t) => {
  for (const text of [
    ...['2026-03-10T12:00:00Z', '2026-03-10T12:00Z', '2026-03-10T12:00:00.000Z', '2026-03-10T12:00:00,0Z'],
    ...['2026-03-10T12:00:00+0000', '2026-03-10T12:00:00-0000', '2026-03-10T12:00:00+00'],
    ...['2026-03-10T17:30:00+05:30', '2026-03-10T17:30:00.000+0530', '2026-03-10T04:00:00-08'],
    ...['2026-03-10t12:00:00z', '2026-03-10T12:00:00z', '2026-03-10t17:30:00+0530'],
    ...['2026-03-10 12:00:00Z', '2026-03-10 12:00:00+00', '2026-03-10 12:00:00.000000+00:00'],
    ...['2026-03-10 13:00:00 +0100', '2026-03-10 12:00:00 UTC', '2026-03-10 12:00:00 GMT'],
    ...['2026-03-10T12:00:00.0001234567890Z', '2026-03-10T12:00:00-00:00', '2026-03-11T11:59:00+23:59'],
  ])
    t.equal(read(text), noon, text)
  t.equal(read('2026-03-10'), '2026-03-10T00:00:00.000Z')
  t.equal(read('2026-03-10 12:00:00.123456+00'), '2026-03-10T12:00:00.123Z')
  t.equal(read('2026-03-10T12:00:00,5Z'), '2026-03-10T12:00:00.500Z')
  t.equal(read('0001-01-01T00:00:00+0000'), '0001-01-01T00:00:00.000Z')
  t.equal(read('1990-12-31T15:59:60-08:00'), '1991-01-01T00:00:00.000Z', 'a leap second')
})

t.test('the dates of mails, feeds and HTTP are instants', async (t) => {
  for (const text of [
    ...['Tue, 10 Mar 2026 12:00:00 +0000', 'Tue, 10 Mar 2026 12:00:00 GMT', 'Tue, 10 Mar 2026 12:00 UT'],
    ...['10 Mar 2026 12:00:00 +0000', 'Tue,10 Mar 2026 17:30:00 +0530', 'tue, 10 MAR 2026 08:30:00 -0330'],
    ...['Tue, 10 Mar 2026 12:00:00 +0000 (UTC)', 'Tue, 10 Mar 2026 12:00:00 -0000', '10 Mar 26 12:00:00 Z'],
    ...['Tue, 10 Mar 2026 07:00:00 EST', 'Tue, 10 Mar 2026 05:00:00 PDT', 'Wed, 11 Mar 2026 01:00:00 +1300'],
  ])
    t.equal(read(text), noon, text)
  t.equal(read('Sun,  1 Mar 2026 00:00:00 +0000'), '2026-03-01T00:00:00.000Z')
  t.equal(read('Sun, 06 Nov 94 08:49:37 GMT'), '1994-11-06T08:49:37.000Z')
  for (const text of [
    'Sat, 31 Dec 2016 23:59:60 +0000',
    'Sat, 31 Dec 2016 18:59:60 EST',
    'Sun, 1 Jan 2017 09:59:60 +1000',
  ])
    t.equal(read(text), '2017-01-01T00:00:00.000Z', text)
})

t.test('a number is seconds or milliseconds by its size, and a small one is no time', async (t) => {
  for (const number of [1_773_144_000, 1_773_144_000_000]) t.equal(read(number), noon)
  t.equal(read(1_795_738_423.217), '2026-11-27T00:13:43.217Z')
  for (const number of [1e8, 1e11]) t.equal(read(number), '1973-03-03T09:46:40.000Z', 'the bands meet')
  t.equal(read(-1e8), '1966-10-31T14:13:20.000Z')
  t.equal(read(99_999_999_999), '5138-11-16T09:46:39.000Z')
  t.equal(read(8.64e15), '+275760-09-13T00:00:00.000Z')
  for (const number of [0, -0, 1, 95, -95, 20_260_310, 99_999_999.9, 8.64e15 + 1, -8.64e15 - 1, 1.7e18])
    t.equal(read(number), undefined, `${number}`)
  fc.assert(
    fc.property(
      fc.double({ noNaN: true }),
      (number) => !(Math.abs(readTime(number)) < 1e11) || Number.isNaN(readTime(number)),
    ),
  )
})

t.test('seconds with decimals are the millisecond that was written', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1e11, max: 1e13 }),
      (ms) => readTime(Number(`${Math.floor(ms / 1_000)}.${String(ms % 1_000).padStart(3, '0')}`)) === ms,
    ),
  )
})

t.test('whatever is no time says why', async (t) => {
  const reasons: [value: unknown, reason: RegExp][] = [
    ['2026-03-10T12:00:00', /"2026-03-10T12:00:00" has no zone/],
    ['2026-03-10 12:00:00.123', /has no zone/],
    ['1767225600', /"1767225600" is a text of digits/],
    ['1767225600.5', /is a text of digits/],
    ['1767225600000000001', /has more digits than a number keeps/],
    [0, /^0 is too small a number/],
    [1.7e18, /is too large a number/],
    ['', /^"" is not a time/],
    ['x'.repeat(1_000_000), /^"x{40}…" is not a time$/],
    [true, /^true is not a time/],
    [null, /^null is not a time/],
    [[1_767_225_600], /^a list is not a time/],
    [{ $date: 1 }, /^an object is not a time/],
  ]
  for (const [value, reason] of reasons) {
    t.ok(Number.isNaN(readTime(value)))
    t.match(findTimeFault(value), reason)
  }
  t.equal(findTimeFault('2026-03-10'), undefined)
})

t.test('a day or time that does not exist is no time in any form', async (t) => {
  for (const text of [
    ...[
      '2026-02-30',
      '2026-02-29T12:00:00+0000',
      '2026-03-10T24:00:00+00',
      '2026-03-10 12:60:00Z',
      '2026-00-10',
    ],
    ...[
      '2026-03-10T12:00:60Z',
      '2026-03-10T23:59:60Z',
      '2026-03-10T12:00:00+2400',
      '2026-03-10T12:00:00+0160',
    ],
    ...['30 Feb 2026 12:00:00 GMT', 'Mon, 10 Mar 2026 12:00:00 GMT', '10 Mar 2026 24:00:00 GMT'],
    ...[
      '10 Mar 2026 12:00:00 +2400',
      '10 Mar 2026 12:00:00 +0060',
      '10 Mar 2026 12:00:00 A',
      '10 Mar 2026 12:00:00 XYZ',
    ],
    ...[
      '10 Mar 2026 12:00:00',
      '10 March 2026 12:00:00 GMT',
      'Tue, 10 Mar 2026',
      'Tue 10 Mar 2026 12:00:00 GMT',
    ],
    ...[
      'Tue Mar 10 2026 12:00:00 GMT+0000',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'soon',
      '2026',
      '2026-03',
      '20260310',
    ],
    ...[
      '2026-3-10',
      '2026-03-10T12Z',
      '2026-03-10T12:00:00+0',
      '2026-03-10T12:00:00+000',
      '2026-03-10T12:00:00.Z',
    ],
    ...['2026-03-10T12:00:00 CET', '2026-03-10  12:00:00Z', ' 2026-03-10', '2026-03-10Z', '2026-03-10\n'],
    ...[
      '20260310T120000Z',
      '+002026-03-10T12:00:00Z',
      '2026-W11-2',
      '2026-069',
      '10/03/2026',
      '2026-03-10T12:00:00+00:00:00',
    ],
  ])
    t.equal(read(text), undefined, text)
})
