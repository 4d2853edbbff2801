import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createWorkspace, mintToken } from '@automation/access'
import { newId, openPatiently } from '@automation/database'
import { makeTemporaryDirectory, startProduct } from '@automation/launcher'
import t from 'tap'
import { run } from '../fixtures/run.js'

const { path: directory, remove } = await makeTemporaryDirectory()
const product = await startProduct({
  directory,
  durable: false,
  preparedPostgres: process.env.TEST_POSTGRES,
  workers: 1,
})
const database = openPatiently(product.databaseUrl, 2)
t.teardown(async () => {
  await database.close()
  await product.stop()
  await remove()
})
const workspace = await createWorkspace(
  { database, actor: 'test' },
  { name: 'Tested', adminUserId: 'root', plan: 'enterprise' },
)
const env = {
  RULES_URL: product.apis[0]?.baseUrl ?? '',
  RULES_TOKEN: await mintToken({ secret: product.jwtSecret, userId: 'root', expiresInSeconds: 3_600 }),
  RULES_WORKSPACE: workspace.id,
}
const tables = database.forWorkspace(workspace.id)
const path = `${directory}/rules.yaml`
const fileOf = (name: string, than: number, mail = true) => `  - name: ${name}
    trigger: LEAD_CREATED
    conditions: [{ field: score, operator: gt, value: ${than} }]
    actions:
      ${mail ? "- { type: SEND_EMAIL, config: { to: '{{email}}', subject: 'Hello {{nam}}', template: hello } }" : "- { type: CREATE_TASK, config: { title: 'Call {{name}}' } }"}
`
const rulesOf = (...rules: string[]) => `version: 1\nrules:\n${rules.join('')}`

async function storeEvents(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: newId(),
    workspaceId: workspace.id,
    type: index % 5 === 4 ? 'DEAL_WON' : 'LEAD_CREATED',
    data: { score: index % 100, email: `p${index % 7}@mail.example`, name: 'Ada' },
    doneAt: new Date(),
  }))
  await tables.event.createMany({ data: rows })
}

function client(...words: string[]) {
  return run('client', words.join(' '), directory, env)
}

await storeEvents(1_000)
await writeFile(path, rulesOf(fileOf('Hot-leads', 80)))
const imported = await client('rules', 'import', path, '--yes')
if (imported.code !== 0) throw new Error(imported.errors)
const rule = await tables.rule.findFirstOrThrow({ where: { name: 'Hot-leads' } })

t.test(
  'rules backtest compares the rule of a file with the stored rule, and says who would be reached',
  async (t) => {
    await writeFile(path, rulesOf(fileOf('Hot-leads', 50), fileOf('Other', 1)))
    const { code, output, errors } = await client(
      'rules',
      'backtest',
      path,
      '--rule',
      'Hot-leads',
      '--last',
      '1h',
      '--pace',
      'full',
    )
    t.equal(code, 0, errors)
    t.match(errors, /^Target: http.*\n$/)
    const lines = output.trimEnd().split('\n')
    t.match(
      lines[0],
      /^Backtest of rule "Hot-leads" from .*Z to .*Z: 1,000 events scanned, 800 considered\.$/,
    )
    t.equal(lines[1], 'Matches: 150 → 390 (version 1 → draft): 150 the same, 240 added, 0 removed.')
    t.match(
      output,
      /\nThe draft would have done:\n {2}actions\[0\] SEND_EMAIL: 390 mails to 7 addresses, \d+ to one of them, \d+ in the minute of /,
    )
    t.match(output, '\n      390 × nam is missing\n')
    t.match(output, '\n  conditions[0]: 410; it held 390 times\n')
    t.match(output, '\n  nam: in no event; did you mean name?\n')
    t.match(output, /\n {2}added: [0-9a-f-]{36}, /)
    t.match(output, '\nThe draft, compared with the active version:\n  +240 mails to 7 addresses\n')
    t.equal(await tables.execution.count(), 0)
  },
)

