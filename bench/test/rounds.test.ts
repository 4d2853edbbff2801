import t from 'tap'
import { orderOfRound, takeTurns } from '../src/rounds.js'

t.test('rounds go forwards and backwards in turn', async (t) => {
  const order = [1, 2, 3, 4].flatMap((round) => orderOfRound(['A', 'B'], round))
  t.equal(order.join(''), 'ABBAABBA')
})

t.test(
  'a machine that becomes steadily slower slows all items alike in an even number of rounds',
  async (t) => {
    let clock = 0
    const results = await takeTurns(['A', 'B', 'C'], 4, async () => ++clock)
    const sums = [...results.values()].map((times) => times.reduce((sum, time) => sum + time, 0))
    t.same(sums, [26, 26, 26])
  },
)

t.test('the results of an item are in the order of the rounds', async (t) => {
  const results = await takeTurns(['A', 'B'], 3, async (item, round) => `${item}${round}`)
  t.same(
    [...results],
    [
      ['A', ['A1', 'A2', 'A3']],
      ['B', ['B1', 'B2', 'B3']],
    ],
  )
})

t.test('an error ends the rounds', async (t) => {
  await t.rejects(
    takeTurns(['A', 'B'], 2, async (item) => {
      if (item === 'B') throw new Error('B has failed')
    }),
    { message: 'B has failed' },
  )
})
