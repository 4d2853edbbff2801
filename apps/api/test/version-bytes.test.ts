import { firstIdOf, newId, Prisma } from '@automation/database'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const api = await startApi(t)
const hourMs = 60 * 60 * 1_000
const mebibyte = 1_048_576

/** Creates a rule with versions of 1, 2, … hours ago, the first being the oldest. The last one is the present one. */
async function createRule({ call, database, id: workspaceId }: Workspace, versions: number, bytes: number) {
  const { body: rule } = await call<Rule>('POST', rules, { body: ruleBody() })
  const { name, description, trigger } = rule
  const definition = { name, description, trigger, conditions: [], actions: [] }
  await database.ruleVersion.deleteMany({ where: { ruleId: rule.id } })
  await database.ruleVersion.createMany({
    data: Array.from({ length: versions }, (_, index) => ({
      ...definition,
      ruleId: rule.id,
      workspaceId,
      version: index + 1,
      createdAt: hoursAgo(versions - index),
      createdBy: 'test',
      bytes,
    })),
  })
  await database.rule.update({ where: { id: rule.id }, data: { version: versions } })
  return rule.id
}

function hoursAgo(hours: number): Date {
  return new Date(Date.now() - hours * hourMs)
}

const change = ({ call }: Workspace, id: string) =>
  call('PUT', `${rules}/${id}`, { body: { description: newId() } })
const versionsOf = async ({ database }: Workspace, ruleId: string) =>
  (await database.ruleVersion.findMany({ where: { ruleId }, orderBy: { version: 'asc' } })).map(
    ({ version }) => version,
  )

async function execute({ id: workspaceId, database }: Workspace, ruleId: string, runs: [number, number][]) {
  await database.execution.createMany({
    data: runs.map(([ruleVersion, hours]) => ({
      id: firstIdOf(hoursAgo(hours).getTime()).slice(0, 13) + newId().slice(13),
      workspaceId,
      eventId: newId(),
      eventType: 'LEAD_CREATED',
      handlerId: ruleId,
      ruleVersion,
      status: 'succeeded' as const,
      results: [],
      startedAt: hoursAgo(hours),
      finishedAt: hoursAgo(hours),
    })),
  })
}

t.test('beyond 64 MiB a save removes the oldest versions that no stored execution needs', async (t) => {
  const workspace = await api.makeWorkspace()
  const other = await api.makeWorkspace()
  const elsewhere = await createRule(other, 4, mebibyte)
  const quiet = await createRule(workspace, 12, mebibyte)
  const used = await createRule(workspace, 8, 7 * mebibyte)
  // An event of seven hours ago that had waited: it ran with the version of four hours ago.
  await execute(workspace, used, [
    [1, 8],
    [5, 7],
    [8, 0],
  ])
  t.equal((await change(workspace, quiet)).status, 200)
  t.same(await versionsOf(workspace, quiet), [7, 8, 9, 10, 11, 12, 13], 'the oldest of all rules')
  t.same(await versionsOf(workspace, used), [1, 3, 4, 5, 6, 7, 8], 'not the two that were executed')
  t.same(await versionsOf(other, elsewhere), [1, 2, 3, 4])
  t.equal((await change(workspace, used)).status, 200)
  t.equal((await versionsOf(workspace, quiet)).length, 7, 'there is room for some more saves')
})

t.test(
  'where all versions are needed, a save is a 409 that names the limit, and rules can be stopped',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call, database } = workspace
    const id = await createRule(workspace, 8, 8 * mebibyte)
    await execute(
      workspace,
      id,
      [1, 2, 3, 4, 5, 6].map((version) => [version, 9 - version]),
    )
    await database.ruleVersion.updateMany({
      where: { version: { gt: 6 } },
      data: { createdAt: hoursAgo(0.9) },
    })
    const refused = await change(workspace, id)
    t.match(refused, { status: 409, body: { error: /64 MiB/ } })
    t.same(await versionsOf(workspace, id), [1, 2, 3, 4, 5, 6, 7, 8])
    t.match(await call('POST', rules, { body: ruleBody() }), { status: 409, body: { error: /64 MiB/ } })
    t.equal((await call('PATCH', `${rules}/${id}/toggle`)).status, 200)
    t.equal((await call('DELETE', `${rules}/${id}`)).status, 204)
    t.equal((await call('POST', rules, { body: ruleBody() })).status, 201, 'its versions went with it')
  },
)

t.test('of a rule with a long history, only versions from before it are removed', async (t) => {
  const workspace = await api.makeWorkspace()
  const id = await createRule(workspace, 8, 8 * mebibyte)
  // The oldest 100 executions, of 4 to 3.5 hours ago, began with version 5. What comes after them is not read.
  await execute(
    workspace,
    id,
    Array.from({ length: 300 }, (_, index) => [5, 4 - index / 200]),
  )
  t.equal((await change(workspace, id)).status, 200)
  t.same(await versionsOf(workspace, id), [3, 4, 5, 6, 7, 8, 9])
  await workspace.database.ruleVersion.updateMany({ where: { version: 9 }, data: { bytes: 24 * mebibyte } })
  t.equal((await change(workspace, id)).status, 409)
})

t.test('the versions of deleted rules count what is stored of them', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call, database, id: workspaceId } = workspace
  const first = await createRule(workspace, 2, 0)
  const second = await createRule(workspace, 1, 2_000)
  await database.ruleVersion.updateMany({ where: { ruleId: first }, data: { name: 'ä'.repeat(200) } })
  await call('DELETE', `${rules}/${first}`)
  const counted = await database.$queryRaw<{ bytes: number; stored: number }[]>(Prisma.sql`
    SELECT bytes, pg_column_size(deleted_rule_versions.*) AS stored FROM deleted_rule_versions
    WHERE workspace_id = ${workspaceId}::uuid`)
  t.equal(counted.length, 2)
  for (const { bytes, stored } of counted) t.ok(bytes >= stored + 512, `${bytes} for ${stored} in the table`)
  await database.deletedRuleVersion.updateMany({ data: { bytes: 32 * mebibyte } })
  await call('DELETE', `${rules}/${second}`)
  t.match(
    await database.deletedRuleVersion.findMany({ orderBy: { deletedAt: 'asc' } }),
    [{ version: 2 }, { ruleId: second }],
    'the oldest goes beyond the limit',
  )
})
