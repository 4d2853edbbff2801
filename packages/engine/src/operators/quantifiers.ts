/** How many items of a list have to fulfil `that`. */
export type Quantifier = 'some' | 'every' | 'none' | 'count'

/** A condition on a list, for the author of a rule. */
export interface QuantifierDefinition {
  readonly name: Quantifier
  readonly description: string
  /** A condition of this kind, data for which it holds, and other data for which it does not. A test checks them. */
  readonly example: {
    readonly condition: object
    readonly holds: readonly object[]
    readonly fails: readonly object[]
  }
}

const isLarge = [
  { field: 'sku', operator: 'equals', value: 'A' },
  { field: 'qty', operator: 'greater_than', value: 5 },
]
const large = { sku: 'A', qty: 6 }
const small = { sku: 'A', qty: 1 }

/** The conditions on lists, as the vocabulary describes them. */
export const quantifierDefinitions: readonly QuantifierDefinition[] = [
  {
    name: 'some',
    description: 'At least one item of the list fulfils all of `that`.',
    example: {
      condition: { some: 'items', that: isLarge },
      holds: [{ items: [small, large] }],
      fails: [{ items: [small, { sku: 'B', qty: 6 }] }, { items: [] }, {}],
    },
  },
  {
    name: 'every',
    description: 'The list has items, and each of them fulfils all of `that`.',
    example: {
      condition: { every: 'items', that: isLarge },
      holds: [{ items: [large, large] }],
      fails: [{ items: [large, small] }, { items: [] }, {}],
    },
  },
  {
    name: 'none',
    description: 'No item of the list fulfils all of `that`. This holds without a list, too.',
    example: {
      condition: { none: 'items', that: isLarge },
      holds: [{ items: [small] }, { items: [] }, {}],
      fails: [{ items: [small, large] }],
    },
  },
  {
    name: 'count',
    description:
      'The number of items that fulfil all of `that`, or without `that` the number of all items, fulfils `operator` and `value`. It is 0 without a list.',
    example: {
      condition: { count: 'items', that: isLarge, operator: 'greater_than_or_equal', value: 2 },
      holds: [{ items: [large, small, large] }],
      fails: [{ items: [large, small] }, {}],
    },
  },
]

export const quantifiers: readonly Quantifier[] = quantifierDefinitions.map(({ name }) => name)
