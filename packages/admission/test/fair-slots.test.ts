import { setImmediate, setTimeout } from 'node:timers/promises'
import t from 'tap'
import { FairSlots } from '../src/fair-slots.js'
import { TooMuchAtOnce } from '../src/too-much-at-once.js'

const limits = { total: 2, perOwner: 1, waitingPerOwner: 100, timeoutMs: 10_000 }

/** Work that a test ends, and a list of what has begun. */
function openWork(slots: FairSlots) {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const run = (owner: string) =>
    slots.run(owner, () => {
      begun.push(owner)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const endOne = async () => {
    ends.shift()?.()
    await setImmediate()
  }
  return { begun, run, endOne }
}

t.test('an owner has its own share, and owners take turns', async (t) => {
  const { begun, run, endOne } = openWork(new FairSlots(limits))
  const all = ['a', 'a', 'a', 'b', 'b', 'c'].map(run)
  await setImmediate()
  t.same(begun, ['a', 'b'])
  for (let n = 0; n < 6; n++) await endOne()
  t.same(begun.toSorted(), ['a', 'a', 'a', 'b', 'b', 'c'])
  t.ok(begun.indexOf('c') < begun.lastIndexOf('a'), `c does not wait for all others: ${begun}`)
  await Promise.all(all)
})

t.test('work that fails leaves its slot', async (t) => {
  const slots = new FairSlots({ ...limits, total: 1 })
  await t.rejects(
    slots.run('a', async () => {
      throw new Error('It failed')
    }),
    { message: 'It failed' },
  )
  t.equal(await slots.run('b', async () => 'served'), 'served')
})

t.test('an owner with too much waiting is refused, and no other', async (t) => {
  const slots = new FairSlots({ ...limits, total: 1, waitingPerOwner: 1 })
  const { run, endOne, begun } = openWork(slots)
  const served = [run('a'), run('a')]
  t.match(await run('a').catch((error) => error), new TooMuchAtOnce(false))
  served.push(run('b'))
  for (let n = 0; n < 3; n++) {
    await setImmediate()
    await endOne()
  }
  await Promise.all(served)
  t.equal(begun.length, 3)
})

t.test('work that has waited too long is refused, and is not begun', async (t) => {
  const slots = new FairSlots({ ...limits, total: 1, timeoutMs: 30 })
  const { run, endOne, begun } = openWork(slots)
  const first = run('a')
  const [own, others] = [run('a'), run('b')].map((late) => late.catch((error) => error))
  t.match(await own, new TooMuchAtOnce(false), 'its owner has other work')
  t.match(await others, new TooMuchAtOnce(true), 'its owner has none')
  await endOne()
  await first
  await setTimeout(5)
  t.same(begun, ['a'])
})

t.test('work that has no time to wait is refused at once, and begins where a slot is free', async (t) => {
  const slots = new FairSlots({ ...limits, total: 1 })
  t.equal(await slots.run('a', async () => 'served', 0), 'served')
  const { run, endOne } = openWork(slots)
  const first = run('a')
  const refused = slots.run('b', async () => 'served', 0)
  t.match(await refused.catch((error) => error), new TooMuchAtOnce(true))
  await endOne()
  await first
})

t.test('a light owner waits for one piece of others, and fifty busy ones have equal time', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const slots = new FairSlots({ ...limits, total: 1 })
  const begun: string[] = []
  const work = (owner: string, ms: number) =>
    slots.run(owner, async () => {
      begun.push(owner)
      now += ms
      await setImmediate()
    })
  let isOver = false
  const owners = Array.from({ length: 50 }, (_, index) => `busy ${index}`)
  const pieceMs = (owner: string) => 1_000 + 7 * owners.indexOf(owner)
  const busy = owners.map(async (owner) => {
    while (!isOver) await work(owner, pieceMs(owner))
  })
  // All of them began at once, and have their first turns.
  while (begun.length < 100) await setImmediate()
  const others: string[][] = []
  for (let n = 0; n < 100; n++) {
    // 20 ms in 5 s are less than its share, which is a piece of 51.
    const seen = begun.length
    while (begun.length < seen + 5) await setImmediate()
    const before = begun.length
    await work('light', 20)
    if (begun[before] !== 'light') others.push(begun.slice(before))
  }
  t.strictSame(others, [], 'it is the next one each time')
  isOver = true
  await Promise.all(busy)
  const times = owners.map((owner) => begun.filter((one) => one === owner).length * pieceMs(owner))
  t.ok(
    Math.max(...times) - Math.min(...times) <= 2 * 1_343,
    `the others have equal time, but for a piece: ${times}`,
  )
})

t.test('nobody overtakes those that wait where the share of their owner has grown meanwhile', async (t) => {
  let share = 1
  const slots = new FairSlots({ ...limits, total: 10, perOwner: () => share })
  const begun: number[] = []
  const ends: (() => void)[] = []
  const run = (number: number) =>
    slots.run('a', () => {
      begun.push(number)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const all = [run(1), run(2), run(3)]
  await setImmediate()
  t.same(begun, [1])
  share = 3
  all.push(run(4))
  await setImmediate()
  t.same(begun, [1, 2, 3])
  while (begun.length < 4 || ends.length > 0) {
    ends.shift()?.()
    await setImmediate()
  }
  await Promise.all(all)
  t.same(begun, [1, 2, 3, 4])
})
