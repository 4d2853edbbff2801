import { BacktestReport } from '@automation/backtest'
import { Type } from 'typebox'
import { Timestamp } from '../responses.js'

/** What a draft or a shadow would have done. */
export const RuleDifference = Type.Object(
  {
    ...BacktestReport.properties,
    from: { ...Timestamp, description: 'When the draft was saved, or the shadow was last changed' },
    to: { ...Timestamp, description: 'Events that were accepted since then are not in it' },
    isComplete: Type.Boolean({
      description: 'false: there are more events than one response reads. Ask again to continue.',
    }),
    computedAt: Timestamp,
  },
  {
    title: 'RuleDifference',
    description:
      'A backtest that is continued when somebody asks, at most once a minute: what a draft would have done since it was saved, against the version that it was made from, or what a shadow would have done (active and difference are null). Nothing was done.',
  },
)
export type RuleDifference = Type.Static<typeof RuleDifference>
