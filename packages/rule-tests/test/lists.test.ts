import type { CheckedRule } from '@automation/engine'
import { measureCoverage, mutateClauses, runTests } from '@automation/rule-tests'
import t from 'tap'

t.test('tests of rules count a list as one condition, and say what its nearest item lacks', async (t) => {
  const orders = {
    name: 'Orders',
    trigger: 'DEAL_WON',
    conditions: [
      { some: 'items', that: [{ field: 'qty', operator: 'greater_than', value: 5 }] },
      { field: 'amount', operator: 'greater_than', value: { field: 'limit' } },
    ],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Check' } }],
  } as CheckedRule
  const test = (items: object[], expect: object) => ({
    name: 'six',
    event: { type: 'DEAL_WON', data: { items, amount: 2, limit: 1 } },
    expect,
  })
  const tests = [test([{ qty: 6 }], { Orders: 1 }), test([{ qty: 1 }], { Orders: 'no' })] as never[]
  t.match(runTests([orders], tests), [{ failures: { length: 0 } }, { failures: { length: 0 } }])
  t.match(measureCoverage([orders], tests), {
    verdicts: 4,
    seen: 3,
    uncovered: [{ path: 'conditions[1]', never: 'false' }],
  })
  t.match(mutateClauses([orders], tests), {
    changes: 2,
    survivors: [{ path: 'conditions[1]', after: 'amount is at least limit' }],
  })
  const [failed] = runTests([orders], [test([{ qty: 1 }, { qty: 4 }], { Orders: 1 })] as never[])
  t.match(failed?.failures, [
    /conditions\[0\]: expected some items, 0 of 2 items fulfil it, items\[0\] that\[0\]: expected qty greater_than 5, actual 1/,
  ])
})
