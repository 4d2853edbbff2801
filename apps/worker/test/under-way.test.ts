import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Postponed } from '../src/running/heavy-work.js'
import { LatestOwners } from '../src/running/latest-owners.js'
import { UnderWay } from '../src/running/under-way.js'

const busy = { workspaceId: 'a', createdBy: 'busy', heapBytes: 0 }
const quiet = { workspaceId: 'b', createdBy: 'quiet', heapBytes: 0 }

/** Work of one owner that the test ends, after another owner has had some. */
async function openBurst(count: number, underWay = new UnderWay(new LatestOwners())) {
  await underWay.run(quiet, async () => {})
  const begun: { leave: () => void; end: () => void }[] = []
  const all = Array.from({ length: count }, (_, n) =>
    underWay.run({ ...busy, workspaceId: `${n}` }, (leave) => {
      return new Promise<number>((resolve) => begun.push({ leave, end: () => resolve(n) }))
    }),
  )
  await setImmediate()
  return { underWay, begun, all }
}

/** @returns how much of a burst that is run to its end begins at once */
async function countAtFirst(underWay: UnderWay, size: number): Promise<number> {
  const { begun, all } = await openBurst(size, underWay)
  const atFirst = begun.length
  for (let n = 0; n < size; n++) {
    begun[n]?.end()
    await setImmediate()
  }
  await Promise.all(all)
  return atFirst
}

t.test('25 are under way at first, over all workspaces of their owner', async (t) => {
  const { underWay, begun, all } = await openBurst(60)
  t.equal(begun.length, 25)
  t.equal(await underWay.run(quiet, async () => 'served'), 'served', 'another owner does not wait')
  for (let n = 0; n < 60; n++) {
    begun[n]?.end()
    await setImmediate()
  }
  t.strictSame(
    await Promise.all(all),
    Array.from({ length: 60 }, (_, n) => n),
  )
})

t.test(
  'a flood has one more under way for twenty that are done, 100 at most, and less as time passes',
  async (t) => {
    let ms = 0
    const underWay = new UnderWay(new LatestOwners(), undefined, () => ms)
    t.equal(await countAtFirst(underWay, 500), 25)
    t.equal(await countAtFirst(underWay, 1_500), 25 + 500 / 20)
    t.equal(await countAtFirst(underWay, 200), 100)
    ms = 5_000
    t.equal(await countAtFirst(underWay, 200), 100 - (5 * 200) / 20)
    ms = 20_000
    t.equal(await countAtFirst(underWay, 100), 25)
  },
)

t.test('work that fails does not count, and a limit does not grow beyond its own most', async (t) => {
  const underWay = new UnderWay(new LatestOwners(), 30)
  for (let n = 0; n < 500; n++) await t.rejects(underWay.run(busy, () => Promise.reject(new Error())))
  t.equal(await countAtFirst(underWay, 500), 25)
  t.equal(await countAtFirst(underWay, 100), 30)
})

t.test('what takes long leaves, and still has its result', async (t) => {
  const { underWay, begun, all } = await openBurst(26)
  begun[0]?.leave()
  await setImmediate()
  t.equal(begun.length, 26)
  for (const { end } of begun) end()
  t.equal((await Promise.all(all)).length, 26)
  t.equal(await countAtFirst(underWay, 60), 25 + 1, 'it has left once: no slot is given back twice')
})

t.test('what fails leaves, and its caller learns of it', async (t) => {
  const underWay = new UnderWay(new LatestOwners())
  for (const isEarly of [false, true]) {
    const failed = underWay.run(busy, async (leave) => {
      if (isEarly) leave()
      await setImmediate()
      throw new Error('It failed')
    })
    await t.rejects(failed, { message: 'It failed' })
  }
  t.equal(await underWay.run(busy, async () => 'served'), 'served')
})

t.test('what waits when the worker stops is postponed, and what is under way ends', async (t) => {
  const { underWay, begun, all } = await openBurst(60)
  underWay.stop()
  for (const { end } of begun) end()
  const ends = await Promise.allSettled(all)
  t.equal(begun.length, 25)
  t.equal(ends.filter(({ status }) => status === 'fulfilled').length, 25)
  for (const end of ends) if (end.status === 'rejected') t.type(end.reason, Postponed)
})

t.test('work that waits for ten minutes is postponed for a second, and takes no slot', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { underWay, begun, all } = await openBurst(26)
  const late = t.rejects(Promise.all(all.slice(25)), new Postponed(1_000))
  mock.timers.tick(599_999)
  await setImmediate()
  t.equal(begun.length, 25)
  mock.timers.tick(1)
  await late
  for (const { end } of begun) end()
  await Promise.all(all.slice(0, 25))
  t.equal(await countAtFirst(underWay, 60), 25 + 1, 'only what was done counts, and all slots are free')
})
