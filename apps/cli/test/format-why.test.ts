import type { RuleWhy } from '@automation/client'
import t from 'tap'
import { formatRules } from '../src/client/format-why.js'

const rule: RuleWhy = {
  ruleId: 'r',
  name: 'A\u001b[2J',
  version: 3,
  verdict: 'not_matched',
  executionId: null,
  decisive: ['conditions[0].any[1]', 'conditions[1].not', 'conditions[2]'],
  trace: {
    conditionsPassed: false,
    conditions: [
      {
        group: 'any',
        verdict: false,
        children: [
          { field: 'a', operator: 'is_empty', actual: 1, verdict: false },
          {
            field: 'at',
            operator: 'within_last',
            expected: '1h',
            actual: 1_767_225_600,
            distanceMs: 1_500,
            note: 'read as Unix seconds: 2026-01-01T00:00:00.000Z',
            verdict: false,
          },
        ],
      },
      { group: 'not', verdict: false, children: [{ field: 'b', operator: 'is_empty', verdict: true }] },
      { field: 'lead.status', operator: 'equals', expected: 'new', didYouMean: 'lead.statu', verdict: false },
    ],
    actions: [],
  },
  change: [
    { field: 'b', from: [], to: 1 },
    { field: 'lead.status', to: 'new' },
  ],
}

t.test('why is readable: decisive clauses within groups, hints and the nearest change', async (t) => {
  t.equal(
    formatRules([rule]),
    `not_matched: A·[2J (version 3)
  rule r
  conditions[0].any[1]: at within_last "1h", found 1767225600, 1.5 s off, read as Unix seconds: 2026-01-01T00:00:00.000Z
  conditions[1].not: b is_empty, the event has no such field
  conditions[2]: lead.status equals "new", the event has no such field, did you mean lead.statu?
  would match with: b [] → 1, lead.status → "new"`,
  )
})

t.test('what is not known is said to be not known', async (t) => {
  const unknown = { ...rule, name: null, version: null, verdict: 'not_known' as const, executionId: 'e' }
  t.equal(
    formatRules([{ ...unknown, decisive: [], trace: null, change: null }]),
    'not_known: a rule without a known name (version not known)\n  rule r, execution e',
  )
  t.equal(formatRules([]), 'No rule was considered.')
})
