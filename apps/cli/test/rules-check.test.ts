import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { executionIdOf, newId } from '@automation/database'
import t from 'tap'
import { run, runProcess } from './fixtures/run.js'
import { startSite } from './fixtures/site.js'

const directory = await mkdtemp(join(tmpdir(), 'rules-check-'))
const path = join(directory, 'rules.yaml')
const actions = "[{ type: CREATE_TASK, config: { title: 'Call {{name}}' } }]"
const rules = `version: 1
rules:
  - name: Hot leads
    trigger: LEAD_CREATED
    conditions: [{ field: score, operator: gt, value: 80 }]
    actions: ${actions}
`
const never = rules.replace('value: 80 }', 'value: 80 }, { field: score, operator: lt, value: 50 }')
const testsOf = (count: string) => `${rules}tests:
  - name: a hot lead
    event: { type: LEAD_CREATED, data: { score: 95, name: Ada } }
    expect: { Hot leads: ${count} }
`

const { openWorkspace } = await startSite()
const own = await openWorkspace(directory)

t.test('rules check lists findings, and its exit code says whether one is severe enough', async (t) => {
  await writeFile(path, never)
  const found = await runOwn(['rules', 'check', path])
  t.match(found, {
    code: 1,
    output:
      /^error never_matches: rule "Hot leads", conditions\n {4}Never runs: score is above 80 and score is below 50/,
  })
  t.match(await runOwn(['rules', 'check', path, '--fail-on', 'never']), { code: 0 })
  const json = await runOwn(['rules', 'check', path, '--json'])
  t.match(JSON.parse(json.output), {
    findings: [{ code: 'never_matches', witness: null }],
    notKnown: { length: 0 },
  })
  await writeFile(path, rules)
  t.match(await runOwn(['rules', 'check', path]), {
    code: 0,
    output: 'Check: 0 errors, 0 warnings, 0 info.',
  })
})

t.test(
  'a number with more digits than a double keeps is refused in a rule, and a text in a test',
  async (t) => {
    await writeFile(path, rules.replace('value: 80', 'value: 8202522731445525542'))
    for (const command of [['check'], ['test'], ['import', '--yes']])
      t.match(await runOwn(['rules', ...command, path]), {
        code: 1,
        errors: `${path}:5: rule "Hot leads": conditions[0].value: Has more digits than a number can keep. Write it as a string`,
      })
    const id = '8202522731445525542'
    const exact = rules
      .replace('operator: gt, value: 80', `operator: equals, value: '${id}'`)
      .replace('{{name}}', '{{score}}')
    await writeFile(path, `${exact}${testsOf('1').slice(rules.length)}`.replace('score: 95', `score: ${id}`))
    t.match(await runOwn(['rules', 'test', path]), {
      code: 0,
      output: 'Tests: 1 passed, 0 failed.',
      errors: `${path}:9: test "a hot lead": event.data.score: Has more digits than a number can keep, so it was stored as a string`,
    })
  },
)

t.test('rules test runs the tests of the file without a database', async (t) => {
  await writeFile(path, testsOf('1'))
  const junit = join(directory, 'report.xml')
  const passed = await runOwn(['rules', 'test', path, '--coverage', '--mutate', '--junit', junit], {
    RULES_URL: 'http://127.0.0.1:1',
  })
  t.match(passed, {
    code: 0,
    output:
      /^Tests: 1 passed, 0 failed.\nCoverage: 1 of 2 results of conditions.\n {4}"Hot leads" conditions\[0\]: score is above 80: never false\nChanges: 0 of 1 are noticed./,
  })
  t.match(await readFile(junit, 'utf8'), '<testsuites tests="1" failures="0">')
  await writeFile(path, testsOf('no'))
  t.match(await runOwn(['rules', 'test', path]), {
    code: 1,
    output: /^FAILED a hot lead\n {4}"Hot leads": expected no execution, actual 1 execution/,
  })
  await writeFile(path, testsOf('maybe'))
  t.match(await runOwn(['rules', 'test', path]), {
    code: 1,
    errors: /rules.yaml:10: test "a hot lead": expect.Hot leads/,
  })
})

