import { maxCounted } from '@automation/ledger'
import { Type } from 'typebox'

/** How many rows a filter matches, for a route that changes them. */
export const Matches = Type.Object({
  matched: Type.Integer({
    description: `how many there are, also beyond the limit of one call; counted up to ${maxCounted}`,
  }),
  atLeast: Type.Optional(
    Type.Boolean({ description: 'true where there are more than `matched`; absent otherwise' }),
  ),
})
