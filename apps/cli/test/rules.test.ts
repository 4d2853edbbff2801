import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { type Run, run } from './fixtures/run.js'
import { startSite } from './fixtures/site.js'

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
const { openWorkspace } = await startSite()

/** In the directory, as a user would be. */
async function makeWorkspace() {
  const site = await openWorkspace('.')
  return {
    ...site,
    rules: async (line: string): Promise<Run> => {
      const here = line.replace(/\S+\.(yaml|json)/g, (name) => `${directory}/${name}`)
      const { code, output, errors } = await site.client(`rules ${here}`)
      return {
        code,
        output: output.replaceAll(`${directory}/`, ''),
        errors: errors.replaceAll(`${directory}/`, ''),
      }
    },
  }
}

t.test(
  'a plan shows the changes without applying them; an import applies them; a second import has none',
  async (t) => {
    const site = await makeWorkspace()
    const planned = await site.rules('import rules.yaml --plan')
    t.same({ code: planned.code, errors: planned.errors }, { code: 2, errors: '' })
    t.match(planned.output, '+ rule "Hot leads"\n+     description: ""\n+     trigger: LEAD_CREATED\n')
    t.match(planned.output, '+ email template "goodbye"\n+     text: |\n+       Dear {{name}},\n')
    t.match(planned.output, 'Rules: 2 to create, 0 to change, 0 to delete, 0 unchanged.\n')
    t.equal(await site.tables.rule.count(), 0)

    const unasked = await site.rules('import -')
    t.same(unasked, {
      code: 64,
      output: '',
      errors: 'Use --plan or --yes: there is no terminal to ask for confirmation.\n',
    })
    const done = await site.rules('import rules.yaml --yes')
    t.same(done, { code: 0, errors: site.target, output: `${planned.output}\nApplied.\n` })

    const again = await site.rules('import rules.yaml --plan')
    t.same(again, {
      code: 0,
      errors: '',
      output:
        'Rules: 0 to create, 0 to change, 0 to delete, 2 unchanged.\nEmail templates: 0 to create, 0 to change, 0 to delete, 1 unchanged.\n',
    })
    t.same(await site.rules('export'), { code: 0, errors: '', output: exported })
  },
)

t.test('a change is shown line by line, and for programs with its values before and after', async (t) => {
  const site = await makeWorkspace()
  await site.rules('import rules.yaml --yes')
  const kept = await site.rules('import changed.yaml --plan')
  const pruned = await site.rules('import changed.yaml --plan --prune')
  const json = await site.rules('import changed.yaml --plan --prune --json')
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
    check: { findings: [], notKnown: [] },
  })
  const done = await site.rules('import changed.yaml --prune --max-deletions 1 --yes --json')
  matchLists(t, JSON.parse(done.output), { applied: true, rules: { delete: ['Goodbye'] } })
  t.equal((await site.rules('export')).output, await readFile(`${directory}/changed.yaml`, 'utf8'))
})

t.test('an export uses the format of its file name, and can be imported', async (t) => {
  const [site, other] = [await makeWorkspace(), await makeWorkspace()]
  await site.rules('import rules.yaml --yes')
  const result = await site.rules('export --output out.json')
  t.same(result, { code: 0, errors: '', output: 'Wrote 2 rules and 1 email template to out.json.\n' })
  const written = await readFile(`${directory}/out.json`, 'utf8')
  t.equal((await site.rules('export --json')).output, written)
  t.equal((await other.rules('import out.json --yes')).code, 0)
  t.equal((await other.rules('export')).output, exported)
  t.match(await site.rules('import nowhere.yaml --plan'), {
    code: 1,
    output: '',
    errors: /^nowhere\.yaml cannot be read: ENOENT/,
  })
})

t.test(
  'all errors are reported at once, each with its line and its rule, and nothing is applied',
  async (t) => {
    const site = await makeWorkspace()
    const { code, output, errors } = await site.rules('import faulty.yaml --yes')
    t.same({ code, output }, { code: 1, output: '' })
    const lines = errors.trimEnd().split('\n')
    t.equal(lines.shift(), 'faulty.yaml has 3 errors, and nothing was applied:')
    matchLists(t, lines, [
      'faulty.yaml:6: rule "Hot leads": conditions[0].operator: Unknown operator. Nearest: greater_than. All: /docs/rules#clauses',
      'faulty.yaml:11: rule "Goodbye": trigger: Invalid trigger type. Nearest: DEAL_LOST',
      /^faulty\.yaml:15: email template "goodbye": text: \S/,
    ])
    t.equal(await site.tables.rule.count(), 0)
  },
)

t.test('with --yes a file is read from standard input', async (t) => {
  const site = await makeWorkspace()
  const program = fileURLToPath(new URL('../../run.mjs', import.meta.url))
  const words = [program, 'client', 'rules', 'import', '-', '--yes', '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    input: rulesFile,
    encoding: 'utf8',
    env: { ...process.env, ...site.env },
  })
  t.same({ status, stderr }, { status: 0, stderr: site.target })
  matchLists(t, JSON.parse(stdout), { applied: true, rules: { create: ['Hot leads', 'Goodbye'] } })
})

