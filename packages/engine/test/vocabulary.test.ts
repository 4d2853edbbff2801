import fc from 'fast-check'
import t from 'tap'
import { actionDefinitions } from '../src/actions/index.js'
import { compileCondition } from '../src/conditions/conditions.js'
import { findRuleFaults } from '../src/faults/faults.js'
import { filterDefinitions } from '../src/filters/index.js'
import { operators } from '../src/operators/index.js'
import { type Kind, kinds } from '../src/operators/operator.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { planRule } from '../src/planning/run.js'
import { compileChatText } from '../src/templates/chat-format.js'
import { compileTemplate } from '../src/templates/template.js'
import { describeVocabulary } from '../src/vocabulary.js'
import { defaultWorkLimits, Evaluation } from '../src/work/evaluation.js'

const vocabulary = describeVocabulary(defaultWorkLimits)

t.test('the example of each operator is true', async (t) => {
  for (const { name, example } of operators) {
    const { value, at = '2026-03-10T12:00:00Z', holds, fails } = example
    t.ok(holds.length > 0 && fails.length > 0, name)
    const faults = findRuleFaults({ conditions: [{ field: 'it', operator: name, value }] })
    t.strictSame(faults, [], name)
    const condition = compileCondition({ field: 'it', operator: name, value })
    const evaluate = (it: unknown) => condition.holds({ it }, new Evaluation(Date.parse(at)))
    for (const actual of holds) t.equal(evaluate(actual), true, `${JSON.stringify(actual)} ${name}`)
    for (const actual of fails) t.equal(evaluate(actual), false, `${JSON.stringify(actual)} not ${name}`)
  }
})

t.test('a value of a kind that an operator does not compare counts as missing', async (t) => {
  for (const { name, example, compares } of operators) {
    const condition = compileCondition({ field: 'it', operator: name, value: example.value })
    const evaluate = (data: object) => condition.holds(data, new Evaluation(0))
    const described = vocabulary.operators.find((operator) => operator.name === name)
    t.equal(described?.whenMissing, evaluate({}), name)
    fc.assert(
      fc.property(fc.jsonValue(), (it) => compares.includes(kindOf(it)) || evaluate({ it }) === evaluate({})),
      { numRuns: 300 },
    )
    t.ok(compares.every((kind) => kinds.includes(kind)))
  }
})

t.test('the example of each filter renders its output', async (t) => {
  for (const { name, example } of filterDefinitions) {
    const template =
      name === 'raw' ? compileChatText(example.template, {}) : compileTemplate(example.template)
    if (typeof template === 'string') return t.fail(template)
    t.match(example.template, `| ${name}`)
    t.strictSame(template.render(example.data, { warnings: [], size: 0 }), example.output, name)
  }
})

t.test('the example of each action can be saved and fits its schema when it is rendered', async (t) => {
  for (const { type, example } of actionDefinitions) {
    const definition = { conditions: [], actions: [{ type, config: example }] as never[] }
    t.strictSame(findRuleFaults(definition), [], type)
    const data = { id: '7', name: 'Ada', email: 'ada@example.com', owner: 'grace', score: 95, amount: 5 }
    const [planned] = planRule(compileRule(definition), data, 0).actions
    t.ok(planned && 'type' in planned, JSON.stringify(planned))
  }
})

t.test('a field takes placeholders exactly if any text can be saved in it', async (t) => {
  const fields = Object.fromEntries(vocabulary.actions.map(({ type, placeholders }) => [type, placeholders]))
  t.strictSame(fields, {
    CREATE_TASK: ['title', 'dueIn', 'description', 'assigneeId'],
    SEND_EMAIL: ['to', 'subject', 'template', 'cc', 'bcc', 'replyTo', 'variables'],
    SEND_WEBHOOK: ['url', 'headers', 'body'],
    SEND_NOTIFICATION: ['url', 'text'],
    WAIT: ['duration', 'until', 'offset'],
    EMIT_EVENT: ['data'],
  })
})

t.test('the vocabulary is JSON, and everything in it has a description', async (t) => {
  t.strictSame(JSON.parse(JSON.stringify(vocabulary)).operators.length, operators.length)
  const { eventTypes, filters, actions, limits } = vocabulary
  for (const { description } of [...eventTypes, ...vocabulary.operators, ...filters, ...actions, ...limits])
    t.ok(description.length > 3)
  for (const { name, schema } of vocabulary.actionFields) t.ok('description' in schema, name)
  for (const { type, config } of actions)
    for (const [name, schema] of Object.entries(config.properties))
      t.ok('description' in schema, `${type} ${name}`)
})

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as Kind)
}
