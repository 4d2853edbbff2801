import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import { startSite } from './fixtures/site.js'

const directory = t.testdir()
const { openWorkspace } = await startSite()

const entry = (name: string) =>
  `  - { name: ${name}, trigger: LEAD_CREATED, actions: [{ type: CREATE_TASK, config: { title: x } }] }\n`
const fileOf = (names: string[]) => `version: 1\nrules:\n${names.map(entry).join('')}...\n`

/** A workspace with nine rules and their file. */
async function makeSite() {
  const { tables, client, answer } = await openWorkspace(directory)
  const rules = (line: string) => client(`rules ${line}`)
  await writeFile(`${directory}/all.yaml`, fileOf(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I']))
  await rules('import all.yaml --yes')
  return { rules, answer, count: () => tables.rule.count() }
}

t.test('a file that was cut short deletes nothing', async (t) => {
  const { rules, count } = await makeSite()
  await rules('export --output rules.yaml')
  const whole = await readFile(`${directory}/rules.yaml`, 'utf8')
  t.match(whole, /\n\.\.\.\n$/)
  // After the last rule but one: valid YAML, and few enough deletions for the brake.
  await writeFile(`${directory}/cut.yaml`, whole.slice(0, whole.indexOf('  - name: I\n')))
  for (const line of ['import cut.yaml --prune --yes', 'import cut.yaml --prune --plan'])
    t.match(await rules(line), {
      code: 1,
      output: '',
      errors:
        /^cut\.yaml does not end with the line \.\.\., so it may have been cut short, [^\n]*Nothing was applied\.\n$/,
    })
  t.equal(await count(), 9)
  t.equal((await rules('import cut.yaml --yes')).code, 0, 'without --prune it deletes nothing anyway')
})

t.test('every beginning of an exported file is refused with --prune', async (t) => {
  const { rules, count } = await makeSite()
  const { output } = await rules('export')
  const lines = output.split('\n').slice(0, -1)
  for (const [index] of lines.entries()) {
    await writeFile(
      `${directory}/part.yaml`,
      lines
        .slice(0, index)
        .map((line) => `${line}\n`)
        .join(''),
    )
    t.equal((await rules('import part.yaml --prune --yes --max-deletions 9')).code, 1, `${index} lines`)
  }
  t.equal(await count(), 9)
})

t.test('more than a third is deleted only if its number is given', async (t) => {
  const { answer, rules, count } = await makeSite()
  await writeFile(`${directory}/few.yaml`, fileOf(['A', 'B']))
  t.match(await rules('import few.yaml --prune --plan'), { code: 2, output: /7 to delete/ })
  const refused = await rules('import few.yaml --prune --yes')
  t.match(refused, {
    code: 1,
    errors: /409 limit_reached: The import would delete 7, more than a third .* use maxDeletions 7 /,
  })
  t.match(await rules('import few.yaml --prune --yes --max-deletions 6'), { code: 1 })
  const line = `rules import few.yaml --prune`
  t.match(await answer('y\n', line), { code: 1 }, 'a terminal is no exception')
  t.equal(await count(), 9)
  await writeFile(`${directory}/most.yaml`, fileOf(['A', 'B', 'C', 'D', 'E', 'F']))
  t.match(await rules('import most.yaml --prune --yes'), { code: 0 }, 'a third')
  t.match(await rules('import few.yaml --prune --yes --max-deletions 4'), { code: 0 })
  t.equal(await count(), 2)
  await writeFile(`${directory}/none.yaml`, 'version: 1\nrules: []\n...\n')
  t.match(await rules('import none.yaml --prune --yes'), { code: 1 })
})

t.test('an import that is declined changes nothing, and has an exit code of its own', async (t) => {
  const { answer, count } = await makeSite()
  await writeFile(`${directory}/one.yaml`, fileOf(['New']))
  const line = `rules import one.yaml`
  for (const typed of ['n\n', '\n', ''])
    t.match(await answer(typed, line), {
      code: 3,
      output: /1 to create/,
      errors: /\nNothing was changed\.\n$/,
    })
  t.equal(await count(), 9)
  t.match(await answer('y\n', line), { code: 0, output: /\nApplied\.\n$/ })
  t.equal(await count(), 10)
})

t.test('rules of one name are exported, and imported elsewhere as the same rules', async (t) => {
  const [one, other] = [await makeSite(), await makeSite()]
  await writeFile(`${directory}/twice.yaml`, fileOf(['A', 'B', 'B', 'C']))
  t.equal((await one.rules('import twice.yaml --yes')).code, 0)
  t.equal(await one.count(), 10)
  const { code, output } = await one.rules('export --output alike.yaml')
  t.match({ code, output }, { code: 0, output: 'Wrote 10 rules and 0 email templates to alike.yaml.\n' })
  t.match(await one.rules('import alike.yaml --prune --plan'), { code: 0 }, 'nothing differs')
  t.equal((await other.rules('import alike.yaml --prune --yes')).code, 0)
  t.equal((await other.rules('export')).output, await readFile(`${directory}/alike.yaml`, 'utf8'))
})
