import { truncateText } from '../texts/truncate-text.js'
import { toNumber } from '../values/comparison.js'
import { isLongNumber } from '../values/decimal.js'
import {
  type Argument,
  compileOperand,
  type Filter,
  type FilterCompiler,
  type FilterDefinition,
  isNothing,
} from './filter.js'

const maxTruncatedLength = 10_000

export const textFilters: readonly FilterDefinition[] = [
  {
    name: 'default',
    description:
      'Replaces a missing value, null and "" by the argument: a text in quotes, or a number, true, false or null; any other word without quotes is a field of the data.',
    example: { template: '{{name | default:"friend"}}', data: {}, output: 'friend' },
    takesField: true,
    compile: compileDefault,
  },
  {
    name: 'upper',
    description: 'Upper case.',
    example: { template: '{{code | upper}}', data: { code: 'de-7' }, output: 'DE-7' },
    compile: onText((text) => text.toUpperCase()),
  },
  {
    name: 'lower',
    description: 'Lower case.',
    example: { template: '{{email | lower}}', data: { email: 'Ada@Acme.COM' }, output: 'ada@acme.com' },
    compile: onText((text) => text.toLowerCase()),
  },
  {
    name: 'trim',
    description: 'Without white space at both ends.',
    example: { template: '{{name | trim}}', data: { name: '  Ada ' }, output: 'Ada' },
    compile: onText((text) => text.trim()),
  },
  {
    name: 'capitalize',
    description: 'The first letter in upper case.',
    example: { template: '{{name | capitalize}}', data: { name: 'ada lovelace' }, output: 'Ada lovelace' },
    compile: onText((text) => text.replace(/^./u, (first) => first.toUpperCase())),
  },
  {
    name: 'truncate',
    description: `At most this number of characters, counted as a reader sees them. A cut text ends with an ellipsis. The argument is 1 to ${maxTruncatedLength}.`,
    example: { template: '{{note | truncate:8}}', data: { note: 'Call back' }, output: 'Call ba…' },
    compile: compileTruncate,
  },
  {
    name: 'json',
    description: 'The value as JSON.',
    example: { template: 'tags={{tags | json}}', data: { tags: ['a', 'b'] }, output: 'tags=["a","b"]' },
    compile: (argument) => (argument ? 'accepts no argument' : (value) => JSON.stringify(value)),
  },
  {
    name: 'urlencode',
    description: 'Percent-encoded, for a part of a URL.',
    example: { template: '{{q | urlencode}}', data: { q: 'a&b c' }, output: 'a%26b%20c' },
    compile: onText((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'))),
  },
  {
    name: 'raw',
    description:
      'Only in the text of SEND_NOTIFICATION, as the last filter: the value is not escaped, so that its markup works.',
    example: {
      template: 'See {{link | raw}}',
      data: { link: '<https://crm.example.com/7|lead 7>' },
      output: 'See <https://crm.example.com/7|lead 7>',
    },
    compile: (argument) => (argument ? 'accepts no argument' : (value) => value),
  },
]

function onText(change: (text: string) => string): FilterCompiler {
  return (argument) => {
    if (argument) return 'accepts no argument'
    return (value, { write }) => (isNothing(value) ? value : change(write(value)))
  }
}

function compileDefault(argument: Argument | undefined): Filter | string {
  if (!argument) return 'needs an argument, such as default:"friend"'
  if (!argument.isQuoted && !Number.isNaN(toNumber(argument.text)) && isLongNumber(argument.text))
    return 'accepts no number with that many digits: write it as a text in quotes'
  const operand = compileOperand(argument)
  if (operand === undefined) return 'accepts a text in quotes or a field, such as default:"friend"'
  const { field, read } = operand
  return (value, { data }) => {
    if (!isNothing(value) && value !== '') return value
    const replacement = read(data)
    return field !== undefined && isNothing(replacement) ? value : replacement
  }
}

function compileTruncate(argument: Argument | undefined): Filter | string {
  const length = toNumber(argument?.text)
  if (!Number.isInteger(length) || length < 1 || length > maxTruncatedLength)
    return `needs a length from 1 to ${maxTruncatedLength}, such as truncate:80`
  return (value, { write, charge }) => {
    if (isNothing(value)) return value
    // Of a text only the beginning is read.
    return truncateText(typeof value === 'string' ? value : write(value), length, charge)
  }
}
