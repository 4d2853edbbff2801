import t from 'tap'
import { yieldEvery } from '../src/index.js'

/** Holds the event loop for so long (ms). */
function work(ms: number): void {
  const endAt = performance.now() + ms
  while (performance.now() < endAt);
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

t.test('a turn that has time left goes on at once', async (t) => {
  await nextTurn()
  const pauses = [yieldEvery(10), yieldEvery(10)]
  t.strictSame(pauses, [undefined, undefined])
})

t.test('many callers of one turn work for so long in each turn, one after another', async (t) => {
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
  let longest = 0
  let begunAt = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - begunAt)
    begunAt = performance.now()
  }, 0)
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const pause = yieldEvery(10)
      if (pause) await pause
      work(2)
      order.push(n)
    }),
  )
  isOver = true
  clearInterval(timer)
  t.strictSame(
    order,
    Array.from({ length: 60 }, (_, n) => n),
  )
  t.ok(turns >= 8 && turns <= 30, `${turns} turns for 120 ms of work`)
})

t.test('what is resumed works to its next wait before the next one is resumed', async (t) => {
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
