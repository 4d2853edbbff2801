import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkRules, codes } from '@automation/check'
import { newId } from '@automation/database'
import { welcomeRule } from '@automation/launcher'
import t from 'tap'
import { parse } from 'yaml'
import { formatFindings } from '../src/format-findings.js'
import { startSite } from './fixtures/site.js'

const pages = ['guides/checks', 'reference/findings', 'guides/test-rules'].map((name) =>
  readFile(new URL(`../../../../docs/${name}.md`, import.meta.url), 'utf8'),
)
const page = (await Promise.all(pages)).join('\n')
const directory = await mkdtemp(join(tmpdir(), 'checks-page-'))
const file = join(directory, 'rules.yaml')
const [tested = ''] = blocksOf(sectionOf('# Tests of rules'), 'yaml')

const { openWorkspace } = await startSite()
const { id: workspaceId, tables, client } = await openWorkspace(directory)

t.test('each code has an example, and the command prints what the page shows', async (t) => {
  const [stored = ''] = blocksOf(page, 'json')
  await storeEvents(JSON.parse(stored))
  const ofWorkspace = [
    ...['unknown_field', 'unseen_value', 'unseen_placeholder', 'mixed_kinds', 'number_as_time'],
    'unusable_credential',
    'unseen_event_type',
  ]
  for (const code of Object.keys(codes).filter((one) => one !== 'unknown_zone')) {
    const section = sectionOf(`## ${code}`)
    const [[rules = ''], [shown = '']] = [blocksOf(section, 'yaml'), blocksOf(section, 'text')]
    t.match(shown, ` ${code}: rule `)
    await writeFile(file, rules)
    const more = ofWorkspace.includes(code) ? ' --events' : ''
    const { output } = await client(`rules check rules.yaml --fail-on never${more}`)
    t.equal(output, shown, code)
  }
})

t.test('a stored schedule in a zone that is none is found as the page shows', async (t) => {
  const section = sectionOf('## unknown_zone')
  const [[rules = ''], [shown]] = [blocksOf(section, 'yaml'), blocksOf(section, 'text')]
  const stored = parse(rules).rules.map((rule: object) => ({ conditions: [], ...rule }))
  t.equal(`${formatFindings(checkRules(stored, { now: Date.now() }))}\n`, shown)
  await writeFile(file, rules)
  const { code, output, errors } = await client('rules check rules.yaml')
  t.not(code, 0)
  t.match(output + errors, 'Must be an IANA time zone', 'no file has it')
})

t.test('the rule of the demo has tests, which pass, see each verdict and notice each change', async (t) => {
  t.match(parse(tested).rules, [welcomeRule])
  const example = new URL('../../../../examples/rules.yaml', import.meta.url)
  t.equal(await readFile(example, 'utf8'), tested, 'the file that the demo copies')
  await writeFile(file, tested)
  const { code, output } = await client('rules test rules.yaml --coverage --mutate')
  t.equal(code, 0)
  t.equal(
    output,
    'Tests: 3 passed, 0 failed.\nCoverage: 2 of 2 results of conditions.\nChanges: 1 of 1 are noticed.\n',
  )
})

t.test('the example about lists and two fields has tests, which pass', async (t) => {
  const orders = await readFile(new URL('../../../../examples/orders.yaml', import.meta.url), 'utf8')
  await writeFile(join(directory, 'orders.yaml'), orders)
  const { tests } = parse(orders) as { tests: object[] }
  const { code, output } = await client('rules test orders.yaml --coverage')
  t.equal(code, 0, output)
  t.match(output, `Tests: ${tests.length} passed, 0 failed.`)
  const checked = await client('rules check orders.yaml --fail-on warning')
  t.equal(checked.code, 0, checked.output)
})

t.test('the steps of the workflow run', async (t) => {
  const [workflow = ''] = blocksOf(sectionOf('## In CI'), 'yaml')
  const steps: { run?: string }[] = parse(workflow).jobs.rules.steps
  const lines = steps.flatMap(
    ({ run }) => run?.match(/^node automation\/apps\/cli\/run.mjs client (.*)$/)?.[1] ?? [],
  )
  t.equal(lines.length, 2)
  await writeFile(file, tested)
  for (const line of lines) t.match(await client(line), { code: 0, errors: '' }, line)
  t.match(await readFile(join(directory, 'report.xml'), 'utf8'), '<testsuites tests="3" failures="0">')
})

interface Stored {
  times: number
  type: string
  data: object
}

async function storeEvents(list: Stored[]): Promise<void> {
  await tables.event.createMany({
    data: list.flatMap(({ times, type, data }) =>
      Array.from({ length: times }, () => ({ id: newId(), workspaceId, type, data, doneAt: new Date() })),
    ),
  })
}

/** From a heading to the next one of any level. */
function sectionOf(heading: string): string {
  const start = page.indexOf(`\n${heading}\n`)
  const end = page.indexOf('\n##', start + heading.length)
  return start < 0 ? '' : page.slice(start, end < 0 ? undefined : end)
}

function blocksOf(section: string, language: string): string[] {
  return [...section.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  )
}
