import { FullDefinition } from '@automation/rules'
import { Type } from 'typebox'
import { SearchText } from '../../lists/search-text.js'
import { Id, NextCursor, orNull, PageQuery, Timestamp } from '../responses.js'

/** A full rule, as every answer tells it. */
export const Rule = Type.Object({
  id: Id,
  ...FullDefinition.properties,
  isActive: Type.Boolean(),
  workspaceId: Id,
  version: Type.Integer({ description: 'Counts the changes of the definition; also the ETag.' }),
  executionCount: Type.Integer({ description: 'successCount + failureCount' }),
  successCount: Type.Integer(),
  failureCount: Type.Integer(),
  lastSuccessAt: orNull(Timestamp),
  lastFailureAt: orNull(Timestamp),
  lastError: orNull(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Rule = Type.Static<typeof Rule>

export const RuleListQuery = Type.Object({
  ...PageQuery,
  trigger: Type.Optional(Type.String({ description: 'only rules of this event type' })),
  isActive: Type.Optional(Type.Boolean()),
  q: Type.Optional(Type.String({ ...SearchText, description: 'text that the name or description contains' })),
})
export const RuleList = Type.Object({ rules: Type.Array(Rule), nextCursor: NextCursor })

/** A definition as it was. */
export const RuleVersion = Type.Object({
  version: Rule.properties.version,
  ...FullDefinition.properties,
  createdAt: Timestamp,
  createdBy: Type.String({ description: 'Who made it, as the audit log tells it' }),
})
export type RuleVersion = Type.Static<typeof RuleVersion>
export const VersionList = Type.Object({ versions: Type.Array(RuleVersion), nextCursor: NextCursor })

export const RuleParams = Type.Object({ id: Id })
