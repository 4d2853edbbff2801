import t from 'tap'
import { isDatabaseAway, isRowFault } from '../src/database-errors.js'
import { Prisma } from '../src/generated/client.js'
import { executionIdOf, isUuid, newId } from '../src/ids.js'
import { openDatabase } from '../src/open.js'

const database = openDatabase(process.env.DATABASE_URL ?? '', 4)
t.teardown(() => database.close())

async function createWorkspaceWithRule() {
  const workspaceId = newId()
  await database.system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
  const rule = await database.forWorkspace(workspaceId).rule.create({
    data: {
      id: newId(),
      workspaceId,
      name: 'Rule',
      description: '',
      trigger: 'LEAD_CREATED',
      conditions: [],
      actions: [],
      isActive: true,
      counters: { create: { workspaceId } },
    },
  })
  return { workspaceId, ruleId: rule.id, own: database.forWorkspace(workspaceId) }
}

t.test('no operation of a workspace reads or changes the rows of another', async (t) => {
  const { ruleId, own } = await createWorkspaceWithRule()
  const { own: foreign } = await createWorkspaceWithRule()
  const where = { id: ruleId }

  t.equal(await foreign.rule.findUnique({ where }), null)
  t.equal(await foreign.rule.findFirst({ where }), null)
  t.same(await foreign.rule.findMany({ where }), [])
  t.equal(await foreign.rule.count({ where }), 0)
  t.same((await foreign.rule.aggregate({ where, _count: true }))._count, 0)
  t.same(await foreign.rule.groupBy({ by: ['id'], where }), [])
  await t.rejects(foreign.rule.update({ where, data: { name: 'Stolen' } }), { code: 'P2025' })
  await t.rejects(foreign.rule.delete({ where }), { code: 'P2025' })
  t.equal((await foreign.rule.updateMany({ where, data: { name: 'Stolen' } })).count, 0)
  t.equal((await foreign.rule.deleteMany({ where })).count, 0)
  t.equal((await own.rule.findUniqueOrThrow({ where })).name, 'Rule')
})

t.test('a row is created in the scoped workspace, even where its data names another', async (t) => {
  const { workspaceId, own } = await createWorkspaceWithRule()
  const { workspaceId: otherId } = await createWorkspaceWithRule()
  const task = {
    executionId: newId(),
    actionIndex: 0,
    ruleId: newId(),
    title: 'T',
    priority: 'normal',
    createdAt: new Date(),
  }
  const created = await own.task.create({ data: { ...task, id: newId(), workspaceId: otherId } })
  t.equal(created.workspaceId, workspaceId)
  const [many] = await own.task.createManyAndReturn({
    data: [{ ...task, id: newId(), executionId: newId(), workspaceId: otherId }],
  })
  t.equal(many?.workspaceId, workspaceId)
})

t.test('a transaction of a workspace is scoped, too', async (t) => {
  const { ruleId } = await createWorkspaceWithRule()
  const { own: foreign } = await createWorkspaceWithRule()
  const found = await foreign.$transaction((transaction) =>
    transaction.rule.findUnique({ where: { id: ruleId } }),
  )
  t.equal(found, null)
})

t.test('errors are distinguished: a refused row, and a server that is away', async (t) => {
  const refused = await database.system
    .$executeRaw(Prisma.sql`SELECT ${'{"a":"\\u0000"}'}::jsonb`)
    .catch((error) => error)
  t.ok(isRowFault(refused))
  t.notOk(isDatabaseAway(refused))
  const nowhere = openDatabase('postgresql://postgres@127.0.0.1:1/none', 1)
  t.teardown(() => nowhere.close())
  const away = await nowhere.system.workspace.count().catch((error) => error)
  t.ok(isDatabaseAway(away))
  t.notOk(isRowFault(away))
  const awayRaw = await nowhere.system.$queryRaw`SELECT 1`.catch((error) => error)
  t.ok(isDatabaseAway(awayRaw), 'by raw SQL too')
  const refusedRun = await database
    .run('refused', 'SELECT $1::jsonb', ['{"a":"\\u0000"}'])
    .catch((error) => error)
  t.ok(isRowFault(refusedRun), 'and past Prisma')
  t.notOk(isDatabaseAway(refusedRun))
  const awayRun = await nowhere.run('away', 'SELECT 1', []).catch((error) => error)
  t.ok(isDatabaseAway(awayRun))
  t.notOk(isRowFault(awayRun))
})

