import t, { type Test } from 'tap'
import { clockAheadMs, isClockWrong, postgresNow } from '../src/clock.js'
import { newId, timeOf } from '../src/ids.js'
import { readClock } from '../src/read-clock.js'

// The files of a group share a process, and with it what is known of the clock.
t.teardown(() => readClock({ run: async () => [{ now: Date.now() }] as never[] }))
const minutes10 = 600_000

/** A Postgres whose clock is this much (ms) ahead of that of this process. */
function postgres(aheadMs: number) {
  return { run: async () => [{ now: Date.now() + aheadMs }] as never[] }
}

t.test('before Postgres was asked, the clock of the process counts', async (t) => {
  t.equal(clockAheadMs(), undefined)
  near(t, postgresNow(), Date.now())
})

t.test("Postgres' clock is known after one question, whichever of the two is ahead", async (t) => {
  for (const aheadMs of [minutes10, -minutes10, 0, 5_000]) {
    await readClock(postgres(aheadMs))
    near(t, postgresNow(), Date.now() + aheadMs)
    near(t, timeOf(newId()), Date.now() + aheadMs)
    t.equal(isClockWrong(clockAheadMs()), Math.abs(aheadMs) > 60_000)
  }
})

t.test('a late response changes nothing that may still be true', async (t) => {
  let now = 1_000_000
  t.intercept(Date, 'now', { value: () => now })
  t.intercept(performance, 'now', { value: () => now })
  const answer = (tookMs: number, aheadMs: number) => ({
    async run() {
      now += tookMs
      return [{ now: now + aheadMs }] as never[]
    },
  })
  await readClock(answer(0, 0))
  const known = clockAheadMs() ?? Number.NaN
  t.ok(Math.abs(known) <= 1, 'both are read in whole milliseconds')
  // Of 500 ms it is unknown when Postgres read its clock: it may be what it was.
  await readClock(answer(500, -300))
  t.equal(clockAheadMs(), known)
  await readClock(answer(500, -800))
  t.equal(clockAheadMs(), 299, 'no more than is certain')
  await readClock(answer(0, -800))
  t.equal(clockAheadMs(), 799)
})

t.test('a process that stands still while it asks has the same clock as before', async (t) => {
  await readClock(postgres(0))
  const known = clockAheadMs()
  let now = 1_000_000
  const standStill = () => {
    const before = now
    now += 30
    return before
  }
  const answer = { run: async () => [{ now }] as never[] }
  t.intercept(Date, 'now', { value: standStill })
  t.intercept(performance, 'now', { value: standStill })
  await readClock(answer)
  t.equal(clockAheadMs(), known)
})

/** Within what a slow machine takes between two lines. */
function near(t: Test, time: number, expected: number): void {
  t.ok(Math.abs(time - expected) < 2_000, `${time - expected} ms apart`)
}
