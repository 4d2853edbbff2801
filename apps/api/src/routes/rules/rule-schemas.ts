import { Actions, Conditions, EventType, RuleDescription, RuleName } from '@automation/engine'
import { Type } from 'typebox'
import { SearchText } from '../../search-text.js'
import { Id, NextCursor, orNull, PageQuery, Timestamp } from '../answers.js'

/** What a rule says: a change of it makes a new version. */
export const Definition = Type.Object(
  {
    name: RuleName,
    description: RuleDescription,
    trigger: EventType,
    conditions: Conditions,
    actions: Actions,
  },
  { additionalProperties: false },
)
export type Definition = Type.Static<typeof Definition>

/** A full rule, as every answer tells it. */
export const Rule = Type.Object({
  id: Id,
  ...Definition.properties,
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

/** Shape before vocabulary: here a trigger is any string, and an unknown one is a 400 once the shape is right. */
const definition = {
  name: RuleName,
  description: RuleDescription,
  trigger: Type.String({ description: `One of the event types: ${EventType.enum.join(', ')}` }),
  conditions: Conditions,
  actions: Actions,
  isActive: Type.Boolean(),
}

export const RuleToCreate = Type.Object(
  {
    ...definition,
    description: Type.Optional(definition.description),
    conditions: Type.Optional(definition.conditions),
    isActive: Type.Optional(definition.isActive),
  },
  {
    additionalProperties: false,
    examples: [
      {
        name: 'Hot leads',
        trigger: 'LEAD_CREATED',
        conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
        actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}', dueIn: '24h' } }],
      },
    ],
  },
)

export const RuleToUpdate = Type.Partial(Type.Object(definition), { additionalProperties: false })

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
  ...Definition.properties,
  createdAt: Timestamp,
  createdBy: Type.String({ description: 'Who made it, as the audit log tells it' }),
})
export type RuleVersion = Type.Static<typeof RuleVersion>
export const VersionList = Type.Object({ versions: Type.Array(RuleVersion), nextCursor: NextCursor })

export const RuleParams = Type.Object({ id: Id })
