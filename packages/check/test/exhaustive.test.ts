import { checkRules } from '@automation/check'
import type { CheckedRule, Condition } from '@automation/engine'
import t from 'tap'
import { Domain, Random } from './corpus/index.js'
import { holds } from './corpus/oracle.js'
import { randomClause } from './corpus/random-rules.js'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const day = 86_400_000
/** Dates of the rules are still to come, and so are times relative to later moments. */
const moments = [now, now + 90 * day, now + 200 * day, now + 400 * day, now + 2_000 * day]
const { TEST_LONG, TEST_LARGE } = process.env
const rules = TEST_LARGE ? 20_000 : TEST_LONG ? 300 : 50
t.setTimeout(3_600_000)

t.test('a rule that no value of a small domain fulfils never matches, or is not known', async (t) => {
  const wrong: unknown[] = []
  const counts = { never: 0, notKnown: 0, matching: 0 }
  for (let seed = 0; seed < rules; seed++) {
    const random = new Random(seed)
    const conditions: Condition[] = Array.from({ length: 2 + random.below(2) }, () => clauseOfPairs(random))
    const rule: CheckedRule = {
      name: 'One',
      trigger: 'LEAD_CREATED',
      conditions,
      actions: [{ type: 'CREATE_TASK', config: { title: 'Call' } }],
    }
    const { findings, notKnown } = checkRules([rule], { now })
    const isNever = findings.some(({ code }) => code === 'never_matches' || code === 'dead_since')
    const isOpen = notKnown.some(({ code }) => code === 'never_matches')
    const matches = moments.some((at) =>
      new Domain([rule], at).listValues().some((score) => holds(rule, { score }, at)),
    )
    if (isNever) counts.never++
    else if (isOpen) counts.notKnown++
    else counts.matching++
    if (matches ? isNever : !isNever && !isOpen) wrong.push({ conditions, matches, isNever })
  }
  t.comment(JSON.stringify(counts))
  t.same(wrong.slice(0, 5), [])
  t.ok(counts.never > rules / 20, 'some never match')
})

/** The domain has texts and lists of two constants, so an operator that may need more of them is left out. */
function clauseOfPairs(random: Random): Condition {
  for (;;) {
    const clause = randomClause(random, 'score')
    if ('operator' in clause && clause.operator !== 'contains_all') return clause
  }
}
