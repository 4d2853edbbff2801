import { evaluate, fillText, type Rendering, type Write, writeText } from './fill-placeholder.js'
import { httpUrl } from './formats.js'
import type { Placeholder } from './placeholder.js'
import { findOnly, type SplitText, splitTemplate } from './split-template.js'
import { compileTextField, describeNothing, type Template } from './template.js'

/** What a placeholder fills. What is behind `#` is not sent. */
type Place = 'host' | 'path' | 'query' | 'fragment'

/** What would end a segment or a value, or what the reader of a URL drops. Tomcat and others read `..;` as `..`. */
const moving = { path: /[/\\?#;\p{Cc}]/u, query: /[&#;\p{Cc}]/u }

/** What a receiver decodes: it would read another value. In a query `+` is a space. */
const decoded = { path: /%/, query: /[%+]/ }

/** A segment that leads upwards. At the end of a URL its reader drops spaces. */
const dots = /^[^?#]*[/\\](?:\.|%2e){1,2} *(?:[/\\?#]|$)/i

/** Stands for a placeholder: no URL of a rule has it. */
const mark = '\0'

/**
 * Compiles a URL, of which placeholders fill single parts, so that no value leads to another address: one label of the host, one segment
 * of the path or a part of it, or one value of the query. Any other value makes the action fail. A URL that is one placeholder and nothing
 * else is the data's own. A credential is encoded, and never fills the host.
 *
 * @param takesWhole whether the URL may be a credential and nothing else
 */
export function compileUrl(text: string, takesWhole = false): Template | string {
  const split = splitTemplate(text, { credentials: true })
  if (typeof split === 'string') return split
  const { literals, placeholders } = split
  const only = findOnly(split)
  if (only?.credential !== undefined && !takesWhole)
    return `must have its host written out, as in https://api.example.com/{{${only.name}}}`
  if (placeholders.length === 0 || only) return compileTextField(text, { credentials: true })
  const places = findPlaces(split)
  if (typeof places === 'string') return places
  return {
    placeholders: placeholders.length,
    parts: placeholders,
    render(data, rendering) {
      let url = literals[0] as string
      for (let n = 0; n < placeholders.length; n++)
        url += fillPart(placeholders[n] as Placeholder, places[n] as Place, data, rendering) + literals[n + 1]
      if (dots.test(url)) refuse(rendering, 'has a value . or .., which leads to another path')
      return url
    },
  }
}

/** Lists the placeholders in the path and the query of a URL whose values are not encoded. */
export function listUnencoded(text: string): string[] {
  const split = splitTemplate(text, { credentials: true })
  const places = typeof split === 'string' || findOnly(split) ? [] : findPlaces(split)
  if (typeof split === 'string' || typeof places === 'string') return []
  return split.placeholders
    .filter((placeholder, n) => isPart(places[n]) && !isEncoded(placeholder))
    .map(({ name }) => name)
}

function isEncoded({ calls, credential }: Placeholder): boolean {
  return credential !== undefined || calls.some(({ name }) => name === 'urlencode')
}

function isPart(place: Place | undefined): place is 'path' | 'query' {
  return place === 'path' || place === 'query'
}

function fillPart(placeholder: Placeholder, place: Place, data: unknown, rendering: Rendering): string {
  if (placeholder.credential !== undefined) return fillText(placeholder, data, rendering, writeEncoded)
  const text = fillText(placeholder, data, rendering, writeText)
  const name = `{{${placeholder.name}}}`
  if (place === 'host' && !/^[a-z0-9-]{1,63}$/i.test(text))
    refuse(rendering, `must have one label of a host for ${name}: letters, digits and dashes`)
  // An empty value of the query is a value.
  if (place === 'path' && text.trim() === '') {
    const value = evaluate(placeholder, data, { warnings: [], size: 0 })
    refuse(rendering, `needs a value for ${name}, which is ${describeNothing(value)}`)
  }
  const found = isPart(place)
    ? (moving[place].exec(text) ?? (isEncoded(placeholder) ? null : decoded[place].exec(text)))
    : null
  if (found)
    refuse(
      rendering,
      `has ${JSON.stringify(found[0])} in ${name}, which has a meaning in a URL: use urlencode`,
    )
  return text
}

/** Writes the value of a credential as one value of a URL or a form. As long as it has none, it stays as it is written. */
export const writeEncoded: Write = (value, { credentials }) => {
  const text = writeText(value)
  return credentials === undefined ? text : encodeURIComponent(text.toWellFormed())
}

function refuse(rendering: Rendering, fault: string): void {
  rendering.fault ??= `config.url ${fault}`
}

/** Finds what each placeholder fills, or the fault of a URL of which they would fill other parts. */
function findPlaces({ literals, placeholders }: SplitText): Place[] | string {
  const url = literals.join(mark)
  const [, host, path = '', query = ''] = /^https?:\/\/([^/\\?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? []
  if (host === undefined)
    return 'must begin with http:// or https:// and a host, unless it is one placeholder and nothing else'
  const known = [host, path, query].flatMap((part, n) =>
    Array(part.split(mark).length - 1).fill((['host', 'path', 'query'] as const)[n]),
  )
  const places: Place[] = [...known, ...Array(placeholders.length - known.length).fill('fragment')]
  if (placeholders.some(({ credential }, n) => credential !== undefined && !isPart(places[n])))
    return 'must have credentials in its path and query only'
  if (host.includes(mark) && !isFillable(host))
    return 'must have its domain and port written out: in a host a placeholder fills one label before them, as in https://{{tenant}}.example.com'
  const sample = url.replaceAll(mark, 'x')
  // The reader of a URL drops control characters.
  if (/\p{Cc}/u.test(sample)) return 'must be an http or https URL'
  const fault = httpUrl(sample)
  if (fault !== undefined) return fault
  if (dots.test(sample)) return 'must not have . or .. in its path'
  return places
}

/** Whether a host has its registrable domain without placeholders: two labels, or three as in co.uk. An address has none. */
function isFillable(host: string): boolean {
  const [, name] = /^([\p{L}\p{M}\p{N}_.-]+?)\.?(?::\d+)?$/u.exec(host.replaceAll(mark, 'x')) ?? []
  if (name === undefined) return false
  const labels = host.replace(/\.?(?::\d+)?$/, '').split('.')
  const [second = '', last = ''] = labels.slice(-2)
  if (/^\d+$|^0x/i.test(last)) return false
  const fixed = /^[a-z]{2}$/i.test(last) && secondLevels.has(second.toLowerCase()) ? 3 : 2
  return labels.length > fixed && labels.slice(-fixed).every((label) => label !== '' && !label.includes(mark))
}

/** Below a country's domain these are no one's own. The whole public suffix list is larger than the engine. */
const secondLevels = new Set(
  'ac co com edu go gob gouv gov gv id ltd me mil ne net nhs nom or org plc sch web'.split(' '),
)
