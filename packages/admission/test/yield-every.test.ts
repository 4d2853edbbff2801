import t, { type Test } from 'tap'
import { yieldEvery } from '../src/index.js'

/** @returns a function that holds the event loop for so long (ms), by a clock that only it moves on */
function holdClock(t: Test): (ms: number) => void {
  let now = performance.now()
  t.intercept(performance, 'now', { value: () => now })
  return (ms) => {
    now += ms
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

t.test('a turn that has time left goes on at once', async (t) => {
  holdClock(t)
  await nextTurn()
  const pauses = [yieldEvery(10), yieldEvery(10)]
  t.strictSame(pauses, [undefined, undefined])
})

t.test('many callers of one turn work for so long in each turn, one after another', async (t) => {
  const work = holdClock(t)
  await nextTurn()
  const order: number[] = []
  let turns = 0
  let isOver = false
  const countTurns = () => {
    if (isOver) return
    turns++
    setImmediate(countTurns)
  }
  setImmediate(countTurns)
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const pause = yieldEvery(10)
      if (pause) await pause
      work(2)
      order.push(n)
    }),
  )
  isOver = true
  t.strictSame(
    order,
    Array.from({ length: 60 }, (_, n) => n),
  )
  t.ok(turns >= 11 && turns <= 13, `${turns} turns for 120 ms of work`)
})

t.test('what is resumed works to its next wait before the next one is resumed', async (t) => {
  const work = holdClock(t)
  await nextTurn()
  void yieldEvery(5)
  work(5)
  let working = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      await yieldEvery(5)
      most = Math.max(most, ++working)
      await Promise.resolve()
      await Promise.resolve()
      work(2)
      working--
    }),
  )
  t.equal(most, 1)
})
