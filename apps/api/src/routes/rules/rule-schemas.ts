import { orNull } from '@automation/access'
import { ExpectEvery, FullDefinition, maxRules, RuleMode } from '@automation/rules'
import { Type } from 'typebox'
import { SearchText, StorableText } from '../../lists/search-text.js'
import { Id, NextCursor, PageQuery, Timestamp } from '../../responses.js'

/** A full rule, as every response contains it. */
export const Rule = Type.Object(
  {
    id: Id,
    ...FullDefinition.properties,
    isActive: Type.Boolean(),
    mode: RuleMode,
    nextRunAt: orNull({
      ...Timestamp,
      description: 'The next tick of the schedule; null without one, and while the rule is not active',
    }),
    expectEvery: ExpectEvery,
    workspaceId: Id,
    version: Type.Integer({
      description: 'Version of the definition. Each change increments it. It is also the ETag.',
    }),
    executionCount: Type.Integer({ description: 'successCount + failureCount' }),
    successCount: Type.Integer(),
    failureCount: Type.Integer(),
    lastSuccessAt: orNull(Timestamp),
    lastFailureAt: orNull(Timestamp),
    lastError: orNull(Type.String()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Rule' },
)
export type Rule = Type.Static<typeof Rule>

const { conditions: _conditions, actions: _actions, ...summary } = Rule.properties
/** For lists of all rules. */
export const RuleSummary = Type.Object(summary, {
  title: 'RuleSummary',
  description: 'A rule without its conditions and actions',
})
export type RuleSummary = Type.Static<typeof RuleSummary>

/** Of lists whose items are small: a page may have all rules of a workspace. */
export const rulesLimit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: maxRules, description: 'Maximum number of items on the page' }),
)

/** In a query: each is a parameter of its own. */
export const LabelsQuery = Type.Optional({
  ...FullDefinition.properties.labels,
  items: Type.String({ ...FullDefinition.properties.labels.items, ...StorableText }),
  description: 'Only rules with this label. It may be repeated: with all of them',
})

export const RuleListQuery = Type.Object({
  ...PageQuery,
  eventType: Type.Optional(Type.String({ description: 'Only rules that this event type triggers' })),
  trigger: Type.Optional(Type.String({ description: 'The same as eventType' })),
  isActive: Type.Optional(Type.Boolean({ description: 'Only active rules, or only inactive ones' })),
  mode: Type.Optional(RuleMode),
  label: LabelsQuery,
  q: Type.Optional(
    Type.String({ ...SearchText, description: 'Text that the name or the description contains' }),
  ),
})
export const RuleList = Type.Object(
  { rules: Type.Array(Rule), nextCursor: NextCursor },
  { title: 'RulePage' },
)

/** A definition as it was. */
export const RuleVersion = Type.Object(
  {
    version: Rule.properties.version,
    ...FullDefinition.properties,
    createdAt: Timestamp,
    createdBy: Type.String({ description: 'The actor that created this version, as in the audit log' }),
  },
  { title: 'RuleVersion' },
)
export type RuleVersion = Type.Static<typeof RuleVersion>
export const VersionList = Type.Object(
  { versions: Type.Array(RuleVersion), nextCursor: NextCursor },
  { title: 'RuleVersionPage' },
)

export const RuleParams = Type.Object({ id: Id })
