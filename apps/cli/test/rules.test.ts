import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createWorkspace } from '@automation/access'
import { openDatabase } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { type Run, run } from './fixtures/run.js'

const rulesFile = `version: 1
rules:
  - name: Hot leads
    trigger: LEAD_CREATED
    conditions:
      - { field: score, operator: gt, value: 80 }
    actions:
      - type: CREATE_TASK
        config: { dueIn: 24h, title: 'Call {{name}}' }
  - name: Goodbye
    trigger: LEAD_DELETED
    actions: [{ type: SEND_EMAIL, config: { to: '{{email}}', subject: Bye, template: goodbye } }]
emailTemplates:
  - name: goodbye
    text: |
      Dear {{name}},
      goodbye.
`
const exported = `# yaml-language-server: $schema=rules.schema.json
version: 1
rules:
  - name: Goodbye
    description: ""
    trigger: LEAD_DELETED
    conditions: []
    actions:
      - type: SEND_EMAIL
        config:
          to: "{{email}}"
          subject: Bye
          template: goodbye
    isActive: true
  - name: Hot leads
    description: ""
    trigger: LEAD_CREATED
    conditions:
      - field: score
        operator: greater_than
        value: 80
    actions:
      - type: CREATE_TASK
        config:
          title: Call {{name}}
          dueIn: 24h
    isActive: true
emailTemplates:
  - name: goodbye
    text: |
      Dear {{name}},
      goodbye.
...
`
const faultyFile = rulesFile
  .replace('gt', 'above')
  .replace('LEAD_DELETED', 'LEAD_LOST')
  .replace('{{name}},', '{{name')

const directory = t.testdir({
  'rules.yaml': rulesFile,
  'changed.yaml': exported
    .replace('80', '90')
    .replace('Goodbye', 'Farewell')
    .replace('goodbye.', 'farewell.'),
  'faulty.yaml': faultyFile,
})
const database = openDatabase(process.env.DATABASE_URL ?? '', 1)
t.teardown(() => database.close())

const { host, pathname } = new URL(process.env.DATABASE_URL ?? '')
const target = (id: string) =>
  `Target: database ${pathname.slice(1)} on ${host} (from DATABASE_URL), workspace "Acme" (${id})\n`

async function makeWorkspace(): Promise<string> {
  const { id } = await createWorkspace({ database, actor: 'cli:test' }, { name: 'Acme', adminUserId: 'ada' })
  return id
}

/** In the directory, as a user would be. */
async function admin(line: string, workspace: string): Promise<Run> {
  const here = line.replace(/\S+\.(yaml|json)/g, (name) => `${directory}/${name}`)
  const { code, output, errors } = await run('admin', `rules ${here} --workspace ${workspace}`, '.')
  return {
    code,
    output: output.replaceAll(`${directory}/`, ''),
    errors: errors.replaceAll(`${directory}/`, ''),
  }
}

t.test(
  'a plan shows the changes without applying them; an import applies them; a second import has none',
  async (t) => {
    const id = await makeWorkspace()
    const planned = await admin('import rules.yaml --plan', id)
    t.same({ code: planned.code, errors: planned.errors }, { code: 2, errors: target(id) })
    t.match(planned.output, '+ rule "Hot leads"\n+     description: ""\n+     trigger: LEAD_CREATED\n')
    t.match(planned.output, '+ email template "goodbye"\n+     text: |\n+       Dear {{name}},\n')
    t.match(planned.output, 'Rules: 2 to create, 0 to change, 0 to delete, 0 unchanged.\n')
    t.equal(await database.forWorkspace(id).rule.count(), 0)

    const unasked = await admin('import -', id)
    t.same(unasked, {
      code: 64,
      output: '',
      errors: 'Use --plan or --yes: there is no terminal to ask for confirmation.\n',
    })
    const done = await admin('import rules.yaml --yes', id)
    t.same(done, { code: 0, errors: target(id), output: `${planned.output}\nApplied.\n` })

    const again = await admin('import rules.yaml --plan', id)
    t.same(again, {
      code: 0,
      errors: target(id),
      output:
        'Rules: 0 to create, 0 to change, 0 to delete, 2 unchanged.\nEmail templates: 0 to create, 0 to change, 0 to delete, 1 unchanged.\n',
    })
    t.same(await admin('export', id), { code: 0, errors: '', output: exported })
  },
)

