import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { openMetrics } from '@automation/process/telemetry'
import t from 'tap'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { createHarness, type Harness } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

/** An automaton builds a new state of this pattern at each of these letters. */
const pattern = '(?i)a[ab]{400}[cd]'
const text = Array.from({ length: 4_000 }, (_, n) => 'ab'[((n * n * 31 + (n >> 3) * 17) % 7) % 2]).join('')
/** The work of the pattern and the text is less than these. */
const workLimits = { rule: 2_000_000, event: 6_000_000 }

async function createLongRule(harness: Harness): Promise<void> {
  const id = await harness.createRule([task])
  const conditions = [{ field: 'text', operator: 'not_matches', value: pattern }]
  await harness.own.rule.update({ where: { id }, data: { conditions } })
}

/** Another workspace, with a rule that matches all events. */
async function createQuiet({ database }: Harness): Promise<string> {
  const id = newId()
  await database.system.workspace.create({ data: { id, name: 'Quiet' } })
  const definition = {
    name: 'Rule',
    description: '',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [task],
  }
  await database.forWorkspace(id).rule.create({
    data: {
      ...definition,
      workspaceId: id,
      id: newId(),
      isActive: true,
      counters: { create: { workspaceId: id } },
    },
  })
  return id
}

t.test('long events of one owner do not hold the events of another', async (t) => {
  const harness = await createHarness(t, {}, { workLimits })
  await createLongRule(harness)
  const quietId = await createQuiet(harness)
  const metrics = createWorkerMetrics(openMetrics())
  harness.startWorker(metrics)
  // So many that the quiet one is not late where Postgres answers slowly: meanwhile the worker goes on with these.
  const count = 440
  const long = Array.from({ length: count }, () => ({ ...harness.newEvent(), data: { text } }))
  await Promise.all(long.map((event) => harness.inbox.accept(event)))
  const countUndone = () => harness.own.event.count({ where: { doneAt: null } })
  const quiet = { ...harness.newEvent(), workspaceId: quietId }
  await harness.inbox.accept(quiet)
  const { event } = harness.database.forWorkspace(quietId)
  while ((await event.findUniqueOrThrow({ where: { id: quiet.id } })).doneAt === null) await setTimeout(5)
  t.ok((await countUndone()) > count / 2, 'it is done before most of them')
  await harness.own.event.updateMany({ where: { doneAt: null }, data: { data: {} } })
  while ((await countUndone()) > 0) await setTimeout(50)
  t.equal(await harness.own.execution.count(), count, 'each is done once')
  const [postponed] = (await metrics.jobsPostponed.get()).values
  t.ok((postponed?.value ?? 0) > 0)
})

t.test('long conditions behind a WAIT do not hold the events of another owner', async (t) => {
  const harness = await createHarness(t, {}, { workLimits })
  const when = { field: 'text', operator: 'not_matches', value: pattern }
  const count = 120
  for (let n = 0; n < count; n++)
    await harness.createRule([
      { type: 'WAIT', config: { duration: '1s' } },
      { ...task, when },
    ])
  const quietId = await createQuiet(harness)
  harness.startWorker()
  harness.startSweeper()
  await harness.inbox.accept({ ...harness.newEvent(), data: { text } })
  const countOpen = () => harness.own.execution.count({ where: { finishedAt: null } })
  while ((await countOpen()) === 0) await setTimeout(20)
  while ((await countOpen()) > count - 2) await setTimeout(20)
  const quiet = { ...harness.newEvent(), workspaceId: quietId }
  await harness.inbox.accept(quiet)
  const { event } = harness.database.forWorkspace(quietId)
  while ((await event.findUniqueOrThrow({ where: { id: quiet.id } })).doneAt === null) await setTimeout(5)
  t.ok((await countOpen()) > count / 2, 'it is done before most of them')
  await harness.own.event.updateMany({ data: { data: {} } })
  while ((await countOpen()) > 0) await setTimeout(50)
  const ended = await harness.own.execution.groupBy({ by: ['status'], _count: true })
  t.same(
    ended.map(({ _count }) => _count),
    [count],
  )
})
