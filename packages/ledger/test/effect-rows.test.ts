import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { writeEvents, writeRows, writeTasks } from '../src/outcomes/effect-rows.js'

function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value
}

const part = fc.constantFrom(
  '\\',
  '\\\\',
  'u',
  '0000',
  'ud800',
  '\0',
  '\ud800',
  '\udc00',
  '\n',
  '"',
  '\u0001',
  'é',
)
const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''))

t.test('what Postgres refuses in text is replaced, and nothing else', async () => {
  const row = fc.record({
    text,
    list: fc.array(text, { maxLength: 2 }),
    data: fc.json().map((json) => JSON.parse(json)),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 6 }),
      fc.array(fc.constantFrom(1, 9_000, 20_000)),
      async (rows, lengths) => {
        const lengthOf = (row: object) => lengths[rows.indexOf(row as never)] ?? 0
        assert.equal(await writeRows(rows, (row) => row, lengthOf), JSON.stringify(rows, storable))
      },
    ),
    { numRuns: 500 },
  )
})

t.test('each row is written once, and others have a turn between large ones', async (t) => {
  let written = 0
  let turns = 0
  const row = {
    toJSON() {
      written++
      return { text: '\0'.repeat(400_000), turns }
    },
  }
  setImmediate(() => {
    turns++
  })
  const writing = writeEvents([row, row, row, row])
  t.same(
    JSON.parse(await writing).map((parsed: { turns: number }) => parsed.turns),
    [0, 1, 1, 1],
  )
  t.equal(written, 4)
  t.equal(await writeEvents([]), '[]')
})

t.test('who gives way learns how long each slice took', async (t) => {
  const slices: number[] = []
  const row = { text: 'x'.repeat(300_000) }
  await writeEvents([row, row, row], async (tookMs) => {
    slices.push(tookMs)
  })
  t.equal(slices.length, 2)
  t.ok(slices.every((ms) => ms > 0))
})

/** @returns the number of rows in each slice */
async function countInSlices(lengths: number[]): Promise<number[]> {
  let written = 0
  const slices: number[] = []
  const tasks = lengths.map((length) => {
    const title = 'x'.repeat(length)
    const toJSON = () => {
      written++
      return { title }
    }
    return { title, description: null, toJSON }
  })
  await writeTasks(tasks, async () => {
    slices.push(written)
    written = 0
  })
  return [...slices, written]
}

t.test(
  'rows are written together, as many as about 16 KiB and 25 at most, and a long one by itself',
  async (t) => {
    const many = (count: number, length: number) => Array.from({ length: count }, () => length)
    t.strictSame(await countInSlices([200_000, 10, 10, 10]), [1, 3], 'a long one, then the others')
    t.strictSame(
      await countInSlices([10, 200_000, 10]),
      [2, 1],
      'it does not share a text with those before, but a slice',
    )
    t.strictSame(await countInSlices(many(60, 4_000)), [36, 24], 'four at a time, until 128 KiB are written')
  },
)

t.test('what takes long gives way, however little it writes', async (t) => {
  const slices: number[] = []
  const rowOf = (ms: number) => {
    const endsAt = performance.now() + ms
    while (performance.now() < endsAt);
    return { ms }
  }
  const text = await writeRows(
    [15, 15, 0, 0],
    rowOf,
    () => 16_384,
    async (tookMs) => void slices.push(tookMs),
  )
  t.strictSame(JSON.parse(text), [{ ms: 15 }, { ms: 15 }, { ms: 0 }, { ms: 0 }])
  t.equal(slices.length, 2)
  t.ok(slices.every((ms) => ms >= 15))
})
