import fc from 'fast-check'
import t from 'tap'
import { isEqual } from '../../../pages/logic/editing/align-items.js'
import { mergeDefinitions } from '../../../pages/logic/editing/merge-definitions.js'

const clause = (field: string, value: unknown, operator = 'greater_than') => ({ field, operator, value })
const task = (title: string, more: object = {}) => ({ type: 'CREATE_TASK', config: { title, ...more } })
const define = (changes: object = {}) =>
  ({
    name: 'Hot',
    description: 'old',
    trigger: 'LEAD_CREATED',
    conditions: [clause('score', 80), clause('amount', 5)],
    actions: [task('Call')],
    ...changes,
  }) as never as Parameters<typeof mergeDefinitions>[1]
const base = define()

t.test('a change of the name and a colleague’s change of the description are both kept', async (t) => {
  const { merged, conflicts } = mergeDefinitions(
    base,
    define({ name: 'Hotter' }),
    define({ description: 'new' }),
  )
  t.strictSame(conflicts, [])
  t.strictSame(merged, define({ name: 'Hotter', description: 'new' }))
})

t.test('what both added is there once', async (t) => {
  const added = (...items: object[]) =>
    define({ conditions: [clause('score', 80), clause('amount', 5), ...items] })
  const [age, vip] = [clause('age', 18), clause('vip', true, 'equals')]
  const { merged, conflicts } = mergeDefinitions(base, added(age), added(age, vip))
  t.strictSame(conflicts, [])
  t.strictSame(merged, added(age, vip))
})

t.test('changes of different conditions and different fields of one action do not meet', async (t) => {
  const mine = define({
    conditions: [clause('score', 90), clause('amount', 5)],
    actions: [task('Call', { dueIn: '1d' })],
  })
  const theirs = define({
    conditions: [clause('score', 80), clause('amount', 7), clause('age', 18)],
    actions: [task('Ring'), { type: 'WAIT', config: { duration: '1h' } }],
  })
  const { merged, conflicts } = mergeDefinitions(base, mine, theirs)
  t.strictSame(conflicts, [])
  t.strictSame(
    merged,
    define({
      conditions: [clause('score', 90), clause('amount', 7), clause('age', 18)],
      actions: [task('Ring', { dueIn: '1d' }), { type: 'WAIT', config: { duration: '1h' } }],
    }),
  )
})

t.test('what both added is there once if it is the same, and otherwise both', async (t) => {
  const add = (...more: object[]) => define({ conditions: [...base.conditions, ...more] })
  const same = mergeDefinitions(base, add(clause('a', 1)), add(clause('a', 1)))
  t.strictSame([same.merged, same.conflicts], [add(clause('a', 1)), []])
  const other = mergeDefinitions(base, add(clause('a', 1)), add(clause('b', 1)))
  t.strictSame([other.merged, other.conflicts], [add(clause('b', 1), clause('a', 1)), []])
})

t.test(
  'what both changed is asked for, and a comparison is never half of one and half of another',
  async (t) => {
    const mine = define({ name: 'Mine', conditions: [clause('score', 90), clause('amount', 5)] })
    const theirs = define({
      name: 'Theirs',
      conditions: [clause('score', 80, 'less_than'), clause('amount', 5)],
    })
    const asked = mergeDefinitions(base, mine, theirs)
    t.strictSame(
      asked.conflicts.map(({ path }) => path),
      ['name', 'conditions[0]'],
    )
    t.strictSame(asked.merged, mine, 'mine until somebody chooses')
    const chosen = new Map([['conditions[0]', 'theirs']] as const)
    t.strictSame(mergeDefinitions(base, mine, theirs, chosen).merged, { ...theirs, name: 'Mine' })
  },
)

t.test('what one removed and the other changed is asked for', async (t) => {
  const mine = define({ conditions: [clause('amount', 5)] })
  const theirs = define({ conditions: [clause('score', 90), clause('amount', 5)] })
  const { conflicts } = mergeDefinitions(base, mine, theirs)
  t.match(conflicts, [{ path: 'conditions[0]', mine: undefined, theirs: clause('score', 90) }])
  const chosen = new Map([['conditions[0]', 'theirs']] as const)
  t.strictSame(mergeDefinitions(base, mine, theirs, chosen).merged, theirs)
  t.strictSame(mergeDefinitions(base, mine, base).conflicts, [], 'but not what the other left alone')
})

