import { maxCounted } from '@automation/ledger'
import { Type } from 'typebox'

/** How many rows a filter matches, for a route that changes them. */
export const matchCounts = {
  matched: Type.Integer({
    description: `Number of matches, including those beyond the limit of one call. The count stops at ${maxCounted.toLocaleString('en-US')}.`,
  }),
  atLeast: Type.Optional(
    Type.Boolean({
      description: 'true if `matched` is a lower bound, because counting stopped; otherwise absent',
    }),
  ),
}

/** The response of such a route to a dry run. */
export const Matches = Type.Object(
  { ...matchCounts, dryRun: Type.Literal(true) },
  { title: 'Matched', 'x-response-description': 'A dry run. Nothing was changed.' },
)
