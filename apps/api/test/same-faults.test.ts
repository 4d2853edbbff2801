import type { Fault } from '@automation/engine'
import { checkRuleFile } from '@automation/rules/rule-file'
import t, { type Test } from 'tap'
import { rules, startApi, type Workspace } from './fixtures/api.js'
import { breakDefinition, type Definition, readDefinitions } from './fixtures/broken-definitions.js'
import { createRandom } from './fixtures/security/random.js'

/** The form of the console. */
const { findDefinitionFaults } = await import(
  new URL('../../../console/dist/pages/logic/editing/find-definition-faults.js', import.meta.url).href
)
const api = await startApi(t)
const random = createRandom(Number.parseInt(process.env.TEST_SEED ?? '1', 16))
const count = process.env.TEST_LONG ? 2_000 : 200
/** By itself it is a refusal of its own, whose header says more. */
const unknownTrigger = /^trigger: Invalid trigger type/

interface Answers {
  request: string[]
  file: string[]
  importing: string[]
  form: string[]
}

/** What each door says of a definition, at paths that begin in the definition. */
async function askAll({ call }: Workspace, definition: Definition): Promise<Answers> {
  const file = { version: 1, rules: [definition] }
  const checked = checkRuleFile(file)
  const { body: created } = await call<{ errors?: Fault[] }>('POST', rules, { body: definition })
  const { body: imported } = await call<{ errors?: Fault[] }>('POST', `${rules}/import`, { body: { file } })
  return {
    request: write(created.errors ?? [], ''),
    file: write('faults' in checked ? checked.faults : [], 'rules[0]'),
    importing: write(imported.errors ?? [], 'file.rules[0]'),
    form: write(findDefinitionFaults({ conditions: [], ...definition }), ''),
  }
}

function write(faults: readonly Fault[], prefix: string): string[] {
  return faults
    .map(({ field, message }) => {
      const path = field.startsWith(prefix) ? field.slice(prefix.length).replace(/^\./, '') : field
      return `${path}: ${message}`
    })
    .filter((fault) => !unknownTrigger.test(fault))
}

function compare(t: Test, { request, file, importing, form }: Answers, text: string): void {
  t.strictSame(file, request, `a file: ${text}`)
  // An import says first what is wrong with the shape of the file.
  t.strictSame(importing, request.slice(0, importing.length), `an import: ${text}`)
  t.equal(importing.length > 0, request.length > 0)
  t.strictSame(form, request, `the form: ${text}`)
}

t.test(
  'a request, a file, an import and the form name the same faults, at the same paths, in the same words',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const definitions = []
    for (const definition of readDefinitions())
      if ((await askAll(workspace, definition)).request.length === 0) definitions.push(definition)
    t.ok(definitions.length > 30, `${definitions.length} rules`)
    let faulty = 0
    for (let n = 0; n < count; n++) {
      const broken = breakDefinition(random.pick(definitions), random)
      const answers = await askAll(workspace, broken)
      if (answers.request.length > 0) faulty++
      compare(t, answers, JSON.stringify(broken).slice(0, 1_000))
    }
    t.ok(faulty > count / 2, `${faulty} have faults`)
  },
)

t.test('so they do of a rule with 10,000 faulty conditions, and say that there are more', async (t) => {
  const [definition = {}] = readDefinitions()
  const conditions = Array.from({ length: 10_000 }, () => ({}))
  const answers = await askAll(await api.makeWorkspace(), { ...definition, conditions })
  compare(t, answers, '10,000 conditions')
  t.strictSame(answers.request.slice(1_000), [
    ': Only the first 1000 faults are listed',
    "conditions: Must have at most 50 conditions, including those in the actions' when",
  ])
})

t.test('a condition that is nested too deep is refused at the same place', async (t) => {
  const [definition = {}] = readDefinitions()
  let condition: Definition = { field: 'a', operator: 'exists' }
  for (let depth = 0; depth < 40; depth++) condition = { not: condition }
  const { request, file, form } = await askAll(await api.makeWorkspace(), {
    ...definition,
    conditions: [condition],
  })
  t.strictSame(request, [`conditions[0]${'.not'.repeat(30)}: Nested deeper than 32 levels`])
  t.strictSame(file, request)
  t.ok(form.includes(String(request)))
})

t.test('__proto__ is an unknown field, and in a request no JSON', async (t) => {
  const { call } = await api.makeWorkspace()
  const text = '{ "__proto__": { "all": [] }, "field": "a", "operator": "exists" }'
  const [definition = {}] = readDefinitions()
  const whole = JSON.stringify({ ...definition, conditions: ['CONDITION'] }).replace('"CONDITION"', text)
  const fault = { field: 'conditions[0].__proto__', message: 'Unknown field. All: field, operator, value' }
  const checked = checkRuleFile({ version: 1, rules: [JSON.parse(whole)] })
  t.strictSame(checked, { faults: [{ ...fault, field: `rules[0].${fault.field}` }] })
  t.match(findDefinitionFaults(JSON.parse(whole)), [fault])
  const { status, headers } = await call('POST', rules, { body: whole })
  t.match({ status, code: headers['x-error-code'] }, { status: 400, code: 'body_not_json' })
})
