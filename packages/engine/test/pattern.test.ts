import t from 'tap'
import { Judging } from '../src/judging.js'
import { compilePattern } from '../src/pattern.js'

/** A text that makes a pattern build a state for almost each of its characters. */
const text = Array.from({ length: 600 }, (_, n) => 'ab'[(n * n + (n >> 2) + (n >> 4)) & 1]).join('')

t.test(
  'the states of patterns count: the oldest are discarded, and compile again when they are used',
  async (t) => {
    const patterns = Array.from({ length: 300 }, (_, n) => compilePattern(`(?i)a[ab]{440}[cd]|z${n}y`))
    const spentBy = (matches: (typeof patterns)[number]) => {
      const judging = new Judging(0)
      matches(text, judging)
      return judging.spent
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
