import t from 'tap'
import { aimsOf, type Beside, formatBacktests, type Pace } from '../src/backtest/report.js'
import { waitsOf } from '../src/statistics.js'

const pace = (name: Pace['name'], considered: number): Pace => ({
  name,
  scanned: 200_000,
  considered,
  seconds: 2,
  firstFiguresMs: 700,
  workerMicros: 1_800_000,
  postgresMicros: 600_000,
})
const beside = (waitMs: number): Beside => ({
  alone: { seconds: 10, waits: waitsOf([10, 10]), workerMicros: 1_000_000 },
  gentle: { seconds: 10, waits: waitsOf([waitMs, waitMs]), workerMicros: 2_500_000 },
  busyLoop: { seconds: 10, waits: waitsOf([12, 12]), workerMicros: 1_000_000 },
})
const five = <Value>(value: Value) => Array.from({ length: 5 }, () => value)

t.test('the aims of a backtest are rates, first figures, and what live events wait beside it', async (t) => {
  const aims = aimsOf(
    [...five(pace('considered', 200_000)), ...five(pace('scanned', 10_000))],
    five(beside(12)),
  )
  t.strictSame(
    aims.map(({ reached, verdict }) => [Math.round(reached * 100) / 100, verdict]),
    [
      [100_000, 'met'],
      [100_000, 'missed'],
      [700, 'met'],
      [700, 'met'],
      [1.2, 'missed'],
      [1, 'met'],
      [15, 'met'],
    ],
  )
})

t.test('what was not measured has no aim and no table', async (t) => {
  t.strictSame(aimsOf([], []), [])
  t.equal(formatBacktests([], []), '')
  t.match(formatBacktests([pace('scanned', 10_000)], []), /scanned +200,000 +10,000 +100,000 +5,000 +700/)
})
