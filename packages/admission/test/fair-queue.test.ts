import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { type Asked, type Entry, FairQueue, NotAdmitted, type Resource } from '../src/index.js'

/** A queue by a clock of its own, and what has entered it, in order. */
function open(resource: Resource) {
  const clock = { now: 0 }
  const queue = new FairQueue(resource, () => clock.now)
  const begun: string[] = []
  const refused: string[] = []
  const entries = new Map<string, Entry>()
  /** @param name of an owner, and of its piece of work: "a1" */
  const ask = (name: string, asked?: Asked) =>
    queue
      .enter(name[0] as string, asked)
      .then((entry) => {
        begun.push(name)
        entries.set(name, entry)
      })
      .catch((error) => {
        if (!(error instanceof NotAdmitted)) throw error
        refused.push(`${name}: ${error.because}`)
        return error
      })
  const leave = async (name: string, cost: number) => {
    entries.get(name)?.leave(cost)
    await settle()
  }
  return { clock, queue, begun, refused, entries, ask, leave }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

t.test('the owner whose work has cost least so far is next', async (t) => {
  const { begun, ask, leave } = open({ total: 1 })
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) void ask(name)
  await settle()
  await leave('a1', 10)
  await leave('b1', 2)
  await leave('b2', 2)
  await leave('b3', 2)
  await leave('a2', 10)
  t.strictSame(begun, ['a1', 'b1', 'b2', 'b3', 'a2', 'a3'])
})

t.test('twelve pieces of one owner let the one piece of another begin second', async (t) => {
  const { begun, ask, leave } = open({ total: 1 })
  for (let n = 0; n < 12; n++) void ask(`a${n}`)
  void ask('b0')
  await settle()
  await leave('a0', 1_000)
  t.strictSame(begun, ['a0', 'b0'])
})

t.test('among owners that come anew the one that has used least of late is next', async (t) => {
  const { clock, begun, ask, leave } = open({ total: 1 })
  void ask('a1')
  await settle()
  await leave('a1', 1_000)
  clock.now = 5_000
  for (const name of ['c1', 'a2', 'b1']) void ask(name)
  await settle()
  await leave('c1', 1)
  await leave('b1', 1)
  t.strictSame(begun, ['a1', 'c1', 'b1', 'a2'])
})

