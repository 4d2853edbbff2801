/** Replaces secrets in a text, in any of the forms in which a receiver may echo them. */
export interface Scrubber {
  scrub(text: string): string
  /** The longest form (characters): so much of a text that was cut may be the beginning of a secret. */
  readonly longest: number
}

export interface Secret {
  /** The name of its credential. */
  readonly name: string
  /** What is written instead of it, unless it is the placeholder of the credential. */
  readonly shown?: string
  readonly value: string
}

/** Each text has a shorter one somewhere. */
const leastLength = 4

/**
 * Creates a scrubber of secrets: as they are, in a URL (also encoded twice), in JSON (also as a text within a text of JSON), in HTML, and in
 * Base64, also as a part of what was encoded, such as the password in `Basic …`.
 */
export function createScrubber(secrets: readonly Secret[]): Scrubber {
  const known = secrets.filter(({ value }) => value.length >= leastLength)
  // A secret may contain another one.
  known.sort((one, other) => other.value.length - one.value.length)
  // Most calls succeed, and nothing of their response is kept.
  let forms: { shown: string; form: Form }[] | undefined
  const compileAll = () =>
    known.flatMap(({ name, value, shown = `{{credentials.${name}}}` }) =>
      compile(value).map((form) => ({ shown, form })),
    )
  return {
    longest: Math.max(0, ...known.map(({ value }) => measure(value))),
    scrub(text) {
      forms ??= compileAll()
      return forms.reduce((scrubbed, { shown, form }) => replaceForm(scrubbed, form, shown), text)
    },
  }
}

/** Scrubs the texts, the numbers and the names of fields of a JSON value. */
export function scrubValue(value: unknown, scrubber: Scrubber): unknown {
  if (typeof value === 'string') return scrubber.scrub(value)
  if (Array.isArray(value)) return value.map((item) => scrubValue(item, scrubber))
  if (typeof value === 'number') {
    const text = String(value)
    const scrubbed = scrubber.scrub(text)
    return scrubbed === text ? value : scrubbed
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]) => [scrubber.scrub(key), scrubValue(one, scrubber)])
  return Object.fromEntries(entries)
}

/** Nobody encodes these but Base64. */
const plain = /[A-Za-z0-9]/

function measure(value: string): number {
  // Percent-encoded twice, a character has up to 20; in JSON within JSON, in a URL, it has about as many again before it.
  return [...value].reduce((sum, character) => sum + (plain.test(character) ? 2 : 40), 0)
}

/** One form of a secret: what it begins with, and each of the characters that follow. */
interface Form {
  head: RegExp
  tail: RegExp[]
}

/** So many characters of a long secret are enough to know it. Receivers could repeat a longer beginning until the search takes seconds. */
const headLength = 32

function compile(value: string): Form[] {
  const depths = /["\\]/.test(value) ? [0, 1, 2, mostTexts] : [mostTexts]
  const encoded = new Set([value, JSON.stringify(value).slice(1, -1)].flatMap(listBase64))
  const forms = [
    ...depths.map((depth) => [...value].map((character) => matchCharacter(character, depth))),
    ...[...encoded].map((core) => [...core].map(matchBase64)),
  ]
  return forms.map((patterns) => ({
    head: new RegExp(patterns.slice(0, headLength).join(''), 'g'),
    tail: patterns.slice(headLength).map((pattern) => new RegExp(pattern, 'y')),
  }))
}

/** What follows a head is replaced as far as it is that of the secret, so that each character is looked at a limited number of times. */
function replaceForm(text: string, { head, tail }: Form, shown: string): string {
  let written = ''
  let at = 0
  head.lastIndex = 0
  for (let found = head.exec(text); found !== null; found = head.exec(text)) {
    let end = head.lastIndex
    for (const next of tail) {
      next.lastIndex = end
      if (!next.test(text)) break
      end = next.lastIndex
    }
    written += text.slice(at, found.index) + shown
    at = head.lastIndex = end
  }
  return at === 0 ? text : written + text.slice(at)
}

/** So many texts of JSON within each other are seen through. */
const mostTexts = 3
const backslash = '(?:\\\\|%(?:25)?5[cC])'

/**
 * Matches one character, however it is encoded. In a text of JSON a quote has a backslash before it, in a text within that one it has three,
 * then seven. Their number is a fixed one in each pattern: if it could vary, a text of backslashes would be tried in very many ways.
 *
 * @param depth of so many texts of JSON within each other. All but quotes and backslashes may also be in fewer
 */
function matchCharacter(character: string, depth: number): string {
  if (plain.test(character)) return character
  const code = character.codePointAt(0) as number
  const name = htmlNames[character]
  const units = Array.from({ length: character.length }, (_, n) => character.charCodeAt(n))
  const most = 2 ** depth - 1
  const before = Array.from({ length: depth }, (_, n) => `${backslash}{${2 ** n}}`).join('|')
  const forms = [
    escapePattern(character),
    [...Buffer.from(character)].map((byte) => `%(?:25)?${matchHex(byte, 2)}`).join(''),
    `&#(?:0*${code}|[xX]0*${matchHex(code, 1)});`,
    ...(character === ' ' ? ['\\+'] : []),
    ...(name === undefined ? [] : [`&${name};`]),
  ]
  // Nobody writes a backslash so, and to try it costs most in a text of backslashes.
  const escaped =
    before && character !== '\\' && `|${units.map((unit) => `(?:${before})u${matchHex(unit, 4)}`).join('')}`
  return `(?:${matchEscapes(character, most)}(?:${forms.join('|')})${escaped || ''})`
}

/** The backslashes before a character in JSON. PHP has one before a slash. */
function matchEscapes(character: string, most: number): string {
  if (/["\\]/.test(character)) return `${backslash}{${most}}`
  return character === '/' ? `${backslash}{0,${most}}` : ''
}

const htmlNames: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/** In digits of any case. */
function matchHex(number: number, digits: number): string {
  return number
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

/**
 * What Base64 makes of a value at each of the three places where it can begin within what is encoded, without the characters that depend on
 * what is around it.
 */
function listBase64(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2]
    .map((offset) => {
      const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
      return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
    })
    .filter(({ length }) => length >= leastLength)
}

/** In both alphabets, and in a URL. */
function matchBase64(character: string): string {
  if (character === '+') return '(?:[-+]|%2[bB])'
  return character === '/' ? '(?:[/_]|%2[fF]|\\\\{1,7}/)' : character
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
