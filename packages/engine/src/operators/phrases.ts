import type { Quantifier } from './quantifiers.js'

/** How a person says an operator, by its name. A module of its own: a page that only says it does without the rest of the engine. */
export const phrases: Record<string, string> = {
  equals: 'is',
  not_equals: 'is not',
  greater_than: 'is above',
  greater_than_or_equal: 'is at least',
  less_than: 'is below',
  less_than_or_equal: 'is at most',
  between: 'is between',
  not_between: 'is not between',
  in: 'is one of',
  not_in: 'is none of',
  contains: 'contains',
  not_contains: 'does not contain',
  contains_any: 'contains one of',
  contains_all: 'contains all of',
  starts_with: 'starts with',
  ends_with: 'ends with',
  matches: 'matches',
  not_matches: 'does not match',
  exists: 'is there',
  not_exists: 'is missing',
  is_empty: 'is empty',
  is_not_empty: 'is not empty',
  is_true: 'is true',
  is_false: 'is false',
  before: 'is before',
  after: 'is after',
  within_last: 'is within the last',
  within_next: 'is within the next',
}

/** By the quantifier, before the path of the list. */
export const listPhrases: Record<Quantifier, string> = {
  some: 'at least one of',
  every: 'every one of',
  none: 'none of',
  count: 'the number of',
}
