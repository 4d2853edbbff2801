import { parsePath } from './path.js'

/** What stands in the place of an erased value. */
export const erasedMark = '[erased]'

/** A shorter value is erased only where a text is equal to it: as a part it would be in nearly every text. */
const leastPart = 3

/** Of `output`: what is read again as a number or an id. */
const structure = new Set([
  'statusCode',
  'events',
  'eventId',
  'firstEventId',
  'lastEventId',
  'taskId',
  'attention',
])

/**
 * A value of a person at a path of event data, and what is left of JSON without it. Texts are compared in all normal forms of Unicode, and with regard
 * to case. A number and the text of its digits are the same.
 */
export class ErasedValue {
  readonly #keys: readonly string[]
  readonly #text: string
  /** How a text may have it, the composed form first. */
  readonly #forms: readonly string[]
  readonly #isPart: boolean

  /** @throws Error for what is no path */
  constructor(path: string, value: string | number) {
    const keys = parsePath(path)
    if (keys === undefined) throw new Error('No field path')
    const text = String(value)
    this.#keys = keys
    this.#text = text.normalize('NFC')
    this.#forms = [...new Set([text.normalize('NFC'), text.normalize('NFD'), text])]
    this.#isPart = this.#text.length >= leastPart
  }

  /** What a text has that contains the value; as JSON writes it. Other texts need not be read. */
  get forms(): { text: string; json: string }[] {
    return this.#forms.map((text) => ({ text, json: JSON.stringify(text).slice(1, -1) }))
  }

  mayBeIn(json: string): boolean {
    return this.forms.some((form) => json.includes(form.json))
  }

  /** Whether the data has the value at the path. On its way each item of a list is looked at, unless the path names one. */
  isAt(data: unknown): boolean {
    return this.#find(data, 0)
  }

  /** Erases what is at the path, and all else that has the value. */
  eraseData(data: unknown): unknown {
    return this.erase(this.#replace(data, 0))
  }

  /** Erases it in all texts, names of fields and numbers. */
  erase(value: unknown): unknown {
    if (typeof value === 'string') return this.eraseText(value)
    if (typeof value === 'number') return this.#isPart && this.#equals(value) ? erasedMark : value
    if (Array.isArray(value)) return value.map((item) => this.erase(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [this.eraseText(key), this.erase(inner)]),
    )
  }

  /** Erases it in what has one of these names, at any depth: the rest is structure of ours, which others read again. */
  eraseUnder(value: unknown, names: ReadonlySet<string>): unknown {
    if (Array.isArray(value)) return value.map((item) => this.eraseUnder(item, names))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        if (key === 'output' && names.has(key)) return [key, this.#eraseOutput(inner)]
        return [key, names.has(key) ? this.erase(inner) : this.eraseUnder(inner, names)]
      }),
    )
  }

  eraseText(text: string): string {
    if (this.#equals(text)) return erasedMark
    if (!this.#isPart) return text
    return this.#forms.reduce((left, form) => left.replaceAll(form, () => erasedMark), text)
  }

  #eraseOutput(output: unknown): unknown {
    if (typeof output !== 'object' || output === null || Array.isArray(output)) return this.erase(output)
    return Object.fromEntries(
      Object.entries(output).map(([key, inner]) =>
        structure.has(key) ? [key, inner] : [this.eraseText(key), this.erase(inner)],
      ),
    )
  }

  #equals(value: unknown): boolean {
    if (typeof value === 'number') return String(value) === this.#text
    return typeof value === 'string' && value.normalize('NFC') === this.#text
  }

  #find(value: unknown, depth: number): boolean {
    const key = this.#keys[depth]
    if (Array.isArray(value)) {
      const item = key === undefined ? undefined : itemOf(value, key)
      return item ? this.#find(item.value, depth + 1) : value.some((each) => this.#find(each, depth))
    }
    if (key === undefined) return this.#equals(value)
    return isOwn(value, key) && this.#find(value[key], depth + 1)
  }

  #replace(value: unknown, depth: number): unknown {
    const key = this.#keys[depth]
    if (Array.isArray(value)) {
      const item = key === undefined ? undefined : itemOf(value, key)
      return item
        ? value.with(item.index, this.#replace(item.value, depth + 1))
        : value.map((each) => this.#replace(each, depth))
    }
    if (key === undefined) return this.#equals(value) ? erasedMark : value
    if (!isOwn(value, key)) return value
    // A spread would set the prototype by a field of that name.
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        name === key ? this.#replace(inner, depth + 1) : inner,
      ]),
    )
  }
}

function itemOf(list: unknown[], key: string): { index: number; value: unknown } | undefined {
  const index = /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN
  return index < list.length ? { index, value: list[index] } : undefined
}

function isOwn(value: unknown, key: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}
