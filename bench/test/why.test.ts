import t from 'tap'
import { waitsOf } from '../src/statistics.js'
import { aimsOf, type Explained, formatExplained } from '../src/why/report.js'
import { readLoopMs } from '../src/why/thread-time.js'

const explained = (rules: number, waitMs: number): Explained => ({
  label: `${rules} rules`,
  rules,
  limit: 20,
  waits: waitsOf([waitMs, waitMs]),
  loopMs: 2,
})
const five = <Value>(value: Value) => Array.from({ length: 5 }, () => value)

t.test('the aims of why are about the most rules of a workspace', async (t) => {
  const aims = aimsOf([...five(explained(10, 5)), ...five(explained(1_000, 60))])
  t.strictSame(
    aims.map(({ reached, verdict }) => [reached, verdict]),
    [
      [60, 'missed'],
      [2, 'met'],
    ],
  )
  t.strictSame(aimsOf([explained(10, 5)]), [])
})

t.test('a line of why has waits, the work of the event loop and the number of questions', async (t) => {
  t.match(formatExplained(five(explained(10, 5))), /10 rules +5\.0 +5\.0 +5\.0 +2\.0 +10/)
  t.equal(formatExplained([]), '')
})

t.test(
  'the work of this thread is counted',
  { skip: process.platform === 'linux' ? false : 'only Linux counts the CPU of a thread' },
  async (t) => {
    const before = readLoopMs(process.pid)
    while (readLoopMs(process.pid) < before + 30);
    t.pass()
  },
)