t.test(
  'without the version that both began with, all that differs is asked for, and nothing is joined',
  async (t) => {
    const mine = define({ conditions: [clause('score', 90)] })
    const theirs = define({ conditions: [clause('score', 70)] })
    const { merged, conflicts } = mergeDefinitions(undefined, mine, theirs)
    t.strictSame(
      conflicts.map(({ path }) => path),
      ['conditions'],
    )
    t.strictSame(merged, mine)
  },
)

t.test('another type of action is not mixed with fields of the former', async (t) => {
  const mine = define({ actions: [{ type: 'WAIT', config: { duration: '1d' } }] })
  const theirs = define({ actions: [task('Ring')] })
  const { merged, conflicts } = mergeDefinitions(base, mine, theirs)
  t.strictSame(
    conflicts.map(({ path }) => path),
    ['actions[0]'],
  )
  t.strictSame(merged.actions, mine.actions)
})

t.test('a part that the editor does not know is merged like any other', async (t) => {
  const withList = (value: number) =>
    define({ conditions: [{ some: 'items', that: [clause('sku', 1), clause('count', value)] }] })
  const mine = define({
    conditions: [{ some: 'items', that: [clause('sku', 2), clause('count', 1)] }],
  })
  const { merged, conflicts } = mergeDefinitions(withList(1), mine, withList(9))
  t.strictSame(conflicts, [])
  t.strictSame(merged.conditions, [{ some: 'items', that: [clause('sku', 2), clause('count', 9)] }])
})

t.test('a condition on a list is of one kind', async (t) => {
  const withList = (quantifier: string) =>
    define({ conditions: [{ [quantifier]: 'items', that: [clause('sku', 1)] }] })
  const { merged, conflicts } = mergeDefinitions(withList('some'), withList('every'), withList('none'))
  t.strictSame(
    conflicts.map(({ path }) => path),
    ['conditions[0]'],
  )
  t.strictSame(merged, withList('every'))
})

t.test('the order of keys is no change', async (t) => {
  const turned = define({
    conditions: [{ value: 80, operator: 'greater_than', field: 'score' }, clause('amount', 5)],
  })
  t.ok(isEqual(base, turned))
  t.strictSame(mergeDefinitions(base, turned, define({ name: 'x' })).conflicts, [])
})

// strictSame compares prototypes, too, and JSON has only one.
const plain = { noNullPrototype: true }
const anyClause = fc.record(
  {
    field: fc.constantFrom('a', 'b', 'c'),
    operator: fc.constantFrom('equals', 'in'),
    value: fc.integer({ min: 0, max: 3 }),
  },
  plain,
)
const anyCondition = fc.oneof(
  anyClause,
  fc.record({ any: fc.array(anyClause, { minLength: 1, maxLength: 3 }) }, plain),
)
const anyAction = fc.record(
  { type: fc.constantFrom('A', 'B'), config: fc.record({ title: fc.constantFrom('1', '2') }, plain) },
  plain,
)
const anyDefinition = fc
  .record(
    {
      name: fc.constantFrom('x', 'y', 'z'),
      conditions: fc.array(anyCondition, { maxLength: 4 }),
      actions: fc.array(anyAction, { maxLength: 3 }),
    },
    plain,
  )
  .map((changes) => define(changes))

t.test(
  'a change of one side alone is taken as it is, and choosing one side gives no third thing',
  async (t) => {
    fc.assert(
      fc.property(anyDefinition, anyDefinition, (one, other) => {
        t.strictSame(mergeDefinitions(one, other, one), { merged: other, conflicts: [] })
        t.strictSame(mergeDefinitions(one, one, other), { merged: other, conflicts: [] })
        t.strictSame(mergeDefinitions(one, other, other), { merged: other, conflicts: [] })
      }),
    )
  },
)

t.test('the conflicts are the same from both sides', async (t) => {
  fc.assert(
    fc.property(anyDefinition, anyDefinition, anyDefinition, (one, mine, theirs) => {
      const paths = (merge: ReturnType<typeof mergeDefinitions>) => merge.conflicts.map(({ path }) => path)
      t.strictSame(paths(mergeDefinitions(one, mine, theirs)), paths(mergeDefinitions(one, theirs, mine)))
    }),
  )
})
