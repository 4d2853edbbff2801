import { type Argument, type Filter, fieldOf } from '../filters/filter.js'
import { fieldFilters, filters } from '../filters/index.js'
import { cutText } from '../texts/cut-text.js'
import { describeNearest } from '../texts/nearest.js'
import { compilePath, type Path, parsePath } from '../values/path.js'
import { credentialOf, isReserved } from './credential.js'

/** A chain of filters that lengthen a text (`json | json`) makes it grow exponentially. */
export const maxFilters = 10
/** In the configs of one rule together, and in each text of a mail. */
export const maxPlaceholders = 200

/** A compiled `{{path | filter:argument | filter}}`. */
export interface Placeholder {
  path: Path
  /** The path as written. */
  name: string
  filters: Filter[]
  /** The filters as written. */
  calls: FilterCall[]
  /** The name of the credential that it stands for. Absent if it reads event data. */
  credential?: string
}

export interface FilterCall {
  name: string
  argument: Argument | undefined
}

/** Reads the placeholder that opens at `open`, or describes its fault. Regular expressions here never backtrack. */
export function parsePlaceholder(
  text: string,
  open: number,
): { placeholder: Placeholder; end: number } | string {
  let stop = findStop(text, open + 2)
  if (stop < 0) return 'has a placeholder without its closing }}'
  const name = text.slice(open + 2, stop).trim()
  if (!parsePath(name)) return `has a placeholder without a field path: {{${cutText(name, 60)}}}`
  const credential = credentialOf(name)
  if (isReserved(name) && credential === undefined)
    return `has {{${cutText(name, 60)}}}, but a credential is {{credentials.NAME}}`
  const compiled: Filter[] = []
  const calls: FilterCall[] = []
  while (text[stop] === '|') {
    if (credential !== undefined) return `has a filter on {{${name}}}: a credential has none`
    if (calls.at(-1)?.name === 'raw') return 'has a filter raw that is not the last one'
    const found = parseFilter(text, stop + 1)
    if (typeof found === 'string') return found
    compiled.push(found.filter)
    calls.push(found.call)
    if (compiled.length > maxFilters) return `has a placeholder with more than ${maxFilters} filters`
    stop = found.stop
  }
  const placeholder = { path: compilePath(name), name, filters: compiled, calls }
  return {
    placeholder: credential === undefined ? placeholder : { ...placeholder, credential },
    end: stop + 2,
  }
}

/** Reads `name`, `name:bare argument` or `name:"quoted argument"` up to the next `|` or `}}`. */
function parseFilter(
  text: string,
  start: number,
): { filter: Filter; call: FilterCall; stop: number } | string {
  const head = /\s*([A-Za-z_]*)\s*(:)?\s*/y
  head.lastIndex = start
  const [, name = '', colon] = head.exec(text) ?? []
  let at = head.lastIndex
  let argument: Argument | undefined
  const quote = text[at]
  if (colon && (quote === '"' || quote === "'")) {
    const close = text.indexOf(quote, at + 1)
    if (close < 0) return `has a filter ${name} without its closing ${quote}`
    argument = { text: text.slice(at + 1, close), isQuoted: true }
    at = close + 1
  }
  const stop = findStop(text, at)
  if (stop < 0) return 'has a placeholder without its closing }}'
  const rest = text.slice(at, stop).trim()
  const compile = filters.get(name)
  if (!compile || (rest !== '' && (!colon || argument)))
    return `has an unknown filter: ${cutText(text.slice(start, stop).trim(), 60)}. ${describeNearest(name, [...filters.keys()], '/docs/rules#filters')}`
  if (rest !== '') argument = { text: rest, isQuoted: false }
  if (argument && /[{}]/.test(argument.text))
    return `has a filter ${name} with a brace in its argument, but placeholders in arguments are not filled: default:name reads the field name`
  if (argument && fieldFilters.has(name) && isReserved(fieldOf(argument) ?? ''))
    return `has a filter ${name} that reads a credential: it stands alone, as in {{credentials.NAME}}`
  const filter = compile(argument)
  return typeof filter === 'string'
    ? `has a filter ${name} that ${filter}`
    : { filter, call: { name, argument }, stop }
}

function findStop(text: string, from: number): number {
  const stops = /\||\}\}/g
  stops.lastIndex = from
  return stops.exec(text)?.index ?? -1
}
