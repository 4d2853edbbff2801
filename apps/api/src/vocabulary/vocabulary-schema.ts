import { EventType, quantifiers } from '@automation/engine'
import { Type } from 'typebox'

const Name = Type.String()
const Description = Type.String()
const JsonSchema = Type.Unsafe<object>({
  type: 'object',
  additionalProperties: true,
  description: 'JSON schema',
})
const OpenObject = Type.Unsafe<object>({ type: 'object', additionalProperties: true })

const OperatorExample = Type.Object(
  {
    value: Type.Optional(Type.Unknown({ description: '`value` of the condition' })),
    at: Type.Optional(
      Type.String({ format: 'date-time', description: 'Time of the evaluation, if it matters' }),
    ),
    holds: Type.Array(Type.Unknown(), { description: 'Data for which the condition is true' }),
    fails: Type.Array(Type.Unknown(), { description: 'Data for which it is false' }),
  },
  { title: 'OperatorExample' },
)

const Operator = Type.Object(
  {
    name: Name,
    aliases: Type.Array(Type.String(), { description: 'Other spellings. A rule is stored with the name.' }),
    description: Description,
    value: Type.Union([JsonSchema, Type.Null()], {
      description: 'JSON schema of `value`. null if the operator accepts no value.',
    }),
    compares: Type.Array(Type.Enum(['string', 'number', 'boolean', 'null', 'array', 'object']), {
      description: 'Kinds of data that it reads. Data of another kind counts as missing.',
    }),
    comparesFields: Type.Boolean({
      description: 'Whether `value` may be another field, as in `{ "field": "limit" }`',
    }),
    whenMissing: Type.Boolean({ description: 'Result for missing data' }),
    example: OperatorExample,
  },
  { title: 'OperatorDescription' },
)

const QuantifierDescription = Type.Object(
  {
    name: Type.Enum([...quantifiers]),
    description: Description,
    example: Type.Object(
      {
        condition: OpenObject,
        holds: Type.Array(OpenObject, { description: 'Data for which the condition is true' }),
        fails: Type.Array(OpenObject, { description: 'Data for which it is false' }),
      },
      { title: 'QuantifierExample' },
    ),
  },
  { title: 'QuantifierDescription' },
)

const Filter = Type.Object(
  {
    name: Name,
    description: Description,
    example: Type.Object(
      { template: Type.String(), data: OpenObject, output: Type.Unknown() },
      { title: 'FilterExample' },
    ),
  },
  { title: 'FilterDescription' },
)

const Action = Type.Object(
  {
    type: Name,
    description: Description,
    config: JsonSchema,
    placeholders: Type.Array(Type.String(), {
      description: 'Fields of config that may contain placeholders, at any depth',
    }),
    example: Type.Unsafe<object>({ ...OpenObject, description: 'A config' }),
  },
  { title: 'ActionDescription' },
)

const Limit = Type.Object(
  {
    name: Name,
    value: Type.Number(),
    unit: Type.String(),
    description: Description,
  },
  { title: 'Limit' },
)

/** What rules may contain, for the OpenAPI document. */
export const Vocabulary = Type.Object(
  {
    eventTypes: Type.Array(
      Type.Object(
        { type: EventType, description: Description, example: OpenObject },
        { title: 'EventTypeDescription' },
      ),
    ),
    reservedTypes: Type.Array(
      Type.Object(
        { type: EventType, description: Description, example: OpenObject },
        { title: 'ReservedTypeDescription' },
      ),
      {
        description:
          'Types of events that nobody can send: SCHEDULE is the trigger of rules with a schedule, DECISION is reserved.',
      },
    ),
    zoneData: Type.String({
      description: 'Version of the time zone data by which schedules, hours and in_zone are evaluated',
    }),
    operators: Type.Array(Operator),
    quantifiers: Type.Array(QuantifierDescription, { description: 'Conditions on the items of lists' }),
    filters: Type.Array(Filter),
    actions: Type.Array(Action),
    actionFields: Type.Array(
      Type.Object({ name: Name, schema: JsonSchema }, { title: 'ActionFieldDescription' }),
      { description: 'Fields of every action in addition to type and config' },
    ),
    limits: Type.Array(Limit),
  },
  { title: 'Vocabulary' },
)
