import { orNull } from '@automation/access'
import { type DraftRow, definitionOf, FullDefinition, GuardToSet } from '@automation/rules'
import { Type } from 'typebox'
import { RuleDifference } from '../../differences/difference.js'
import { Timestamp } from '../../responses.js'
import { Rule } from './rule-schemas.js'

/** A draft as every response contains it. */
export const RuleDraft = Type.Object(
  {
    ruleId: Rule.properties.id,
    ...FullDefinition.properties,
    basedOn: Type.Integer({ description: 'The version of the rule that the draft was made from' }),
    isStale: Type.Boolean({
      description: 'true: the rule has another version by now. Save the draft again to promote it.',
    }),
    etag: Type.String({ description: 'For If-Match: it covers the version of the rule and the draft' }),
    savedAt: Timestamp,
    savedBy: Type.String({ description: 'The actor that saved it, as in the audit log' }),
    difference: orNull(RuleDifference),
    differenceFault: orNull(
      Type.String({
        description: 'Why there is no difference at the moment: as the error of a refused request',
      }),
    ),
  },
  {
    title: 'RuleDraft',
    description:
      'A draft of a rule. difference is null in the response to a save, and where it cannot be computed: then differenceFault says why.',
  },
)
export type RuleDraft = Type.Static<typeof RuleDraft>

/** The difference, or why there is none. */
export type Compared = Pick<RuleDraft, 'difference' | 'differenceFault'>

export const Promotion = Type.Object(
  { guard: Type.Optional(GuardToSet) },
  { title: 'Promotion', additionalProperties: false },
)

export function presentDraft(draft: DraftRow, rule: { version: number }, difference: Compared): RuleDraft {
  return {
    ruleId: draft.ruleId,
    ...(definitionOf(draft) as FullDefinition),
    basedOn: draft.baseVersion,
    isStale: draft.baseVersion !== rule.version,
    etag: etagOfDraft(rule, draft),
    savedAt: draft.savedAt.toISOString(),
    savedBy: draft.savedBy,
    ...difference,
  }
}

/** It changes with the rule and with each save: the same draft says something else about another version. */
export function etagOfDraft(rule: { version: number }, draft: { id: string } | null): string {
  return draft === null ? `"${rule.version}"` : `"${rule.version}-${draft.id}"`
}