t.test('an owner that was idle has saved up nothing', async (t) => {
  const { begun, ask, leave } = open({ total: 1 })
  for (let n = 1; n <= 5; n++) void ask(`a${n}`)
  await settle()
  for (let n = 1; n <= 3; n++) await leave(`a${n}`, 10)
  for (let n = 1; n <= 3; n++) void ask(`b${n}`)
  await settle()
  await leave('a4', 10)
  await leave('b1', 10)
  t.strictSame(begun, ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'], 'b does not catch up with what a has had')
})

t.test('an owner has its share of the places, and a key its share of those', async (t) => {
  const { begun, ask, leave } = open({ total: 4, perOwner: 3, perKey: 2 })
  for (const name of ['a1', 'a2', 'a3']) void ask(name, { key: 'slow' })
  void ask('a4', { key: 'other' })
  void ask('a5', { key: 'third' })
  void ask('b1', { key: 'slow' })
  await settle()
  t.strictSame(begun, ['a1', 'a2', 'a4', 'b1'])
  await leave('a4', 1)
  t.strictSame(begun.slice(4), ['a5'], 'one that waits for its key does not stop another')
  await leave('a1', 1)
  t.strictSame(begun.slice(5), ['a3'])
})

t.test('what enters in one turn of the event loop enters together, of all owners', async (t) => {
  const { queue, begun, ask, leave } = open({ total: 3, perOwner: 1, together: { count: 10, cost: 10 } })
  for (const name of ['a1', 'b1', 'a2', 'c1']) void ask(name, { cost: 1 })
  await settle()
  t.strictSame(begun.toSorted(), ['a1', 'a2', 'b1', 'c1'])
  t.equal(queue.taken, 1)
  void ask('a3', { cost: 1 })
  void ask('d1', { cost: 1 })
  await settle()
  t.strictSame(begun.slice(4), ['d1'], 'a has its place, and others wait for nothing')
  for (const name of ['a1', 'b1', 'a2', 'c1']) await leave(name, 1)
  t.strictSame(begun.slice(5), ['a3'])
})

t.test('what enters together has one place, in the order of turns, and gives it back together', async (t) => {
  const { queue, begun, ask, leave } = open({ total: 2, perOwner: 1, together: { count: 3, cost: 10 } })
  for (const name of ['a1', 'b1']) {
    void ask(name, { cost: 1 })
    await settle()
  }
  for (let n = 2; n <= 6; n++) void ask(`a${n}`, { cost: 1 })
  for (let n = 2; n <= 6; n++) void ask(`b${n}`, { cost: 4 })
  await settle()
  t.strictSame(begun, ['a1', 'b1'])
  await leave('a1', 1)
  t.strictSame(begun.slice(2), ['a2', 'a3', 'a4'], 'b has a place already')
  await leave('b1', 1)
  t.strictSame(begun.slice(5), ['b2', 'b3'], 'the third would cost too much')
  await leave('b2', 4)
  t.equal(queue.taken, 2)
  await leave('b3', 4)
  t.strictSame(begun.slice(7), ['b4', 'b5'])
})

t.test('what costs more than all that enters together enters by itself', async (t) => {
  const { begun, ask, leave } = open({ total: 1, perOwner: 1, together: { count: 10, cost: 10 } })
  void ask('a1', { cost: 1 })
  await settle()
  void ask('b1', { cost: 100 })
  void ask('b2', { cost: 1 })
  void ask('c1', { cost: 1 })
  await settle()
  await leave('a1', 1)
  t.strictSame(begun.slice(1), ['b1'])
  await leave('b1', 100)
  t.strictSame(begun.slice(2), ['c1', 'b2'])
})

t.test('an owner whose work is long has one place, and other parties are refused', async (t) => {
  const { begun, refused, ask, leave } = open({ total: 10, longCost: 5 })
  const [first, second] = [{}, {}]
  void ask('a1', { party: first })
  await settle()
  await leave('a1', 100)
  void ask('a2', { party: first })
  void ask('a3', { party: first })
  void ask('a4', { party: second })
  void ask('b1', { party: second })
  await settle()
  t.strictSame(begun.slice(1), ['a2', 'b1'])
  t.strictSame(refused, ['a4: own'])
  await leave('a2', 100)
  t.strictSame(begun.slice(3), ['a3'])
})

t.test('work that turns out to be long stops what runs beside it, and refuses what waits', async (t) => {
  const { begun, refused, entries, ask, leave } = open({ total: 10, perOwner: 2, longCost: 5 })
  const [first, second] = [{}, {}]
  void ask('a1', { party: first })
  void ask('a2', { party: second })
  void ask('a3', { party: second })
  await settle()
  const pause = (name: string) =>
    entries
      .get(name)
      ?.pause(10)
      .then(() => begun.push(`${name} again`))
  void pause('a1')
  void pause('a2')
  await settle()
  t.strictSame(begun, ['a1', 'a2', 'a1 again'], 'the oldest goes on')
  t.strictSame(refused, ['a3: own'])
  void pause('a1')
  await settle()
  t.strictSame(begun.slice(3), ['a1 again'], 'also after its next pause')
  await leave('a1', 10)
  t.strictSame(begun.slice(4), ['a2 again'])
})

t.test('an owner whose work is short again has its places again', async (t) => {
  const { queue, ask, leave } = open({ total: 100, longCost: 5 })
  void ask('a1')
  await settle()
  await leave('a1', 100)
  for (let n = 2; n < 30; n++) {
    void ask(`a${n}`)
    await settle()
    await leave(`a${n}`, 0)
  }
  void ask('a30')
  void ask('a31')
  await settle()
  t.equal(queue.taken, 2)
})

t.test('what continues goes first, and is not refused', async (t) => {
  const { begun, refused, ask, leave } = open({ total: 1, waiting: 1 })
  for (const name of ['a1', 'a2', 'a3']) void ask(name)
  void ask('a4', { continues: true })
  await settle()
  t.strictSame(refused, ['a3: own'])
  await leave('a1', 1)
  t.strictSame(begun, ['a1', 'a4'])
})

t.test('a refusal says whose work was in the way, and when to ask again', async (t) => {
  const { refused, ask, leave } = open({ total: 1, waiting: 2, timeoutMs: 20 })
  void ask('a1')
  const refusals = [ask('a2'), ask('a3'), ask('a4'), ask('b1')]
  const [second, , fourth, other] = await Promise.all(refusals)
  t.strictSame(refused, ['a4: own', 'a2: own', 'a3: own', 'b1: others'])
  for (const refusal of [second, fourth, other]) t.ok((refusal?.retryAfterMs ?? 0) >= 500)
  await leave('a1', 1_000)
  void ask('a5')
  void ask('a6')
  void ask('a7')
  const last = await ask('a8')
  t.equal(last?.retryAfterMs, 3_000, 'as long as what it would wait for takes')
})

t.test('the limit of one piece may be shorter, and 0 does not wait', async (t) => {
  const { refused, ask } = open({ total: 1, timeoutMs: 60_000 })
  void ask('a1')
  const startedAt = performance.now()
  await Promise.all([ask('a2', { timeoutMs: 0 }), ask('a3', { timeoutMs: 1 })])
  t.ok(performance.now() - startedAt < 30_000)
  t.strictSame(refused, ['a2: own', 'a3: own'])
})

t.test('work that is not wanted any more leaves the line', async (t) => {
  const { queue, begun, ask, leave } = open({ total: 1 })
  void ask('a1')
  const unwanted = new AbortController()
  const waits = t.rejects(queue.enter('a', { signal: unwanted.signal }), { message: 'unwanted' })
  void ask('a3')
  unwanted.abort(new Error('unwanted'))
  await waits
  t.equal(queue.waiting, 1)
  await leave('a1', 1)
  t.strictSame(begun, ['a1', 'a3'])
})

t.test('who does not wait takes a free place, or none', async (t) => {
  const { queue, ask, leave } = open({ total: 1 })
  const entry = queue.tryEnter('a')
  t.ok(entry)
  t.equal(queue.tryEnter('b'), undefined)
  t.equal(queue.waiting, 0)
  void ask('a1')
  entry?.leave(1)
  await settle()
  t.equal(queue.tryEnter('b'), undefined, 'what waited is in')
  await leave('a1', 1)
  t.ok(queue.tryEnter('b'))
})

t.test('a closed queue refuses what waits and what comes, and ends what has begun', async (t) => {
  const { queue, begun, refused, entries, ask, leave } = open({ total: 1 })
  void ask('a1')
  void ask('a2')
  await settle()
  queue.close()
  await ask('b1')
  t.strictSame(begun, ['a1'])
  t.strictSame(refused.sort(), ['a2: closed', 'b1: closed'])
  await entries.get('a1')?.pause(1)
  await leave('a1', 1)
  t.equal(queue.taken, 0)
})

t.test('work has a place while it runs, and costs the time that it takes', async (t) => {
  const queue = new FairQueue({ total: 1 })
  const order: string[] = []
  const work = (name: string, ms: number) =>
    queue.run(name, async () => void order.push(name, await delay(ms, name)))
  await Promise.all([work('a', 20), work('a', 1), work('b', 1)])
  t.strictSame(order, ['a', 'a', 'b', 'b', 'a', 'a'])
  await t.rejects(
    queue.run('a', () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  t.equal(queue.taken, 0)
})

t.test('a place is given back once', async (t) => {
  const { queue, entries, ask, leave } = open({ total: 2 })
  void ask('a1')
  void ask('a2')
  await settle()
  await leave('a1', 1)
  await leave('a1', 1)
  t.equal(queue.taken, 1)
  entries.get('a2')?.leave(1)
  t.equal(queue.taken, 0)
})

t.test(
  'owners whose cost nobody knows yet take places in turns, and so does one that comes later',
  async (t) => {
    const { begun, ask, leave } = open({ total: 4, perOwner: 2 })
    for (const owner of ['a', 'b', 'c']) for (let n = 1; n <= 4; n++) void ask(`${owner}${n}`)
    await settle()
    t.strictSame(begun, ['a1', 'a2', 'b1', 'b2'], 'nothing waited when they came')
    void ask('d1')
    await leave('a1', 10)
    await leave('b1', 10)
    t.strictSame(begun.slice(4), ['c1', 'd1'])
  },
)

t.test('the share of the busiest owner is known, and fades', async (t) => {
  const { queue, clock, ask, leave } = open({ total: 3 })
  t.strictSame([queue.owners, queue.busiestShare], [0, 0])
  for (const name of ['a1', 'b1', 'c1']) void ask(name)
  await settle()
  t.strictSame([queue.owners, queue.busiestShare], [3, 0], 'what has not left has used nothing yet')
  await leave('a1', 60)
  await leave('b1', 30)
  await leave('c1', 10)
  t.equal(queue.busiestShare, 0.6)
  clock.now = 10_000
  void ask('b2')
  await settle()
  await leave('b2', 85)
  t.equal(queue.busiestShare, 100 / 135, 'half of what was ten seconds ago counts')
  clock.now = 200_000
  void ask('d1')
  await settle()
  await leave('d1', 1)
  t.equal(queue.owners, 1, 'who had no work for a minute is forgotten')
})
