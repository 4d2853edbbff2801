import { checkRules } from '@automation/check'
import type { CheckedRule, Condition } from '@automation/engine'
import t from 'tap'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const some = { some: 'items', that: [{ field: 'qty', operator: 'greater_than', value: 5 }] }
const none: Condition = { none: 'items', that: some.that }
const two: Condition = { field: 'amount', operator: 'greater_than', value: { field: 'limit' } }
const high: Condition = { field: 'score', operator: 'greater_than', value: 80 }
const low: Condition = { field: 'score', operator: 'less_than', value: 50 }

function rule(conditions: Condition[], name = 'Orders', actions?: object[]): CheckedRule {
  const task = { type: 'CREATE_TASK', config: { title: 'Check' } }
  return { name, trigger: 'DEAL_WON', conditions, actions: actions ?? [task] } as CheckedRule
}

function check(...rules: CheckedRule[]) {
  return checkRules(rules, { now })
}

t.test('what depends on a list or on two fields is not known, and is no finding', async (t) => {
  for (const opaque of [some, none, two, { count: 'items', operator: 'less_than', value: 0 } as Condition]) {
    const { findings, notKnown } = check(rule([opaque, high]))
    t.same(findings, [], JSON.stringify(opaque))
    t.match(notKnown, [{ code: 'never_matches', reason: /a condition on a list, between two fields/ }])
    t.same(check(rule([{ not: opaque }, opaque])).findings, [])
    t.same(check(rule([{ any: [{ not: opaque }, opaque] }])).findings, [])
  }
})

t.test('what the other conditions of a rule say is found beside it', async (t) => {
  t.match(check(rule([some, high, low])).findings, [
    { code: 'never_matches', path: 'conditions', message: /score is above 80 and score is below 50/ },
  ])
  t.match(
    check(
      rule([
        some,
        {
          any: [
            { field: 'a', operator: 'exists' },
            { field: 'a', operator: 'not_exists' },
          ],
        },
      ]),
    ).findings,
    [{ code: 'always_true', path: 'conditions[1]' }],
  )
})

t.test('rules with lists that do the same for the same target are not known to overlap', async (t) => {
  const mail = { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello', template: 'hello' } }
  const { findings, notKnown } = check(rule([some], 'One', [mail]), rule([some], 'Other', [mail]))
  t.same(findings, [])
  t.match(
    notKnown.filter(({ code }) => code === 'overlap'),
    [{ rule: { name: 'Other' } }],
  )
  const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } }
  const loop = check(rule([some], 'Loop', [emit]))
  t.same(loop.findings, [])
  t.match(
    loop.notKnown.filter(({ code }) => code === 'loop'),
    [{ path: 'actions[0]' }],
  )
})

t.test('the list and the other field are compared with the events that were seen', async (t) => {
  const fields = [
    { path: 'items', kinds: ['list'], kindCounts: { list: 30 } },
    { path: 'amount', kinds: ['number'], kindCounts: { number: 30 } },
    { path: 'limits', kinds: ['number'], kindCounts: { number: 30 } },
  ].map((field) => ({ ...field, share: 1, distinct: 1, isDistinctAtLeast: false, top: [] }))
  const findObserved = () => ({ events: 30, hasMorePaths: false, fields }) as never
  const misspelt = { ...some, some: 'itmes' } as Condition
  const { findings } = checkRules([rule([some, misspelt, two])], { now, findObserved })
  t.match(findings, [
    {
      code: 'unknown_field',
      path: 'conditions[1]',
      message: /^itmes was in none of 30 DEAL_WON events.*items/,
    },
    { code: 'unknown_field', path: 'conditions[2].value', message: /^limit was in none.*limits/ },
  ])
})
