/**
 * JSON that is written piece by piece, with a limit: a piece is measured before it is encoded, and what does not fit is left out. So no text of
 * the whole ever exists: one character may take two bytes in a text, and six in its JSON.
 */
export class JsonPieces {
  readonly #pieces: Uint8Array[] = []
  #left: number

  constructor(maxBytes: number) {
    this.#left = maxBytes
  }

  /** @returns false if the text does not fit, and is left out */
  add(text: string): boolean {
    const bytes = Buffer.byteLength(text)
    if (bytes > this.#left) return false
    this.#left -= bytes
    this.#pieces.push(Buffer.from(text))
    return true
  }

  join(): Uint8Array {
    return Buffer.concat(this.#pieces)
  }
}
