import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { type CommitLane, CommitLanes, heavyRows } from '../src/running/commit-lanes.js'
import { LatestOwners } from '../src/running/latest-owners.js'

/** Commits that end when the test ends them. */
function openLanes() {
  const clock = { ms: 1_000_000 }
  const lanes = new CommitLanes(new LatestOwners(() => clock.ms))
  const ends: (() => void)[] = []
  /** @returns the lanes in which so many commits of one owner began */
  const begin = (owner: string, count: number, rows = 2) => {
    const begun: CommitLane[] = []
    for (let n = 0; n < count; n++)
      void lanes.record(owner, rows, (lane) => {
        begun.push(lane)
        return new Promise<void>((resolve) => ends.push(resolve))
      })
    return begun
  }
  const endAll = async () => {
    for (const end of ends.splice(0)) end()
    await setImmediate()
  }
  return { clock, lanes, begin, endAll }
}

t.test('the burst of one owner has commits apart where others have work', async (t) => {
  const { begin, endAll } = openLanes()
  begin('quiet', 1)
  t.strictSame(begin('busy', 27), [...Array(25).fill('light'), 'bulk', 'bulk'])
  t.strictSame(begin('busy', 1, 0.5), ['bulk'], 'a burst stays in its lane')
  t.strictSame(begin('quiet', 1), ['light'])
  await endAll()
  t.strictSame(begin('busy', 1), ['light'], 'what has ended does not count')
  await endAll()
})

t.test('an owner that has the worker to itself has all in one lane', async (t) => {
  const { clock, begin, endAll } = openLanes()
  t.strictSame(new Set(begin('busy', 1_000)), new Set(['light']))
  await endAll()
  begin('quiet', 1)
  begin('busy', 25)
  t.strictSame(begin('busy', 1), ['bulk'])
  clock.ms += 2_001
  t.strictSame(begin('busy', 1), ['light'], 'the other one came two seconds ago')
})

t.test('one outcome is no burst', async (t) => {
  const { begin } = openLanes()
  begin('quiet', 1)
  t.strictSame(begin('busy', 2, 60), ['light', 'bulk'])
})

t.test('what has many rows has commits apart, also without others', async (t) => {
  const { begin } = openLanes()
  t.strictSame(begin('alone', 1, heavyRows + 1), ['bulk'])
})

t.test('a commit that fails does not count any longer', async (t) => {
  const { lanes, begin } = openLanes()
  begin('quiet', 1)
  const failed = lanes.record('busy', 50, () => Promise.reject(new Error('It failed')))
  await t.rejects(failed, { message: 'It failed' })
  t.strictSame(begin('busy', 1), ['light'])
})
