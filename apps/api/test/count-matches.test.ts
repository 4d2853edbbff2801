import { openPatiently, Prisma } from '@automation/database'
import { countMatches } from '@automation/ledger'
import t from 'tap'

const database = openPatiently(process.env.DATABASE_URL ?? '', 1)
t.teardown(() => database.close())

t.test('matches are counted exactly up to a hundred thousand, and more are marked as more', async (t) => {
  const cases: [rows: number, expected: object][] = [
    [0, { matched: 0 }],
    [1, { matched: 1 }],
    [99_999, { matched: 99_999 }],
    [100_000, { matched: 100_000 }],
    [100_001, { matched: 100_000, atLeast: true }],
    [1_000_000, { matched: 100_000, atLeast: true }],
  ]
  for (const [rows, expected] of cases)
    t.strictSame(
      await countMatches(database.system, Prisma.sql`generate_series(1, ${rows}::int)`),
      expected,
      `${rows} rows`,
    )
})
