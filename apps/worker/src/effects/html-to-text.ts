/** Elements whose text nobody sees. */
const unseen = new Set(['head', 'script', 'style', 'template', 'title'])
/** Elements that begin a line. Those of `apart` have an empty line around them. */
const lines = new Set([
  ...'address article dd div dl dt figure footer form header hr li main nav section tr'.split(' '),
])
const apart = new Set([...'blockquote h1 h2 h3 h4 h5 h6 ol p pre table ul'.split(' ')])

/**
 * Writes HTML as the text of a mail: paragraphs, lines, items of lists, and the addresses of links. Mails of HTML alone are taken for spam, and
 * not everybody reads HTML. It reads each character once, whatever the HTML.
 */
export function htmlToText(html: string): string {
  const text = new MailText()
  let at = 0
  while (at < html.length) {
    const tag = findTag(html, at)
    text.write(decodeEntities(html.slice(at, tag.start)))
    if (tag.name !== '') text.mark(tag)
    at = unseen.has(tag.name) ? findEndOf(html, tag) : tag.end
  }
  return text.read()
}

interface Tag {
  start: number
  /** Behind it. */
  end: number
  /** In lower case; `/p` where an element ends, empty for comments and at the end of the HTML. */
  name: string
  source: string
}

/** The next tag or comment. A `<` that begins neither is text. */
function findTag(html: string, from: number): Tag {
  for (let start = html.indexOf('<', from); start >= 0; start = html.indexOf('<', start + 1)) {
    if (html.startsWith('<!--', start)) {
      const end = html.indexOf('-->', start + 4)
      return { start, end: end < 0 ? html.length : end + 3, name: '', source: '' }
    }
    if (!/[a-z/!?]/i.test(html[start + 1] ?? '')) continue
    const end = findTagEnd(html, start)
    const source = html.slice(start, end)
    return { start, end, name: /^<(\/?[a-z][a-z0-9]*)/i.exec(source)?.[1]?.toLowerCase() ?? '', source }
  }
  return { start: html.length, end: html.length, name: '', source: '' }
}

/** A `>` within quotes is part of an attribute. */
function findTagEnd(html: string, start: number): number {
  let quote = ''
  for (let at = start + 1; at < html.length; at++) {
    const one = html[at] as string
    if (quote !== '') quote = one === quote ? '' : quote
    else if (one === '>') return at + 1
    else if ((one === '"' || one === "'") && html[at - 1] === '=') quote = one
  }
  return html.length
}

/** What an element contains whose text nobody sees. */
function findEndOf(html: string, { name, end }: Tag): number {
  const close = new RegExp(`</${name}\\b`, 'gi')
  close.lastIndex = end
  const found = close.exec(html)
  return found === null ? html.length : findTagEnd(html, found.index)
}

/** The text so far, and the links that are open. */
class MailText {
  #parts: string[] = []
  /** Line breaks to write before the next text. */
  #breaks = 0
  #hasBlank = false
  #link: { address: string; from: number } | undefined
  #preformatted = 0

  write(text: string): void {
    if (this.#preformatted > 0) {
      this.#push(text)
      return
    }
    // A blank that does not break, U+00A0, stays.
    const tidy = text.replaceAll(/[\t\n\f\r ]+/g, ' ')
    const words = tidy.trim() === '' ? '' : tidy.replace(/^ /, '').replace(/ $/, '')
    if (tidy.startsWith(' ')) this.#hasBlank = true
    if (words === '') return
    this.#push(words)
    this.#hasBlank = tidy.endsWith(' ')
  }

  mark({ name, source }: Tag): void {
    const element = name.replace('/', '')
    if (element === 'br') this.#breaks++
    else if (apart.has(element)) this.#breaks = Math.max(this.#breaks, 2)
    else if (lines.has(element)) this.#breaks = Math.max(this.#breaks, 1)
    if (element === 'pre') this.#preformatted = Math.max(0, this.#preformatted + (name === 'pre' ? 1 : -1))
    if (name === 'li') this.#push('- ')
    else if (name === '/td' || name === '/th') this.#hasBlank = true
    else if (name === 'img') this.write(readAttribute(source, 'alt'))
    else if (name === 'a')
      this.#link = { address: readAttribute(source, 'href').trim(), from: this.#parts.length }
    else if (name === '/a') this.#endLink()
  }

  read(): string {
    const text = this.#parts.join('')
    return text.trim() === '' ? '' : `${text.trimEnd()}\n`
  }

  #push(text: string): void {
    if (this.#parts.length > 0 && this.#breaks > 0) this.#parts.push('\n'.repeat(Math.min(this.#breaks, 2)))
    else if (this.#parts.length > 0 && this.#hasBlank) this.#parts.push(' ')
    this.#breaks = 0
    this.#hasBlank = false
    this.#parts.push(text)
  }

  /** The address stands behind the words, unless it is what they say. */
  #endLink(): void {
    const link = this.#link
    this.#link = undefined
    if (link === undefined) return
    const { address, from } = link
    const words = this.#parts.slice(from).join('').trim()
    const target = address.replace(/^(?:mailto|tel):/i, '')
    if (target === '' || target.startsWith('#') || words === target) return
    const isBlank = this.#hasBlank
    this.#hasBlank = words !== ''
    this.#push(words === '' ? target : `(${target})`)
    this.#hasBlank = isBlank
  }
}

function readAttribute(source: string, name: string): string {
  const [, double, single, bare] =
    new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(source) ?? []
  return decodeEntities(double ?? single ?? bare ?? '')
}

/** Those of ISO 8859-1, in the order of their characters. */
const latin = [
  ...'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3'.split(
    ' ',
  ),
  ...'acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde'.split(
    ' ',
  ),
  ...'Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute'.split(
    ' ',
  ),
  ...'Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde'.split(
    ' ',
  ),
  ...'auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute'.split(
    ' ',
  ),
  ...'ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'.split(' '),
]

const named: Record<string, string> = {
  ...Object.fromEntries(latin.map((name, index) => [name, String.fromCharCode(160 + index)])),
  ...{
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    shy: '',
    zwnj: '',
    zwj: '',
    ensp: ' ',
    emsp: ' ',
    thinsp: ' ',
  },
  ...{
    euro: '€',
    trade: '™',
    hellip: '…',
    ndash: '–',
    mdash: '—',
    bull: '•',
    rarr: '→',
    larr: '←',
    check: '✓',
  },
  ...{ lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„', lsaquo: '‹', rsaquo: '›' },
}

/** An entity that is not known stays as it is written. */
function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}\d{0,2}));/gi,
    (entity, decimal, hex, name) => {
      if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] as string) : entity
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)
        ? ''
        : String.fromCodePoint(code)
    },
  )
}
