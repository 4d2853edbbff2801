import { Type } from 'typebox'
import { Id, orNull, Timestamp } from '../routes/responses.js'

const Matched = Type.Object({ matched: Type.Integer() }, { title: 'MatchedEvents' })

/** What a draft or a shadow would have done, against what its rule matched. */
export const Difference = Type.Object(
  {
    since: Timestamp,
    to: { ...Timestamp, description: 'Events that were accepted since then are not in it' },
    computedAt: Timestamp,
    isComplete: Type.Boolean({
      description: 'false: there are more events before now than one response reads. Ask again to continue.',
    }),
    scanned: Type.Integer({ description: 'Number of events that were passed' }),
    considered: Type.Integer({ description: 'Number of these that trigger the rule or the draft' }),
    active: orNull(Matched),
    draft: Matched,
    difference: Type.Object(
      { same: Type.Integer(), added: Type.Integer(), removed: Type.Integer() },
      { title: 'DifferenceCounts' },
    ),
    notJudged: Type.Integer({
      description:
        'Number of events for which the conditions need more work than a rule may cost (RULE_WORK)',
    }),
    examples: Type.Object(
      { added: Type.Array(Id), removed: Type.Array(Id) },
      { title: 'DifferenceExamples', description: 'Up to 20 event ids each, the newest' },
    ),
  },
  {
    title: 'Difference',
    description:
      'What a draft would have done with the events since it was saved, against the version that it was made from, or what a shadow would have done (active is null). Conditions are judged at the moment when each event was accepted. Nothing was done.',
  },
)
export type Difference = Type.Static<typeof Difference>
