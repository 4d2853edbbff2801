import t from 'tap'
import { groupCommit, Prisma } from '../src/index.js'

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

t.test('what is asked for during a commit goes into the next one, in order', async (t) => {
  const batches: number[][] = []
  const gate = deferred()
  const double = groupCommit(async (items: number[]) => {
    batches.push(items)
    if (batches.length === 1) await gate.promise
    return items.map((item) => item * 2)
  })
  const first = double(1)
  await new Promise(setImmediate)
  const others = [double(2), double(3), double(4)]
  gate.resolve()
  t.same(await Promise.all([first, ...others]), [2, 4, 6, 8])
  t.same(batches, [[1], [2, 3, 4]])
})

t.test('a batch has no more than its limit', async (t) => {
  const sizes: number[] = []
  const echo = groupCommit(async (items: number[]) => {
    sizes.push(items.length)
    return items
  }, 3)
  await Promise.all([1, 2, 3, 4, 5, 6, 7].map(echo))
  t.same(sizes, [3, 3, 1])
})

t.test('a row that Postgres refuses fails alone', async (t) => {
  const fault = new Prisma.PrismaClientKnownRequestError('bad row', {
    code: 'P2010',
    clientVersion: '7',
    meta: { driverAdapterError: { cause: { originalCode: '22P05' } } },
  })
  const save = groupCommit(async (items: number[]) => {
    if (items.includes(3)) throw fault
    return items
  })
  const settled = await Promise.allSettled([1, 2, 3, 4, 5].map(save))
  t.same(
    settled.map((result) => result.status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

t.test('a fault of the connection fails the whole batch at once, and the next batch is tried', async (t) => {
  let commits = 0
  const save = groupCommit(async (items: number[]) => {
    if (++commits === 1) throw new Error('connection lost')
    return items
  })
  const settled = await Promise.allSettled([save(1), save(2)])
  t.same(
    settled.map((result) => result.status),
    ['rejected', 'rejected'],
  )
  t.equal(commits, 1)
  t.equal(await save(3), 3)
})
