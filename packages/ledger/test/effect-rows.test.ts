import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { toStorableJson, writeTasks } from '../src/outcomes/effect-rows.js'

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
      fc.array(row, { maxLength: 5 }),
      fc.integer({ min: 1, max: 3 }),
      async (rows, atOnce) => {
        assert.equal(await toStorableJson(rows, atOnce), JSON.stringify(rows, storable))
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
  const writing = toStorableJson([row, row, row, row], 1)
  t.same(
    JSON.parse(await writing).map((parsed: { turns: number }) => parsed.turns),
    [0, 1, 1, 1],
  )
  t.equal(written, 4)
  t.equal(await toStorableJson([], 1), '[]')
})

t.test('who gives way learns how long each slice took', async (t) => {
  const slices: number[] = []
  const row = { text: 'x'.repeat(300_000) }
  await toStorableJson([row, row, row], 1, async (tookMs) => {
    slices.push(tookMs)
  })
  t.equal(slices.length, 2)
  t.ok(slices.every((ms) => ms > 0))
})

t.test('tasks are written together, and each by itself where one of them is long', async (t) => {
  const countTurns = async (description: string) => {
    let turns = 0
    const short = { title: 'Call', description: 'x'.repeat(4_000) }
    const rows = [{ title: 'Call', description }, ...Array.from({ length: 99 }, () => short)]
    const text = await writeTasks(rows, async () => void turns++)
    t.strictSame(JSON.parse(text), rows)
    return turns
  }
  t.equal(await countTurns('short'), 1, 'after 50 and before the rest')
  t.equal(await countTurns('x'.repeat(1_000_000)), 3, 'after the long one, and after each 128 KiB')
})
