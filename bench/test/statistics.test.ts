import t from 'tap'
import { intervalOfMedian, median, quantile, rangeOf, waitsOf } from '../src/statistics.js'

t.test(
  'a quantile is the smallest value that is at least as large as that share of all values',
  async (t) => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
    t.equal(quantile(hundred, 0.5), 50)
    t.equal(quantile(hundred, 0.99), 99)
    t.equal(quantile(hundred, 0.999), 100)
    t.equal(quantile(hundred, 1), 100)
    t.equal(quantile([7], 0.01), 7)
    t.ok(Number.isNaN(quantile([], 0.5)))
  },
)

t.test('waits are sorted before their quantiles are taken', async (t) => {
  const { count, p50Ms, p99Ms, maxMs } = waitsOf([300, 1, 2, 3])
  t.same([count, p50Ms, p99Ms, maxMs], [4, 2, 300, 300])
})

t.test('a median and a range do not depend on the order', async (t) => {
  t.equal(median([9, 1, 5]), 5)
  t.equal(median([4, 1, 2, 3]), 2.5)
  t.same(rangeOf([9, 1, 5]), { low: 1, high: 9 })
})

t.test('fewer than five rounds have no interval', async (t) => {
  t.equal(intervalOfMedian([1, 2, 3, 4]), undefined)
})

t.test('five to seven rounds have an interval from the lowest to the highest', async (t) => {
  for (const count of [5, 6, 7]) {
    const rounds = Array.from({ length: count }, (_, index) => index + 1)
    t.same(intervalOfMedian(rounds.toReversed()), { low: 1, high: count })
  }
})

t.test('more rounds leave extremes out, as the table of the sign test says', async (t) => {
  const countTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  // 92.97 % without the extremes of eight is just too little, 96.1 % of nine is enough.
  t.same(intervalOfMedian(countTo(8)), { low: 1, high: 8 })
  t.same(intervalOfMedian(countTo(9)), { low: 2, high: 8 })
  t.same(intervalOfMedian(countTo(20)), { low: 6, high: 15 })
})
