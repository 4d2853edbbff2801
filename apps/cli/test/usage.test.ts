import { newId } from '@automation/database'
import t from 'tap'
import { run } from './fixtures/run.js'

const directory = t.testdir()
const env = { ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }
const admin = (line: string) => run('admin', line, directory, env)

t.test('a value that cannot be is told with what could be, and nothing is done', async (t) => {
  const workspace = `--workspace ${newId()}`
  const wrong: [string, RegExp][] = [
    ['workspaces create --name A --admin a --plan gold', /gold.* one of standard, enterprise\.$/],
    ['workspaces create --name= --admin a', /--name.*must not have fewer than 1 characters\.$/],
    ['workspaces create --name A', /^Required option '--admin <user>' not specified$/],
    ['workspaces update acme --name A', /acme.*has to be a UUID\.$/],
    ['members list --workspace acme', /'--workspace <id>'.*has to be a UUID\.$/],
    [`members set ${workspace} --user a --role owner`, /one of viewer, operator, editor, admin\.$/],
    [`keys create ${workspace} --name a --scopes admin,all`, /one of receipts:read, rules:read,/],
    [`keys create ${workspace} --name a --scopes admin,admin`, /must not have duplicate items\.$/],
    [`keys create ${workspace} --name a --scopes admin --expires-in 90`, /such as 90s, 24h/],
    [`secrets create ${workspace} --provider Billing`, /has to be .*small letters, digits/],
    [`audit list ${workspace} --limit 0`, /must be >= 1\.$/],
    [`audit list ${workspace} --limit many`, /must be integer\.$/],
    ['workspace list', /^Unknown command 'workspace'\n\(Did you mean workspaces\?\)$/],
    [`keys list ${workspace} --verbose`, /^Unknown option '--verbose'$/],
  ]
  await Promise.all(
    wrong.map(async ([line, errors]) => {
      const { code, output, errors: told } = await admin(line)
      t.match({ code, output, told: told.trimEnd() }, { code: 2, output: '', told: errors }, line)
    }),
  )
})

t.test('every command has a help with an example', async (t) => {
  const nouns: Record<string, string[]> = {
    workspaces: ['create', 'list', 'update'],
    members: ['list', 'set', 'remove'],
    keys: ['create', 'list', 'revoke'],
    secrets: ['create', 'list', 'retire', 'revoke'],
    tokens: ['mint'],
    audit: ['list'],
  }
  const commands = Object.entries(nouns).flatMap(([noun, verbs]) => [
    ` ${noun}`,
    ...verbs.map((verb) => ` ${noun} ${verb}`),
  ])
  await Promise.all(
    ['', ...commands].map(async (words) => {
      const path = `npm run admin --${words}`
      const { code, output, errors } = await admin(`${words} --help`.trim())
      t.match({ code, output, errors }, { code: 0, output: `Usage: ${path} `, errors: '' })
      t.match(output, `Example:\n  ${path} `)
    }),
  )
})

t.test('an unknown workspace is told in a sentence by every command that takes one', async (t) => {
  const id = newId()
  const commands = [
    `workspaces update ${id} --name A`,
    `members list --workspace ${id}`,
    `members set --workspace ${id} --user a --role admin`,
    `members remove --workspace ${id} --user a`,
    `keys create --workspace ${id} --name a --scopes admin`,
    `keys list --workspace ${id}`,
    `secrets create --workspace ${id} --provider a`,
    `secrets list --workspace ${id}`,
    `audit list --workspace ${id}`,
  ]
  const errors = `There is no workspace ${id}: npm run admin -- workspaces list shows them.\n`
  await Promise.all(
    commands.map(async (line) => t.same(await admin(line), { code: 1, output: '', errors }, line)),
  )
})
