import t from 'tap'
import { type Entry, FairQueue } from '../src/index.js'

const seed = Number(process.env.TEST_SEED ?? 47)
const runs = 60

/** Numbers of 0 to 1 from a seed (mulberry32). */
function randomFrom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let z = Math.imul(state ^ (state >>> 15), 1 | state)
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z
    return ((z ^ (z >>> 14)) >>> 0) / 4_294_967_296
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

t.test('two owners with work waiting get the same, but for their two largest pieces', async (t) => {
  const random = randomFrom(seed)
  for (let run = 0; run < runs; run++) {
    const queue = new FairQueue({ total: 1 })
    const owners = Array.from({ length: 2 + Math.floor(random() * 4) }, (_, n) => ({
      name: `owner ${n}`,
      largest: 1 + Math.floor(random() * 100),
      served: 0,
    }))
    let inService: { entry: Entry; owner: (typeof owners)[number] } | undefined
    // All of them have work waiting from the beginning to the end.
    for (let n = 0; n < 200; n++)
      for (const owner of owners)
        void queue.enter(owner.name).then((entry) => {
          inService = { entry, owner }
        })
    for (let step = 0; step < 150; step++) {
      await settle()
      if (inService === undefined) throw new Error('Nothing is in service')
      const { entry, owner } = inService
      const cost = 1 + Math.floor(random() * owner.largest)
      owner.served += cost
      entry.leave(cost)
      for (const one of owners)
        for (const other of owners)
          if (Math.abs(one.served - other.served) > one.largest + other.largest)
            return t.fail('one got too much', { run, step, one, other, seed })
    }
  }
  t.pass()
})

t.test('an owner that was idle gets no more than one that was not', async (t) => {
  const random = randomFrom(seed + 1)
  for (let run = 0; run < runs; run++) {
    const queue = new FairQueue({ total: 1 })
    const served = { busy: 0, idle: 0 }
    let inService: { entry: Entry; name: keyof typeof served } | undefined
    const ask = (name: keyof typeof served) =>
      void queue.enter(name).then((entry) => {
        inService = { entry, name }
      })
    for (let n = 0; n < 300; n++) ask('busy')
    const idleFor = Math.floor(random() * 100)
    for (let step = 0; step < 200; step++) {
      if (step === idleFor) {
        for (let n = 0; n < 300; n++) ask('idle')
        served.busy = 0
      }
      await settle()
      const cost = 1 + Math.floor(random() * 50)
      const { entry, name } = inService as NonNullable<typeof inService>
      served[name] += cost
      entry.leave(cost)
      if (step > idleFor && served.idle - served.busy > 100)
        return t.fail('idleness was saved up', { run, step, served, seed })
    }
  }
  t.pass()
})

t.test('no resource, owner or key has more than its places, and what is left over is nothing', async (t) => {
  const random = randomFrom(seed + 2)
  for (let run = 0; run < runs; run++) {
    const limits = { total: 1 + Math.floor(random() * 6), perOwner: 1 + Math.floor(random() * 4), perKey: 2 }
    const queue = new FairQueue({ ...limits, waiting: 20, longCost: random() < 0.5 ? 30 : 1e9 })
    const inside: { owner: string; key: string; entry: Entry }[] = []
    const aborts: AbortController[] = []
    const asked: Promise<unknown>[] = []
    for (let step = 0; step < 200; step++) {
      const chance = random()
      if (chance < 0.5) {
        const [owner, key] = [`owner ${Math.floor(random() * 4)}`, `key ${Math.floor(random() * 3)}`]
        const abort = new AbortController()
        aborts.push(abort)
        const continues = random() < 0.2
        const entered = queue.enter(owner, { key, signal: abort.signal, continues, party: limits })
        asked.push(entered.then((entry) => inside.push({ owner, key, entry })).catch(() => {}))
      } else if (chance < 0.6) aborts[Math.floor(random() * aborts.length)]?.abort()
      else if (chance < 0.7) {
        const [paused] = inside.splice(Math.floor(random() * inside.length), 1)
        if (paused) asked.push(paused.entry.pause(random() * 50).then(() => inside.push(paused)))
      } else {
        const [left] = inside.splice(Math.floor(random() * inside.length), 1)
        left?.entry.leave(random() * 50)
      }
      await settle()
      const counts = new Map<string, number>()
      for (const { owner, key } of inside)
        for (const name of [owner, `${owner} ${key}`]) counts.set(name, (counts.get(name) ?? 0) + 1)
      const isWithin =
        inside.length <= limits.total &&
        [...counts].every(
          ([name, count]) => count <= (name.includes('key') ? limits.perKey : limits.perOwner),
        )
      if (!isWithin || queue.taken !== inside.length)
        return t.fail('too much is inside', {
          run,
          step,
          limits,
          taken: queue.taken,
          inside: inside.length,
          seed,
        })
    }
    while (queue.taken > 0) {
      for (const { entry } of inside.splice(0)) entry.leave(1)
      await settle()
    }
    await Promise.all(asked)
    t.equal(queue.waiting, 0)
  }
})