t.test('a change is shown line by line, and for programs with its values before and after', async (t) => {
  const id = await makeWorkspace()
  await admin('import rules.yaml --yes', id)
  const kept = await admin('import changed.yaml --plan', id)
  const pruned = await admin('import changed.yaml --plan --prune', id)
  const json = await admin('import changed.yaml --plan --prune --json', id)
  t.equal(kept.code, 2)
  t.match(
    kept.output,
    `~ rule "Hot leads"
      conditions:
        - field: score
          operator: greater_than
-         value: 80
+         value: 90
~ email template "goodbye"
      text: |
        Dear {{name}},
-       goodbye.
+       farewell.

Rules: 1 to create, 1 to change, 0 to delete, 0 unchanged.
Not in the file, and kept (--prune deletes them): "Goodbye".
`,
  )
  t.match(pruned.output, '\n- rule "Goodbye"\n')
  t.match(pruned.output, 'Rules: 1 to create, 1 to change, 1 to delete, 0 unchanged.\n')
  t.equal(json.code, 2)
  const clause = { field: 'score', operator: 'greater_than' }
  t.strictSame(JSON.parse(json.output), {
    applied: false,
    check: { findings: [], notKnown: [] },
    missingCredentials: [],
    rules: {
      create: ['Farewell'],
      change: [
        {
          name: 'Hot leads',
          fields: [
            { field: 'conditions', before: [{ ...clause, value: 80 }], after: [{ ...clause, value: 90 }] },
          ],
        },
      ],
      delete: ['Goodbye'],
      unchanged: [],
      others: [],
    },
    emailTemplates: {
      create: [],
      change: [
        {
          name: 'goodbye',
          fields: [
            { field: 'text', before: 'Dear {{name}},\ngoodbye.\n', after: 'Dear {{name}},\nfarewell.\n' },
          ],
        },
      ],
      delete: [],
      unchanged: [],
      others: [],
    },
  })
  const done = await admin('import changed.yaml --prune --max-deletions 1 --yes --json', id)
  matchLists(t, JSON.parse(done.output), { applied: true, rules: { delete: ['Goodbye'] } })
  t.equal((await admin('export', id)).output, await readFile(`${directory}/changed.yaml`, 'utf8'))
})

t.test('an export uses the format of its file name, and can be imported', async (t) => {
  const [id, other] = [await makeWorkspace(), await makeWorkspace()]
  await admin('import rules.yaml --yes', id)
  const result = await admin('export --output out.json', id)
  t.same(result, { code: 0, errors: '', output: 'Wrote 2 rules and 1 email template to out.json.\n' })
  const written = await readFile(`${directory}/out.json`, 'utf8')
  t.equal((await admin('export --json', id)).output, written)
  t.equal((await admin('import out.json --yes', other)).code, 0)
  t.equal((await admin('export', other)).output, exported)
  t.match(await admin('import nowhere.yaml --plan', id), {
    code: 1,
    output: '',
    errors: /^nowhere\.yaml cannot be read: ENOENT/,
  })
})

t.test(
  'all errors are reported at once, each with its line and its rule, and nothing is applied',
  async (t) => {
    const id = await makeWorkspace()
    const { code, output, errors } = await admin('import faulty.yaml --yes', id)
    t.same({ code, output }, { code: 1, output: '' })
    const lines = errors.trimEnd().split('\n')
    t.match(lines.shift(), /^Target: /)
    t.equal(lines.shift(), 'faulty.yaml has 3 errors, and nothing was applied:')
    matchLists(t, lines, [
      'faulty.yaml:6: rule "Hot leads": conditions[0].operator: Unknown operator. Nearest: greater_than. All: /docs/rules#clauses',
      'faulty.yaml:11: rule "Goodbye": trigger: Invalid trigger type. Nearest: DEAL_LOST',
      /^faulty\.yaml:15: email template "goodbye": text: \S/,
    ])
    t.equal(await database.forWorkspace(id).rule.count(), 0)
  },
)

t.test('with --yes a file is read from standard input', async (t) => {
  const id = await makeWorkspace()
  const program = fileURLToPath(new URL('../../run.mjs', import.meta.url))
  const words = [program, 'admin', 'rules', 'import', '-', '--workspace', id, '--yes', '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    input: rulesFile,
    encoding: 'utf8',
  })
  t.same({ status, stderr }, { status: 0, stderr: target(id) })
  matchLists(t, JSON.parse(stdout), { applied: true, rules: { create: ['Hot leads', 'Goodbye'] } })
})
