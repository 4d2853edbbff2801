import { orNull } from '@automation/access'
import { BacktestReport } from '@automation/backtest'
import { type DraftRow, definitionOf, FullDefinition, GuardToSet } from '@automation/rules'
import { Type } from 'typebox'
import { Timestamp } from '../../responses.js'
import { Rule } from './rule-schemas.js'

export const RuleDifference = Type.Object(
  {
    ...BacktestReport.properties,
    from: { ...Timestamp, description: 'When the draft was saved, or the shadow was last changed' },
    to: { ...Timestamp, description: 'Events that were accepted since then are not in it' },
    isComplete: Type.Boolean({
      description: 'false: a worker still reads events, and these are the figures so far',
    }),
    computedAt: Timestamp,
  },
  {
    title: 'RuleDifference',
    description:
      'A backtest that workers continue when somebody asks, at most once a minute: what a draft would have done since it was saved, against the version that it was made from, or what a shadow would have done (active and difference are null). Nothing was done.',
  },
)

/** The difference, or why there is none. */
export const RuleComparison = Type.Object(
  {
    difference: orNull(RuleDifference),
    differenceFault: orNull(
      Type.String({
        description:
          'Why there is no difference, or no newer one. One that failed begins again when somebody asks a minute later.',
      }),
    ),
  },
  {
    title: 'RuleComparison',
    description:
      'difference is what was stored last. null: a worker computes it, or differenceFault says why not.',
  },
)
export type RuleComparison = Type.Static<typeof RuleComparison>

/** A draft as every response contains it. */
export const RuleDraft = Type.Object(
  {
    ruleId: Rule.properties.id,
    ...FullDefinition.properties,
    basedOn: Type.Integer({ description: 'Version of the rule that the draft is based on' }),
    isStale: Type.Boolean({
      description:
        'true if the rule has changed since the draft was saved. Save the draft again to promote it.',
    }),
    etag: Type.String({ description: 'For If-Match. It covers both the version of the rule and the draft.' }),
    savedAt: Timestamp,
    savedBy: Type.String({ description: 'The actor that saved the draft, as in the audit log' }),
    ...RuleComparison.properties,
  },
  {
    title: 'RuleDraft',
    description:
      'A draft of a rule. difference is null in the response to a save, and until a worker has computed it.',
  },
)
export type RuleDraft = Type.Static<typeof RuleDraft>

export const Promotion = Type.Object(
  { guard: Type.Optional(GuardToSet) },
  { title: 'Promotion', additionalProperties: false },
)

export function presentDraft(
  draft: DraftRow,
  rule: { version: number },
  comparison: RuleComparison,
): RuleDraft {
  return {
    ruleId: draft.ruleId,
    ...(definitionOf(draft) as FullDefinition),
    basedOn: draft.baseVersion,
    isStale: draft.baseVersion !== rule.version,
    etag: etagOfDraft(rule, draft),
    savedAt: draft.savedAt.toISOString(),
    savedBy: draft.savedBy,
    ...comparison,
  }
}

/** It changes with the rule and with each save: the same draft says something else about another version. */
export function etagOfDraft(rule: { version: number }, draft: { id: string } | null): string {
  return draft === null ? `"${rule.version}"` : `"${rule.version}-${draft.id}"`
}
