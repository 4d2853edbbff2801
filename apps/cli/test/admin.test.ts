import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { createWorkspace, type Workspace } from '@automation/access'
import { newId, openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { formatFields, formatTable } from '../src/format.js'
import { formatRanking } from '../src/format-ranking.js'
import { type Run, run, runJson } from './fixtures/run.js'

// Commands are called as a user would call them, and concurrently where possible: each takes half a second to start.

const directory = t.testdir()
const admin = (line: string): Promise<Run> => run('admin', line, directory)
const ask = <Value>(line: string): Promise<Value> => runJson<Value>('admin', line, directory)

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

const makeWorkspace = (name = 'Acme') =>
  createWorkspace({ database, actor: 'cli:test' }, { name, adminUserId: 'ada' })

t.test('workspaces are created, listed and updated', async (t) => {
  const created = await ask<Workspace>('workspaces create --name Acme --plan enterprise --admin ada')
  t.match(created, { id: /^[0-9a-f-]{36}$/, name: 'Acme', plan: 'enterprise', retentionDays: null })
  matchLists(t, await database.system.member.findMany({ where: { workspaceId: created.id } }), [
    { userId: 'ada', role: 'admin' },
  ])
  const updated = await ask<Workspace>(`workspaces update ${created.id} --plan standard`)
  t.same(updated, { ...created, plan: 'standard' })
  const [listed, table, nothing] = await Promise.all([
    ask<Workspace[]>('workspaces list'),
    admin('workspaces list'),
    admin(`workspaces update ${created.id}`),
  ])
  t.same(
    listed.find(({ id }) => id === created.id),
    updated,
  )
  t.match(table, {
    code: 0,
    errors: '',
    output: new RegExp(`^${created.id} +Acme +standard +\\d{4}-\\d\\d-\\d\\d`, 'm'),
  })
  // Other tests may have closed workspaces, which have two columns more.
  t.match(table.output, /^id +name +plan +createdAt( +moving +closedAt)?\n/)
  t.same(nothing, {
    code: 64,
    output: '',
    errors: "Required option '--plan <plan>' not specified\n",
  })
})

t.test('a row that lacks a column has a dash there', async (t) => {
  t.equal(
    formatTable<{ id: string; moving?: string }>(
      [{ id: 'A', moving: 'to B' }, { id: 'C' }],
      ['id', 'moving'],
    ),
    'id  moving\nA   to B\nC   -',
  )
})

t.test('members are set, and the audit log has one actor for them', async (t) => {
  const { id } = await makeWorkspace()
  const grace = `--workspace ${id} --user grace-${id}`
  t.match(await ask(`members set ${grace} --role editor`), { userId: `grace-${id}`, role: 'editor' })
  const viewer = await admin(`members set ${grace} --role viewer`)
  t.match(viewer, {
    code: 0,
    errors: /^Target: [^\n]*\n$/,
    output: `grace-${id} now has the role viewer.\n`,
  })
  const entries = await database.forWorkspace(id).auditEntry.findMany({ orderBy: { id: 'desc' } })
  const actor = `cli:${userInfo().username}`
  matchLists(t, entries, [
    { actor, action: 'member.changed', subject: `grace-${id}` },
    { actor, action: 'member.added', subject: `grace-${id}`, details: { role: 'editor' } },
    { actor: 'cli:test', action: 'workspace.created', subject: id },
  ])
})

t.test('an operator takes support access with a reason, and the workspace has it in its log', async (t) => {
  const { id } = await makeWorkspace()
  const user = `dana-${id}`
  const take = (rest: string) => admin(`support take ${id} --user ${user} ${rest}`)
  const taken = await take('--hours 4 --reason Ticket-4711')
  t.match(taken, {
    code: 0,
    errors: /^Target: [^\n]*\n$/,
    output: new RegExp(`^${user} reads this workspace until \\d{4}-`),
  })
  const [member] = await database.system.member.findMany({ where: { userId: user } })
  t.match(member, { role: 'viewer', reason: 'Ticket-4711' })
  matchLists(t, await database.forWorkspace(id).auditEntry.findMany({ where: { subject: user } }), [
    { action: 'member.added', actor: `cli:${userInfo().username}`, details: { reason: 'Ticket-4711' } },
  ])
  const [none, long, bare] = await Promise.all([
    take('--hours 4'),
    take('--hours 73 --reason x'),
    admin(`support take ${id} --user ada --hours 1 --reason x`),
  ])
  t.match(none, { code: 64, errors: /--reason/ })
  t.match(long, { code: 64, errors: /must be at most 72|72/ })
  t.match(bare, { code: 1, errors: /does not end/ }, 'an admin stays an admin')
  const ended = await admin(`support end ${id} --user ${user}`)
  t.match(ended, { code: 0, output: `The support access of ${user} has ended.\n` })
  t.match(await admin(`support end ${id} --user ada`), { code: 1, errors: /Member not found/ })
  t.equal(await database.system.member.count({ where: { workspaceId: id } }), 1, 'the admin is left')
})

t.test('operator’s keys are created, listed and revoked here alone', async (t) => {
  const made = await ask<{ id: string; key: string }>('operator-keys create --name sign-up')
  t.match(made.key, new RegExp(`^opk_${made.id}_[\\w-]{43}$`))
  const revoked = await admin(`operator-keys revoke ${made.id}`)
  t.match(revoked, { code: 0, output: 'The key sign-up is revoked.\n' })
  const listed = await ask<{ id: string; state: string; createdBy: string }[]>('operator-keys list')
  const actor = `cli:${userInfo().username}`
  t.match(
    listed.find(({ id }) => id === made.id),
    { name: 'sign-up', state: 'revoked', createdBy: actor, revokedBy: actor },
  )
  t.notMatch(JSON.stringify(listed), /opk_|hash/)
  t.match(await admin(`operator-keys revoke ${newId()}`), { code: 1, errors: /There is no such/ })
})

t.test('workspaces are listed by what they do', async (t) => {
  // Other tests have busier ones.
  const url = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
  const own = openPatiently(url, 2)
  t.teardown(() => own.close())
  const { id } = await createWorkspace(
    { database: own, actor: 'cli:test' },
    { name: 'Busy', adminUserId: 'ada' },
  )
  const event = { workspaceId: id, type: 'LEAD_CREATED', data: {} }
  await own.system.event.createMany({ data: [1, 2].map(() => ({ ...event, id: newId() })) })
  const env = { DATABASE_URL: url }
  const [table, json, wrong] = await Promise.all([
    run('admin', 'workspaces list --by events --since 1h --top 5', directory, env),
    runJson<{ workspaces: { id: string; figure: number }[] }>(
      'admin',
      'workspaces list --by events',
      directory,
      env,
    ),
    admin('workspaces list --by beauty'),
  ])
  t.match(table, { code: 0, output: new RegExp(`^${id} +Busy +standard +2$`, 'm') })
  t.match(table.output, /^id +name +plan +events\n/)
  t.match(table.output, /Events accepted since \d{4}-.* Counted in all \d+ workspaces\./)
  t.match(
    json.workspaces.find((one) => one.id === id),
    { figure: 2, isAtLeast: false },
  )
  const part = { by: 'rules', since: null, workspaces: [], counted: 50, isComplete: false } as const
  t.match(
    formatRanking({ ...part, workspaces: [] }),
    /^None has any\.\s[\s\S]* the first 50 workspaces\. Use a shorter/,
  )
  t.match(wrong, { code: 64, errors: /events, failures, refusals, bytes, rules/ })
})

t.test('the commands of the runbook for operators run as they are written', async (t) => {
  const { id } = await makeWorkspace()
  const text = await readFile(new URL('../../../../docs/operate/runbook.md', import.meta.url), 'utf8')
  const lines = [
    ...text.matchAll(/^ *npm run -s admin -- ((?:workspaces|support|members) [^#\n]+?) *(?:#.*)?$/gm),
  ]
  t.ok(lines.length >= 4)
  for (const [, line = ''] of lines) {
    // The fixture splits a line at blanks, without a shell.
    const filled = line
      .replaceAll('<workspace id>', id)
      .replaceAll('<you>', `you-${newId()}`)
      .replaceAll(/"[^"]*"/g, 'x')
    t.match(await admin(filled), { code: 0 }, line)
  }
})

t.test('a name that somebody else chose cannot control the terminal', async (t) => {
  const { id } = await makeWorkspace('A\u001b[31mc\u009b31mme')
  t.match((await admin('workspaces list')).output, new RegExp(`^${id} +A·\\[31mc·31mme `, 'm'))
  t.match((await admin('workspaces list --json')).output, '"A\\u001b[31mc\\u009b31mme"')
  t.equal(formatFields({ hosts: ['a\u001b[31m', 'b'] }), 'hosts  a·[31m,b')
})
