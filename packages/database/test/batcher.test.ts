import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createBatcher, createReadBatcher } from '../src/batcher.js'
import { DatabaseBusy } from '../src/database-errors.js'
import { Prisma } from '../src/generated/client.js'

const ofPostgres = (originalCode: string) =>
  new Prisma.PrismaClientKnownRequestError(`SQLSTATE ${originalCode}`, {
    code: 'P2010',
    clientVersion: '7',
    meta: { driverAdapterError: { cause: { originalCode } } },
  })
const fault = ofPostgres('22P05')
const timeout = ofPostgres('57014')

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Three reads at most, each of which ends when its gate opens. */
function createGatedReads(patienceMs: number) {
  const gates = [deferred(), deferred(), deferred()] as const
  const begun: number[][] = []
  const read = createReadBatcher(
    async (items: number[]) => {
      begun.push(items)
      await gates[begun.length - 1]?.promise
      return items
    },
    { patienceMs },
  )
  return { gates, begun, read }
}

t.test('items that arrive during a commit form the next batch, in order', async (t) => {
  const batches: number[][] = []
  const gate = deferred()
  const double = createBatcher(async (items: number[]) => {
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
  const echo = createBatcher(
    async (items: number[]) => {
      sizes.push(items.length)
      return items
    },
    { maxItems: 3 },
  )
  await Promise.all([1, 2, 3, 4, 5, 6, 7].map(echo))
  t.same(sizes, [3, 3, 1])
})

t.test('a row that Postgres refuses fails alone', async (t) => {
  const save = createBatcher(async (items: number[]) => {
    if (items.includes(3)) throw fault
    return items
  })
  const settled = await Promise.allSettled([1, 2, 3, 4, 5].map(save))
  t.same(
    settled.map((result) => result.status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  t.match(settled[2], { reason: fault })
})

t.test('a refused row is found by halving, one commit at a time', async (t) => {
  let commits = 0
  let underWay = 0
  const save = createBatcher(async (items: number[]) => {
    commits += 1
    underWay += 1
    t.equal(underWay, 1)
    await new Promise(setImmediate)
    underWay -= 1
    if (items.includes(63)) throw fault
    return items
  })
  const settled = await Promise.allSettled(Array.from({ length: 64 }, (_, index) => save(index)))
  t.equal(settled.filter(({ status }) => status === 'rejected').length, 1)
  t.equal(commits, 1 + 2 * Math.log2(64))
})

t.test('a batch has at most 500 rows by default, and begins after the one before has ended', async (t) => {
  const sizes: number[] = []
  let underWay = 0
  const echo = createBatcher(async (items: number[]) => {
    underWay += 1
    t.equal(underWay, 1)
    sizes.push(items.length)
    await new Promise(setImmediate)
    underWay -= 1
    return items
  })
  await Promise.all(Array.from({ length: 1_001 }, (_, index) => echo(index)))
  t.same(sizes, [500, 500, 1])
})

t.test('a fault of the connection fails the whole batch at once, and the next batch is tried', async (t) => {
  let commits = 0
  const save = createBatcher(async (items: number[]) => {
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

t.test('an item that has waited too long is refused and never begun; a later one is begun', async (t) => {
  const begun: number[][] = []
  const first = deferred()
  const commit = createBatcher(
    async (items: number[]) => {
      begun.push(items)
      if (begun.length === 1) await first.promise
      return items
    },
    { timeoutMs: 1_500 },
  )
  const inFlight = commit(1)
  await new Promise(setImmediate)
  const late = commit(2)
  late.catch(() => {})
  await setTimeout(1_550)
  const inTime = commit(3)
  first.resolve()
  t.equal(await inFlight, 1, 'a commit that was begun ends')
  await t.rejects(late, new DatabaseBusy('Earlier requests took too long'))
  t.equal(await inTime, 3)
  t.strictSame(begun, [[1], [3]])
})

t.test('a batch has a weight, and an item beyond it has a batch of its own', async (t) => {
  const batches: number[][] = []
  const echo = createBatcher(
    async (items: number[]) => {
      batches.push(items)
      return items
    },
    { maxWeight: 10, weigh: (item) => item },
  )
  await Promise.all([4, 4, 4, 50, 1, 2].map(echo))
  t.same(batches, [[4, 4], [4], [50], [1, 2]])
})

t.test('batches are beside one another, as many as may be, where none has to wait', async (t) => {
  const gates = [deferred(), deferred(), deferred()]
  let begun = 0
  const echo = createBatcher(
    async (items: number[]) => {
      await gates[begun++]?.promise
      return items
    },
    { patienceMs: 0, atOnce: 2 },
  )
  const results: Promise<number>[] = []
  for (let n = 0; n < 3; n++) {
    results.push(echo(n))
    await new Promise(setImmediate)
    await new Promise(setImmediate)
  }
  t.equal(begun, 2)
  gates[1]?.resolve()
  t.equal(await results[1], 1)
  await new Promise(setImmediate)
  t.equal(begun, 3)
  for (const gate of gates) gate.resolve()
  t.strictSame(await Promise.all(results), [0, 1, 2])
})

t.test('an item that is too large for a statement fails alone', async (t) => {
  const write = createBatcher(async (items: number[]) => {
    if (items.includes(3)) throw new RangeError('Invalid string length')
    return items
  })
  const settled = await Promise.allSettled([1, 2, 3, 4].map(write))
  t.same(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
})

for (const slow of [0, 37, 63]) {
  t.test(`an item that takes too long fails alone: number ${slow} of 64`, async (t) => {
    let timeouts = 0
    const save = createBatcher(async (items: number[]) => {
      if (!items.includes(slow)) return items
      timeouts++
      throw ofPostgres('57014')
    })
    const settled = await Promise.allSettled(Array.from({ length: 64 }, (_, index) => save(index)))
    t.strictSame(
      settled.flatMap(({ status }, index) => (status === 'rejected' ? [index] : [])),
      [slow],
    )
    t.match(settled[slow], { reason: timeout })
    t.equal(timeouts, 2, 'once in the batch, and once by itself')
  })
}

t.test('where all statements take too long, the rest of a batch is not begun', async (t) => {
  for (const [size, most] of [
    [1, 1],
    [2, 3],
    [64, 3],
  ] as const) {
    let statements = 0
    const save = createBatcher(async (_items: number[]): Promise<number[]> => {
      statements++
      throw ofPostgres('57014')
    })
    const settled = await Promise.allSettled(Array.from({ length: size }, (_, index) => save(index)))
    for (const result of settled) t.match(result, { status: 'rejected', reason: timeout })
    t.equal(statements, most, `of ${size} items`)
  }
})

t.test('the items of a batch that took too long are not repeated for ever', async (t) => {
  let statements = 0
  const save = createBatcher(
    async (items: number[]) => {
      if (++statements === 1) throw timeout
      await setTimeout(600)
      return items
    },
    { repeatMs: 1_000 },
  )
  const settled = await Promise.allSettled([1, 2, 3, 4, 5].map(save))
  t.match(settled[0], { status: 'fulfilled' })
  t.match(settled[4], { status: 'rejected', reason: timeout })
  t.ok(statements < 5, `${statements} statements`)
})

t.test('an item that has waited too long is not begun again after a timeout', async (t) => {
  let statements = 0
  const save = createBatcher(
    async (items: number[]) => {
      if (++statements > 1) return items
      await setTimeout(1_550)
      throw timeout
    },
    { timeoutMs: 1_500 },
  )
  const settled = await Promise.allSettled([save(1), save(2)])
  for (const result of settled) t.match(result, { status: 'rejected', reason: timeout })
  t.equal(statements, 1)
})

t.test(
  'a batch is not divided where nobody knows what was done, or where locks were in the way',
  async (t) => {
    for (const error of [new Error('Query read timeout'), ofPostgres('40P01'), ofPostgres('55P03')]) {
      let statements = 0
      const save = createBatcher(async (_items: number[]): Promise<number[]> => {
        statements++
        throw error
      })
      const settled = await Promise.allSettled([save(1), save(2)])
      for (const result of settled) t.match(result, { status: 'rejected', reason: error })
      t.equal(statements, 1, error.message)
    }
  },
)

t.test('a read without a response stops the callers of its own batch only', async (t) => {
  const batches: number[][] = []
  const gate = deferred()
  const read = createReadBatcher(
    async (items: number[]) => {
      batches.push(items)
      if (items.includes(1)) await gate.promise
      return items
    },
    { patienceMs: 20 },
  )
  const first = read(1)
  await new Promise(setImmediate)
  t.same(await Promise.all([read(2), read(3)]), [2, 3])
  t.equal(await read(4), 4)
  gate.resolve()
  t.equal(await first, 1)
  t.same(batches, [[1], [2, 3], [4]], 'what waited meanwhile was one batch')
})

t.test(
  'two reads without a response are under way at most, and the first that ends makes room',
  async (t) => {
    const { gates, begun, read } = createGatedReads(5)
    const reads = [read(1)]
    for (const item of [2, 3, 4]) {
      await setTimeout(20)
      reads.push(read(item))
    }
    await setTimeout(20)
    t.same(begun, [[1], [2]])
    gates[0].resolve()
    await setTimeout(20)
    t.same(begun, [[1], [2], [3, 4]])
    for (const gate of gates) gate.resolve()
    t.same(await Promise.all(reads), [1, 2, 3, 4])
  },
)

t.test('each read has its time alone, also the one that began beside another', async (t) => {
  const { gates, begun, read } = createGatedReads(3_000)
  const first = read(1)
  await setTimeout(10)
  const second = read(2)
  while (begun.length < 2) await setTimeout(5)
  gates[0].resolve()
  t.equal(await first, 1)
  const third = read(3)
  await setTimeout(20)
  t.same(begun, [[1], [2]], 'the second one is young')
  gates[1].resolve()
  await second
  gates[2].resolve()
  t.equal(await third, 3)
})

/** A batcher, and when each of its batches began (by performance.now()) with its items. */
function createPaced(limits: { pauseMs: number; maxItems?: number }) {
  const begun: { at: number; items: number[] }[] = []
  const echo = createBatcher(async (items: number[]) => {
    begun.push({ at: performance.now(), items })
    return items
  }, limits)
  return { begun, echo }
}

/** @returns whether so many ms are over: on a busy machine, too, timers of this process end in their order */
function startTimer(ms: number): () => boolean {
  let isOver = false
  void setTimeout(ms).then(() => {
    isOver = true
  })
  return () => isOver
}

const hundred = Array.from({ length: 100 }, (_, item) => item)

t.test('after many items those of the next pause share a batch, and none waits for longer', async (t) => {
  const { begun, echo } = createPaced({ pauseMs: 250 })
  await Promise.all(hundred.map(echo))
  const isLate = startTimer(400)
  const first = echo(100)
  await new Promise(setImmediate)
  t.same(await Promise.all([first, echo(101)]), [100, 101])
  t.notOk(isLate())
  t.same(begun[1]?.items, [100, 101])
  const passedMs = (begun[1]?.at ?? 0) - (begun[0]?.at ?? 0)
  t.ok(passedMs > 245, `${passedMs} ms`)
})

t.test('items that come while a batch runs were not alone, either', async (t) => {
  const gate = deferred()
  const begun: number[][] = []
  const echo = createBatcher(
    async (items: number[]) => {
      begun.push(items)
      if (begun.length === 1) await gate.promise
      return items
    },
    { pauseMs: 250 },
  )
  const first = echo(0)
  await new Promise(setImmediate)
  const during = hundred.map(echo)
  gate.resolve()
  await first
  const last = echo(1_000)
  await Promise.all([...during, last])
  t.same(
    begun.map(({ length }) => length),
    [1, 101],
  )
})

t.test('an item that is alone waits for no pause: one after another, and later than many', async (t) => {
  const { begun, echo } = createPaced({ pauseMs: 60_000 })
  const pauses = t.capture(globalThis, 'setTimeout', globalThis.setTimeout)
  for (const item of hundred) await echo(item)
  t.strictSame(pauses(), [])
  pauses.restore()
  t.equal(begun.length, 100)
  const busy = createPaced({ pauseMs: 250 })
  await Promise.all(hundred.map(busy.echo))
  await setTimeout(300)
  const last = busy.echo(100)
  // It takes the next turn of the event loop.
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  t.equal(busy.begun.length, 2)
  await last
})

t.test('what waits behind a batch that hangs or fails has no pause besides', async (t) => {
  let begun = 0
  const hanging = deferred()
  const save = createBatcher(
    async (items: number[]) => {
      begun++
      if (begun === 1) await hanging.promise
      if (begun === 2) throw new Error('Postgres is unavailable')
      return items
    },
    { patienceMs: 300, pauseMs: 250 },
  )
  const first = hundred.map(save)
  await new Promise(setImmediate)
  const isLate = startTimer(500)
  await t.rejects(save(100), { message: 'Postgres is unavailable' })
  t.notOk(isLate(), 'the patience with the first includes its pause')
  const next = save(101)
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  const isPaused = startTimer(125)
  t.same(await next, 101)
  t.notOk(isPaused(), 'one that failed alone has none')
  hanging.resolve()
  t.same(await Promise.all(first), hundred)
})

t.test('a batch that is full waits for no pause', async (t) => {
  const { begun, echo } = createPaced({ pauseMs: 60_000, maxItems: 50 })
  const pauses = t.capture(globalThis, 'setTimeout', globalThis.setTimeout)
  await Promise.all(hundred.map(echo))
  t.strictSame(pauses(), [])
  t.same(
    begun.map(({ items }) => items.length),
    [50, 50],
  )
})
