import fc from 'fast-check'
import t from 'tap'
import { Check } from 'typebox/value'
import { findRetryDelay, Retry } from '../src/results/retry.js'

const dayMs = 86_400_000
const anyRetry = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 20 }),
    backoff: fc.constantFrom('constant', 'linear', 'exponential'),
    delayMs: fc.integer({ min: 0, max: dayMs }),
    maxDelayMs: fc.integer({ min: 0, max: dayMs }),
  },
  { requiredKeys: ['attempts'] },
) as fc.Arbitrary<Retry>
/** Values of Math.random. */
const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** With the maximum jitter. */
const longest = (retry: Retry, count: number) =>
  Array.from({ length: count }, (_, index) => findRetryDelay(retry, index + 1, 1))

t.test('delays grow by the backoff, up to maxDelayMs', async (t) => {
  const retry = { attempts: 6, delayMs: 100, maxDelayMs: 1_000 }
  t.strictSame(longest({ ...retry, backoff: 'constant' }, 6), [100, 100, 100, 100, 100, undefined])
  t.strictSame(longest({ ...retry, backoff: 'linear' }, 6), [100, 200, 300, 400, 500, undefined])
  t.strictSame(longest({ ...retry, backoff: 'exponential' }, 6), [100, 200, 400, 800, 1_000, undefined])
  t.strictSame(longest(retry, 6), longest({ ...retry, backoff: 'exponential' }, 6), 'by default')
})

t.test('by default the first delay is a second, and the longest is an hour', async (t) => {
  const delays = longest({ attempts: 20 }, 19)
  t.strictSame(delays.slice(0, 3), [1_000, 2_000, 4_000])
  t.equal(delays.at(-1), 3_600_000)
})

t.test('without retry there is one attempt', async (t) => {
  t.equal(findRetryDelay(undefined, 1, 0), undefined)
  t.equal(findRetryDelay(undefined, 1, 0, 5_000), undefined, 'whatever Retry-After the destination sends')
  t.equal(findRetryDelay({ attempts: 1 }, 1, 0), undefined)
})

t.test('there are never more attempts than `attempts`', async () => {
  fc.assert(
    fc.property(anyRetry, fc.integer({ min: 1, max: 100 }), anyRandom, (retry, failures, random) => {
      const delayMs = findRetryDelay(retry, failures, random, 60_000)
      return (delayMs === undefined) === failures >= retry.attempts
    }),
  )
})

t.test('jitter takes any part of the delay, from none to all', async (t) => {
  const retry: Retry = { attempts: 5, delayMs: 1_000 }
  t.strictSame(
    [0, 0.25, 0.5, 1].map((random) => findRetryDelay(retry, 2, random)),
    [0, 500, 1_000, 2_000],
  )
  fc.assert(
    fc.property(anyRetry, fc.integer({ min: 1, max: 19 }), anyRandom, (retry, failures, random) => {
      fc.pre(failures < retry.attempts)
      const delayMs = findRetryDelay(retry, failures, random) ?? Number.NaN
      const longestMs = findRetryDelay(retry, failures, 1) ?? Number.NaN
      return (
        Number.isSafeInteger(delayMs) &&
        Math.abs(delayMs - random * longestMs) <= 1 &&
        longestMs <= (retry.maxDelayMs ?? 3_600_000) &&
        longestMs >= (findRetryDelay(retry, failures - 1, 1) ?? 0)
      )
    }),
  )
})

t.test('Retry-After is a minimum, up to a day', async (t) => {
  const retry: Retry = { attempts: 5, delayMs: 1_000 }
  t.equal(findRetryDelay(retry, 1, 0, 30_000), 30_000)
  t.equal(findRetryDelay(retry, 1, 1, 500), 1_000)
  t.equal(findRetryDelay(retry, 1, 0, 30 * dayMs), dayMs)
  t.equal(findRetryDelay({ attempts: 5, maxDelayMs: 10 }, 1, 1, 30_000), 30_000, 'also beyond maxDelayMs')
  fc.assert(
    fc.property(anyRetry, anyRandom, fc.nat({ max: 10 * dayMs }), (retry, random, retryAfterMs) => {
      fc.pre(retry.attempts > 1)
      const own = findRetryDelay(retry, 1, random) ?? Number.NaN
      return findRetryDelay(retry, 1, random, retryAfterMs) === Math.max(own, Math.min(retryAfterMs, dayMs))
    }),
  )
})

t.test('the retries of these tests are valid in a rule', async () => {
  fc.assert(
    fc.property(anyRetry, (retry) => Check(Retry, retry)),
    { numRuns: 200 },
  )
})
