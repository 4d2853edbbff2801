import t from 'tap'
import { isOld, type Leaf, nextCut } from '../src/leaves/plan-leaves.js'

const dayMs = 24 * 60 * 60 * 1_000
const start = Date.parse('2026-11-30T09:00:00Z')

for (const [days, most] of [
  [30, 12],
  [1, 12],
  [3_650, 40],
  [400, 40],
  [0, 40],
] as const)
  t.test(
    `with ${days} days kept there are at most ${most} leaves in 25 years, and one before its ids`,
    async (t) => {
      let leaves: Leaf[] = [
        { from: Number.NEGATIVE_INFINITY, to: Date.parse('2026-01-05') },
        { from: Date.parse('2026-01-05'), to: Number.POSITIVE_INFINITY },
      ]
      let largest = 0
      for (let now = start; now < start + 25 * 365 * dayMs; now += 8 * 60 * 60 * 1_000) {
        for (;;) {
          const high = leaves.at(-1) as Leaf
          const cut = nextCut(high, { now, days }, undefined)
          if (cut === undefined) break
          leaves = [...leaves.slice(0, -1), cut, { from: cut.to, to: Number.POSITIVE_INFINITY }]
        }
        largest = Math.max(largest, leaves.length)
        const old = leaves.findLastIndex((leaf) => isOld(leaf, { now, days }))
        if (old > 0)
          leaves = [{ from: Number.NEGATIVE_INFINITY, to: leaves[old]?.to ?? 0 }, ...leaves.slice(old + 1)]
        if ((leaves.at(-1)?.from ?? 0) < now + 14 * dayMs)
          return t.fail(`none for ${new Date(now).toISOString()}`)
      }
      t.ok(largest <= most, `${largest} leaves`)
    },
  )

t.test('a leaf ends two weeks after all ids, on a Monday', async (t) => {
  const high = { from: Date.parse('2026-01-05'), to: Number.POSITIVE_INFINITY }
  const end = (newest?: number) =>
    new Date(nextCut(high, { now: start, days: 30 }, newest)?.to ?? 0).toISOString()
  t.equal(end(), '2026-12-21T00:00:00.000Z')
  t.equal(end(start - dayMs), '2026-12-21T00:00:00.000Z')
  t.equal(end(start + 30 * dayMs), '2027-01-18T00:00:00.000Z')
  t.equal(
    nextCut(high, { now: start, days: 30 }, start + 365 * dayMs),
    undefined,
    'no leaf is made for years',
  )
})
