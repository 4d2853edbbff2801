import type { Condition } from '@automation/client'
import { defaultWorkLimits, describeVocabulary, findRuleFaults, quantifiers } from '@automation/engine'
import fc from 'fast-check'
import t from 'tap'
import {
  changeKind,
  childrenOf,
  type GroupKind,
  groupKindOf,
  groupKinds,
  isClause,
  isReference,
  listKinds,
  withChildren,
} from '../../../pages/logic/editing/condition-kinds.js'
import { describeCondition, isKnown } from '../../../pages/logic/editing/describe-condition.js'
import { findDefinitionFaults } from '../../../pages/logic/editing/find-definition-faults.js'
import {
  readList,
  readNumber,
  readScalar,
  valueKindOf,
  writeList,
  writeScalar,
} from '../../../pages/logic/value-kind.js'

const { operators } = describeVocabulary(defaultWorkLimits)
const byName = new Map(
  operators.flatMap((operator) => [operator.name, ...operator.aliases].map((name) => [name, operator])),
)
const path = fc.constantFrom('score', 'lead.tags[0]', 'customer.limit', 'größe')
const actions = [{ type: 'WAIT', config: { duration: '1h' } }]
const scalar = fc.oneof(
  fc.constantFrom<unknown>('', ' x ', '80', 'true', 'null', '"x"', 'a, b', '1e3', '\n', true, false, null, 0),
  fc.string(),
  fc.integer(),
)
const clause = (isItem: boolean) =>
  fc.constantFrom(...byName.keys()).chain((operator) => {
    const { value, example, comparesFields } = byName.get(operator) as (typeof operators)[number]
    const field = isItem ? fc.oneof(path, fc.constant('.')) : path
    if (value === null) return fc.record({ field, operator: fc.constant(operator) })
    const constant =
      valueKindOf(value) === 'scalar'
        ? scalar
        : valueKindOf(value) === 'list'
          ? fc.array(scalar, { minLength: 1, maxLength: 4 })
          : fc.constant(example.value)
    const other: fc.Arbitrary<unknown> = fc.oneof(
      field.map((field) => ({ field })),
      ...(isItem ? [path.map((root) => ({ root }))] : []),
    )
    return fc.record({
      field,
      operator: fc.constant(operator),
      value: comparesFields ? fc.oneof(constant, other) : constant,
    })
  })

function condition(isItem: boolean, depth: number): fc.Arbitrary<object> {
  if (depth === 0) return clause(isItem)
  const inner = fc.array(
    fc.oneof(
      clause(isItem),
      fc.constant(undefined).chain(() => condition(isItem, depth - 1)),
    ),
    { minLength: 1, maxLength: 3 },
  )
  const groups = fc.oneof(
    inner.map((all) => ({ all })),
    inner.map((any) => ({ any })),
    inner.map(([not]) => ({ not })),
  )
  if (isItem) return fc.oneof(clause(isItem), groups)
  const that = fc.array(
    fc.constant(undefined).chain(() => condition(true, depth - 1)),
    { minLength: 1, maxLength: 3 },
  )
  const count = fc.record(
    {
      count: path,
      that,
      operator: fc.constantFrom('gte', 'equals', 'less_than'),
      value: fc.nat(1_000_000),
    },
    { requiredKeys: ['count', 'operator', 'value'] },
  )
  const lists = fc
    .record({ keyword: fc.constantFrom(...quantifiers), path, that })
    .map(({ keyword, path, that }) => ({ [keyword]: path, that }))
    .filter((one) => !('count' in one))
  return fc.oneof(clause(isItem), groups, lists, count)
}

/** The condition as it is after somebody typed into each chip what it shows. */
function retype(one: Condition): Condition {
  if (isClause(one)) {
    if (!('value' in one) || isReference(one.value)) return { ...one } as Condition
    return { ...one, value: retypeValue(one.operator, one.value) } as Condition
  }
  const kind = groupKindOf(one) as GroupKind
  const counted = 'count' in one ? { ...one, value: readNumber(String(one.value)) } : one
  return withChildren(counted as Condition, kind, childrenOf(one, kind).map(retype)) as Condition
}

function retypeValue(operator: string, value: unknown): unknown {
  const kind = valueKindOf(byName.get(operator)?.value)
  if (kind === 'scalar') return readScalar(writeScalar(value))
  if (kind === 'list') return readList(writeList(value))
  if (kind === 'number') return readNumber(String(value))
  return value
}

t.test('every condition that the service takes is chips, and none of them loses anything', async (t) => {
  let valid = 0
  fc.assert(
    fc.property(condition(false, 3), (drawn) => {
      const one = drawn as Condition
      if (findRuleFaults({ conditions: [one] }).length > 0) return true
      valid += 1
      // Also the order of keys: what says the same as the saved rule is nothing unsaved.
      return (
        isKnown(one) &&
        JSON.stringify(retype(one)) === JSON.stringify(one) &&
        findDefinitionFaults({ name: 'n', trigger: 'LEAD_CREATED', conditions: [one], actions } as never)
          .length === 0 &&
        describeCondition(one) !== ''
      )
    }),
  )
  t.ok(valid > 40, `${valid} of 100 were valid`)
})

t.test('another quantifier keeps the list and its conditions, and back it is the same', async (t) => {
  const [some, every, none, count] = listKinds as [GroupKind, GroupKind, GroupKind, GroupKind]
  const that = [{ field: 'qty', operator: 'greater_than', value: 5 }] as Condition[]
  const one = { some: 'items', that } as Condition
  t.strictSame(changeKind(one, some, every), { every: 'items', that })
  t.strictSame(changeKind(one, some, none), { none: 'items', that })
  const counted = changeKind(one, some, count) as Condition
  t.strictSame(counted, { count: 'items', that, operator: 'greater_than_or_equal', value: 1 })
  t.strictSame(changeKind(counted, count, some), one)
  const all = withChildren(counted, count, []) as Condition
  t.strictSame(
    all,
    { count: 'items', operator: 'greater_than_or_equal', value: 1 },
    'items need no condition',
  )
  t.match(changeKind(all, count, some), { some: 'items', that: [{ field: '' }] })
  t.equal(withChildren(one, some, []), undefined)
})

t.test('what looks like a group or a list, and is none, is kept as JSON', async (t) => {
  for (const odd of [
    { some: 5, that: [] },
    { some: 'items' },
    { some: 'items', that: [], more: 1 },
    { some: 'items', every: 'items', that: [] },
    { count: 'items', value: 1 },
    { any: [], all: [] },
    { any: 5 },
    { any: [{ sometime: 1 }] },
    { sometime: 1 },
    null,
  ])
    t.notOk(isKnown(odd), JSON.stringify(odd))
  t.equal(groupKinds.length + listKinds.length, 7)
})
