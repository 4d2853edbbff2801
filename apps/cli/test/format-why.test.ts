import type { RuleWhy } from '@automation/client'
import t from 'tap'
import { formatRules } from '../src/client/format-why.js'

const rule: RuleWhy = {
  ruleId: 'r',
  name: 'A\u001b[2J',
  version: 3,
  verdict: 'not_matched',
  executionId: null,
  outranked: null,
  suppressed: null,
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
  conditions[0].any[1]: at within_last 1h, found 1767225600, 1.5 s off, read as Unix seconds: 2026-01-01T00:00:00.000Z
  conditions[1].not: b is_empty, the event has no such field
  conditions[2]: lead.status equals "new", the event has no such field, did you mean lead.statu?
  would match if not (b is empty) and lead.status is "new"
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
  t.match(formatRules([], [], true), /^No worker has evaluated the event yet/)
})

t.test(
  'a condition on a list says how many items fulfil it, and its conditions are those of the nearest item',
  async (t) => {
    const list = {
      list: 'items',
      quantifier: 'some' as const,
      items: 3,
      held: 0,
      item: 1,
      verdict: false,
      conditions: [
        {
          field: 'qty',
          operator: 'greater_than',
          expected: { root: 'limit' },
          actual: 2,
          other: 5,
          verdict: false,
        },
      ],
    }
    const missing = {
      list: 'lines',
      quantifier: 'count' as const,
      operator: 'equals',
      expected: 2,
      held: 0,
      verdict: false,
    }
    const decisive = ['conditions[0].that[0]', 'conditions[0]', 'conditions[1]']
    const trace = { conditionsPassed: false, conditions: [list, missing], actions: [] }
    const text = formatRules([{ ...rule, decisive, trace, change: null }])
    t.match(text, 'conditions[0].that[0]: qty greater_than the limit (5), found 2')
    t.match(text, 'conditions[0]: some of items, 0 of 3 items fulfil it, see item 1')
    t.match(text, 'conditions[1]: count of lines equals 2, the event has no such list')
  },
)

t.test('a rule that was outranked names the rule of its group that ran', async (t) => {
  const text = formatRules([{ ...rule, verdict: 'outranked', outranked: { by: 'first' }, change: null }])
  t.match(text, 'outranked: A')
  t.match(text, 'rule first of its group ran instead')
})

t.test('a suppressed rule names its key and the reason', async (t) => {
  const until = '2026-11-27T12:00:00.000Z'
  const text = (suppressed: RuleWhy['suppressed']) =>
    formatRules([
      { ...rule, verdict: 'suppressed', executionId: 'x', suppressed, decisive: [], change: null },
    ])
  t.match(
    text({ reason: 'at_most', key: 'a', until, executionId: 'first' }),
    `key "a": the limit of its key was reached until ${until}, by execution first`,
  )
  t.match(text({ reason: 'at_least', key: '', count: 2, events: 3 }), 'key "": 2 of 3 events so far')
  t.match(
    text({ reason: 'while_running', key: '7', executionId: 'y' }),
    'execution y of its key had not ended',
  )
})

t.test('a rule that matched says what became of its execution', async (t) => {
  const matched: RuleWhy = {
    ...rule,
    verdict: 'matched',
    executionId: 'e',
    decisive: [],
    trace: null,
    change: null,
  }
  const result = {
    ruleId: 'r',
    executionId: 'e',
    matched: true,
    status: 'failed' as const,
    error: 'No address',
  }
  t.equal(
    formatRules([matched], [result as never]),
    'matched: A·[2J (version 3)\n  rule r, execution e\n  failed: No address',
  )
})
