import { type Write, writeText } from './fill-placeholder.js'
import { joinLoops, type Neighbours } from './loop-template.js'
import { isRaw, type SplitText, splitLoops } from './split-template.js'
import { type FindWrite, joinParts, joinTextField, type Template } from './template.js'

/** Quotes the text that a placeholder writes, by the index of that placeholder. */
export type QuoteAt = (text: string, index: number) => string

/** Compiles how the values in a part of a text are quoted, or describes what is wrong with that part. */
export type CompileQuote = (part: SplitText, neighbours: Neighbours) => QuoteAt | string

/** Units of work for a character that is quoted. */
const workPerQuoted = 3

/** Like compileTextField, in a language of markup, for a text that may print lists. With the filter raw a value is not quoted. */
export function compileMarkup(text: string, compileQuote: CompileQuote): Template | string {
  const split = splitLoops(text, { raw: true })
  if (typeof split === 'string') return split
  if (split.loops.length === 0) {
    const quote = compileQuote(split.head, { before: false, after: false })
    return typeof quote === 'string' ? quote : joinTextField(split.head, findWrites(quote))
  }
  return joinLoops(split, (part, neighbours) => {
    const quote = compileQuote(part, neighbours)
    return typeof quote === 'string' ? quote : joinParts(part, findWrites(quote))
  })
}

function findWrites(quote: QuoteAt): FindWrite {
  return (placeholder, index): Write => {
    if (isRaw(placeholder)) return writeText
    return (value, { evaluation }) => {
      const written = writeText(value)
      evaluation?.charge(written.length * workPerQuoted)
      return quote(written, index)
    }
  }
}
