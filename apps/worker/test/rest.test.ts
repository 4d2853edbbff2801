import t from 'tap'
import { rest } from '../src/running/rest.js'

/** @returns how long (ms) a rest after so much work takes */
async function measureRest(tookMs: number): Promise<number> {
  const startedAt = performance.now()
  await rest(tookMs)
  return performance.now() - startedAt
}

t.test('a rest is as long as the work before it, half a second at most', async (t) => {
  // A timer may end a millisecond early by this clock.
  t.ok((await measureRest(40)) >= 39)
  t.ok((await measureRest(3_600_000)) >= 499, 'a process that has slept for an hour rests no longer')
})

t.test('after work of less than a millisecond others have one turn of the event loop', async (t) => {
  let turns = 0
  setImmediate(() => {
    turns++
  })
  await rest(0.9)
  t.equal(turns, 1)
})
