import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSealer, createWorkspace, credentialContext } from '@automation/access'
import { openDatabase } from '@automation/database'
import t from 'tap'
import { run, runAtTerminal } from './fixtures/run.js'

const ENCRYPTION_KEY = randomBytes(32).toString('base64')
const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())
const { id } = await createWorkspace({ database, actor: 'cli:test' }, { name: 'Acme', adminUserId: 'ada' })
const tables = database.forWorkspace(id)
const directory = t.testdir({ 'token.txt': 'tok_1234567890\n', 'short.txt': 'abc\n' })
const admin = (line: string) => run('admin', line, directory, { ENCRYPTION_KEY })
const file = (name: string) => join(directory, name)

t.test('a secret is read from a file, and no output has it', async (t) => {
  const set = `credentials set CRM --workspace ${id} --hosts crm.example.com --file`
  const created = await admin(`${set} ${file('token.txt')}`)
  t.match(created, { code: 0, output: /Created\. Rules use it as \{\{credentials\.CRM\}\}\./ })
  t.match(await admin(`${set} ${file('token.txt')}`), { code: 0, output: /Replaced\./ })
  const list = await admin(`credentials list --workspace ${id}`)
  t.match(list.output, /CRM +text +crm\.example\.com/)
  t.notMatch(created.output + created.errors + list.output, /tok_/)
  const row = await tables.credential.findFirstOrThrow()
  const parts = createSealer(ENCRYPTION_KEY).open(row.sealed, credentialContext(row)).toString()
  t.equal(JSON.parse(parts).value, 'tok_1234567890', 'without the line break of the file')
  const faulty = await admin(`${set} ${file('short.txt')}`)
  t.match(faulty.errors, /value: /)
  t.not(faulty.code, 0)
  t.notMatch(faulty.errors, /abc/)
})

t.test('at a terminal nobody types a secret', async (t) => {
  const line = `credentials set CRM --workspace ${id} --hosts crm.example.com`
  t.match(await runAtTerminal('tok_typed', 'admin', line, directory, { ENCRYPTION_KEY }), {
    errors: /Pipe the secret into the command, or name a file with --file\./,
  })
})

t.test(
  'an import lists the credentials that the workspace lacks, and stops if they are required',
  async (t) => {
    const actions = ['CRM', 'GONE'].map((name) => ({
      type: 'SEND_WEBHOOK',
      config: { url: 'https://crm.example.com/', headers: { authorization: `{{credentials.${name}}}` } },
    }))
    const rules = [{ name: 'Calls', trigger: 'LEAD_CREATED', actions }]
    await writeFile(file('rules.json'), JSON.stringify({ version: 1, rules }))
    const line = `rules import ${file('rules.json')} --workspace ${id} --yes`
    const missing = 'The workspace lacks these credentials, so calls that send them fail: GONE.'
    const stopped = await admin(`${line} --require-credentials`)
    t.match(stopped.errors, `${missing} Nothing was applied.`)
    t.equal(await tables.rule.count(), 0)
    t.match(await admin(line), { code: 0, output: new RegExp(missing) })
    t.equal(await tables.rule.count(), 1)
    const exported = await admin(`rules export --workspace ${id}`)
    t.match(exported.output, '{{credentials.CRM}}')
    t.notMatch(exported.output, /tok_/)
  },
)

t.test('a credential in use is not deleted', async (t) => {
  const line = `credentials delete CRM --workspace ${id} --yes`
  t.match(await admin(line), { errors: /The credential is in use: the rule "Calls"/ })
  await tables.rule.updateMany({ data: { isActive: false } })
  t.match(await admin(line), { code: 0, output: /The credential CRM is deleted\./ })
  t.equal(await tables.credential.count(), 0)
})
