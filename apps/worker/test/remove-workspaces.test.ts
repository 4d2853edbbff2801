import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { createWorkspace as create, listDeletedWorkspaces, listWorkspaces } from '@automation/access'
import { type Database, newId, openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { createWorkspaceRemoval, parkExecutions, unparkSome, workspaceTables } from '@automation/ledger'
import { deleteWorkspace, keepWorkspace } from '@automation/rules'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { removeGently } from '../src/retention/remove-gently.js'
import { keptDaysOf, removeRound } from '../src/retention/retention.js'
import { countRows, plant, readColumns } from './fixtures/every-table.js'

/** Of no workspace. */
const othersTables = [
  'workspaces',
  'deleted_workspaces',
  'operator_keys',
  'sweeps',
  'restores',
  '_prisma_migrations',
]

async function open(t: Test): Promise<{ database: Database; url: string }> {
  const url = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
  const database = openPatiently(url, 5)
  t.teardown(() => database.close())
  return { database, url }
}

function remove(database: Database): Promise<{ workspaces: number }> {
  return removeGently(database, { workspaces: createWorkspaceRemoval() }, new AbortController().signal)
}

async function createWorkspace(database: Database): Promise<string> {
  const id = newId()
  await database.system.workspace.create({ data: { id, name: 'Acme' } })
  return id
}

/** As 7 days later. */
async function askLongAgo(database: Database, workspaceId: string): Promise<void> {
  await deleteWorkspace({ database, workspaceId, actor: 'user:ada' }, 'Acme')
  await database.system.workspace.update({
    where: { id: workspaceId },
    data: { deletesAt: new Date(Date.now() - 1_000) },
  })
}

t.test('each table of the schema is of no workspace, or is removed with its workspace', async (t) => {
  const { database } = await open(t)
  const columns = await readColumns(database)
  const children = workspaceTables.flatMap(({ child }) => child?.name ?? [])
  const known = new Set([...workspaceTables.map(({ name }) => name), ...children, 'rule_crashes'])
  for (const [table, own] of columns) {
    if (othersTables.includes(table)) continue
    t.ok(known.has(table), `${table} is removed: add it to workspace-tables.ts`)
    t.ok(
      own.some(({ name }) => name === 'workspace_id'),
      `${table} names its workspace`,
    )
  }
})

t.test('a deleted workspace leaves no row, its entry stays, and another one loses nothing', async (t) => {
  const { database } = await open(t)
  const [workspaceId, other] = [await createWorkspace(database), await createWorkspace(database)]
  await plant(database, workspaceId)
  await plant(database, other)
  const before = await countRows(database, other)
  t.ok(Object.keys(before).length > 25)
  await askLongAgo(database, workspaceId)
  await remove(database)
  t.strictSame(await countRows(database, workspaceId), {})
  t.strictSame(await countRows(database, other), before)
  t.strictSame(
    (await listWorkspaces(database)).map(({ id }) => id),
    [other],
  )
  t.match(await listDeletedWorkspaces(database), [
    {
      ...{ id: workspaceId, name: 'Acme', askedBy: 'user:ada', askedAt: String, deletedAt: String },
      ...{ counts: { members: 1, apiKeys: 1, signingSecrets: 1, rules: 1 }, finishedAt: String },
    },
  ])
  const fields = { name: 'Again', adminUserId: 'mallory' }
  await t.rejects(
    create({ database, actor: 'cli:ops' }, fields, { id: workspaceId }),
    { code: 'name_taken' },
    'its id is used',
  )
})

t.test('claims of others are walked through once, however many workspaces are removed', async (t) => {
  const { database } = await open(t)
  const ids = [
    await createWorkspace(database),
    await createWorkspace(database),
    await createWorkspace(database),
  ]
  const other = await createWorkspace(database)
  for (const id of [...ids, other]) await plant(database, id)
  const plantClaims = (id: string, count: number) =>
    database.system.$executeRaw`
      INSERT INTO key_claims SELECT (claim).* FROM (
        SELECT jsonb_populate_record(key_claims, jsonb_build_object('execution_id', gen_random_uuid())) AS claim
        FROM key_claims, generate_series(1, ${count}::int) WHERE workspace_id = ${id}::uuid) AS claims`
  await plantClaims(other, 1_200)
  for (const id of ids) {
    await plantClaims(id, 100)
    await askLongAgo(database, id)
  }
  let walks = 0
  const takeStep = createWorkspaceRemoval()
  for (let isOver = false; !isOver; )
    await database.system.$transaction(async (transaction) => {
      const counting = new Proxy(transaction, {
        get(target, name) {
          const found = Reflect.get(target, name)
          if (name !== '$queryRawUnsafe') return found
          return (sql: string, ...values: unknown[]) => {
            if (sql.includes('FROM key_claims WHERE execution_id > ')) walks++
            return target.$queryRawUnsafe(sql, ...values)
          }
        },
      })
      isOver = (await takeStep(counting, 500)).isOver
    })
  t.equal(walks, 4, 'pages of all 1,504 claims')
  for (const id of ids) t.strictSame(await countRows(database, id), {})
  t.equal((await countRows(database, other)).key_claims, 1_201)
  const entries = await database.system.deletedWorkspace.findMany()
  t.equal(entries.length, 3)
  for (const { rowsRemoved, finishedAt } of entries) t.ok(rowsRemoved > 100 && finishedAt)
})

t.test('a workspace stays until the moment, by the clock of Postgres, and if it is kept', async (t) => {
  const { database } = await open(t)
  const [kept, leaving] = [await createWorkspace(database), await createWorkspace(database)]
  await askLongAgo(database, kept)
  await keepWorkspace({ database, workspaceId: kept, actor: 'user:ada' })
  await deleteWorkspace({ database, workspaceId: leaving, actor: 'user:ada' }, 'Acme')
  await remove(database)
  t.equal((await listWorkspaces(database)).length, 2)
  t.strictSame(await listDeletedWorkspaces(database), [])
  await askLongAgo(database, kept)
  const round = {
    database,
    keptDays: keptDaysOf(30),
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  }
  const read = Date.now
  const isAhead = t.intercept(Date, 'now', { value: () => read() + 120_000 })
  await removeRound(round)
  isAhead.restore()
  t.equal((await listWorkspaces(database)).length, 2, 'a worker with another clock removes nothing')
  await removeRound(round)
  t.strictSame(
    (await listWorkspaces(database)).map(({ id }) => id),
    [leaving],
  )
})

t.test('what comes due while the rows go is parked: nobody looks at it', async (t) => {
  const { database } = await open(t)
  const workspaceId = await createWorkspace(database)
  const id = newId()
  await database.system.$executeRaw`
    INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at)
    VALUES (${id}::uuid, ${workspaceId}::uuid, gen_random_uuid(), 'LEAD_CREATED', gen_random_uuid(), 1, 'waiting', '[]', now(), now())`
  await askLongAgo(database, workspaceId)
  await database.system.$transaction((transaction) => createWorkspaceRemoval()(transaction, 500))
  t.match(await listDeletedWorkspaces(database), [{ id: workspaceId, finishedAt: null }])
  await parkExecutions(database, [{ id, workspaceId }])
  t.match(await database.system.execution.findUnique({ where: { id } }), { parked: true })
  t.equal(await unparkSome(database, () => false), 0)
  await remove(database)
  t.strictSame(await countRows(database, workspaceId), {})
})

t.test('a removal that is killed at any step is gone on with by the next worker', async (t) => {
  const { database, url } = await open(t)
  const workspaceId = await createWorkspace(database)
  await plant(database, workspaceId)
  const count = 30_000
  await database.system.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data) SELECT gen_random_uuid(), ${workspaceId}::uuid, 'LEAD_CREATED', '{}' FROM generate_series(1, ${count}::int)`
  await askLongAgo(database, workspaceId)
  const removedRows = async () => (await listDeletedWorkspaces(database))[0]?.rowsRemoved ?? -1
  // In the middle, at steps that differ.
  for (const least of [0, 1_000, 5_000]) {
    const child = fork(new URL('fixtures/remove-workspaces.js', import.meta.url), {
      env: { ...process.env, DATABASE_URL: url },
    })
    await once(child, 'message')
    while ((await removedRows()) < least && child.exitCode === null) await setTimeout(5)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    t.match(await listDeletedWorkspaces(database), [{ id: workspaceId }])
  }
  // The lock of a killed process ends with its connection.
  while ((await listDeletedWorkspaces(database))[0]?.finishedAt === null) await remove(database)
  t.strictSame(await countRows(database, workspaceId), {})
  t.ok((await removedRows()) > count)
})
