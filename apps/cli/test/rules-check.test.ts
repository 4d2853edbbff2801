import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspace } from '@automation/access'
import type { CheckResult } from '@automation/check'
import { executionIdOf, newId, openDatabase } from '@automation/database'
import t from 'tap'
import { run, runProcess } from './fixtures/run.js'

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

const database = openDatabase(process.env.DATABASE_URL ?? '', 1)
t.teardown(() => database.close())
const workspace = await createWorkspace({ database, actor: 'test' }, { name: 'Checked', adminUserId: 'root' })

t.test('rules check lists findings, and its exit code says whether one is severe enough', async (t) => {
  await writeFile(path, never)
  const found = await admin(['rules', 'check', path])
  t.match(found, {
    code: 1,
    output:
      /^error never_matches: rule "Hot leads", conditions\n {4}Never runs: score is above 80 and score is below 50/,
  })
  t.match(await admin(['rules', 'check', path, '--fail-on', 'never']), { code: 0 })
  const json = await admin(['rules', 'check', path, '--json'])
  t.match(JSON.parse(json.output), { findings: [{ code: 'never_matches', witness: null }], notKnown: [] })
  await writeFile(path, rules)
  t.match(await admin(['rules', 'check', path]), {
    code: 0,
    output: 'Check: 0 errors, 0 warnings, 0 info.',
  })
})

t.test(
  'a number with more digits than a double keeps is refused in a rule, and a text in a test',
  async (t) => {
    await writeFile(path, rules.replace('value: 80', 'value: 8202522731445525542'))
    for (const command of [['check'], ['test'], ['import', '--yes', '--workspace', workspace.id]])
      t.match(await admin(['rules', ...command, path]), {
        code: 1,
        errors: `${path}:5: rule "Hot leads": conditions[0].value: Has more digits than a number can keep. Write it as a string`,
      })
    const id = '8202522731445525542'
    const exact = rules
      .replace('operator: gt, value: 80', `operator: equals, value: '${id}'`)
      .replace('{{name}}', '{{score}}')
    await writeFile(path, `${exact}${testsOf('1').slice(rules.length)}`.replace('score: 95', `score: ${id}`))
    t.match(await admin(['rules', 'test', path]), {
      code: 0,
      output: 'Tests: 1 passed, 0 failed.',
      errors: `${path}:9: test "a hot lead": event.data.score: Has more digits than a number can keep, so it was stored as a string`,
    })
  },
)

t.test('rules test runs the tests of the file without a database', async (t) => {
  await writeFile(path, testsOf('1'))
  const junit = join(directory, 'report.xml')
  const passed = await admin(['rules', 'test', path, '--coverage', '--mutate', '--junit', junit], {
    DATABASE_URL: 'postgresql://127.0.0.1:1/none',
  })
  t.match(passed, {
    code: 0,
    output:
      /^Tests: 1 passed, 0 failed.\nCoverage: 1 of 2 results of conditions.\n {4}"Hot leads" conditions\[0\]: score is above 80: never false\nChanges: 0 of 1 are noticed./,
  })
  t.match(await readFile(junit, 'utf8'), '<testsuites tests="1" failures="0">')
  await writeFile(path, testsOf('no'))
  t.match(await admin(['rules', 'test', path]), {
    code: 1,
    output: /^FAILED a hot lead\n {4}"Hot leads": expected no execution, actual 1 execution/,
  })
  await writeFile(path, testsOf('maybe'))
  t.match(await admin(['rules', 'test', path]), {
    code: 1,
    errors: /rules.yaml:10: test "a hot lead": expect.Hot leads/,
  })
})

