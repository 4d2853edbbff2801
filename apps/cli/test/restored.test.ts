import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import {
  createApiKey,
  createErasure,
  createSealer,
  createWorkspace,
  findOpenRestore,
  putMember,
  Removals,
  removeMember,
  revokeApiKey,
} from '@automation/access'
import { executionIdOf, newId, openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { deleteWorkspace, keepWorkspace } from '@automation/rules'
import pg from 'pg'
import t from 'tap'
import { Check } from 'typebox/value'
import { copyDatabase } from './fixtures/copy-database.js'
import { run, runJson } from './fixtures/run.js'

const directory = t.testdir()
const list = `${directory}/removals.json`
// The database before it was lost, and the state of an hour before.
const lostUrl = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const lost = openPatiently(lostUrl, 2)
const operator = { database: lost, actor: 'cli:test' }
const sealer = createSealer(randomBytes(32).toString('base64'))

const acme = await makeWorkspace('Acme')
const leaving = await makeWorkspace('Leaving')
const gone = await makeWorkspace('Gone')
for (const userId of ['grace', 'mallory', 'back'])
  await putMember({ ...operator, workspaceId: acme }, { userId, role: 'editor' })
const [key, kept] = [await makeKey('CI'), await makeKey('kept')]
const ruleId = newId()
await lost.forWorkspace(acme).rule.create({
  data: {
    ...{ id: ruleId, workspaceId: acme, name: 'Nightly', description: '', trigger: 'SCHEDULE' },
    ...{ schedule: { every: '1h' }, conditions: [], actions: [], isActive: true },
    nextRunAt: new Date(Date.now() - 60_000),
  },
})
const executions = await makeExecutions()
await lost.close()
const restoredUrl = await copyDatabase(lostUrl)
const restored = openPatiently(restoredUrl, 2)
const after = openPatiently(lostUrl, 2)
t.teardown(async () => {
  await restored.close()
  await after.close()
})
const of = (workspaceId: string) => ({ database: after, actor: 'user:ada', workspaceId })
const admin = (line: string, url = restoredUrl) => run('admin', line, directory, { DATABASE_URL: url })

t.test('what a restore would undo is written outside the database, and replaced as a whole', async (t) => {
  await removeMember(of(acme), 'mallory')
  await removeMember(of(acme), 'back')
  await putMember(of(acme), { userId: 'back', role: 'editor' })
  await revokeApiKey(of(acme), key)
  await after.forWorkspace(acme).rule.update({ where: { id: ruleId }, data: { isActive: false } })
  await after.system.auditEntry.create({
    data: {
      ...{ id: newId(), workspaceId: acme, actor: 'user:ada', action: 'rule.deactivated', subject: ruleId },
      details: {},
    },
  })
  await createErasure(of(acme), sealer, { path: 'email', value: 'ada@example.com' })
  await deleteWorkspace(of(leaving), 'Leaving')
  await deleteWorkspace(of(gone), 'Gone')
  await keepWorkspace(of(gone))

  await writeFile(list, 'an older list', { mode: 0o640 })
  const written = await admin(`removals write ${list}`, lostUrl)
  t.match(written, { code: 0, output: `${list}: 1 erasures, 1 deletions, 3 other removals.\n` })
  t.equal((await stat(list)).mode & 0o777, 0o640)
  await admin(`removals write ${directory}/new.json`, lostUrl)
  t.equal((await stat(`${directory}/new.json`)).mode & 0o777, 0o600)
  const text = await readFile(list, 'utf8')
  t.notMatch(text, 'ada@example.com', 'the value is sealed')
  const removals = JSON.parse(text)
  t.ok(Check(Removals, removals))
  t.match(removals.deletions, [{ id: leaving, name: 'Leaving' }])
  t.strictSame(
    removals.entries.map(({ action, subject }: { action: string; subject: string }) => [action, subject]),
    [
      ['member.removed', 'mallory'],
      ['api_key.revoked', key],
      ['rule.deactivated', ruleId],
    ],
    'without what came back by itself',
  )
  await query(lostUrl, 'INSERT INTO restores DEFAULT VALUES')
  t.match(await admin(`removals write ${list}`, lostUrl), { code: 1, errors: /was restored/ })
  t.equal(await readFile(list, 'utf8'), text, 'what a database from before it does not know stays')
  await query(lostUrl, 'DELETE FROM restores')
  t.match(await admin(`removals write ${directory}/none/list.json`, lostUrl), {
    code: 1,
    errors: /cannot be written/,
  })
  t.strictSame(
    (await readdir(directory)).filter((name) => name.includes('.new')),
    [],
  )
})

t.test('the report says what was in progress or due, and what is undone', async (t) => {
  const alive = await admin('restored report')
  t.match(alive, { code: 0, output: /^The workers are not paused/ })
  await query(restoredUrl, 'INSERT INTO restores DEFAULT VALUES')
  t.match(await admin('restored report'), {
    code: 0,
    output: /^The database is as of 20.* Its workers are paused\..*Without a list nobody can tell/s,
  })
  const report = await runJson<Record<string, unknown>>(
    'admin',
    `restored report --removals ${list}`,
    directory,
    { DATABASE_URL: restoredUrl },
  )
  t.match(report, {
    asOf: /^20/,
    events: [{ workspaceId: acme, workspaceName: 'Acme', count: 1 }],
    executions: [
      { workspaceId: acme, handlerId: ruleId, ruleName: 'Nightly', inProgress: 1, due: 1, later: 1 },
    ],
    openCalls: [{ id: executions.open, workspaceId: acme, attemptAt: '2026-11-30T01:00:00.000Z' }],
    ticks: [{ workspaceId: acme, ruleId, ruleName: 'Nightly' }],
    isComplete: true,
    undone: {
      erasures: [{ workspaceId: acme, path: 'email' }],
      deletions: [{ id: leaving }],
      entries: [
        { action: 'member.removed', subject: 'mallory', actor: 'user:ada' },
        { action: 'api_key.revoked', subject: key },
        { action: 'rule.deactivated', subject: ruleId },
      ],
    },
  })
  const text = await admin(`restored report --removals ${list}`)
  t.match(text.output, /Executions: 1 in progress, 1 due, 1 that wait for longer/)
  t.match(text.output, /Undone: 1 erasures, 1 deletions of workspaces, 3 other removals/)
  t.match(text.output, /What was taken away after 20.* is not in the list, and is back/)
  const short = {
    ...JSON.parse(await readFile(list, 'utf8')),
    since: new Date(Date.now() + 60_000).toISOString(),
  }
  await writeFile(`${directory}/short.json`, JSON.stringify(short))
  t.match(
    (await admin(`restored report --removals ${directory}/short.json`)).output,
    /entries of the list begin at/,
  )
})

t.test('the removals are made again, once, however often the command is called', async (t) => {
  const first = await admin(`removals repeat ${list}`)
  t.match(first, {
    code: 0,
    output: /^1 erasures begin again\. 1 workspaces are deleted again, and 2 rights/,
  })
  t.match(first.output, /rule\.deactivated +/, 'a rule is left to its workspace')
  const own = restored.forWorkspace(acme)
  t.match(await own.apiKey.findUnique({ where: { id: key } }), { revokedAt: Date })
  t.match(await own.apiKey.findUnique({ where: { id: kept } }), { revokedAt: null })
  t.strictSame(
    (await own.member.findMany({ orderBy: { userId: 'asc' } })).map(({ userId }) => userId),
    ['ada', 'back', 'grace'],
  )
  t.match(await own.erasure.findMany(), [{ path: 'email', status: 'running', createdBy: 'user:ada' }])
  const deletion = JSON.parse(await readFile(list, 'utf8')).deletions[0]
  t.match(await restored.system.workspace.findUnique({ where: { id: leaving } }), {
    deletesAt: new Date(deletion.deletesAt),
    deletionAskedBy: /^cli:/,
  })
  await own.erasure.updateMany({ data: { status: 'done' } })
  const entries = await restored.system.auditEntry.count()
  t.match(await admin(`removals repeat ${list}`), { output: /^0 erasures .* 0 workspaces .* 0 rights/ })
  t.equal(await restored.system.auditEntry.count(), entries)
  await own.erasure.updateMany({ data: { status: 'incomplete' } })
  t.match(await admin(`removals repeat ${list}`), { output: /^1 erasures/ }, 'what was left is erased')
  const cli = { database: restored, actor: 'cli:test' }
  await putMember({ ...cli, workspaceId: acme }, { userId: 'mallory', role: 'viewer' })
  await keepWorkspace({ ...cli, workspaceId: leaving })
  t.match(
    await admin(`removals repeat ${list}`),
    { output: /^0 erasures .* 0 workspaces .* 0 rights/ },
    'what somebody has given back since stays',
  )
})

t.test('an end in the middle leaves the rest to the next call', async (t) => {
  const removals = JSON.parse(await readFile(list, 'utf8'))
  const url = await copyDatabase(lostUrl)
  await query(
    url,
    `UPDATE workspaces SET deletes_at = NULL, deletion_asked_at = NULL, deletion_asked_by = NULL;
     DELETE FROM audit_entries; DELETE FROM erasures; UPDATE api_keys SET revoked_at = NULL;
     CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space left'; END $$;
     CREATE TRIGGER failing BEFORE UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION fail()`,
  )
  t.match(await admin(`removals repeat ${list}`, url), { code: 1 })
  const [left] = await query<{ deletes: string; erasures: number }>(
    url,
    `SELECT (SELECT count(*)::int FROM workspaces WHERE deletes_at IS NOT NULL) AS deletes, (SELECT count(*)::int FROM erasures) AS erasures`,
  )
  t.match(left, { deletes: 1, erasures: 0 })
  await query(url, 'DROP TRIGGER failing ON api_keys')
  t.match(await admin(`removals repeat ${list}`, url), {
    code: 0,
    output: /^1 erasures begin again\. 0 workspaces are deleted again, and 1 rights/,
  })
  t.equal(removals.erasures.length, 1)
})

t.test('files that are no such list are refused', async (t) => {
  const removals = JSON.parse(await readFile(list, 'utf8'))
  await writeFile(`${directory}/array.json`, JSON.stringify(removals.erasures))
  await writeFile(`${directory}/other.json`, JSON.stringify({ ...removals, automationRemovals: 2 }))
  await writeFile(`${directory}/text.json`, 'id  workspaceId')
  for (const file of ['array.json', 'other.json', 'text.json'])
    for (const command of ['removals repeat', 'restored report --removals'])
      t.match(
        await admin(`${command} ${directory}/${file}`),
        { code: 64, errors: /list that removals write has written/ },
        file,
      )
  t.match(await admin('removals repeat none.json'), { code: 1, errors: /none\.json/ })
  // Whoever changed the file by hand.
  const odd = [{ ...removals.entries[0], id: newId(), action: 'api_key.revoked', subject: "no ' uuid" }]
  await writeFile(`${directory}/odd.json`, JSON.stringify({ ...removals, entries: odd }))
  t.match(await admin(`restored report --removals ${directory}/odd.json`), { code: 0 })
})

t.test('the workers are started once, for all restores', async (t) => {
  await query(restoredUrl, `INSERT INTO restores (as_of) VALUES ('2026-01-01')`)
  t.match(await findOpenRestore(restored), { asOf: '2026-01-01T00:00:00.000Z' })
  t.match(await admin('restored start'), { code: 0, output: /start within two seconds/ })
  t.equal(await findOpenRestore(restored), undefined)
  t.match(await admin('restored start'), { code: 0, output: /were not paused\. Nothing was changed/ })
  t.match(await restored.system.restore.findMany(), [
    { startedBy: /^cli:/, startedAt: Date },
    { startedBy: /^cli:/, startedAt: Date },
  ])
})

async function makeWorkspace(name: string): Promise<string> {
  return (await createWorkspace(operator, { name, adminUserId: 'ada' })).id
}

async function makeKey(name: string): Promise<string> {
  return (await createApiKey({ ...operator, workspaceId: acme }, { name, scopes: ['rules:read'] })).id
}

async function makeExecutions() {
  const own = lost.forWorkspace(acme)
  const event = { workspaceId: acme, type: 'LEAD_CREATED', data: {} }
  await own.event.create({ data: { ...event, id: newId() } })
  const make = async (status: 'running' | 'waiting', dueInMs: number, results: object[]) => {
    const eventId = newId()
    await own.event.create({ data: { ...event, id: eventId, doneAt: new Date() } })
    const id = executionIdOf({ id: eventId, addressee: null }, ruleId)
    await own.execution.create({
      data: {
        ...{ id, workspaceId: acme, eventId, eventType: event.type, handlerId: ruleId, ruleVersion: 1 },
        ...{ status, results, startedAt: new Date(), dueAt: new Date(Date.now() + dueInMs) },
        ...(status === 'running' && { lease: newId() }),
      },
    })
    return id
  }
  const attempts = [{ startedAt: '2026-11-30T01:00:00.000Z' }]
  return {
    open: await make('running', 5_000, [{ action: 'SEND_WEBHOOK', status: 'running', attempts }]),
    due: await make('waiting', -5_000, []),
    later: await make('waiting', 3_600_000, []),
  }
}

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
