import { Type } from 'typebox'

/** Text that Postgres can store and compare: without NUL and unpaired surrogates. */
export const StorableText = Type.String({
  pattern: '^[^\\u0000\\ud800-\\udfff]*$',
  patternError: 'have neither NUL nor unpaired surrogates',
})

/** A text to search for. */
export const SearchText = Type.String({ ...StorableText, maxLength: 200 })
