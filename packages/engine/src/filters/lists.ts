import { showText } from '../texts/show-text.js'
import { maxRenderedLength, toText } from '../values/to-text.js'
import {
  type Argument,
  type Filter,
  type FilterCompiler,
  type FilterDefinition,
  type Filtering,
  isNothing,
} from './filter.js'

export const listFilters: readonly FilterDefinition[] = [
  {
    name: 'join',
    description:
      'The items of a list as one text, with the argument in quotes between them, otherwise ", ". What is no list stays as it is, with a warning.',
    example: {
      template: '{{tags | join:" / "}}',
      data: { tags: ['new', 'vip', 7] },
      output: 'new / vip / 7',
    },
    compile: compileJoin,
  },
  {
    name: 'size',
    description: 'The number of items of a list, or of characters of a text. Another value gives "".',
    example: {
      template: '{{items | size}} items',
      data: { items: [{ sku: 'A' }, { sku: 'B' }] },
      output: '2 items',
    },
    compile: withoutArgument(sizeOf),
  },
  {
    name: 'first',
    description: 'The first item of a list. What is no list stays as it is, with a warning.',
    example: {
      template: '{{emails | first}}',
      data: { emails: ['ada@acme.com', 'bo@acme.com'] },
      output: 'ada@acme.com',
    },
    compile: withoutArgument((value, filtering) => itemOf(value, 0, 'first', filtering)),
  },
  {
    name: 'last',
    description: 'The last item of a list, as first.',
    example: { template: '{{stages | last}}', data: { stages: ['offer', 'won'] }, output: 'won' },
    compile: withoutArgument((value, filtering) => itemOf(value, -1, 'last', filtering)),
  },
]

/** Units of work for an item that is written. */
const workPerItem = 4

function compileJoin(argument: Argument | undefined): Filter | string {
  if (argument?.isQuoted === false) return 'needs the text between two items in quotes, such as join:", "'
  const separator = argument?.text ?? ', '
  return (value, filtering) => {
    if (isNothing(value)) return value
    if (!Array.isArray(value)) return keepOther(value, 'join', filtering)
    filtering.charge(value.length * workPerItem)
    let joined = ''
    for (const [index, item] of value.entries()) {
      joined += (index === 0 ? '' : separator) + toText(item)
      // The action fails in any case: 20,000 long separators would fill the memory.
      if (joined.length > maxRenderedLength) break
    }
    return joined
  }
}

function sizeOf(value: unknown, { warn, charge }: Filtering): number | string {
  if (Array.isArray(value)) return value.length
  if (typeof value !== 'string') {
    warn(`is ${showText(value)}: size reads lists and texts`)
    return ''
  }
  charge(value.length)
  let count = 0
  // A character beyond 16 bits is one.
  for (const _character of value) count++
  return count
}

function itemOf(value: unknown, index: number, name: string, filtering: Filtering): unknown {
  return Array.isArray(value) ? value.at(index) : keepOther(value, name, filtering)
}

function keepOther(value: unknown, name: string, { warn }: Filtering): unknown {
  warn(`is ${showText(value)}: ${name} reads lists`)
  return value
}

function withoutArgument(read: Filter): FilterCompiler {
  return (argument) =>
    argument
      ? 'accepts no argument'
      : (value, filtering) => (isNothing(value) ? value : read(value, filtering))
}
