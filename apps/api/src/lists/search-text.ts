import { Type } from 'typebox'

/**
 * Text that Postgres can store and compare, which is all without NUL: a query has no unpaired surrogates, and those of bodies are refused before.
 * Patterns of Rust have no surrogates.
 */
export const StorableText = Type.String({ pattern: '^[^\\x00]*$', patternError: 'have no NUL' })

/** A text to search for. */
export const SearchText = Type.String({ ...StorableText, maxLength: 200 })
