import { highestId, newId, openPatiently, Prisma } from '@automation/database'
import t from 'tap'
import { rowsBehind } from '../src/turns/rows-behind.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

interface Step {
  'Actual Rows': number
  'Actual Loops': number
  Plans?: Step[]
}

function readBy({ Plans = [], ...step }: Step): number {
  return Plans.length === 0
    ? step['Actual Rows'] * step['Actual Loops']
    : Plans.map(readBy).reduce((sum, rows) => sum + rows)
}

t.test('a walk reads the rows of its page, though its workspace is the last one of all', async (t) => {
  const { system } = database
  const [size, stored] = [20, 3_000]
  const workspaceId = highestId.slice(0, 24) + newId().slice(24)
  await system.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data, done_at)
    SELECT gen_random_uuid(), ${workspaceId}::uuid, 'LEAD_CREATED', '{}', now() FROM generate_series(1, ${stored}::int)`
  t.teardown(() => system.$executeRaw`DELETE FROM events WHERE workspace_id = ${workspaceId}::uuid`)
  await system.$executeRaw`ANALYZE events`
  const seen: string[] = []
  for (let after: string | null = null; ; ) {
    const page = Prisma.sql`
      SELECT id FROM events WHERE ${rowsBehind(workspaceId, after)} AND done_at IS NOT NULL ORDER BY workspace_id, id LIMIT ${size}`
    if (seen.length < 3 * size) {
      const [explained] = await system.$queryRaw<{ 'QUERY PLAN': [{ Plan: Step }] }[]>(
        Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${page}`,
      )
      const rows = explained ? readBy(explained['QUERY PLAN'][0].Plan) : Number.NaN
      t.ok(rows < 2 * size, `a page of ${size} reads ${rows} rows`)
    }
    const found: { id: string }[] = await system.$queryRaw<{ id: string }[]>(page)
    seen.push(...found.map(({ id }) => id))
    after = found.at(-1)?.id ?? null
    if (found.length < size) break
  }
  const all = await system.event.findMany({
    where: { workspaceId },
    orderBy: { id: 'asc' },
    select: { id: true },
  })
  t.strictSame(
    seen,
    all.map(({ id }) => id),
    'it comes by each row once',
  )
})
