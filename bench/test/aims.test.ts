import t from 'tap'
import { createAim, describeAim, ratiosOf } from '../src/aims.js'

t.test('an aim is met or missed if all of the interval is on one side', async (t) => {
  const rounds = [0.81, 0.84, 0.9, 0.8, 0.83]
  t.match(createAim({ title: 'share', rounds, atLeast: 0.8, digits: 2 }), {
    verdict: 'met',
    reached: 0.83,
    low: 0.8,
    high: 0.9,
  })
  t.equal(createAim({ title: 'share', rounds, atLeast: 0.95, digits: 2 }).verdict, 'missed')
  t.equal(createAim({ title: 'cost', rounds, atMost: 0.9, digits: 2 }).verdict, 'met')
  t.equal(createAim({ title: 'cost', rounds, atMost: 0.7, digits: 2 }).verdict, 'missed')
})

t.test('an aim inside the noise is undecided', async (t) => {
  const rounds = [0.81, 0.84, 0.9, 0.79, 0.83]
  t.equal(createAim({ title: 'share', rounds, atLeast: 0.8, digits: 2 }).verdict, 'undecided')
  t.equal(createAim({ title: 'cost', rounds, atMost: 0.85, digits: 2 }).verdict, 'undecided')
})

t.test('fewer than five rounds decide nothing', async (t) => {
  const aim = createAim({ title: 'share', rounds: [10, 10, 10, 10], atLeast: 0.8, digits: 2 })
  t.equal(aim.verdict, 'undecided')
})

t.test('a round without a figure decides nothing in favour of an aim', async (t) => {
  const aim = createAim({ title: 'share', rounds: [1, 1, 1, 1, Number.NaN], atLeast: 0.8, digits: 2 })
  t.not(aim.verdict, 'met')
})

t.test('a line has the median, the range and the verdict', async (t) => {
  const aim = createAim({
    title: 'done/s',
    rounds: [1_500, 1_400, 1_600, 1_300, 1_700],
    atLeast: 1_000,
    digits: 0,
  })
  t.same(describeAim(aim), ['done/s', '1,500', '1,300 to 1,700', '≥ 1,000', 'met'])
})

t.test('ratios are taken round by round', async (t) => {
  t.same(ratiosOf([10, 5], [20, 20]), [0.5, 0.25])
})
