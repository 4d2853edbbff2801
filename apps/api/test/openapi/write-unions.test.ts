import { Action, Condition, sharedSchemas } from '@automation/engine'
import { Ajv } from 'ajv'
import t from 'tap'
import { writeUnions } from '../../src/openapi/write-unions.js'

const clause = { field: 'score', operator: 'gt', value: 1 }
const conditions = [
  clause,
  { field: 'name', operator: 'exists' },
  { field: 'name', operator: 'exists', value: 1 },
  { field: 'name', operator: 'is_like', value: 1 },
  { field: 'score', operator: 'gt' },
  { field: 'score', operator: 'gt', value: 'x' },
  { field: 'score', operator: 'between', value: [1, 2] },
  { field: 'score', operator: 'between', value: [1] },
  { field: 'tag', operator: 'in', value: ['a', null] },
  { field: 'tag', operator: 'in', value: [] },
  { operator: 'gt', value: 1 },
  { ...clause, other: 1 },
  { all: [clause, { any: [{ not: clause }] }] },
  { all: [] },
  { all: [clause], any: [clause] },
  { any: [clause], field: 'x' },
  { not: { field: 'x' } },
  { not: clause },
  {},
  'x',
  null,
]
const task = { type: 'CREATE_TASK', config: { title: 'Call' } }
const actions = [
  task,
  { ...task, when: clause, retry: { attempts: 3 }, continueOnError: true, onUncertain: 'stop' },
  { ...task, when: { field: 'x' } },
  { ...task, other: 1 },
  { ...task, timeoutMs: 1 },
  { type: 'CREATE_TASK' },
  { type: 'CREATE_TASK', config: {} },
  { type: 'SEND_EMAIL', config: { title: 'Call' } },
  { type: 'WAIT', config: { duration: '1h' } },
  { type: 'EMIT_EVENT', config: { eventType: 'LEAD_CREATED', data: '{{lead}}' } },
  { type: 'EMIT_EVENT', config: { eventType: 'LEAD_CREATED', data: 'lead' } },
  { type: 'SEND_WEBHOOK', config: { url: 'https://example.com', headers: { Host: 'x' } } },
  { type: 'DANCE', config: {} },
  { config: {} },
  {},
  [],
]

/** Whether a schema accepts each of the values. */
function accepts(schema: object, shared: readonly object[], values: unknown[]): boolean[] {
  const ajv = new Ajv({ discriminator: true, strict: false, schemas: [...shared] })
  const validate = ajv.compile(schema)
  return values.map((value) => validate(value))
}

/** As the document has it. The discriminator is only a hint there, and its mapping refers to components. */
function write(schema: object): object {
  const { discriminator: _, ...written } = writeUnions(schema) as { discriminator?: object }
  return written
}

const written = sharedSchemas.map(write)

t.test('a written union accepts the values that the schema accepts, and no others', async (t) => {
  for (const [schema, values] of [
    [{ $ref: 'Condition#' }, conditions],
    [Action, actions],
  ] as const) {
    const expected = accepts(schema, sharedSchemas, [...values])
    t.ok(new Set(expected).size === 2, 'some values are valid and some are not')
    t.strictSame(accepts(write(schema), written, [...values]), expected)
  }
  t.notMatch(JSON.stringify(write(Condition)), /"(if|then|else)":/)
})

t.test('a tagged union without a title, or with two values in one branch, is refused', async (t) => {
  const branch = { properties: { type: { enum: ['A', 'B'] } } }
  const tagged = { properties: { type: {} }, discriminator: { propertyName: 'type' }, oneOf: [branch] }
  t.throws(() => writeUnions({ title: 'Thing', ...tagged }), /one value of type/)
  t.throws(() => writeUnions(tagged), /needs a title/)
})

t.test('a branch keeps its title, and an enum of texts gets a type', async (t) => {
  const branch = (operator: string) => ({
    title: 'NumberClause',
    properties: { operator: { enum: [operator] }, value: { type: 'number' } },
  })
  const clause = {
    title: 'Clause',
    properties: { field: { type: 'string' }, operator: {}, value: {} },
    discriminator: { propertyName: 'operator' },
    oneOf: [branch('gt'), branch('lt')],
  }
  const schema = { if: { required: ['all'] }, then: { title: 'AllGroup' }, else: clause }
  t.match(writeUnions(schema), {
    anyOf: [
      { title: 'AllGroup' },
      {
        title: 'Clause',
        anyOf: [{ title: 'NumberClause', properties: { operator: { type: 'string', enum: ['gt', 'lt'] } } }],
      },
    ],
  })
  t.strictSame(writeUnions({ enum: [1, 'a'] }), { enum: [1, 'a'] })
})
