import t from 'tap'
import { type Clock, startOpenLoop } from '../src/load/open-loop.js'

/** A clock that jumps to the next moment at which something wakes up, as soon as nothing else can happen. */
function createFakeClock() {
  let now = 0
  const sleepers: { at: number; wake: () => void }[] = []
  const clock: Clock = {
    now: () => now,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ at: now + ms, wake })
      }),
  }
  async function runUntil(end: number): Promise<void> {
    for (;;) {
      await new Promise(setImmediate)
      sleepers.sort((one, other) => one.at - other.at)
      const next = sleepers[0]
      if (next === undefined || next.at > end) break
      sleepers.shift()
      now = next.at
      next.wake()
    }
    now = end
  }
  return { clock, runUntil }
}

t.test('calls are due at a fixed rate', async (t) => {
  const { clock, runUntil } = createFakeClock()
  const sentAt: number[] = []
  const loop = startOpenLoop({
    ratePerSecond: 4,
    count: 5,
    clock,
    send: async () => {
      sentAt.push(clock.now())
    },
  })
  await runUntil(2_000)
  t.same(sentAt, [0, 250, 500, 750, 1_000])
  const { waits, latestMs, failures, isOverrun } = await loop.finish()
  t.same(
    waits.map(({ waitMs }) => waitMs),
    [0, 0, 0, 0, 0],
  )
  t.same([latestMs, failures, isOverrun], [0, 0, false])
})

t.test('a server that stalls is charged with all calls that were due meanwhile', async (t) => {
  const { clock, runUntil } = createFakeClock()
  const stallEnds = 1_000
  const loop = startOpenLoop({
    ratePerSecond: 10,
    count: 20,
    clock,
    send: async () => {
      if (clock.now() < stallEnds) await clock.sleep(stallEnds - clock.now())
    },
  })
  await runUntil(3_000)
  const { waits } = await loop.finish()
  t.equal(waits.length, 20, 'no call is left out')
  const charged = waits.filter(({ waitMs }) => waitMs > 0).map(({ waitMs }) => waitMs)
  t.same(
    charged.toSorted((one, other) => other - one),
    [1_000, 900, 800, 700, 600, 500, 400, 300, 200, 100],
  )
})

t.test('a caller that wakes up late sends what was due, and the delay is part of the wait', async (t) => {
  const { clock, runUntil } = createFakeClock()
  // A sleep of this clock takes 350 ms longer than asked for.
  const late: Clock = { now: clock.now, sleep: (ms) => clock.sleep(ms + 350) }
  const loop = startOpenLoop({ ratePerSecond: 10, count: 8, clock: late, send: async () => {} })
  await runUntil(5_000)
  const { waits, latestMs } = await loop.finish()
  t.equal(waits.length, 8)
  t.equal(latestMs, 350)
  t.same(waits.slice(0, 5), [
    { dueMs: 0, waitMs: 0 },
    { dueMs: 100, waitMs: 350 },
    { dueMs: 200, waitMs: 250 },
    { dueMs: 300, waitMs: 150 },
    { dueMs: 400, waitMs: 50 },
  ])
})

t.test('the loop ends when too many calls have no response', async (t) => {
  const { clock, runUntil } = createFakeClock()
  const loop = startOpenLoop({
    ratePerSecond: 10,
    count: 100,
    maxUnderWay: 5,
    clock,
    send: () => clock.sleep(60_000),
  })
  await runUntil(100_000)
  const { waits, isOverrun } = await loop.finish()
  t.equal(isOverrun, true)
  t.equal(waits.length, 5)
})

t.test('failures are counted and have no wait', async (t) => {
  const { clock, runUntil } = createFakeClock()
  const loop = startOpenLoop({
    ratePerSecond: 10,
    count: 4,
    clock,
    send: async (n) => {
      if (n % 2 === 1) throw new Error(`call ${n}`)
    },
  })
  await runUntil(1_000)
  const { waits, failures, firstFailure } = await loop.finish()
  t.same(
    waits.map(({ dueMs }) => dueMs),
    [0, 200],
  )
  t.equal(failures, 2)
  t.match(firstFailure, { message: 'call 1' })
})

t.test('a loop without a count goes on until it is stopped', async (t) => {
  const { clock, runUntil } = createFakeClock()
  const loop = startOpenLoop({ ratePerSecond: 2, clock, send: async () => {} })
  await runUntil(1_200)
  t.same(
    loop.take().map(({ dueMs }) => dueMs),
    [0, 500, 1_000],
  )
  const stopped = loop.stop()
  await runUntil(5_000)
  t.same((await stopped).waits, [])
})
