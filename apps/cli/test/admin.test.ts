import { userInfo } from 'node:os'
import { createWorkspace, type Workspace } from '@automation/access'
import { openPatiently } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { formatFields } from '../src/format.js'
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
  t.match(table.output, /^id +name +plan +createdAt\n/)
  t.same(nothing, {
    code: 64,
    output: '',
    errors: "Required option '--plan <plan>' not specified\n",
  })
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

t.test('a name that somebody else chose cannot control the terminal', async (t) => {
  const { id } = await makeWorkspace('A\u001b[31mc\u009b31mme')
  t.match((await admin('workspaces list')).output, new RegExp(`^${id} +A·\\[31mc·31mme `, 'm'))
  t.match((await admin('workspaces list --json')).output, '"A\\u001b[31mc\\u009b31mme"')
  t.equal(formatFields({ hosts: ['a\u001b[31m', 'b'] }), 'hosts  a·[31m,b')
})