t.test('a file by itself loads no client of a database', async (t) => {
  await writeFile(path, testsOf('1'))
  const reports =
    "process.on('exit', () => console.error(process.moduleLoadList.includes('NativeModule dns')))"
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(reports)}`
  const loads = async (program: 'client' | 'admin', line: string) => {
    const { code, errors } = await runProcess(program, line, directory, { NODE_OPTIONS })
    t.equal(code, 0, line)
    return errors.trim()
  }
  t.equal(await loads('client', `rules test ${path} --coverage`), 'false')
  t.equal(await loads('client', `rules check ${path}`), 'false')
  t.equal(await loads('admin', 'workspaces list'), 'true')
})

t.test('rules import runs the tests first', async (t) => {
  await writeFile(path, testsOf('no'))
  const refused = await runOwn(['rules', 'import', path, '--yes'])
  t.match(refused, { code: 1, errors: /^FAILED a hot lead\n[\s\S]*Nothing was applied/ })
  t.match(await runOwn(['rules', 'import', path, '--yes', '--skip-tests']), { code: 0 })
})

t.test('the API checks the rules of the workspace, or a file beside its events', async (t) => {
  const { client, ask, tables, id } = await openWorkspace(directory)
  await writeFile(path, never)
  t.match(await client(`rules import ${path} --yes`), { code: 0 })
  t.match(await client('rules check'), { code: 1, output: /^error never_matches: rule "Hot leads"/ })
  await writeFile(path, rules)
  t.match(await ask(`rules check ${path} --events`), { findings: { length: 0 } })
  const data = Array.from({ length: 100 }, () => ({
    id: newId(),
    workspaceId: id,
    type: 'LEAD_CREATED',
    data: { points: 95, name: 'Ada' },
    doneAt: new Date(),
  }))
  await tables.event.createMany({ data })
  t.match(await client(`rules check ${path}`), { code: 0, output: 'Check: 0 errors, 0 warnings, 0 info.' })
  t.match(await ask(`rules check ${path} --events --fail-on never`), {
    findings: [{ code: 'unknown_field' }],
  })
})

t.test('an export keeps the tests of the file that it replaces', async (t) => {
  await writeFile(path, testsOf('1'))
  t.match(await runOwn(['rules', 'export', '--output', path]), { code: 0 })
  t.match(await readFile(path, 'utf8'), /name: Hot leads[\s\S]*\ntests:\n {2}- name: a hot lead\n/)
  t.match(await runOwn(['rules', 'test', path]), { code: 0, output: 'Tests: 1 passed, 0 failed.' })
})

t.test('a stored event becomes a test of what the rules did for it', async (t) => {
  const rule = await own.tables.rule.findFirstOrThrow({ where: { name: 'Hot leads' } })
  const event = await storeEvent(own, [rule])
  const recorded = await runOwn(['rules', 'test', '--record', event.id])
  t.match(recorded, { code: 0, errors: '' })
  t.match(recorded.output, `  - name: Recorded LEAD_CREATED ${event.id}`)
  await writeFile(path, `${rules}${recorded.output}`)
  t.match(await runOwn(['rules', 'test', path]), { code: 0, output: 'Tests: 1 passed, 0 failed.' })
  t.match(await runOwn(['rules', 'test', '--record', newId()]), { code: 1, errors: /404 event_not_found/ })
})

t.test('a recorded test has what all rules of one name did, in the order of an export', async (t) => {
  const { id, tables, client } = await openWorkspace(directory)
  const call = (title: string) => `  - name: Call
    trigger: LEAD_CREATED
    actions: [{ type: CREATE_TASK, config: { title: ${title} } }]
`
  await writeFile(path, `version: 1\nrules:\n${call('Second')}${call('First')}`)
  t.match(await client(`rules import ${path} --yes`), { code: 0 })
  const stored = await tables.rule.findMany({ orderBy: { id: 'asc' } })
  const event = await storeEvent({ id, tables }, stored)
  const { output } = await client(`rules test --record ${event.id} --json`)
  const done = ['First', 'Second'].map((title) => ({ type: 'CREATE_TASK', config: { title } }))
  t.same(JSON.parse(output).expectOnly, { Call: done })
  const { output: exported } = await client('rules export')
  const recorded = await client(`rules test --record ${event.id}`)
  await writeFile(path, `${exported.replace('...\n', '')}${recorded.output}`)
  t.match(await runOwn(['rules', 'test', path]), { code: 0, output: 'Tests: 1 passed, 0 failed.' })
})

/** An event for which each of the rules has created a task. */
async function storeEvent(
  { id: workspaceId, tables }: Pick<typeof own, 'id' | 'tables'>,
  rules: { id: string; version: number }[],
) {
  const event = {
    id: newId(),
    workspaceId,
    type: 'LEAD_CREATED',
    data: { score: 95, name: 'Ada' },
  }
  await tables.event.create({ data: { ...event, doneAt: new Date() } })
  for (const rule of rules)
    await tables.execution.create({
      data: {
        id: executionIdOf({ id: event.id, addressee: null }, rule.id),
        workspaceId,
        eventId: event.id,
        eventType: event.type,
        handlerId: rule.id,
        ruleVersion: rule.version,
        status: 'succeeded',
        results: [{ action: 'CREATE_TASK', status: 'success' }],
        startedAt: new Date(),
        lostLeases: [],
      },
    })
  return event
}

function runOwn(args: string[], env: Record<string, string> = own.env) {
  return run('client', args.join(' '), directory, env)
}
