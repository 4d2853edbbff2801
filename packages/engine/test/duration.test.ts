import t from 'tap'
import { findDurationFault, parseDuration } from '../src/times/duration.js'

t.test('a duration has one of five units, and at most 366 days', async (t) => {
  const cases: [string, number][] = [
    ['1s', 1_000],
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    ['366d', 31_622_400_000],
    ['8784h', 31_622_400_000],
  ]
  for (const [text, milliseconds] of cases) {
    t.equal(parseDuration(text), milliseconds, text)
    t.equal(findDurationFault(text), undefined, text)
  }
})

t.test('any other text or value is not a duration', async (t) => {
  const longer = ['367d', '53w', '8785h', '31622401s', '9999999999s']
  const texts = [
    '',
    '0s',
    '01d',
    '1',
    'd',
    '1D',
    '1.5h',
    '-1h',
    ' 1h',
    '1h ',
    'x1h',
    '1h30m',
    '1ms',
    '1y',
    ...longer,
  ]
  for (const text of texts) {
    t.equal(parseDuration(text), undefined, text)
    t.match(findDurationFault(text), /^must be a duration/, text)
  }
})

t.test('what is written in words is answered as it has to be written', async (t) => {
  for (const [text, meant] of [
    ['2 days', '2d'],
    ['1 week', '1w'],
    ['90 min', '90m'],
    ['90 minutes', '90m'],
    ['1 hour', '1h'],
    ['8hrs', '8h'],
    ['30 sec', '30s'],
    ['2 wks', '2w'],
    ['24H', '24h'],
    ['01d', '1d'],
    [' 7d ', '7d'],
  ] as const) {
    t.equal(findDurationFault(text), `must be a duration such as ${meant}`, text)
    t.not(parseDuration(meant), undefined, meant)
  }
  const usual = 'must be a duration such as 30m, 24h or 7d, at most 366 days'
  for (const text of [
    '2 months',
    '10 ms',
    '0 days',
    '400 days',
    '1.5 h',
    '-2 days',
    '2 days ago',
    'days',
    'a day',
  ])
    t.equal(findDurationFault(text), usual, text)
})
