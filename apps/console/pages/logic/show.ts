import { cutText } from '@automation/engine'

const longest = 80

/** A value on one line, cut. Only as much of it is read as is shown: it may be a mebibyte. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  const writer = new CutWriter(longest)
  writer.write(value, 0)
  return showControls(cutText(writer.text, longest, '…'))
}

/** Characters that would turn the direction of the text after them stand as their JSON escapes. */
export function showControls(text: string): string {
  return text.replace(
    /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const deepest = 32

/** JSON without spaces that stops once there is enough of it. */
class CutWriter {
  text = ''
  readonly #enough: number

  constructor(enough: number) {
    this.#enough = enough
  }

  write(value: unknown, depth: number): void {
    if (this.text.length > this.#enough) return
    if (typeof value === 'string') this.text += JSON.stringify(cutText(value, this.#enough + 1))
    else if (typeof value !== 'object' || value === null || depth > deepest)
      this.text += depth > deepest ? '…' : (JSON.stringify(value) ?? 'null')
    else if (Array.isArray(value)) this.#writeList(value, depth)
    else this.#writeObject(value as Record<string, unknown>, depth)
  }

  #writeList(list: readonly unknown[], depth: number): void {
    this.text += '['
    for (const [index, item] of list.entries()) {
      if (this.text.length > this.#enough) return
      if (index > 0) this.text += ','
      this.write(item, depth + 1)
    }
    this.text += ']'
  }

  #writeObject(object: Record<string, unknown>, depth: number): void {
    this.text += '{'
    let isFirst = true
    for (const key in object) {
      if (this.text.length > this.#enough) return
      this.text += `${isFirst ? '' : ','}${JSON.stringify(cutText(key, this.#enough))}:`
      isFirst = false
      this.write(object[key], depth + 1)
    }
    this.text += '}'
  }
}
