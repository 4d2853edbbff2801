import { readdir, readFile } from 'node:fs/promises'
import { checkRuleFile } from '@automation/rules'
import { Ajv } from 'ajv'
import t from 'tap'
import { parse } from 'yaml'
import { readRuleText } from '../src/rule-text.js'

// docs/rules.schema.json is what editors know of a file of rules. `npm run openapi` writes it.

const root = new URL('../../../../', import.meta.url)
/** As much of it as a path needs. */
interface Json {
  [key: string]: Json
}

const schema = JSON.parse(await readFile(new URL('docs/rules.schema.json', root), 'utf8'))
const validate = new Ajv({ allErrors: true, strict: false, formats: { 'date-time': true } }).compile(schema)
const example = await readFile(new URL('examples/rules.yaml', root), 'utf8')

/** The files of rules that the documents show. */
async function readExamples(): Promise<[name: string, text: string][]> {
  const names = (await readdir(new URL('docs/', root), { recursive: true })).filter((name) =>
    name.endsWith('.md'),
  )
  const found: [string, string][] = [['examples/rules.yaml', example]]
  for (const name of names) {
    const page = await readFile(new URL(`docs/${name}`, root), 'utf8')
    for (const [, block = ''] of page.matchAll(/```yaml\n([\s\S]*?)```/g))
      if (/^version: 1$/m.test(block)) found.push([`docs/${name}`, block])
  }
  return found
}

t.test('the schema accepts every file of rules that the documents show', async (t) => {
  const examples = await readExamples()
  t.ok(examples.length >= 3)
  for (const [name, text] of examples) {
    const { json } = readRuleText(text, name, 'yaml')
    t.ok(validate(json), `${name}: ${JSON.stringify(validate.errors?.slice(0, 3))}`)
  }
})

const action = { type: 'CREATE_TASK', config: { title: 'Call' } }
const rule = { name: 'A', trigger: 'LEAD_CREATED', actions: [action] }
const fileOf = (fields: object) => ({ version: 1, rules: [{ ...rule, ...fields }] })
const clause = (fields: object) => fileOf({ conditions: [{ field: 'score', ...fields }] })

t.test('the schema and the check accept what a rule may be', (t) => {
  const good = [
    fileOf({}),
    fileOf({ trigger: 'PAYMENT_FAILED' }),
    fileOf({ mode: 'shadow' }),
    fileOf({ isActive: false, description: 'x' }),
    clause({ operator: 'gt', value: 1 }),
    clause({ operator: 'between', value: [1, 2] }),
    clause({ operator: 'exists' }),
    fileOf({
      conditions: [
        { any: [{ field: 'a', operator: 'is_true' }, { not: { field: 'b', operator: 'is_empty' } }] },
      ],
    }),
    fileOf({ actions: [{ ...action, retry: { attempts: 5 }, when: { field: 'a', operator: 'exists' } }] }),
    fileOf({ actions: [{ type: 'WAIT', config: { duration: '1h' } }] }),
    { ...fileOf({}), emailTemplates: [{ name: 'x', text: 'y' }] },
    { ...fileOf({}), tests: [{ name: 'x', event: { type: 'LEAD_CREATED' }, expect: { A: 'no' } }] },
  ]
  for (const file of good) {
    t.ok(validate(file), `${JSON.stringify(file)}: ${JSON.stringify(validate.errors?.slice(0, 2))}`)
    t.match(checkRuleFile(file), { file: Object }, JSON.stringify(file))
  }
  t.end()
})

t.test('the schema and the check refuse the same mistakes', (t) => {
  const faulty: Record<string, object> = {
    'an operator that does not exist': clause({ operator: 'bigger', value: 1 }),
    'a sign instead of an operator': clause({ operator: '>', value: 1 }),
    'an operator without its value': clause({ operator: 'greater_than' }),
    'a value where none is taken': clause({ operator: 'exists', value: 1 }),
    'one value for a list': clause({ operator: 'in', value: 'DE' }),
    'a misspelt field of a condition': fileOf({ conditions: [{ feild: 'a', operator: 'exists' }] }),
    'a group without conditions': fileOf({ conditions: [{ any: [] }] }),
    'a group instead of the list': fileOf({ conditions: { all: [] } }),
    'an action type that does not exist': fileOf({ actions: [{ type: 'SEND_MAIL', config: {} }] }),
    'an action without config': fileOf({ actions: [{ type: 'WAIT' }] }),
    'a misspelt field of a config': fileOf({ actions: [{ type: 'CREATE_TASK', config: { titel: 'x' } }] }),
    'a priority that does not exist': fileOf({
      actions: [{ type: 'CREATE_TASK', config: { title: 'x', priority: 'asap' } }],
    }),
    'too many attempts': fileOf({ actions: [{ ...action, retry: { attempts: 500 } }] }),
    'no actions': fileOf({ actions: [] }),
    'no name': fileOf({ name: undefined }),
    'a boolean as text': fileOf({ isActive: 'true' }),
    'a field of the server': fileOf({ id: 'r1' }),
    'another version': { version: 2, rules: [] },
    'no rules': { version: 1 },
    'an unknown list': { version: 1, rules: [], templates: [] },
    'a template without name': { version: 1, rules: [], emailTemplates: [{ text: 'x' }] },
    'a test without name': { version: 1, rules: [], tests: [{ expect: {} }] },
    'an expectation of no kind': { version: 1, rules: [], tests: [{ name: 'x', expect: { A: true } }] },
  }
  for (const [title, file] of Object.entries(faulty)) {
    const json = JSON.parse(JSON.stringify(file))
    t.notOk(validate(json), title)
    t.match(checkRuleFile(json), { faults: [{}] }, title)
  }
  t.end()
})

t.test('each reference of the schema is the path of a definition, as editors read it', (t) => {
  const references = new Set(findReferences(schema))
  t.ok(references.has('#/definitions/Condition'))
  for (const reference of references) {
    const [root, ...path] = reference.split('/')
    const target = path.reduce((node: Json | undefined, key) => node?.[key], schema)
    t.ok(root === '#' && typeof target === 'object', reference)
  }
  const used = [...references].map((reference) => reference.replace('#/definitions/', ''))
  t.strictSame(used.sort(), Object.keys(schema.definitions).sort(), 'and each definition is used')
  t.end()
})

t.test('editors find the schema, and offer the types of events', (t) => {
  t.match(example, /^# yaml-language-server: \$schema=\.\.\/docs\/rules\.schema\.json\n/)
  t.equal(parse(example).version, 1)
  t.equal(schema.$schema, 'http://json-schema.org/draft-07/schema#')
  t.ok(schema.definitions.EventType.anyOf[0].enum.includes('LEAD_CREATED'))
  t.notMatch(JSON.stringify(schema), /"(if|discriminator)":/, 'plain unions: an editor completes each branch')
  t.end()
})

function findReferences(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : findReferences(value),
  )
}
