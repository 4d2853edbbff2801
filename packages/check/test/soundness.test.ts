import { checkRules, type Finding } from '@automation/check'
import { type CheckedRule, WorkBudget } from '@automation/engine'
import fc from 'fast-check'
import t from 'tap'
import { refute } from './corpus/oracle.js'
import { Random } from './corpus/random.js'
import { randomChains } from './corpus/random-chains.js'
import { Domain } from './corpus/random-events.js'
import { randomRules, triggers } from './corpus/random-rules.js'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const day = 86_400_000
const isLarge = process.env.TEST_LARGE !== undefined
const sets = isLarge ? 100_000 : process.env.TEST_LONG ? 1_000 : 200
const eventsPerSet = 150

t.setTimeout(3_600_000)

t.test('no finding about random rules is false: events and the engine refute none', async (t) => {
  const counts: Record<string, number> = {}
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (seed) => {
      const random = new Random(seed)
      const rules = randomRules(random)
      const { findings, notKnown } = checkRules(rules, { now })
      counts.notKnown = (counts.notKnown ?? 0) + notKnown.length
      for (const { code } of findings) counts[code] = (counts[code] ?? 0) + 1
      refuteAll(findings, rules, random)
    }),
    { numRuns: sets },
  )
  t.comment(JSON.stringify(counts))
  for (const code of ['never_matches', 'implied', 'overlap', 'contained', 'loop', 'unreachable_action'])
    t.ok((counts[code] ?? 0) > 0, `${code} occurs`)
})

t.test('no finding about a group is false', async (t) => {
  let found = 0
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (seed) => {
      const random = new Random(seed)
      const rules = [...randomRules(random), ...randomRules(random)].map((rule) => {
        return { ...rule, trigger: triggers[0], group: random.pick(['a', 'a', 'b']), order: random.below(3) }
      })
      const { findings } = checkRules(rules, { now })
      found += findings.filter(({ code }) => code === 'never_first').length
      refuteAll(findings, rules, random)
    }),
    { numRuns: sets },
  )
  t.ok(found > 0, `${found} rules can never be first`)
})

t.test('no finding about an action is false where one before it may fail', async (t) => {
  const counts: Record<string, number> = {}
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (seed) => {
      const random = new Random(seed)
      const rules = randomChains(random)
      const { findings, notKnown } = checkRules(rules, { now })
      for (const { code } of [...findings, ...notKnown.map(({ code }) => ({ code: `${code} not known` }))])
        counts[code] = (counts[code] ?? 0) + 1
      refuteAll(findings, rules, random)
    }),
    { numRuns: sets },
  )
  t.comment(JSON.stringify(counts))
  for (const code of ['overlap', 'contained', 'duplicate', 'loop'])
    t.ok((counts[code] ?? 0) > 0, `${code} occurs`)
})

t.test('a check that ends early has no false finding, and names what it did not reach', async (t) => {
  let cut = 0
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      fc.integer({ min: 0, max: 40_000 }),
      (seed, units) => {
        const random = new Random(seed)
        const rules = randomRules(random)
        const budget = new WorkBudget({ units, ms: 1_000 })
        const { findings, notKnown } = checkRules(rules, { now, budget })
        refuteAll(findings, rules, random)
        if (budget.overrun === null) return
        cut++
        if (notKnown.some(({ reason }) => reason.includes('evaluation limit'))) return
        const whole = checkRules(rules, { now })
        if (JSON.stringify(findings) !== JSON.stringify(whole.findings))
          throw new Error(`Nothing says so: ${JSON.stringify([findings, whole.findings, rules])}`)
      },
    ),
    {
      // The budget ends while it asks whether a condition of an action says nothing new.
      examples: [[16, 1_290]],
      numRuns: sets,
    },
  )
  t.ok(cut > sets / 10, `${cut} of ${sets} ended early`)
})

function refuteAll(findings: readonly Finding[], rules: readonly CheckedRule[], random: Random): void {
  if (findings.length === 0) return
  const domain = new Domain(rules, now)
  const events = Array.from({ length: eventsPerSet }, () => domain.event(random))
  const moments = [now, now + 1, now + day, now + 200 * day, now + 2_000 * day]
  for (const finding of findings) {
    const why = refute(finding, rules, events, moments)
    if (why !== undefined)
      throw new Error(
        `${finding.code} ${finding.path} ${finding.message}\n${why}\n${JSON.stringify(rules, null, 1)}`,
      )
  }
}
