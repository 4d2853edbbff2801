import t from 'tap'
import { endOfTime, LowWaterMark } from '../src/unfinished/low-water-mark.js'

const now = Date.parse('2026-06-01T12:00:00.000Z')
const [secondMs, hourMs] = [1_000, 60 * 60 * 1_000]

/** An index whose finished rows keep their entries, as behind an old snapshot. */
function openIndex() {
  const entries: { position: number; isFinished: boolean }[] = []
  const index = {
    /** Entries that the last look has read. */
    read: 0,
    /** The statements of the last look. */
    statements: 0,
  }
  const mark = new LowWaterMark(async (from, to) => {
    const inside = entries.filter(({ position }) => position >= from && position < to)
    const unfinished = inside.filter(({ isFinished }) => !isFinished)
    const first = unfinished.reduce(
      (least, { position }) => Math.min(least, position),
      Number.POSITIVE_INFINITY,
    )
    const read = inside.filter(({ position }) => position <= first).length
    index.read += read
    index.statements += 1
    return { first: unfinished.length > 0 ? { position: first, dueSince: first } : undefined, read }
  })
  return {
    index,
    entries,
    add(position: number, isFinished = false) {
      const entry = { position, isFinished }
      entries.push(entry)
      return entry
    },
    async look(at: number) {
      index.read = 0
      index.statements = 0
      return (await mark.find(at))?.position
    },
  }
}

t.test('without finished entries each look reads all entries, and soon in two statements', async (t) => {
  const { index, look, add } = openIndex()
  const [old, young] = [add(now - 900 * hourMs), add(now - secondMs)]
  t.equal(await look(now), old.position)
  await look(now + secondMs)
  t.equal(await look(now + 2 * secondMs), old.position)
  t.equal(index.statements, 2)
  old.isFinished = true
  t.equal(await look(now + 3 * secondMs), young.position)
  young.isFinished = true
  t.equal(await look(now + 4 * secondMs), undefined)
  const late = add(now - 30 * hourMs)
  t.equal(await look(now + 5 * secondMs), late.position, 'one that was committed under an old id')
})

t.test(
  'among 100,000 finished entries no look reads many, and the oldest row is found in the end',
  async (t) => {
    const { index, look, add } = openIndex()
    const lost = add(now - hourMs)
    for (let at = now - 100 * secondMs; at < now; at += 1) add(at, true)
    let found: number | undefined
    let looks = 0
    for (; found !== lost.position && looks < 100; looks++) {
      found = await look(now + looks * secondMs)
      t.ok(index.read < 30_000, `${index.read} entries in ${index.statements} statements`)
    }
    t.equal(found, lost.position, `${looks} looks`)
    t.equal(await look(now + looks * secondMs), lost.position, 'and stays known')
    t.ok(index.read < 30_000)
    lost.isFinished = true
    const next = add(now + looks * secondMs)
    t.equal(await look(now + looks * secondMs), next.position)
    t.ok(index.read < 30_000)

    next.isFinished = true
    const early = add(now + hourMs)
    t.equal(await look(now + looks * secondMs), early.position, 'one by a clock that is ahead')
    early.isFinished = true
    const usual = add(now + (looks + 1) * secondMs)
    t.equal(await look(now + (looks + 2) * secondMs), usual.position, 'which takes the mark nowhere')
  },
)

t.test('a look that comes after a long time reads no more than others', async (t) => {
  const { index, look, add } = openIndex()
  await look(now)
  for (let at = now; at < now + 200 * secondMs; at += 1) add(at, true)
  await look(now + 200 * secondMs)
  t.ok(index.read < 90_000, `${index.read} entries`)
})

t.test('a slice that takes too long is read again in smaller ones', async (t) => {
  let fails = 0
  const mark = new LowWaterMark(async (from, to) => {
    if (to < endOfTime && to - from > hourMs && fails < 3) {
      fails += 1
      throw new Error('Query read timeout')
    }
    const position = now - 5 * hourMs
    return {
      first: from <= position && to > position ? { position, dueSince: position } : undefined,
      read: 0,
    }
  })
  let found: number | undefined
  for (let looks = 0; looks < 20 && found === undefined; looks++) found = (await mark.find(now))?.position
  t.equal(fails, 3)
  t.equal(found, now - 5 * hourMs)
})

t.test('the oldest row is found some looks later, after any rows were added and finished', async (t) => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let run = 0; run < 30; run++) {
    const { entries, look, add } = openIndex()
    for (let step = 0, at = now; step < 60; step++, at += random(20) * secondMs) {
      for (let rows = random(4); rows > 0; rows--) add(at - random(5) ** 8 * secondMs)
      for (const entry of entries) if (random(3) === 0) entry.isFinished = true
      if (random(2) === 0) await look(at)
      if (random(10) > 0) continue
      let found: number | undefined
      for (let looks = 0; looks < 5; looks++) found = await look(at)
      const left = entries.flatMap(({ position, isFinished }) => (isFinished ? [] : [position]))
      t.equal(found, left.length > 0 ? Math.min(...left) : undefined)
    }
  }
})