t.test('a file by itself loads no client of a database', async (t) => {
  await writeFile(path, testsOf('1'))
  const reports =
    "process.on('exit', () => console.error(process.moduleLoadList.includes('NativeModule dns')))"
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(reports)}`
  const loads = async (line: string) => {
    const { code, errors } = await runProcess('admin', `rules ${line}`, directory, { NODE_OPTIONS })
    t.equal(code, 0, line)
    return errors.trim()
  }
  t.equal(await loads(`test ${path} --coverage`), 'false')
  t.equal(await loads(`check ${path}`), 'false')
  t.equal(await loads(`check ${path} --workspace ${workspace.id}`), 'true')
})

t.test(
  'rules import runs the tests first, and its plan has the findings beside the rules that stay',
  async (t) => {
    await writeFile(path, testsOf('no'))
    const target = ['--workspace', workspace.id]
    const refused = await admin(['rules', 'import', path, ...target, '--yes'])
    t.match(refused, { code: 1, errors: /^Target: .*\nFAILED a hot lead\n[\s\S]*Nothing was applied/ })
    t.match(await admin(['rules', 'import', path, ...target, '--yes', '--skip-tests']), { code: 0 })
    await writeFile(path, rules.replace('Hot leads', 'Warm leads'))
    const plan = await admin(['rules', 'import', path, ...target, '--plan'])
    t.match(plan, { code: 2, output: /duplicate: rule "Hot leads"/ })
    t.match(await admin(['rules', 'check', ...target]), { code: 0, output: 'Check: 0 errors' })
  },
)

t.test('a file is checked as its import would leave the workspace', async (t) => {
  const { id } = await createWorkspace({ database, actor: 'test' }, { name: 'Stored', adminUserId: 'root' })
  const target = ['--workspace', id]
  const write = (...items: string[]) => writeFile(path, `version: 1\nrules:\n${items.join('')}...\n`)
  const loop = (state = '') => `  - name: Round
    trigger: LEAD_UPDATED
    ${state}
    actions: [{ type: EMIT_EVENT, config: { eventType: LEAD_UPDATED } }]
`
  const mail = (subject = 'Hello') => `  - name: Twice
    trigger: LEAD_CREATED
    actions: [{ type: SEND_EMAIL, config: { to: '{{email}}', subject: ${subject}, template: hello } }]
`
  await write(loop('isActive: false'), mail(), mail())
  t.match(await admin(['rules', 'import', path, ...target, '--yes']), { code: 0 })
  const stored = await database.forWorkspace(id).rule.findMany({ orderBy: { id: 'asc' } })
  const [round, one, two] = stored.map((rule) => rule.id)

  const list = ({ findings }: CheckResult) =>
    findings.map(({ code, rule, others }) => [code, rule.id, ...others.map((other) => other.id)])
  const check = async () => {
    const { output } = await admin(['rules', 'check', path, ...target, '--json'])
    return list(JSON.parse(output) as CheckResult)
  }
  const plan = async (...more: string[]) => {
    const { output } = await admin(['rules', 'import', path, ...target, '--plan', '--json', ...more])
    return list((JSON.parse(output) as { check: CheckResult }).check)
  }
  await write(loop(), mail(), mail())
  const twins = ['duplicate', two, one]
  t.same(await check(), [twins], 'a rule that is stored as inactive stays so, and does not go round')
  t.same(await plan(), [twins])
  await write(loop('isActive: true'), mail(), mail())
  t.same(await check(), [['loop', round], twins], 'the file activates it')

  await write(mail())
  t.same(await check(), [twins], 'of two namesakes the file has one, and the other stays')
  t.same(await plan('--prune'), [], 'or is deleted')
  await write(mail('Hi'))
  t.same(await check(), [['contained', two, one]], 'or one changes')
})

t.test('an export keeps the tests of the file that it replaces', async (t) => {
  await writeFile(path, testsOf('1'))
  const target = ['--workspace', workspace.id]
  t.match(await admin(['rules', 'export', ...target, '--output', path]), { code: 0 })
  t.match(await readFile(path, 'utf8'), /name: Hot leads[\s\S]*\ntests:\n {2}- name: a hot lead\n/)
  t.match(await admin(['rules', 'test', path]), { code: 0, output: 'Tests: 1 passed, 0 failed.' })
})

t.test('a stored event becomes a test of what the rules did for it', async (t) => {
  const tables = database.forWorkspace(workspace.id)
  const rule = await tables.rule.findFirstOrThrow({ where: { name: 'Hot leads' } })
  const event = await storeEvent(workspace.id, [rule])
  const recorded = await admin(['rules', 'test', '--record', event.id])
  t.match(recorded, { code: 0, errors: '' })
  t.match(recorded.output, `  - name: Recorded LEAD_CREATED ${event.id}`)
  await writeFile(path, `${rules}${recorded.output}`)
  t.match(await admin(['rules', 'test', path]), { code: 0, output: 'Tests: 1 passed, 0 failed.' })
  t.match(await admin(['rules', 'test', '--record', newId()]), { code: 1, errors: /^There is no event/ })
})

t.test('a recorded test has what all rules of one name did, in the order of an export', async (t) => {
  const { id } = await createWorkspace({ database, actor: 'test' }, { name: 'Names', adminUserId: 'root' })
  const call = (title: string) => `  - name: Call
    trigger: LEAD_CREATED
    actions: [{ type: CREATE_TASK, config: { title: ${title} } }]
`
  await writeFile(path, `version: 1\nrules:\n${call('Second')}${call('First')}`)
  t.match(await admin(['rules', 'import', path, '--workspace', id, '--yes']), { code: 0 })
  const stored = await database.forWorkspace(id).rule.findMany({ orderBy: { id: 'asc' } })
  const event = await storeEvent(id, stored)
  const { output } = await admin(['rules', 'test', '--record', event.id, '--json'])
  const done = ['First', 'Second'].map((title) => ({ type: 'CREATE_TASK', config: { title } }))
  t.same(JSON.parse(output).expectOnly, { Call: done })
  const { output: exported } = await admin(['rules', 'export', '--workspace', id])
  const recorded = await admin(['rules', 'test', '--record', event.id])
  await writeFile(path, `${exported.replace('...\n', '')}${recorded.output}`)
  t.match(await admin(['rules', 'test', path]), { code: 0, output: 'Tests: 1 passed, 0 failed.' })
})

/** An event for which each of the rules has created a task. */
async function storeEvent(workspaceId: string, rules: { id: string; version: number }[]) {
  const tables = database.forWorkspace(workspaceId)
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
        ruleId: rule.id,
        ruleVersion: rule.version,
        status: 'succeeded',
        results: [{ action: 'CREATE_TASK', status: 'success' }],
        startedAt: new Date(),
        lostLeases: [],
      },
    })
  return event
}

function admin(args: string[], env?: Record<string, string>) {
  return run('admin', args.join(' '), directory, env)
}
