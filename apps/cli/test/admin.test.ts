import { userInfo } from 'node:os'
import { createWorkspace, type Member, type Workspace } from '@automation/access'
import { openDatabase } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { type Run, run, runJson } from './fixtures/run.js'

// Commands are called as a user would call them, and concurrently where possible: each takes half a second to start.

const directory = t.testdir()
const admin = (line: string): Promise<Run> => run('admin', line, directory)
const ask = <Value>(line: string): Promise<Value> => runJson<Value>('admin', line, directory)

const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

const makeWorkspace = (name = 'Acme') =>
  createWorkspace({ database, actor: 'cli:test' }, { name, adminUserId: 'ada' })

t.test('workspaces are created, listed and updated', async (t) => {
  const created = await ask<Workspace>('workspaces create --name Acme --plan enterprise --admin ada')
  t.match(created, { id: /^[0-9a-f-]{36}$/, name: 'Acme', plan: 'enterprise', retentionDays: null })
  matchLists(t, await database.system.member.findMany({ where: { workspaceId: created.id } }), [
    { userId: 'ada', role: 'admin' },
  ])
  const updated = await ask<Workspace>(`workspaces update ${created.id} --name Acme2 --plan standard`)
  t.same(updated, { ...created, name: 'Acme2', plan: 'standard' })
  const pause = (after: string) =>
    ask<Workspace>(`workspaces update ${created.id} --auto-pause-after ${after}`)
  t.same(await pause('5'), { ...updated, autoPauseAfter: 5 })
  t.same(await pause('never'), { ...updated, autoPauseAfter: null })
  const keep = (days: string) =>
    ask<Workspace>(`workspaces update ${created.id} --retention-days ${days} --yes`)
  t.same(await keep('90'), { ...updated, retentionDays: 90 })
  t.same(await keep('default'), { ...updated, retentionDays: null })
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
    output: new RegExp(`^${created.id} +Acme2 +standard +\\d{4}-\\d\\d-\\d\\d`, 'm'),
  })
  t.match(table.output, /^id +name +plan +createdAt\n/)
  t.same(nothing, {
    code: 64,
    output: '',
    errors: 'Give at least one change: --name, --plan, --auto-pause-after or --retention-days.\n',
  })
})

t.test('members are set, listed and removed, and the last admin stays', async (t) => {
  const { id } = await makeWorkspace()
  const grace = `--workspace ${id} --user grace`
  t.match(await ask(`members set ${grace} --role editor`), { userId: 'grace', role: 'editor' })
  const viewer = await admin(`members set ${grace} --role viewer`)
  t.match(viewer, { code: 0, errors: /^Target: [^\n]*\n$/, output: 'grace now has the role viewer.\n' })
  matchLists(t, await ask<Member[]>(`members list --workspace ${id}`), [
    { userId: 'ada', role: 'admin' },
    { userId: 'grace', role: 'viewer' },
  ])
  t.same(await ask(`members remove ${grace} --yes`), { userId: 'grace', removed: true })
  const [again, last] = await Promise.all([
    admin(`members remove ${grace} --yes`),
    admin(`members remove --workspace ${id} --user ada --yes`),
  ])
  t.match(again, { code: 1, output: '', errors: /^Target: .*\nMember not found\.\n$/ })
  t.match(last, { code: 1, errors: '\nA workspace needs an admin, and this is the last one.\n' })
})

t.test('the audit log lists who did what, newest first', async (t) => {
  const { id } = await makeWorkspace()
  await ask(`members set --workspace ${id} --user grace --role viewer`)
  const [entries, newest, table] = await Promise.all([
    ask<unknown[]>(`audit list --workspace ${id}`),
    ask<unknown[]>(`audit list --workspace ${id} --limit 1`),
    admin(`audit list --workspace ${id}`),
  ])
  const actor = `cli:${userInfo().username}`
  matchLists(t, entries, [
    { actor, action: 'member.added', subject: 'grace', details: { role: 'viewer' }, at: /^\d{4}-.*Z$/ },
    { actor: 'cli:test', action: 'workspace.created', subject: id },
  ])
  t.same(newest, entries.slice(0, 1))
  t.match(table.output, /member\.added +grace +\{"role":"viewer"\}/)
})

t.test('a name that somebody else chose cannot control the terminal', async (t) => {
  const { id } = await makeWorkspace('A\u001b[31mcme')
  t.match((await admin('workspaces list')).output, new RegExp(`^${id} +A·\\[31mcme `, 'm'))
})
