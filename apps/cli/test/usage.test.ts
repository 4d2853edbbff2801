import { newId } from '@automation/database'
import t from 'tap'
import { moved } from '../src/create-admin.js'
import { createClientProgram } from '../src/create-client-program.js'
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
    ['workspaces create --name A --admin a --retention-days never', /must be an integer\.$/],
    ['workspaces update acme --plan standard', /acme.*must be a UUID\.$/],
    ['members set --workspace acme', /'--workspace <id>'.*must be a UUID\.$/],
    [`members set ${workspace} --user a --role owner`, /one of viewer, operator, editor, admin\.$/],
    [`keys create ${workspace} --name a --scopes admin,all`, /one of receipts:read, embed, rules:read,/],
    [`keys create ${workspace} --name a --scopes admin,admin`, /must have no item twice\.$/],
    [`keys create ${workspace} --name a --scopes admin --expires-in 90`, /such as 30m, 24h/],
    [`secrets create ${workspace} --provider Billing`, /must be a name of lowercase letters, digits/],
    [`secrets create ${workspace} --provider a --direction both`, /one of incoming, outgoing\.$/],
    ['workspace list', /^Unknown command 'workspace'\n\(Did you mean workspaces\?\)$/],
    ['workspaces list --verbose', /^Unknown option '--verbose'$/],
    ['members sett', /^Unknown command 'sett'\n\(Did you mean set\?\)$/],
    ['mint', /^Unknown command 'mint'\n\(Did you mean tokens mint\?\)$/],
    [
      `members set ${workspace} --usr a`,
      /^Required option '--user <user>' not specified\nUnknown option '--usr'\n\(Did you mean --user\?\)$/,
    ],
    [
      `members set --worspace=${newId()}`,
      /^Required option '--workspace <id>' not specified\nUnknown option '--worspace'\n\(Did you mean --workspace\?\)$/,
    ],
    [
      `--json members set --worspace ${newId()}`,
      /^Required option '--workspace <id>' not specified\nUnknown option '--worspace'\n\(Did you mean --workspace\?\)$/,
    ],
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
  for (const line of ['workspaces', 'secrets'])
    t.match(await admin(line), { code: 64, output: '', errors: `Usage: npm run admin -- ${line} ` })
})

t.test('the help of every command has an example', async (t) => {
  const nouns: Record<string, string[]> = {
    workspaces: ['create', 'list', 'update'],
    members: ['set'],
    keys: ['create'],
    secrets: ['create', 'reseal'],
    tokens: ['mint'],
    console: ['link'],
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
    `workspaces update ${id} --plan standard`,
    `members set --workspace ${id} --user a --role admin`,
    `keys create --workspace ${id} --name a --scopes admin`,
    `secrets create --workspace ${id} --provider a`,
  ]
  const errors = `There is no workspace ${id}. To list all workspaces: npm run admin -- workspaces list\n`
  await Promise.all(
    commands.map(async (line) => t.same(await admin(line), { code: 1, output: '', errors }, line)),
  )
})

t.test('who types a command that is in the client now reads which one replaces it', async (t) => {
  const client = await createClientProgram()
  const lines = Object.entries(moved).flatMap(([group, names]) => names.map((name) => `${group} ${name}`))
  t.ok(lines.length > 20)
  for (const words of [...lines, 'workspaces update']) {
    const more = words === 'workspaces update' ? `${newId()} --retention-days 90` : `${newId()} --yes --any 1`
    t.same(
      await admin(`${words} ${more}`),
      {
        code: 64,
        output: '',
        errors: `Use npm run client -- ${words}: it calls the API, with RULES_TOKEN and RULES_WORKSPACE (see --help).\n`,
      },
      words,
    )
    const [group, name] = words.split(' ')
    const found = client.commands.find((one) => one.name() === group)
    t.ok(
      found?.commands.some((one) => one.name() === name),
      `the client has ${words}`,
    )
  }
  for (const line of ['audit', 'audit ledger', 'audit --workspace 1 list', 'audit --help'])
    t.match(await admin(line), { code: 64, output: '', errors: /^Use npm run client -- audit[ :]/ }, line)
  const { output } = await admin('--help')
  t.notMatch(output, /audit|credentials|subscriptions {2}/, 'the help does not list them')
})
