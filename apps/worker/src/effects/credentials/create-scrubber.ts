/** Replaces secrets in a text, in any of the forms in which a receiver may echo them. */
export interface Scrubber {
  scrub(text: string): string
  /**
   * Scrubs the start of a text. What is not kept is not searched.
   *
   * @param kept how many characters are kept
   * @param isWhole whether the text was not cut before, perhaps within a secret
   */
  scrubStart(text: string, kept: number, isWhole: boolean): string
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
 * Creates a scrubber of secrets: as they are, in a URL (also encoded twice, and letter by letter), in JSON (also as a text within a text of JSON),
 * in HTML, as Python and SQL quote them, in hex, and in Base64, also as a part of what was encoded, such as the password in `Basic …`.
 */
export function createScrubber(secrets: readonly Secret[]): Scrubber {
  const known = secrets.filter(({ value }) => value.length >= leastLength)
  // A secret may contain another one.
  known.sort((one, other) => other.value.length - one.value.length)
  // Most calls succeed, and nothing of their response is kept.
  let forms: { shown: string; form: Form }[] | undefined
  const compileAll = () =>
    known.flatMap(({ name, value, shown = writeReference(name) }) =>
      compile(value).map((form) => ({ shown, form })),
    )
  const scrub = (text: string) => {
    if (text.length < leastLength) return text
    forms ??= compileAll()
    return forms.reduce((scrubbed, { shown, form }) => replaceForm(scrubbed, form, shown), text)
  }
  return {
    scrub,
    scrubStart(text, kept, isWhole) {
      // By so many characters a secret is known, if the text was cut within it.
      const longest = Math.max(0, ...known.map(({ value }) => measure(value.slice(0, headLength))))
      const start = text.slice(0, kept + longest)
      const scrubbed = scrub(start)
      if (isWhole && start.length === text.length) return scrubbed
      // What is left behind the last secret may be the beginning of another one, or, if the secret is a part of a longer one, its end.
      const outer = known.filter(
        (one) => !known.some((other) => one !== other && other.value.includes(one.value)),
      )
      const ends = outer.map(({ name, shown = writeReference(name) }) => endOfLast(scrubbed, shown))
      return scrubbed.slice(0, Math.max(scrubbed.length - longest, ...ends))
    },
  }
}

function endOfLast(text: string, part: string): number {
  const at = text.lastIndexOf(part)
  return at === -1 ? 0 : at + part.length
}

function writeReference(name: string): string {
  return `{{credentials.${name}}}`
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

/** Base64 and hex encode these, and a URL in which every letter is encoded. */
const plain = /[A-Za-z0-9]/

/** How long (characters) a text may be at most, however it is encoded. */
function measure(text: string): number {
  // Percent-encoded twice, a byte has up to 5; in JSON within JSON, in a URL, a character has about as many again before it.
  return [...text].reduce(
    (sum, character) => sum + (plain.test(character) ? 5 : 25 * character.length + 15),
    0,
  )
}

/** Forms of a secret that begin alike, and each of the characters that follow in each of them. */
interface Form {
  head: RegExp
  tails: RegExp[][]
}

/** So many characters of a long secret are enough to know it. Receivers could repeat a longer beginning until the search takes seconds. */
const headLength = 32

/** Secrets with more backslashes and quotes would be looked for too slowly in quotes of Python, too. */
const mostQuoted = 8

function countDeep(value: string): number {
  return value.split(/["\\]/).length - 1
}

function compile(value: string): Form[] {
  const isDeep = /["\\]/
  // The deepest first: a secret may end like a deeper form of itself.
  const depths = isDeep.test(value) ? [mostTexts, 2, 1] : [mostTexts]
  const encoded = new Set([value, JSON.stringify(value).slice(1, -1)].flatMap(listBase64))
  // A large secret has few characters, many times.
  const match = memoize((depth: number, character: string) => matchCharacter(character, depth))
  const follow = memoize((next: string, pattern: string) => new RegExp(matchBefore(next, pattern), 'y'))
  // A quote may be encoded without its backslash. Where there is one, another depth takes both; it is of what stands before the secret where none does.
  const isQuoted = value.startsWith('"')
  const writeAtDepths = (start: string) =>
    depths.map((depth) => [
      start,
      ...[...value].map((one) => match(isDeep.test(one) ? depth : mostTexts, one)),
    ])
  const forms = [
    // SQL doubles a quote. A form of its own: one quote or two, by choice, would be tried in 2^n ways. The first: a secret may begin with a quote.
    ...(value.includes("'")
      ? [[...value].map((one) => (one === "'" ? "''" : match(isDeep.test(one) ? 0 : mostTexts, one)))]
      : []),
    ...writeAtDepths(isQuoted ? `(?<!${backslash})` : ''),
    // Before the secret as it is: behind a backslash this ends like that.
    ...(isDeep.test(value) && countDeep(value) <= mostQuoted
      ? [[...value].map((one) => match(one === '\\' ? 1 : 0, one))]
      : []),
    ...(isDeep.test(value) ? [[...value].map((one) => match(isDeep.test(one) ? 0 : mostTexts, one))] : []),
    ...(isQuoted ? writeAtDepths('') : []),
    ...[...encoded].map((core) => [...core].map(matchBase64)),
    ...listBytes(value),
  ]
  const tailsOf = new Map<string, RegExp[][]>()
  for (const patterns of forms) {
    const head = patterns.slice(0, headLength).join('')
    const rest = patterns.slice(headLength)
    const tail = rest.map((pattern, index) => follow(rest[index + 1] ?? '', pattern))
    tailsOf.set(head, [...(tailsOf.get(head) ?? []), tail])
  }
  return [...tailsOf].map(([head, tails]) => ({ head: new RegExp(head, 'g'), tails }))
}

/** Behind the head nothing is tried again: of several ways to write a character, the one is taken that the next character follows. */
function matchBefore(next: string, pattern: string): string {
  return next === '' ? pattern : `(?:${pattern}(?=${next})|${pattern})`
}

/** What follows a head is replaced as far as it is that of the secret, so that each character is looked at a limited number of times. */
function replaceForm(text: string, { head, tails }: Form, shown: string): string {
  let written = ''
  let at = 0
  head.lastIndex = 0
  for (let found = head.exec(text); found !== null; found = head.exec(text)) {
    const end = Math.max(...tails.map((tail) => follow(text, tail, head.lastIndex)))
    written += text.slice(at, found.index) + shown
    at = head.lastIndex = end
  }
  return at === 0 ? text : written + text.slice(at)
}

function follow(text: string, tail: RegExp[], from: number): number {
  let end = from
  for (const next of tail) {
    next.lastIndex = end
    if (!next.test(text)) break
    end = next.lastIndex
  }
  return end
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
  const encoded = [
    [...Buffer.from(character)].map((byte) => `%(?:25)?${matchHex(byte, 2)}`).join(''),
    `&#(?:0*${code}|[xX]0*${matchHex(code, 1)});`,
    ...(character === ' ' ? ['\\+'] : []),
    ...(name === undefined ? [] : [`&${name};`]),
    // In quotes of Python, and as its bytes.
    ...(character === "'" ? [`${backslash}'`] : []),
    ...(code > 127
      ? [[...Buffer.from(character)].map((byte) => `${backslash}x${matchHex(byte, 2)}`).join('')]
      : []),
  ]
  const most = 2 ** depth - 1
  const forms = [
    // The literal last: it is the beginning of some others.
    `${matchEscapes(character, most)}(?:${[...encoded, escapePattern(character)].join('|')})`,
    ...matchUnits(character, most),
    // HTML or a URL in JSON: nothing is left to escape.
    ...(character === '"' && most > 0 ? encoded : []),
  ]
  return `(?:${forms.join('|')})`
}

/** As `\\u0022`. */
function matchUnits(character: string, most: number): string[] {
  // Nobody writes a backslash so, and to try it costs most in a text of backslashes.
  if (most === 0 || character === '\\') return []
  const counts = Array.from({ length: most }, (_, index) => index + 1)
  // A quote that was escaped before has a backslash of its own; another character has what the texts around it make of one.
  const fitting = counts.filter((count) => (character === '"' ? count !== 5 : (count & (count - 1)) === 0))
  const before = `(?:${fitting.map((count) => `${backslash}{${count}}`).join('|')})`
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return [units.map((unit) => `${before}u${matchHex(unit, 4)}`).join('')]
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

/** Each byte in hex, and in a URL in which all are encoded. */
function listBytes(value: string): string[][] {
  const bytes = [...Buffer.from(value)].map((byte) => matchHex(byte, 2))
  return [bytes, bytes.map((byte) => `%(?:25)?${byte}`)]
}

/** In both alphabets, and in a URL. */
function matchBase64(character: string): string {
  if (character === '+') return '(?:[-+]|%2[bB])'
  return character === '/' ? '(?:[/_]|%2[fF]|\\\\{1,7}/)' : character
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function memoize<Key, Value>(write: (key: Key, text: string) => Value): (key: Key, text: string) => Value {
  const known = new Map<string, Value>()
  return (key, text) => {
    const name = `${key} ${text}`
    const value = known.get(name) ?? write(key, text)
    known.set(name, value)
    return value
  }
}
