import { firstIdOf, newId, openPatiently } from '@automation/database'
import t from 'tap'
import {
  mostCounted,
  rankWorkspaces,
  type WorkspaceFigure,
  workspaceFigures,
} from '../src/rank-workspaces.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())
const hourMs = 3_600_000
const now = Date.now()

let count = 0
/** An id of so many hours ago. */
const idOf = (hours: number) =>
  firstIdOf(now - hours * hourMs).slice(0, -12) + (count++).toString(16).padStart(12, '0')

/** Those of this test: other tests have workspaces, too. */
const names = new Map<string, string>()

async function makeWorkspace(name: string) {
  const id = newId()
  names.set(id, name)
  await database.system.workspace.create({ data: { id, name } })
  const own = database.forWorkspace(id)
  return {
    id,
    accept: (hours: number[], text = '') =>
      own.event.createMany({
        data: hours.map((ago) => ({ id: idOf(ago), workspaceId: id, type: 'LEAD_CREATED', data: { text } })),
      }),
    run: (status: 'failed' | 'succeeded' | 'cancelled', hours: number[]) =>
      own.execution.createMany({
        data: hours.map((ago) => ({
          id: idOf(ago),
          workspaceId: id,
          eventId: newId(),
          eventType: 'LEAD_CREATED',
          handlerId: newId(),
          ruleVersion: 1,
          status,
          results: [],
          startedAt: new Date(now),
          finishedAt: new Date(now),
        })),
      }),
    refuse: (ago: number, rejected: number) =>
      own.webhookTally.create({
        data: {
          workspaceId: id,
          hour: new Date(Math.floor((now - ago * hourMs) / hourMs) * hourMs),
          rejected,
        },
      }),
  }
}

const rank = async (by: WorkspaceFigure, hours = 1, options: { top?: number; forMs?: number } = {}) => {
  const ranking = await rankWorkspaces(database, {
    by,
    since: now - hours * hourMs,
    top: 100_000,
    forMs: 300_000,
    ...options,
  })
  const own = ranking.workspaces.filter(({ id }) => names.has(id))
  return { ...ranking, own, figures: own.map(({ name, figure }) => `${name} ${figure}`) }
}

t.test(
  'workspaces are ranked by events, failures, refusals, bytes and rules, of the time that is asked for',
  async (t) => {
    const [busy, failing, quiet] = [
      await makeWorkspace('busy'),
      await makeWorkspace('failing'),
      await makeWorkspace('quiet'),
    ]
    await busy.accept([0.1, 0.2, 0.3, 30])
    await failing.accept([0.1], Array.from({ length: 3_000 }, () => newId()).join(' '))
    await failing.run('failed', [0.1, 0.2, 5])
    await busy.run('failed', [0.1])
    await busy.run('cancelled', [0.1, 0.2, 0.3])
    await busy.run('succeeded', [0.1, 0.2, 0.3])
    await quiet.refuse(0, 7)
    await quiet.refuse(5, 100)
    await busy.refuse(0, 2)
    await database.forWorkspace(quiet.id).rule.create({
      data: {
        id: newId(),
        workspaceId: quiet.id,
        name: 'x',
        description: '',
        trigger: 'LEAD_CREATED',
        conditions: [],
        actions: [],
        isActive: false,
      },
    })
    t.match(await rank('events'), { figures: ['busy 3', 'failing 1'], isComplete: true })
    t.match(await rank('events', 48), { figures: ['busy 4', 'failing 1'] })
    t.equal((await rank('events', 1, { top: 1 })).workspaces.length, 1)
    t.strictSame((await rank('failures')).figures, ['failing 2', 'busy 1'])
    t.strictSame((await rank('failures', 6)).figures, ['failing 3', 'busy 1'])
    t.strictSame((await rank('refusals', 0)).figures, ['quiet 7', 'busy 2'])
    t.strictSame((await rank('refusals', 6)).figures, ['quiet 107', 'busy 2'])
    t.strictSame((await rank('rules')).figures, ['quiet 1'])
    const bytes = await rank('bytes')
    t.match(bytes.own.slice(0, 2), [{ name: 'failing' }, { name: 'busy' }])
    t.ok((bytes.own[0]?.figure ?? 0) > 20_000)
    t.equal(bytes.since, null, 'it is what there is now')
  },
)

t.test('of one workspace a bounded number is counted, and the figure says so', async (t) => {
  const large = await makeWorkspace('large')
  await database.run(
    'many_events',
    `INSERT INTO events (id, workspace_id, type, data)
     SELECT ($2::text || lpad(to_hex(n), 12, '0'))::uuid, $1::uuid, 'LEAD_CREATED', '{}' FROM generate_series(1, $3::int) AS n`,
    [large.id, firstIdOf(now).slice(0, -12).replace('-8000-', '-9000-'), mostCounted + 10],
  )
  const { own } = await rank('events')
  t.match(own[0], { name: 'large', figure: mostCounted, isAtLeast: true })
  t.match(own[1], { name: 'busy', isAtLeast: false })
  await database.system.event.deleteMany({ where: { workspaceId: large.id } })
})

t.test('many workspaces are counted in slices, until the time is over', async (t) => {
  const data = Array.from({ length: 1_000 }, (_, index) => ({ id: newId(), name: `many ${index}` }))
  await database.system.workspace.createMany({ data })
  for (const by of workspaceFigures) {
    const { counted, isComplete } = await rank(by)
    t.ok(counted >= 1_000 && isComplete, by)
  }
  const short = await rank('events', 1, { forMs: 0 })
  t.match(short, { counted: 50, isComplete: false })
})
