import { checkRules } from '@automation/check'
import t from 'tap'
import {
  credentials,
  Domain,
  type Planted,
  plantedCodes,
  plantFault,
  Random,
  refute,
} from './corpus/index.js'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const moments = [now, now + 86_400_000, now + 2_000 * 86_400_000]
const perCode = 45

t.setTimeout(3_600_000)

t.test('of more than 500 seeded faults at least 99 % are found, and no finding is false', async (t) => {
  const missed: string[] = []
  const wrong: string[] = []
  let planted = 0
  for (const code of plantedCodes) {
    for (let seed = 0; seed < perCode; seed++) {
      const random = new Random(seed * 31 + code.length)
      const fault = plantFault(random, code)
      planted++
      const { findings } = checkRules(fault.rules, {
        now,
        credentials,
        ...(fault.observed && {
          findObserved: (type: string) =>
            type === fault.unseen ? { events: 0, hasMorePaths: false, fields: [] } : fault.observed,
        }),
      })
      if (!findings.some((finding) => isThe(finding, fault)))
        missed.push(`${code} ${seed} ${JSON.stringify(fault)}`)
      const domain = new Domain(fault.rules, now)
      const events = Array.from({ length: 40 }, () => domain.event(random))
      for (const finding of findings) {
        const why = refute(finding, fault.rules, events, moments)
        if (why !== undefined) wrong.push(`${finding.code} ${finding.path} of ${code} ${seed}: ${why}`)
      }
    }
  }
  t.ok(planted >= 500, `${planted} faults are planted`)
  t.same(wrong, [], 'no finding is false')
  t.ok(missed.length <= planted / 100, `${planted - missed.length} of ${planted} are found`)
  for (const one of missed.slice(0, 5)) t.comment(one)
})

function isThe(finding: ReturnType<typeof checkRules>['findings'][number], fault: Planted): boolean {
  if (finding.code !== fault.code) return false
  const indexes = [finding.rule, ...finding.others].map(({ index }) => index).sort()
  const expected = [fault.rule, ...fault.others].sort()
  return (
    JSON.stringify(indexes) === JSON.stringify(expected) &&
    (fault.path === undefined || finding.path === fault.path)
  )
}
