import t from 'tap'
import { compilePattern } from '../src/operators/pattern.js'
import { Evaluation } from '../src/work/evaluation.js'

/** A text that makes a pattern build a state for almost each of its characters. */
const subject = Array.from({ length: 600 }, (_, n) => 'ab'[(n * n + (n >> 2) + (n >> 4)) & 1]).join('')

t.test(
  'the states of patterns count: the oldest are discarded, and compile again when they are used',
  async (t) => {
    const patterns = Array.from({ length: 300 }, (_, n) => compilePattern(`(?i)a[ab]{440}[cd]|z${n}y`))
    const spentBy = (matches: (typeof patterns)[number]) => {
      const evaluation = new Evaluation(0)
      matches(subject, evaluation)
      return evaluation.spent
    }
    const spent = patterns.map(spentBy)
    const last = patterns.at(-1)
    t.equal(last && spentBy(last) <= (spent.at(-1) ?? 0), true, 'a recent one is kept')
    const first = patterns[0]
    t.equal(
      first && spentBy(first) > (spent[0] ?? 0),
      true,
      'an old one was discarded: 300 of them would take 80 MB',
    )
  },
)

t.test('two patterns of one text, of which one was discarded, do not compile in turn', async (t) => {
  const text = '(?i)a[ab]{440}[cd]|twin'
  const first = compilePattern(text)
  for (let n = 0; n < 300; n++) compilePattern(`(?i)a[ab]{440}[cd]|other${n}`)(subject, new Evaluation(0))
  const second = compilePattern(text)
  const spentBy = (matches: typeof first) => {
    const evaluation = new Evaluation(0)
    matches('x', evaluation)
    return evaluation.spent
  }
  spentBy(second)
  const known = spentBy(second)
  for (const matches of [first, second, first, second]) t.equal(spentBy(matches), known)
})
