import t from 'tap'
import { createExactAim, formatAims, listAims } from '../src/aims.js'

const lines = (label: string, values: number[]) => [{ label, rounds: values.map((ms) => ({ ms })) }]
const resultOf = (values: number[], bounds: { atLeast?: number; atMost?: number }) =>
  listAims(lines('line', values), [{ title: 'aim', of: ['line', 'ms'], ...bounds }])[0]?.result

t.test('an aim is met or missed if all of the interval is on one side', async (t) => {
  const rounds = [0.81, 0.84, 0.9, 0.8, 0.83]
  t.equal(resultOf(rounds, { atLeast: 0.8 }), 'met')
  t.equal(resultOf(rounds, { atLeast: 0.95 }), 'missed')
  t.equal(resultOf(rounds, { atMost: 0.9 }), 'met')
  t.equal(resultOf(rounds, { atMost: 0.7 }), 'missed')
})

t.test('an aim inside the noise is undecided', async (t) => {
  const rounds = [0.81, 0.84, 0.9, 0.79, 0.83]
  t.equal(resultOf(rounds, { atLeast: 0.8 }), 'undecided')
  t.equal(resultOf(rounds, { atMost: 0.85 }), 'undecided')
})

t.test('fewer than five rounds decide nothing', async (t) => {
  t.equal(resultOf([10, 10, 10, 10], { atLeast: 0.8 }), 'undecided')
})

t.test('a round without a figure decides nothing in favour of an aim', async (t) => {
  t.not(resultOf([1, 1, 1, 1, Number.NaN], { atLeast: 0.8 }), 'met')
})

t.test('figures are divided round by round, and what was not measured has no aim', async (t) => {
  const measured = [...lines('ours', [10, 5]), ...lines('theirs', [20, 20])]
  const aims = listAims(measured, [
    { title: 'share', of: ['ours', 'ms'], dividedBy: ['theirs', 'ms'], atLeast: 0.5 },
    { title: 'not measured', of: ['others', 'ms'], atLeast: 1 },
    { title: 'divisor not measured', of: ['ours', 'ms'], dividedBy: ['others', 'ms'], atLeast: 1 },
  ])
  t.match(aims, [{ title: 'share', rounds: [0.5, 0.25] }])
  t.equal(aims.length, 1)
})

t.test('a line has the median, the range and the result', async (t) => {
  const rounds = [1_500, 1_400, 1_600, 1_300, 1_700]
  const aims = listAims(lines('line', rounds), [{ title: 'done/s', of: ['line', 'ms'], atLeast: 1_000 }])
  t.match(formatAims(aims), /done\/s +1,500 +1,300 to 1,700 +≥ 1,000 +met$/)
  t.match(formatAims([createExactAim('failures', 2, { atMost: 0 })]), /failures +2 +2 to 2 +≤ 0 +missed$/)
})
