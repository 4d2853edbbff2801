import type { DefinitionField } from '@automation/database'
import {
  Actions,
  Conditions,
  EventType,
  eventTypes,
  PerKeyOrNone,
  RuleDescription,
  RuleGroup,
  RuleName,
  RuleOrder,
  Schedule,
} from '@automation/engine'
import { type TSchema, Type } from 'typebox'
import { RuleMode } from './rule-mode.js'

/** Of one workspace. */
export const maxRules = 1_000

// One schema instead of a union reports a fault once.
const GroupOrNone = Type.Unsafe<string | null>({
  ...RuleGroup,
  type: ['string', 'null'],
  description:
    'Of the active rules with the same group and trigger, only the first that matches runs. null: the rule is in no group.',
})
const OrderOrNone = Type.Unsafe<number | null>({
  ...RuleOrder,
  type: ['integer', 'null'],
  description:
    'Place in the group: the lowest is the first. Of rules with the same order, the oldest is the first. Required with a group, and null without one.',
})

// As above: it says itself that it is null.
const ScheduleOrNone = Type.Unsafe<Schedule | null>({
  ...Schedule,
  type: ['object', 'null'],
  description: 'When the rule runs. Required with the trigger SCHEDULE, and null with all others.',
})
export const ExpectEvery = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 10,
  description:
    'The rule should match at least once in this time, such as 24h: otherwise it needs attention with the reason `silent`, and subscriptions get rule.silent, and rule.heard when it matches again. At least 1m, at most 366d. null: it may be silent. No part of the definition, so a change makes no version.',
})

const Labels = Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
  maxItems: 20,
  uniqueItems: true,
  description:
    'Words for people, such as the team that the rule belongs to. Lists, exports and imports are narrowed by them. They are compared exactly, and keep their order.',
})

/** Shape before vocabulary: here a trigger is any string. An unknown one is reported once the shape is right. */
const definition = {
  name: RuleName,
  description: RuleDescription,
  labels: Labels,
  trigger: Type.String({
    description: `SCHEDULE, an event type of the workspace (GET /api/event-types), or one of the catalogue: ${eventTypes.join(', ')}`,
  }),
  group: GroupOrNone,
  order: OrderOrNone,
  schedule: ScheduleOrNone,
  perKey: PerKeyOrNone,
  conditions: Conditions,
  actions: Actions,
} satisfies Record<DefinitionField, TSchema>
const state = { isActive: Type.Boolean(), mode: RuleMode, expectEvery: ExpectEvery }

const omissible = ['description', 'labels', 'group', 'order', 'schedule', 'perKey', 'conditions'] as const
/** What a request may leave out. */
const optional = Type.Partial(Type.Pick(Type.Object(definition), omissible)).properties

/** The definition of a rule. A change of it makes a new version. */
export const FullDefinition = Type.Object(
  { ...definition, trigger: EventType },
  { additionalProperties: false },
)
export type FullDefinition = Type.Static<typeof FullDefinition>

/** The fields that a file leaves out where a rule has nothing there (arrangeRule). */
export const omittedInFiles = Type.Partial(
  Type.Omit(Type.Pick(FullDefinition, omissible), ['description', 'conditions']),
).properties

/** What a definition has where a request leaves it out. */
export const usualDefinition: Pick<FullDefinition, Omissible> = {
  description: '',
  labels: [],
  group: null,
  order: null,
  schedule: null,
  perKey: null,
  conditions: [],
}
export type Omissible = (typeof omissible)[number]

export const RuleToCreate = Type.Object(
  { ...definition, ...optional, ...Type.Partial(Type.Object(state)).properties },
  {
    title: 'RuleToCreate',
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
export type RuleToCreate = Type.Static<typeof RuleToCreate>

/** The definition that a rule may get: that of a creation, without a state. */
export const DraftToSave = Type.Object(
  { ...definition, ...optional },
  { title: 'DraftToSave', additionalProperties: false },
)
export type DraftToSave = Type.Static<typeof DraftToSave>

export const RuleToUpdate = Type.Partial(Type.Object({ ...definition, ...state }), {
  additionalProperties: false,
  title: 'RuleToUpdate',
})
