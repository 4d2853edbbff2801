import { Type } from 'typebox'
import { type Code as CodeName, codes, severities } from './codes.js'

// Apart from what finds, so that a page that only checks loads no schemas.

const Code = Type.Enum(Object.keys(codes) as CodeName[], {
  description:
    'never_matches: no event can match the conditions. never_first: whenever the rule matches, a rule before it in its group matches, too. dead_since: a date in the conditions has passed, so no event can match any more. loop: rules that trigger each other in a loop. unknown_zone: a stored schedule whose time zone is no IANA name, so it has no ticks. always_true: a condition that is true for any data. implied: a redundant condition. duplicate: another rule does the same for the same events. contained: whenever this rule runs, another rule does the same. overlap: for some events, another rule does the same. unreachable_action: an action that never runs. unusable_credential: a credential that the workspace lacks, or that may not be sent to the host of the call. doubtful_form: valid, but probably not what you mean. unknown_field: no stored event has the field of a condition. unseen_value: no stored event has the value of a condition. unseen_placeholder: no stored event has the field of a placeholder. unseen_event_type: no stored event has the type that a WAIT waits for. mixed_kinds: some stored events have a kind of data that the operator cannot read. number_as_time: the operator reads numbers of stored events as times.',
})

const referenceFields = {
  index: Type.Integer({ minimum: 0, description: 'Index of the rule in the set that was checked' }),
  id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
    description: 'null for a rule that is not stored',
  }),
  name: Type.String(),
}
const path = Type.String({
  description: 'Where in the rule, such as conditions[0].any[1] or actions[1].when',
})

/** A rule of the set. */
export const RuleReference = Type.Object(referenceFields, { title: 'CheckedRule' })
export type RuleReference = Type.Static<typeof RuleReference>

const OtherRule = Type.Object({ ...referenceFields, path }, { title: 'OtherCheckedRule' })

/** An event for which the finding is true. */
export const Witness = Type.Object(
  {
    type: Type.String(),
    at: Type.String({ format: 'date-time', description: 'Time of the evaluation' }),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'A field with more than 1,000 characters or items is cut, and ends with an ellipsis',
    }),
  },
  {
    title: 'CheckWitness',
    description: 'An example event that proves the finding',
  },
)
export type Witness = Type.Static<typeof Witness>

export const Finding = Type.Object(
  {
    code: Code,
    severity: Type.Enum([...severities]),
    message: Type.String(),
    rule: RuleReference,
    path,
    others: Type.Array(OtherRule, { description: 'The other rules that are involved' }),
    witness: Type.Union([Witness, Type.Null()]),
  },
  { title: 'CheckFinding' },
)
export type Finding = Type.Static<typeof Finding>

export const NotKnown = Type.Object(
  { rule: RuleReference, path, code: Code, reason: Type.String() },
  {
    title: 'CheckNotKnown',
    description: 'A question that the check could not decide, so there is no finding',
  },
)
export type NotKnown = Type.Static<typeof NotKnown>

export const CheckResult = Type.Object(
  { findings: Type.Array(Finding), notKnown: Type.Array(NotKnown) },
  { title: 'RuleCheck' },
)
export type CheckResult = Type.Static<typeof CheckResult>
