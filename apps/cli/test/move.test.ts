import { randomBytes } from 'node:crypto'
import { createSealer, createSigningSecret, putMember } from '@automation/access'
import { type Database, newId, openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { copyPass, prepareMove } from '@automation/ledger'
import { closeWorkspace } from '@automation/rules'
import t, { type Test } from 'tap'
import { moveWorkspace } from '../src/move/move-workspace.js'
import { openMuteLine } from './fixtures/mute-line.js'
import { run, runJson, runProcess } from './fixtures/run.js'

const directory = t.testdir()
const [sourceUrl, targetUrl] = [
  await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
]
const [source, target] = [openPatiently(sourceUrl, 2), openPatiently(targetUrl, 2)]
t.teardown(() => Promise.all([source.close(), target.close()]))
const env = {
  ...{ DATABASE_URL: sourceUrl, TARGET_DATABASE_URL: targetUrl },
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
}
const admin = (line: string, variables: Record<string, string> = env) =>
  run('admin', `workspaces ${line} --confirm Acme`, directory, variables)

async function createWorkspace(): Promise<string> {
  const created = await runJson<{ id: string }>(
    'admin',
    'workspaces create --name Acme --admin ada',
    directory,
    env,
  )
  return created.id
}

t.test('a workspace moves, and is removed where it was', async (t) => {
  const id = await createWorkspace()
  await putMember(
    { database: source, workspaceId: id, actor: 'cli:test' },
    { userId: 'grace', role: 'editor' },
  )
  const moved = await admin(`move ${id}`)
  t.match(moved, { code: 0, output: /is open in the target: \d+ rows in 3 passes. It was closed for \d+ ms/ })
  t.match(
    moved.errors,
    /From: database .* \(from DATABASE_URL\).*To: database .* \(from TARGET_DATABASE_URL\)/s,
  )
  t.equal(await target.system.member.count({ where: { workspaceId: id } }), 2)
  const entries = await target.system.auditEntry.findMany({
    where: { workspaceId: id },
    orderBy: { id: 'asc' },
  })
  t.match(entries.slice(-2), [
    { details: { isClosed: true } },
    { actor: /^cli:/, details: { isClosed: false } },
  ])
  t.match(await admin(`move ${id}`), { code: 1, errors: /has moved: it is open in the target/ })
  t.match(await admin(`reopen ${id}`), { code: 1, errors: /is open in the target/ })
  await source.system
    .$executeRaw`UPDATE workspaces SET closed_at = closed_at - interval '1 minute' WHERE id = ${id}::uuid`
  t.match(await admin(`moved ${id}`), {
    code: 0,
    output: /^0 events .* reconciliation of the target finds nothing/s,
  })
  t.match(await source.system.workspace.findUnique({ where: { id } }), {
    ...{ closedAt: Date, deletesAt: new Date(0), deletionAskedBy: /^cli:/ },
  })
  t.match(await admin(`moved ${id}`), { code: 0 }, 'it may be repeated')
  const back = { ...env, DATABASE_URL: targetUrl, TARGET_DATABASE_URL: sourceUrl }
  t.match(await admin(`move ${id}`, back), { code: 1, errors: /does not come back/ })
  await source.system.deletedWorkspace.create({
    data: { id, name: 'Acme', askedBy: 'cli:test', askedAt: new Date(), counts: {} },
  })
  t.match(await admin(`move ${id}`, back), { code: 1, errors: /does not come back/ })
})

t.test('a move that does not come to its end leaves the workspace open where it was', async (t) => {
  const id = await createWorkspace()
  const isOpen = async () => (await source.system.workspace.findUnique({ where: { id } }))?.closedAt === null
  t.match(await admin(`moved ${id}`), { code: 1, errors: /not open in the target/ })
  await target.system
    .$executeRaw`ALTER TABLE members ADD CONSTRAINT full_disk CHECK (user_id <> 'ada') NOT VALID`
  t.match(await admin(`move ${id}`), { code: 1, errors: /full_disk.*is open here again/s })
  t.ok(await isOpen())
  t.equal(await target.system.workspace.count({ where: { id } }), 0)
  t.equal(await target.system.auditEntry.count({ where: { workspaceId: id } }), 0, 'nothing is left there')
  await target.system.$executeRaw`ALTER TABLE members DROP CONSTRAINT full_disk`
  const end = async (sides: { source: Database; target: Database }) => {
    const move = await prepareMove({ ...sides, workspaceId: id })
    await copyPass(move, undefined)
    await closeWorkspace({ database: source, workspaceId: id, actor: 'cli:test' }, move.id)
  }
  await end({ source, target })
  t.match(await admin(`reopen ${id}`), { code: 0 }, 'one that was ended while it was closed')
  t.ok(await isOpen())
  t.equal(await target.system.workspace.count({ where: { id } }), 0)
  await end({ source, target })
  const list = async (url: string) =>
    (await run('admin', 'workspaces list', directory, { DATABASE_URL: url })).output
  t.match(await list(sourceUrl), new RegExp(`^${id} .* to [0-9a-f-]{36} +2`, 'm'), 'the operator sees it')
  t.match(await list(targetUrl), new RegExp(`^${id} .* from [0-9a-f-]{36} +2`, 'm'))
  for (const command of ['move', 'reopen', 'moved']) {
    t.match(await admin(`${command} ${id}`, { ...env, TARGET_DATABASE_URL: sourceUrl }), {
      ...{ code: 1, errors: /another database than the target. Nothing/ },
    })
    t.match(
      await admin(`${command} ${id}`, { ...env, DATABASE_URL: targetUrl, TARGET_DATABASE_URL: sourceUrl }),
      {
        ...{ code: 1, errors: /the other way round\?. Nothing/ },
      },
    )
  }
  t.match(await admin(`move ${id}`), { code: 0 }, 'or it goes on')
})

/** A move to a target whose line goes mute at a statement, by a command of less patience. @returns what it says */
async function moveToMute(t: Test, at: string, { isNewHeard = false, muteMs = 3_000, pauseMs = 60_000 }) {
  const id = await createWorkspace()
  const line = await openMuteLine(t, targetUrl)
  const [own, { error }] = [process.env, console]
  process.env = { ...own, ...env, TARGET_DATABASE_URL: line.url }
  console.error = () => {}
  line.muteAt(at, isNewHeard)
  const said = await moveWorkspace(id, { muteMs, pauseMs, lookMs: 100 }).catch((error: Error) => error)
  process.env = own
  console.error = error
  line.restore()
  return { id, said, state: await source.system.workspace.findUnique({ where: { id } }) }
}

t.test('a target that responds no more ends the command', async (t) => {
  const copying = await moveToMute(t, 'INSERT INTO audit_entries', {})
  t.match(copying.said, { message: /^The target has not responded for 3 s\. Run the command again\.$/ })
  t.match(copying.state, { closedAt: null })
  t.match(await admin(`move ${copying.id}`), { code: 0 }, 'it goes on')

  const closed = await moveToMute(t, 'SET LOCAL lock_timeout', {})
  t.match(closed.said, {
    message: /^The target has not responded for 3 s\. .*it is closed: run the command again/,
  })
  t.match(closed.state, { closedAt: Date, moving: /^to / }, 'nobody knows what the target has done')
  t.match(await admin(`reopen ${closed.id}`), { code: 0 })
  t.match(await admin(`move ${closed.id}`), { code: 0 })
})

t.test('a line that drops alone, and Ctrl-C, open the workspace again', async (t) => {
  const dropped = await moveToMute(t, 'SET LOCAL lock_timeout', { isNewHeard: true, pauseMs: 4_000 })
  t.match(dropped.said, {
    message:
      /^The workspace was closed for 4 s\. The workspace is open here again, and the target has nothing/,
  })
  t.match(dropped.state, { closedAt: null, moving: null })

  const { id } = dropped
  const interrupted = await runProcess('admin', `workspaces move ${id} --confirm Acme`, directory, env, {
    signal: 'SIGINT',
    at: 'The workspace is closed',
  })
  t.match(interrupted, { code: 1, errors: /^Interrupted\. The workspace is open here again/m })
  t.match(await source.system.workspace.findUnique({ where: { id } }), { closedAt: null })
  t.equal(await target.system.workspace.count({ where: { id } }), 0)
})

t.test('a workspace that is open in both leaves neither of them', async (t) => {
  const id = await createWorkspace()
  t.match(await admin(`move ${id}`), { code: 0 })
  await source.system
    .$executeRaw`UPDATE workspaces SET closed_at = NULL, moving = NULL WHERE id = ${id}::uuid`
  const ways = {
    'as it has moved': env,
    'the two the other way round': { ...env, DATABASE_URL: targetUrl, TARGET_DATABASE_URL: sourceUrl },
    'one database': { ...env, TARGET_DATABASE_URL: sourceUrl },
  }
  for (const [way, variables] of Object.entries(ways)) {
    t.match(
      await admin(`moved ${id}`, variables),
      { code: 1, errors: /open here: no move has closed it.*Nothing/ },
      way,
    )
    t.match(await admin(`reopen ${id}`, variables), { code: 1, errors: /open in the target\. Nothing/ }, way)
  }
  for (const { system } of [source, target])
    t.match(await system.workspace.findUnique({ where: { id } }), { closedAt: null, deletesAt: null })
})

t.test('what does not fit is refused, and changes nothing', async (t) => {
  const id = await createWorkspace()
  t.match(await admin(`move ${id}`, { DATABASE_URL: sourceUrl }), {
    code: 1,
    errors: /Set TARGET_DATABASE_URL/,
  })
  t.match(await admin(`move ${id}`, { ...env, TARGET_DATABASE_URL: sourceUrl }), {
    ...{ code: 1, errors: /exists in the target already/ },
  })
  await source.system.workspace.update({ where: { id }, data: { deletesAt: new Date() } })
  t.match(await admin(`move ${id}`), { code: 1, errors: /workspaces keep/ })
  await source.system.workspace.update({ where: { id }, data: { deletesAt: null } })
  t.match(await admin(`move ${newId()}`), { code: 1, errors: /There is no workspace/ })
  const seal = (database: Database, workspaceId: string, key: string) =>
    createSigningSecret({ database, workspaceId, actor: 'cli:test' }, createSealer(key), { provider: 'acme' })
  const there = newId()
  await target.system.workspace.create({ data: { id: there, name: 'Other' } })
  await seal(target, there, randomBytes(32).toString('base64'))
  const { id: secret } = await seal(source, id, env.ENCRYPTION_KEY)
  t.match(await admin(`move ${id}`), { code: 1, errors: /does not open what the target has sealed/ })
  await source.system.signingSecret.delete({ where: { id: secret } })
  await target.system.restore.create({ data: { asOf: new Date(), markedAt: new Date() } })
  t.match(await admin(`move ${id}`), { code: 1, errors: /paused since a restore/ })
  await target.system.$executeRaw`UPDATE _prisma_migrations SET migration_name = '20991231000000_later'`
  t.match(await admin(`move ${id}`), { code: 1, errors: /other migrations \(.*20991231000000_later\)/ })
  t.match(await source.system.workspace.findUnique({ where: { id } }), { closedAt: null })
  t.equal(await target.system.workspace.count({ where: { id } }), 0)
})