t.test('rules backtest draws the matches over time, or says that it cannot', async (t) => {
  const svg = `${directory}/backtest.svg`
  const drawn = await client('rules', 'backtest', path, '--rule', 'Hot-leads', '--pace', 'full', '--svg', svg)
  t.match(drawn, { code: 0, output: /^Backtest of rule "Hot-leads"/ })
  t.match(await readFile(svg, 'utf8'), /^<svg [\s\S]*>Matches of rule &#34;Hot-leads&#34;<[\s\S]*<\/svg>\n$/)
  const missing = `${directory}/missing/backtest.svg`
  const failed = await client('rules', 'backtest', '--rule', 'Hot-leads', '--pace', 'full', '--svg', missing)
  t.match(failed, { code: 1, errors: /missing\/backtest\.svg cannot be written: ENOENT/ })
})

t.test('rules backtest tests a stored rule by its id or its name, also as JSON', async (t) => {
  const byName = await client('rules', 'backtest', '--rule', 'Hot-leads', '--pace', 'full')
  t.match(byName, { code: 0, output: /\nMatches: 150 \(version 1\)\.\nThe rule would have done:\n/ })
  const byId = await client('rules', 'backtest', '--rule', rule.id, '--pace', 'full', '--json')
  const { ruleId, status, report } = JSON.parse(byId.output)
  t.match(
    { ruleId, status, report },
    {
      ruleId: rule.id,
      status: 'done',
      report: { scanned: 1_000, active: { version: 1, matched: 150 }, draft: null, difference: null },
    },
  )
})

await writeFile(path, rulesOf(fileOf('Hot-leads', 50), fileOf('Other', 1)))

t.test('rules backtest refuses what cannot be tested, before it creates anything', async (t) => {
  const before = await tables.backtest.count()
  const refused = async (code: number, errors: RegExp, ...words: string[]) =>
    t.match(await client('rules', 'backtest', ...words), { code, errors })
  await refused(64, /Name a file, or a rule with --rule/)
  await refused(64, /has 2 rules: choose one with --rule/, path)
  await refused(1, /has no rule "Missing"/, path, '--rule', 'Missing')
  await refused(1, /The workspace has no rule "Missing"/, '--rule', 'Missing')
  await refused(1, /422 [\s\S]*to: Must not be in the future/, '--rule', rule.id, '--to', '2999-01-01')
  await refused(1, /422 [\s\S]*to: Must be after .*retention/, '--rule', rule.id, '--to', '2001-01-01')
  await refused(1, /from: Must be before/, '--rule', rule.id, '--from', '2026-01-02', '--to', '2026-01-01')
  await refused(64, /'--from <time>' argument 'soon' is invalid/, '--rule', rule.id, '--from', 'soon')
  await refused(64, /cannot be used with option/, '--rule', rule.id, '--from', '2026-01-02', '--last', '1h')
  t.equal(await tables.backtest.count(), before)
})

t.test('Ctrl-C cancels the backtest', async (t) => {
  for (const worker of product.workers) await worker.stop()
  const entry = fileURLToPath(new URL('../../../run.mjs', import.meta.url))
  const words = ['rules', 'backtest', '--rule', rule.id]
  const child = spawn(process.execPath, [entry, 'client', ...words], {
    cwd: directory,
    env: { ...process.env, ...env },
  })
  const ended = once(child, 'exit')
  const errors = text(child.stderr)
  const isWaiting = () => tables.backtest.findFirst({ where: { status: 'waiting' } })
  for (let stored = await isWaiting(); stored === null; stored = await isWaiting()) await pause(50)
  child.kill('SIGINT')
  t.strictSame(await ended, [1, null])
  t.match(await errors, /The backtest [0-9a-f-]{36} was cancelled\.\n$/)
  t.equal(await tables.backtest.count({ where: { status: 'cancelled' } }), 1)
  t.equal(await isWaiting(), null)
})
