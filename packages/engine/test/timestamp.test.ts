import t from 'tap'
import { parseTimestamp } from '../src/times/timestamp.js'

t.test('a date and a date-time with a zone are instants', async (t) => {
  const cases: [string, string][] = [
    ['2026-03-10', '2026-03-10T00:00:00.000Z'],
    ['2026-03-10T12:30Z', '2026-03-10T12:30:00.000Z'],
    ['2026-03-10T23:59:59Z', '2026-03-10T23:59:59.000Z'],
    ['2026-03-10T12:30:15.5+01:30', '2026-03-10T11:00:15.500Z'],
    ['2026-03-10T12:30:15.123456789-23:59', '2026-03-11T12:29:15.123Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['2026-12-31', '2026-12-31T00:00:00.000Z'],
  ]
  for (const [value, instant] of cases) t.equal(parseTimestamp(value), Date.parse(instant), `${value}`)
})

t.test('a day or time that does not exist is not an instant', async (t) => {
  const days = [
    '2026-00-10',
    '2026-13-10',
    '2026-03-00',
    '2026-03-32',
    '2026-02-29',
    '2100-02-29',
    '2000-02-30',
  ]
  const ends = ['04-31', '06-31', '09-31', '11-31', '01-32', '12-32'].map((day) => `2026-${day}`)
  const times = ['24:00:00Z', '12:60:00Z', '12:00:60Z', '12:00:00+24:00', '12:00:00+01:60'].map(
    (time) => `2026-03-10T${time}`,
  )
  for (const text of [...days, ...ends, ...times]) t.ok(Number.isNaN(parseTimestamp(text)), text)
  for (const text of [
    '01-31',
    '03-31',
    '05-31',
    '07-31',
    '08-31',
    '10-31',
    '04-30',
    '06-30',
    '09-30',
    '11-30',
  ])
    t.notOk(Number.isNaN(parseTimestamp(`2026-${text}`)), text)
})

t.test('any other value is not an instant', async (t) => {
  const texts = [
    ...['', '2026', '2026-03', '2026-3-10', '26-03-10', '2026-03-10 12:00Z', '2026-03-10T12Z', ' 2026-03-10'],
    ...['2026-03-10T12:00:00', '2026-03-10T12:00:Z', '2026-03-10T12:00:.5Z', '2026-03-10T12:00:00.Z'],
    ...['2026-03-10T12:00:00+0000', '2026-03-10T12:00:00+00', 'Tue, 10 Mar 2026 12:00:00 GMT'],
    ...['2026-03-10T12:00:00.1234567890Z', '2026-03-10T12:00:00z', '2026-03-10Z', '11 March 2026', '9'],
  ]
  for (const value of [
    ...texts,
    1_767_225_600_000,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    null,
    [0],
    {},
  ])
    t.ok(Number.isNaN(parseTimestamp(value)), JSON.stringify(value))
})
