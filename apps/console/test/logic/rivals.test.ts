import type { Rule } from '@automation/client'
import t from 'tap'
import { evaluateDefinition, type Sample } from '../../pages/logic/evaluate-definition.js'
import { listRivals } from '../../pages/logic/rivals.js'

const above = (value: number) => [{ field: 'score', operator: 'greater_than' as const, value }] as never
const rule = (id: string, order: number, more: object = {}) =>
  ({
    ...{ id, name: `Rule ${id}`, trigger: 'LEAD_CREATED', group: 'routing', order, isActive: true },
    ...{ conditions: above(90), actions: [], ...more },
  }) as never as Rule
const definition = {
  ...{ name: 'n', description: '', trigger: 'LEAD_CREATED', group: 'routing', order: 20 },
  ...{ conditions: above(50), actions: [] },
}
const samples: Sample[] = [95, 75, 10].map((score, index) => ({
  ...{ id: `${index}`, acceptedAt: null },
  data: { score },
}))

t.test('only active rules of the group, the type and a lower number come before a rule', async (t) => {
  const others = [
    rule('c', 15),
    rule('b', 10),
    rule('later', 30),
    rule('off', 10, { isActive: false }),
    rule('elsewhere', 10, { group: 'other' }),
    rule('type', 10, { trigger: 'DEAL_WON' }),
    rule('a', 20),
    rule('own', 10),
  ]
  const names = (id: string) => listRivals(id, definition, others).map(({ name }) => name)
  t.strictSame(names('own'), ['Rule b', 'Rule c', 'Rule a'], 'of one number the older comes first')
  t.strictSame(listRivals('own', { ...definition, group: null }, others), [])
})

t.test('an event that another rule of the group takes is told from one that the rule runs for', async (t) => {
  const runsOf = (others: Rule[]) =>
    evaluateDefinition(definition, samples, 0, listRivals('x', definition, others)).verdicts.map(
      ({ matches, rival }) => [matches, rival],
    )
  t.strictSame(runsOf([rule('b', 10)]), [
    [true, 'Rule b'],
    [true, undefined],
    [false, undefined],
  ])
  const broken = rule('b', 10, { conditions: [{ field: 'score', operator: 'no such' }] })
  t.strictSame(runsOf([broken])[1], [true, 'Rule b'], 'one that cannot be evaluated takes its place')
})
