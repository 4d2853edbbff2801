import t from 'tap'
import { findPlace, listMembers, moveInGroup } from '../../../pages/logic/editing/group-members.js'

const rule = (id: string, order: number | null, more: object = {}) => ({
  id,
  name: `Rule ${id}`,
  group: 'routing',
  order,
  isActive: true,
  ...more,
})
const others = [
  rule('b', 30),
  rule('a', 10),
  rule('c', 50, { group: 'other' }),
  rule('d', 20, { isActive: false }),
]

t.test('a rule keeps a number that is free in its group, and otherwise comes last', async (t) => {
  t.equal(findPlace(others, 'routing', 15), 15)
  t.equal(findPlace(others, 'routing', 10), 40)
  t.equal(findPlace(others, 'routing', 20), 40, 'that of a rule that is off is taken, too')
  t.equal(findPlace(others, 'routing', null), 40)
  t.equal(findPlace(others, 'new', null), 10)
})

t.test('the members of a group that run stand in their order, the older first', async (t) => {
  const list = (order: number | null, id = 'new') => listMembers(others, { group: 'routing', order, id })
  t.strictSame(list(20), ['10 Rule a', '20 this rule', '30 Rule b'])
  t.strictSame(list(30), ['10 Rule a', '30 Rule b', '30 this rule'], 'a new rule is the youngest')
  t.strictSame(list(10, '0'), ['10 this rule', '10 Rule a', '30 Rule b'])
  t.strictSame(list(null), ['? this rule', '10 Rule a', '30 Rule b'])
})

t.test('a rule moves among those of its trigger, and no further than their ends', async (t) => {
  const list = ['a LEAD', 'b DEAL', 'c LEAD', 'd LEAD'].map((text) => {
    const [id = '', trigger = ''] = text.split(' ')
    return { id, trigger }
  })
  const moved = (id: string, by: -1 | 1) => moveInGroup(list, id, by).map((rule) => rule.id)
  t.strictSame(moved('c', -1), ['c', 'b', 'a', 'd'])
  t.strictSame(moved('c', 1), ['a', 'b', 'd', 'c'])
  t.strictSame(moved('a', 1), ['c', 'b', 'a', 'd'])
  for (const [id, by] of [
    ['a', -1],
    ['d', 1],
    ['b', 1],
    ['gone', -1],
  ] as const)
    t.strictSame(moved(id, by), ['a', 'b', 'c', 'd'], `${id} ${by}`)
})