t.test('a file that is not UTF-8 changes nothing, in any command', async (t) => {
  const site = await makeWorkspace()
  const named = rulesFile.replace('Hot leads', 'Prüfung')
  await writeFile(`${directory}/named.yaml`, named)
  t.equal((await site.rules('import named.yaml --yes')).code, 0)
  const json = JSON.stringify({ version: 1, rules: [{ name: 'Prüfung' }] })
  await writeFile(`${directory}/latin.yaml`, named, 'latin1')
  await writeFile(`${directory}/latin.json`, json, 'latin1')
  await writeFile(`${directory}/wide.yaml`, `\ufeff${named}`, 'utf16le')
  const latin = 'latin.yaml:3: is not UTF-8 (near byte 31): save the file as UTF-8.'
  for (const [line, message] of [
    ['import latin.yaml --plan --prune', latin],
    ['import latin.yaml --yes --prune', latin],
    ['check latin.yaml', latin],
    ['test latin.yaml', latin],
    ['export --output latin.yaml', latin],
    ['import latin.json --yes', 'latin.json:1: is not UTF-8'],
    ['import wide.yaml --yes', 'wide.yaml is UTF-16, which PowerShell 5 writes with > and |'],
  ] as const) {
    const { code, output, errors } = await site.rules(line)
    t.same({ code, output }, { code: 1, output: '' }, line)
    t.match(errors.replaceAll(`${directory}/`, ''), message, line)
  }
  const rules = await site.tables.rule.findMany({ orderBy: { id: 'asc' } })
  t.strictSame(
    rules.map(({ name }) => name),
    ['Prüfung', 'Goodbye'],
  )
})

t.test('a file of JSON may begin with a mark, and a name that is there twice is refused', async (t) => {
  const site = await makeWorkspace()
  const rule =
    '{"name":"A","trigger":"LEAD_CREATED","actions":[{"type":"CREATE_TASK","config":{"title":"x"}}]}'
  await writeFile(`${directory}/mark.json`, `\ufeff{"version":1,"rules":[${rule}]}`)
  t.match(await site.rules('import mark.json --yes'), { code: 0, output: /1 to create/ })
  const twice = rule.replace('{"name"', '{"conditions":[],"isActive":true,"isActive":false,"name"')
  await writeFile(`${directory}/twice.json`, `{"version":1,\n"rules":[\n${twice}]}`)
  t.match(await site.rules('import twice.json --yes'), {
    code: 1,
    errors: /twice\.json:3: rule "A": isActive: Is there twice: write it once/,
  })
  const wrong = rule.replace('"actions"', '"a":1,\n"b":2,\n"actions"')
  await writeFile(`${directory}/wrong.json`, `{"version":1,\n"rules":[\n${wrong}]}`)
  const { errors } = await site.rules('import wrong.json --yes')
  t.match(errors, /wrong\.json:3: rule "A": a: Unknown field/)
  t.match(errors, /wrong\.json:4: rule "A": b: Unknown field/, 'the second fault has its own line, too')
  await writeFile(`${directory}/two.yaml`, `${rulesFile}---\nversion: 1\nrules: []\n`)
  t.match(await site.rules('import two.yaml --yes'), {
    code: 1,
    errors: /two\.yaml:18: A second document begins here \(---\), but a file of rules is one\./,
  })
})

t.test('an export over a file changes it where it differs, so its comments stay', async (t) => {
  const site = await makeWorkspace()
  await site.rules('import rules.yaml --yes')
  const commented = exported
    .replace(
      '    conditions:\n      - field',
      '    conditions:\n      # why 80: see ticket 12\n      - field',
    )
    .replace('  - name: Goodbye', '  # when somebody leaves\n  - name: Goodbye')
  await writeFile(
    `${directory}/kept.yaml`,
    commented.replace('80\n', '70\n').replace('subject: Bye', 'subject: Bye!'),
  )
  t.match(await site.rules('export --output kept.yaml'), { code: 0, errors: '' })
  t.equal(await readFile(`${directory}/kept.yaml`, 'utf8'), commented)
  await site.tables.rule.deleteMany({ where: { name: 'Goodbye' } })
  t.match(await site.rules('export --output kept.yaml'), {
    code: 0,
    errors: '1 comment of the file went with what it stood at.\n',
  })
  t.match(await site.rules('import kept.yaml --plan'), { code: 0 })
})

t.test('a plan tells a new name that looks like another one', async (t) => {
  const site = await makeWorkspace()
  await site.rules('import rules.yaml --yes')
  await writeFile(
    `${directory}/like.yaml`,
    rulesFile.replace('Hot leads', "'Hot leads '").replaceAll('goodbye\n', 'goodbye\u00a0\n'),
  )
  const { output } = await site.rules('import like.yaml --plan')
  t.match(output, 'The new rule "Hot leads " has almost the same name as the rule "Hot leads": only blanks')
  t.notMatch((await site.rules('import changed.yaml --plan')).output, /almost/)
})

t.test(
  'an import goes on where the API has no time for the check, and programs get what the check finds',
  async (t) => {
    const site = await makeWorkspace()
    const twice = exported.replace(/ {2}- name: Hot leads\n[\s\S]*?(?=emailTemplates)/, '$&$&')
    await writeFile(`${directory}/twice.yaml`, twice)
    const planned = JSON.parse((await site.rules('import twice.yaml --plan --json')).output)
    t.match(planned.check.findings, [{ code: 'duplicate' }])

    const busy = createServer((request, response) => {
      if (request.url?.endsWith('/check'))
        return response
          .writeHead(429, { 'content-type': 'application/json', 'retry-after': '300' })
          .end('{"error":"Too many requests"}')
      const { method, headers } = request
      const passed = httpRequest(`${site.env.RULES_URL}${request.url}`, { method, headers }, (answer) =>
        answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers)),
      )
      request.pipe(passed)
    })
    await once(busy.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => busy.close())
    const { port } = busy.address() as AddressInfo
    const env = { ...site.env, RULES_URL: `http://127.0.0.1:${port}` }
    t.match(await run('client', `rules import ${directory}/twice.yaml --yes`, directory, env), {
      code: 0,
      output: /^The rules were not checked: Too many requests\.$[\s\S]*Applied\./m,
    })
  },
)
