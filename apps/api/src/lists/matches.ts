import { maxCounted } from '@automation/ledger'
import { Type } from 'typebox'

/** How many rows a filter matches, for a route that changes them. */
export const Matches = Type.Object(
  {
    matched: Type.Integer({
      description: `Number of matches, including those beyond the limit of one call. The count stops at ${maxCounted.toLocaleString('en-US')}.`,
    }),
    atLeast: Type.Optional(
      Type.Boolean({
        description: 'true if `matched` is a lower bound, because counting stopped; otherwise absent',
      }),
    ),
  },
  { title: 'Matched' },
)
