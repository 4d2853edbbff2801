import { newId } from '@automation/database'
import t from 'tap'
import { run, runProcess } from './fixtures/run.js'

const directory = t.testdir()
const env = { ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }
const admin = (line: string) => run('admin', line, directory, env)

t.test('an invalid value is reported with the valid ones, and nothing is done', async (t) => {
  const workspace = `--workspace ${newId()}`
  const wrong: [string, RegExp][] = [
    ['workspaces create --name A --admin a --plan gold', /gold.* one of standard, enterprise\.$/],
    ['workspaces create --name= --admin a', /--name.*must have at least 1 character\.$/],
    ['workspaces create --name A', /^Required option '--admin <user>' not specified$/],
    [`workspaces update ${newId()} --auto-pause-after 2`, /must be at least 3\.$/],
    [`workspaces update ${newId()} --auto-pause-after off`, /must be an integer\.$/],
    [`workspaces update ${newId()} --retention-days 0`, /must be at least 1\.$/],
    ['workspaces create --name A --admin a --retention-days never', /must be an integer\.$/],
    ['workspaces update acme --name A', /acme.*must be a UUID\.$/],
    ['members list --workspace acme', /'--workspace <id>'.*must be a UUID\.$/],
    [`members set ${workspace} --user a --role owner`, /one of viewer, operator, editor, admin\.$/],
    [`keys create ${workspace} --name a --scopes admin,all`, /one of receipts:read, rules:read,/],
    [`keys create ${workspace} --name a --scopes admin,admin`, /must not have duplicate items\.$/],
    [`keys create ${workspace} --name a --scopes admin --expires-in 90`, /such as 90s, 24h/],
    [`secrets create ${workspace} --provider Billing`, /must be a name of lowercase letters, digits/],
    [`secrets create ${workspace} --provider a --direction both`, /one of incoming, outgoing\.$/],
    [`subscriptions create ${workspace} --url https://a --events rule.moved`, /one of rule\.created, /],
    [
      `subscriptions create ${workspace} --url ftp://a --events rule.paused`,
      /It must be an http or https URL\.$/,
    ],
    [`rules export ${workspace} --format xml`, /one of yaml, json\.$/],
    [`audit list ${workspace} --limit 0`, /must be at least 1\.$/],
    [`audit list ${workspace} --limit many`, /must be an integer\.$/],
    ['workspace list', /^Unknown command 'workspace'\n\(Did you mean workspaces\?\)$/],
    [`keys list ${workspace} --verbose`, /^Unknown option '--verbose'$/],
    ['rules exprt', /^Unknown command 'exprt'\n\(Did you mean export\?\)$/],
    ['export', /^Unknown command 'export'\n\(Did you mean rules export\?\)$/],
    ['revoke', /^Unknown command 'revoke'\n\(Did you mean one of keys revoke, secrets revoke\?\)$/],
    [`rules export ${workspace} --ouput a`, /^Unknown option '--ouput'\n\(Did you mean --output\?\)$/],
    [
      `rules export --worspace=${newId()}`,
      /^Required option '--workspace <id>' not specified\nUnknown option '--worspace'\n\(Did you mean --workspace\?\)$/,
    ],
    [
      `--json rules export --worspace ${newId()}`,
      /^Required option '--workspace <id>' not specified\nUnknown option '--worspace'\n\(Did you mean --workspace\?\)$/,
    ],
    [`keys revoke ${newId()}`, /^Use --yes: there is no terminal to ask for confirmation\.$/],
  ]
  for (const [line, errors] of wrong) {
    const { code, output, errors: stderr } = await admin(line)
    t.match({ code, output, stderr: stderr.trimEnd() }, { code: 64, output: '', stderr: errors }, line)
  }
  t.match(
    await runProcess('admin', 'workspace list', directory, env),
    { code: 64, output: '' },
    'as a process, too',
  )
})

t.test('a group without a command shows its help, and is a wrong command line', async (t) => {
  for (const line of ['rules', 'secrets'])
    t.match(await admin(line), { code: 64, output: '', errors: `Usage: npm run admin -- ${line} ` })
})

t.test('the help of every command has an example', async (t) => {
  const nouns: Record<string, string[]> = {
    workspaces: ['create', 'list', 'update'],
    members: ['list', 'set', 'remove'],
    rules: ['export', 'import'],
    keys: ['create', 'list', 'revoke'],
    secrets: ['create', 'list', 'retire', 'revoke', 'reseal'],
    subscriptions: ['create', 'list', 'test', 'delete'],
    tokens: ['mint'],
    audit: ['list'],
  }
  const commands = Object.entries(nouns).flatMap(([noun, verbs]) => [
    ` ${noun}`,
    ...verbs.map((verb) => ` ${noun} ${verb}`),
  ])
  for (const words of ['', ...commands]) {
    const path = `npm run admin --${words}`
    const { code, output, errors } = await admin(`${words} --help`.trim())
    t.match({ code, output, errors }, { code: 0, output: `Usage: ${path} `, errors: '' })
    t.match(output, `Example:\n  ${path} `)
  }
  t.match(
    await runProcess('admin', '--help', directory, env),
    { code: 0, errors: '', output: 'Usage: npm run admin -- ' },
    'as a process, too',
  )
})

t.test('every command that takes a workspace reports an unknown one in one sentence', async (t) => {
  const id = newId()
  const commands = [
    `workspaces update ${id} --name A`,
    `members list --workspace ${id}`,
    `members set --workspace ${id} --user a --role admin`,
    `members remove --workspace ${id} --user a --yes`,
    `rules export --workspace ${id}`,
    `keys create --workspace ${id} --name a --scopes admin`,
    `keys list --workspace ${id}`,
    `secrets create --workspace ${id} --provider a`,
    `secrets list --workspace ${id}`,
    `subscriptions create --workspace ${id} --url https://a --events rule.paused`,
    `subscriptions list --workspace ${id}`,
    `audit list --workspace ${id}`,
  ]
  const errors = `There is no workspace ${id}. To list all workspaces: npm run admin -- workspaces list\n`
  await Promise.all(
    commands.map(async (line) => t.same(await admin(line), { code: 1, output: '', errors }, line)),
  )
})