t.test('a process that warms up has two connections for statements and two for reads', async (t) => {
  const url = new URL(process.env.DATABASE_URL ?? '')
  url.searchParams.set('application_name', newId())
  const warm = openDatabase(url.href, 9)
  t.teardown(() => warm.close())
  await warm.warmUp()
  t.strictSame(warm.poolUse(), { busy: 0, idle: 2, waiting: 0, limit: 9 })
  const [row] = await database.run<{ count: number }>(
    'count_of_name',
    'SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = $1',
    [url.searchParams.get('application_name')],
  )
  t.equal(row?.count, 4)
})

t.test('a statement without Prisma is prepared under its name, and returns rows', async (t) => {
  for (const number of [1, 2]) {
    const rows = await database.run<{ sum: number }>('add_one', 'SELECT $1::int + 1 AS sum', [number])
    t.strictSame(rows, [{ sum: number + 1 }])
  }
})

t.test('the id of an execution depends on its event and rule only', async (t) => {
  const event = { id: newId(), addressee: null }
  const ruleId = newId()
  const id = executionIdOf(event, ruleId)
  t.ok(isUuid(id))
  t.equal(id, executionIdOf(event, ruleId))
  t.equal(id.slice(0, 13), event.id.slice(0, 13), 'it sorts with its event')
  t.match(id, /^.{14}8.{4}[89ab]/, 'it is a version 8, variant RFC 9562')
  t.not(id, executionIdOf(event, newId()))
  t.not(id, executionIdOf({ id: newId(), addressee: null }, ruleId))
  t.equal(
    executionIdOf({ id: event.id, addressee: { kind: 'rule' } }, ruleId),
    event.id,
    'executed by hand, it is the event',
  )
})

t.test('Prisma writes no JSON whose texts Postgres refuses to read', async (t) => {
  const { ruleId, own } = await createWorkspaceWithRule()
  const bad = { 'a\0': 'b\0c', half: 'x\ud83d', list: ['\ude00\ud83d', '\\u0000 and \\ud83d', '😀'] }
  const good = { a: 'bc', half: 'x\ufffd', list: ['\ufffd\ufffd', '\\u0000 and \\ud83d', '😀'] }
  const where = { id: ruleId }
  const readActions = async () => {
    const [rule] = await database.system.$queryRaw<{ actions: object; halves: string[] }[]>`
      SELECT actions::jsonb AS actions, ARRAY(SELECT action ->> 'half' FROM json_array_elements(actions) AS action) AS halves
      FROM rules WHERE id = ${ruleId}::uuid`
    return rule
  }
  const stored = { actions: [good], halves: ['x\ufffd'] }
  await own.rule.update({ where, data: { actions: [bad] } })
  t.strictSame(await readActions(), stored)
  await own.rule.update({ where, data: { actions: [] } })
  await own.$transaction(async (transaction) => {
    await transaction.rule.updateMany({ where, data: { actions: [bad] } })
  })
  t.strictSame(await readActions(), stored, 'within a transaction')
  const entry = { workspaceId: '', actor: 'test', action: 'rule.created', subject: ruleId, details: bad }
  const ids = [newId(), newId()]
  await own.auditEntry.createMany({ data: ids.map((id) => ({ ...entry, id })) })
  t.match(await own.auditEntry.findMany({ where: { id: { in: ids } } }), [
    { details: good },
    { details: good },
  ])
})
