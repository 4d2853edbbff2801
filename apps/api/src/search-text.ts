import { Type } from 'typebox'

/** What Postgres can compare: no NUL, and no half of a character. */
export const StorableText = Type.String({ pattern: '^[^\\u0000\\ud800-\\udfff]*$' })

/** What a text is searched for. */
export const SearchText = Type.String({ ...StorableText, maxLength: 200 })

/** For LIKE, and for Prisma's `contains`, which hands it to LIKE as it is: here % and _ are mere characters. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
