import { newId } from '@automation/database'
import {
  compileTemplate,
  defaultWorkLimits,
  describeVocabulary,
  eventTypes,
  readJson,
} from '@automation/engine'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { fillPage, writeTables } from '../src/vocabulary/write-tables.js'
import { rules, startApi } from './fixtures/api.js'
import { hasShell, openShell, readBlocks } from './fixtures/page.js'
import { startWorker } from './fixtures/worker.js'

const directory = t.testdir({ mail: {} })
const api = await startApi(t, {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
})
await startWorker(t, api.config, directory)
const workspace = await api.makeWorkspace()
const pages = ['rules', 'event-types', 'conditions', 'templates', 'actions', 'calls']
const blocks = (await Promise.all(pages.map((name) => readBlocks(`reference/${name}.md`)))).flat()

type Example = Record<string, unknown>
const examples = blocks
  .filter(({ language }) => language === 'json')
  .flatMap<Example>(({ text }) => [readJson(text).value as Example].flat())

const kinds: Record<string, (example: Example) => boolean> = {
  evaluated: (example) => 'passes' in example,
  rendered: (example) => 'template' in example,
  rules: (example) => 'trigger' in example,
  actions: (example) => 'config' in example,
}

t.test('every example of the page is of a kind that is run', async (t) => {
  for (const example of examples)
    t.equal(Object.values(kinds).filter((fits) => fits(example)).length, 1, JSON.stringify(example))
  for (const [name, fits] of Object.entries(kinds)) t.ok(examples.some(fits), name)
  for (const { language, heading } of blocks) t.ok(['json', 'sh'].includes(language), heading)
})

t.test('the conditions of the page have the verdicts that it states', async (t) => {
  for (const { conditions, data, passes } of examples.filter((example) => kinds.evaluated?.(example))) {
    const actions = [{ type: 'CREATE_TASK', config: { title: 'x' } }]
    const body = { name: 'x', trigger: 'LEAD_CREATED', conditions, actions }
    const saved = await workspace.call<{ id: string }>('POST', rules, { body })
    t.equal(saved.status, 201, JSON.stringify(saved.body))
    const { body: outcome } = await workspace.call<{ conditionsPassed: boolean }>(
      'POST',
      `${rules}/${saved.body.id}/execute`,
      { body: { data, dryRun: true } },
    )
    t.equal(outcome.conditionsPassed, passes, JSON.stringify({ conditions, data }))
  }
})

t.test('the templates of the page render what it states', async (t) => {
  for (const example of examples.filter((example) => kinds.rendered?.(example))) {
    const { template: text, data, output, warnings = [] } = example
    const template = compileTemplate(String(text))
    if (typeof template === 'string') return t.fail(`${text} ${template}`)
    const rendering = { warnings: [] as string[], size: 0 }
    t.strictSame(template.render(data, rendering), output, String(text))
    t.strictSame(rendering.warnings, warnings, String(text))
  }
})

t.test('the rules and actions of the page can be saved', async (t) => {
  const actions = examples.filter((example) => kinds.actions?.(example))
  const wrapped = actions.map((action) => ({ name: 'x', trigger: 'LEAD_CREATED', actions: [action] }))
  for (const body of [...examples.filter((example) => kinds.rules?.(example)), ...wrapped]) {
    const { status, body: answer } = await workspace.call('POST', rules, { body })
    t.equal(status, 201, JSON.stringify(answer))
  }
})

t.test('the commands of the page work', async (t) => {
  if (!(await hasShell())) return t.comment('bash or curl is not on this machine')
  const { 0: rule } = examples.filter((example) => kinds.rules?.(example))
  const other = await api.makeWorkspace()
  t.equal((await other.call('POST', rules, { body: { ...rule, name: 'Own' } })).status, 201)
  const baseUrl = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const shell = openShell(baseUrl, other, directory)
  const commands = blocks.filter(({ language, text }) => language === 'sh' && !text.includes('api() {'))
  const printed = []
  for (const { text } of commands)
    printed.push(JSON.parse((await shell(text)).trim().split('\n').at(-1) ?? ''))
  const [vocabulary, explained, dryRun, validated, triggered] = printed
  t.equal(vocabulary.eventTypes.length, eventTypes.length)
  t.match(triggered, { triggered: 1, results: [{ conditionsPassed: true }] })
  t.match(explained, {
    dryRun: true,
    conditionsPassed: false,
    trace: { conditions: [{ verdict: false }, {}] },
  })
  t.match(dryRun, { dryRun: true, triggered: 1, results: [{ status: 'not_matched', trace: {} }] })
  t.match(validated, {
    rule: { isActive: true },
    warnings: [{ field: 'conditions[0].field', message: 'Did you mean score instead of scroe?' }],
  })
})

t.test('a page without a generated part, or with an unknown one, is refused', async (t) => {
  const vocabulary = describeVocabulary(defaultWorkLimits)
  const tables = writeTables(vocabulary)['reference/conditions.md'] ?? {}
  t.throws(() => fillPage('', tables), /lacks the parts operators, quantifiers/)
  t.throws(() => fillPage('<!-- generated: other -->\n<!-- end -->', tables), /unknown part: other/)
})
