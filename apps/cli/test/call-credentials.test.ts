import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSealer, credentialContext } from '@automation/access'
import t from 'tap'
import { startSite } from './fixtures/site.js'

const { product, openWorkspace } = await startSite()
const directory = t.testdir({ 'token.txt': 'tok_1234567890\n', 'short.txt': 'xyz\n' })
const { tables, client, answer } = await openWorkspace(directory)
const ENCRYPTION_KEY = product.encryptionKey
const file = (name: string) => join(directory, name)

t.test('a secret is read from a file, and no output has it', async (t) => {
  const set = `credentials set CRM --hosts crm.example.com --value-file`
  const created = await client(`${set} ${file('token.txt')}`)
  t.match(created, { code: 0, output: /^Rules use the credential as \{\{credentials\.CRM\}\}\.$/m })
  t.match(await client(`${set} ${file('token.txt')}`), { code: 0 })
  const list = await client('credentials list')
  t.match(list.output, /CRM +text +crm\.example\.com/)
  t.notMatch(created.output + created.errors + list.output, /tok_/)
  const row = await tables.credential.findFirstOrThrow()
  const parts = createSealer(ENCRYPTION_KEY).open(row.sealed, credentialContext(row)).toString()
  t.equal(JSON.parse(parts).value, 'tok_1234567890', 'without the line break of the file')
  const faulty = await client(`${set} ${file('short.txt')}`)
  t.match(faulty.errors, /value: /)
  t.not(faulty.code, 0)
  t.notMatch(faulty.errors, /xyz/)
})

t.test(
  'a secret that is not UTF-8 is stored by nobody, and a mark at its beginning is no part of it',
  async (t) => {
    const set = `credentials set MARKED --hosts crm.example.com --value-file`
    await writeFile(file('latin.txt'), 'tok_ü123456789', 'latin1')
    t.match(await client(`${set} ${file('latin.txt')}`), {
      code: 1,
      errors: /latin\.txt:1: is not UTF-8 \(near byte 5\)/,
    })
    t.equal(await tables.credential.count({ where: { name: 'MARKED' } }), 0)
    await writeFile(file('marked.txt'), '\ufefftok_1234567890\r\n')
    t.equal((await client(`${set} ${file('marked.txt')}`)).code, 0)
    const row = await tables.credential.findFirstOrThrow({ where: { name: 'MARKED' } })
    const parts = createSealer(ENCRYPTION_KEY).open(row.sealed, credentialContext(row)).toString()
    t.equal(JSON.parse(parts).value, 'tok_1234567890')
    await tables.credential.deleteMany({ where: { name: 'MARKED' } })
  },
)

t.test('at a terminal nobody types a secret', async (t) => {
  t.match(await answer('tok_typed', 'credentials set CRM --hosts crm.example.com --value-file -'), {
    code: 64,
    errors: 'Pipe the text into the command, or name a file.\n',
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
    const line = `rules import ${file('rules.json')} --yes`
    const missing = 'The workspace lacks these credentials, so calls that send them fail: GONE.'
    const stopped = await client(`${line} --require-credentials`)
    t.match(stopped.errors, `${missing} Nothing was applied.`)
    t.equal(await tables.rule.count(), 0)
    t.match(await client(line), { code: 0, output: new RegExp(missing) })
    t.equal(await tables.rule.count(), 1)
    const exported = await client('rules export')
    t.match(exported.output, '{{credentials.CRM}}')
    t.notMatch(exported.output, /tok_/)
  },
)

t.test('a credential in use is not deleted', async (t) => {
  const line = 'credentials delete CRM --yes'
  t.match(await client(line), { errors: /The credential is in use: the rule "Calls"/ })
  await tables.rule.updateMany({ data: { isActive: false } })
  t.match(await client(line), { code: 0, output: /The credential CRM is deleted\./ })
  t.equal(await tables.credential.count(), 0)
})
