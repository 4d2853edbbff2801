import t from 'tap'
import { measureRounds, orderOfRound } from '../src/rounds.js'

const [one, other, third] = ['A', 'B', 'C'].map((label) => ({ label })) as [
  { label: string },
  { label: string },
  { label: string },
]

t.test('rounds go forwards and backwards in turn', async (t) => {
  const order = [1, 2, 3, 4].flatMap((round) => orderOfRound(['A', 'B'], round))
  t.equal(order.join(''), 'ABBAABBA')
})

t.test(
  'a machine that becomes steadily slower slows all lines alike in an even number of rounds',
  async (t) => {
    let clock = 0
    const { lines } = await measureRounds([one, other, third], 4, async () => ({ ms: ++clock }))
    const sums = lines.map(({ rounds }) => rounds.reduce((sum, { ms = 0 }) => sum + ms, 0))
    t.same(sums, [26, 26, 26])
  },
)

t.test('the figures of a line are in the order of the rounds', async (t) => {
  let clock = 0
  const { lines } = await measureRounds([one, other], 3, async () => ({ ms: ++clock }))
  t.same(lines, [
    { label: 'A', rounds: [{ ms: 1 }, { ms: 4 }, { ms: 5 }] },
    { label: 'B', rounds: [{ ms: 2 }, { ms: 3 }, { ms: 6 }] },
  ])
})

t.test('an error ends the rounds', async (t) => {
  const measuring = measureRounds([one, other], 2, async ({ label }) => {
    if (label === 'B') throw new Error('B has failed')
    return {}
  })
  await t.rejects(measuring, { message: 'B has failed' })
})
