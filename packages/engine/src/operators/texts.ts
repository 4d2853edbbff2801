import { Type } from 'typebox'
import { equalTo, isScalar, memberOf, Scalar } from '../values/comparison.js'
import type { Evaluation } from '../work/evaluation.js'
import { define, type Kind, negate } from './operator.js'
import {
  compilePattern,
  findPatternFault,
  maxPatternLength,
  maxSubjectLength,
  patternSteps,
} from './pattern.js'

const textsAndLists = {
  compares: ['string', 'array'] as readonly Kind[],
  reads: 'texts, in which it finds texts such as "3", and lists, in which it finds any value',
}
const textsAlone = { compares: ['string'] as readonly Kind[], reads: 'texts' }
// Fewer than for `in`: each value costs one search of the text.
const FewScalars = Type.Array(Scalar, { minItems: 1, maxItems: 100, title: 'ShortList' })
/** `memberOf` files each item of a list in three sets. */
const stepsPerMember = 8
const Text = Type.String({ minLength: 1, maxLength: 10_000, title: 'Text' })

export const contains = define({
  name: 'contains',
  description: 'The string contains the text, or an item of the list equals the value.',
  ...textsAndLists,
  example: { value: 'vip', holds: ['a vip!', ['vip', 'new']], fails: ['VIP', ['vips'], { vip: true }] },
  value: Scalar,
  compile(value) {
    const isEqual = equalTo(value)
    return (actual, evaluation) => {
      if (typeof actual === 'string')
        return typeof value === 'string' && includesText(actual, value, evaluation)
      return Array.isArray(actual) && evaluation.spend(actual.length) && actual.some(isEqual)
    }
  },
  compareTwo: (holder, sought, evaluation) => {
    if (typeof holder === 'string')
      return typeof sought === 'string' && includesText(holder, sought, evaluation)
    return (
      Array.isArray(holder) &&
      isScalar(sought) &&
      evaluation.spend(holder.length) &&
      holder.some(equalTo(sought))
    )
  },
  findUnread: (actual, value) => findNoText(actual, [value]),
})

export const notContains = negate(contains, {
  name: 'not_contains',
  description: 'The opposite of contains.',
})

export const containsAny = define({
  name: 'contains_any',
  description: 'The string contains one of the texts, or the list one of the values.',
  ...textsAndLists,
  example: { value: ['vip', 'gold'], holds: ['gold card', ['new', 'vip']], fails: ['silver', ['new'], []] },
  value: FewScalars,
  compile(values) {
    const isWanted = memberOf(values)
    const texts = values.filter((value) => typeof value === 'string')
    return (actual, evaluation) => {
      if (typeof actual === 'string') return texts.some((text) => includesText(actual, text, evaluation))
      return Array.isArray(actual) && evaluation.spend(actual.length) && actual.some(isWanted)
    }
  },
  findUnread: findNoText,
})

export const containsAll = define({
  name: 'contains_all',
  description: 'The string contains all of the texts, or the list all of the values.',
  ...textsAndLists,
  example: {
    value: ['vip', 'gold'],
    holds: ['gold vip', ['vip', 'new', 'gold']],
    fails: ['gold', ['vip'], []],
  },
  value: FewScalars,
  compile: (values) => (actual, evaluation) => {
    if (typeof actual === 'string')
      return values.every((value) => typeof value === 'string' && includesText(actual, value, evaluation))
    return (
      Array.isArray(actual) &&
      evaluation.spend(actual.length * stepsPerMember) &&
      values.every(memberOf(actual))
    )
  },
  findUnread: findNoText,
})

export const startsWith = define({
  name: 'starts_with',
  description: 'The string starts with the text. Upper and lower case differ.',
  ...textsAlone,
  example: { value: '+49', holds: ['+49 30 123'], fails: ['0049 30 123', ['+49']] },
  value: Text,
  compile: (start) => (actual) => typeof actual === 'string' && actual.startsWith(start),
})

export const endsWith = define({
  name: 'ends_with',
  description: 'The string ends with the text. Upper and lower case differ.',
  ...textsAlone,
  example: { value: '@acme.com', holds: ['ada@acme.com'], fails: ['ada@ACME.com', 'ada@acme.com.au'] },
  value: Text,
  compile: (end) => (actual) => typeof actual === 'string' && actual.endsWith(end),
})

export const matches = define({
  name: 'matches',
  description:
    'A part of the string matches the pattern; ^ and $ anchor it. (?i) at its beginning ignores case. RE2 has no lookaround and no backreferences.',
  ...textsAlone,
  reads: `texts of at most ${maxSubjectLength.toLocaleString('en-US')} characters`,
  findUnread: (actual) => (String(actual).length > maxSubjectLength ? 'the text is too long' : undefined),
  example: { value: '^[A-Z]{2}-\\d+$', holds: ['AB-12'], fails: ['ab-12', 'x AB-12', 12] },
  value: Type.String({
    minLength: 1,
    maxLength: maxPatternLength,
    title: 'Pattern',
    description: 'Regular expression in RE2 syntax',
  }),
  findFault: findPatternFault,
  patternSteps,
  compile: compilePattern,
})

export const notMatches = negate(matches, { name: 'not_matches', description: 'The opposite of matches.' })

function findNoText(actual: unknown, values: readonly unknown[]): string | undefined {
  const other = typeof actual === 'string' ? values.find((value) => typeof value !== 'string') : undefined
  return other === undefined ? undefined : `${JSON.stringify(other)} is not a text, so no text contains it`
}

/**
 * A search looks at some ten characters in the time of a unit of work. V8 may compare every character of the sought text at every
 * place, 50 in a unit: 5,000 characters sought in 1,000,000 made for it take 2.7 s.
 */
function includesText(text: string, sought: string, evaluation: Evaluation): boolean {
  return evaluation.spend(text.length * (0.1 + sought.length / 50)) && text.includes(sought)
}
