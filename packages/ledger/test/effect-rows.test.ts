import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { writeEvents, writeRows } from '../src/outcomes/effect-rows.js'

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

t.test('each row is written once, and others have a turn between those that take long', async (t) => {
  let turns = 0
  const turn = () => {
    if (turns++ < 10) setImmediate(turn)
  }
  setImmediate(turn)
  const rowOf = (ms: number) => {
    const endsAt = performance.now() + ms
    while (performance.now() < endsAt);
    return { ms, turns }
  }
  const text = await writeRows([15, 15, 0, 0], rowOf, () => 16_384)
  const rows: { ms: number; turns: number }[] = JSON.parse(text)
  t.strictSame(
    rows.map(({ ms }) => ms),
    [15, 15, 0, 0],
  )
  t.ok((rows[1]?.turns ?? 0) > (rows[0]?.turns ?? 0) && (rows[2]?.turns ?? 0) > (rows[1]?.turns ?? 0))
  t.equal(await writeEvents([]), '[]')
})
