import { setTimeout } from 'node:timers/promises'
import { executionIdOf, newId } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import {
  createOldestDue,
  finishEvents,
  finishKeyedEvents,
  type LoadedEvent,
  loadEvents,
  makeTicks,
  noteCrash,
  TimeOuts,
  unparkSome,
} from '@automation/ledger'
import {
  changeRules,
  createRules,
  deleteWorkspace,
  keepWorkspace,
  resumeWorkspace,
  suspendWorkspace,
} from '@automation/rules'
import t, { type Test } from 'tap'
import { createHarness, type Harness, onOwnDatabase } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const call = (url: string) => ({ type: 'SEND_WEBHOOK', config: { url } })
const admin = ({ database, workspaceId }: Pick<Harness, 'database' | 'workspaceId'>, actor = 'user:ada') => {
  return { database, workspaceId, actor }
}

/** A sweeper handles all workspaces. */
async function createQuietHarness(t: Test): Promise<Harness> {
  return createHarness(t, await onOwnDatabase())
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(20)
}

const parkedOf = ({ own }: Harness) => own.execution.count({ where: { parked: true } })

t.test(
  'the call in progress ends and is recorded, and the next one begins after the resumption',
  async (t) => {
    const harness = await createQuietHarness(t)
    const answered: number[] = []
    const target = await openTarget(t, async (_request, response) => {
      if (target.calls.length === 1) {
        await suspendWorkspace(admin(harness))
        // What a worker holds it leaves within two seconds.
        await setTimeout(2_000)
      }
      answered.push(target.calls.length)
      response.end()
    })
    const ruleId = await harness.createRule([call(target.url), call(target.url)])
    harness.startWorker()
    harness.startSweeper()
    const id = await harness.trigger(ruleId)
    await until(async () => (await parkedOf(harness)) === 1)
    const parked = await harness.own.execution.findUniqueOrThrow({ where: { id } })
    const results = parked.results as unknown as ActionResult[]
    t.match(results[0], { status: 'success', attempts: [{ finishedAt: String }] }, 'the attempt is recorded')
    t.equal(target.calls.length, 1, 'and the next call has not begun')
    await resumeWorkspace(admin(harness))
    await harness.untilStatus(id, 'succeeded')
    t.strictSame(answered, [1, 2], 'each call is made once')
    await until(async () => !(await harness.database.system.workspace.findFirstOrThrow()).hasParked)
  },
)

t.test('a worker that stood still does not finish an event that was parked meanwhile', async (t) => {
  const harness = await createQuietHarness(t)
  const ruleId = await harness.createRule([task])
  const event = harness.newEvent()
  await harness.own.event.create({
    data: { id: event.id, workspaceId: harness.workspaceId, type: event.type, data: {} },
  })
  const [loaded] = await loadEvents(harness.database, [event.id])
  await harness.own.event.update({ where: { id: event.id }, data: { parked: true } })
  const outcome = { event: loaded as LoadedEvent, ruleSetId: ruleId, rulesVersion: 1, executions: [] }
  t.match(await finishEvents(harness.database, [outcome]), { held: [undefined] })
  t.match(await finishKeyedEvents(harness.database, [{ ...outcome, waitKeys: [newId()] }]), {
    held: [undefined],
  })
  t.match(await harness.own.event.findFirst(), { doneAt: null }, 'it is run again, where it is unparked')
  t.equal(await harness.own.eventKey.count(), 0)
})

t.test('nothing starts, and an event from before and a WAIT that came due go on afterwards', async (t) => {
  const harness = await createQuietHarness(t)
  const waiting = await harness.createRule([{ type: 'WAIT', config: { duration: '1s' } }, task], 'DEAL_WON')
  const ruleId = await harness.createRule([task])
  harness.startWorker()
  harness.startSweeper()
  const waits = await harness.trigger(waiting, 'DEAL_WON')
  await harness.untilStatus(waits, 'waiting')
  await suspendWorkspace(admin(harness))
  // It passed the check of the API before.
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  await until(async () => (await parkedOf(harness)) === 1)
  await until(async () => (await harness.own.event.count({ where: { parked: true } })) === 1)
  t.match(await harness.own.execution.findMany(), [{ id: waits, status: 'waiting' }], 'it waits as before')
  await deleteWorkspace(admin(harness), 'Test')
  await keepWorkspace(admin(harness))
  t.equal(await parkedOf(harness), 1, 'it is suspended as it was before its deletion was asked for')
  await resumeWorkspace(admin(harness))
  await harness.untilStatus(waits, 'succeeded')
  await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded')
  t.equal(await harness.own.task.count(), 2)
})

t.test(
  'a backlog of a suspended workspace leaves the sweeper, the probes and other workspaces alone',
  async (t) => {
    const harness = await createQuietHarness(t)
    const { database, workspaceId } = harness
    const count = 20_000
    await database.system.$executeRaw`
    INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at)
    SELECT gen_random_uuid(), ${workspaceId}::uuid, gen_random_uuid(), 'LEAD_CREATED', gen_random_uuid(), 1, 'waiting', '[]', now(), now() - interval '1 hour'
    FROM generate_series(1, ${count}::int)`
    await database.system.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data, accepted_at)
    SELECT uuidv, ${workspaceId}::uuid, 'LEAD_CREATED', '{}', now() - interval '1 hour'
    FROM (SELECT gen_random_uuid() AS uuidv FROM generate_series(1, 1000)) AS ids`
    await suspendWorkspace(admin(harness))
    const other = { ...harness, workspaceId: newId() }
    await database.system.workspace.create({ data: { id: other.workspaceId, name: 'Other' } })
    const restored = new Set<string>()
    const { startSweeper } = await import('../src/repair/sweeper.js')
    const { log } = await import('./fixtures/harness.js')
    const note = async (id: string) => restored.size < restored.add(id).size
    const sweeper = startSweeper(
      database,
      { restore: (id) => note(id), restoreDue: ({ executionId }) => note(executionId) },
      log,
    )
    t.teardown(() => sweeper.stop())
    const oldest = createOldestDue(database)
    await until(async () => (await parkedOf(harness)) === count && (await oldest()) < 60)
    t.equal(await harness.own.event.count({ where: { parked: true } }), 1_000)
    t.equal(restored.size, 0, 'no job is restored')
    const late = newId()
    await database.forWorkspace(other.workspaceId).event.create({
      data: {
        ...harness.newRow(),
        id: late,
        workspaceId: other.workspaceId,
        acceptedAt: new Date(Date.now() - 5_000),
      },
    })
    await until(async () => restored.has(late))
    t.equal(restored.size, 1)
    await resumeWorkspace(admin(harness))
    await until(async () => (await parkedOf(harness)) === 0)
    await until(async () => restored.size > 1_000)
    t.ok((await oldest()) < 60, 'what was parked is due from now on')
  },
)

t.test('a schedule goes on with its next tick: those in between are neither made nor missed', async (t) => {
  const harness = await createQuietHarness(t)
  const { database, workspaceId } = harness
  const rule = {
    ...{ name: 'Rule', description: '', labels: [], group: null, order: null, perKey: null, conditions: [] },
    ...{ trigger: 'SCHEDULE', schedule: { every: '1m' }, actions: [task], isActive: true, mode: 'live' },
  }
  await changeRules(admin(harness), async (transaction) => {
    await createRules(transaction, admin(harness), [rule])
    return { result: undefined, entry: { action: 'rule.created', subject: 'test' } }
  })
  // Its last tick was made long ago.
  await harness.own.rule.updateMany({ data: { nextRunAt: new Date(Date.now() - 100 * 60_000) } })
  await suspendWorkspace(admin(harness))
  t.match(await makeTicks(database), { events: { length: 0 } })
  t.match(await harness.own.rule.findFirst(), { nextRunAt: null })
  await resumeWorkspace(admin(harness))
  const resumed = await harness.own.rule.findFirstOrThrow()
  t.ok((resumed.nextRunAt as Date).getTime() > Date.now() - 1_000)
  t.equal(resumed.missedTicks, 0)
  t.match(await makeTicks(database), { events: { length: 0 } })
  t.equal(await database.forWorkspace(workspaceId).event.count(), 0)
})

t.test(
  'two admins at once leave one of the states, and nothing stays parked in an active workspace',
  async (t) => {
    const harness = await createQuietHarness(t)
    const { database } = harness
    harness.startSweeper()
    const changes = [
      () => suspendWorkspace(admin(harness)),
      () => resumeWorkspace(admin(harness)),
      () => deleteWorkspace(admin(harness), 'Test'),
      () => keepWorkspace(admin(harness)),
      () => suspendWorkspace(admin(harness, 'cli:ops')),
      () => resumeWorkspace(admin(harness, 'cli:ops')),
    ]
    let seed = 20261129
    const draw = () => {
      seed = (seed * 48271) % 2147483647
      return seed
    }
    for (let round = 0; round < 20; round++) {
      await harness.own.event.create({
        data: { ...harness.newRow(), acceptedAt: new Date(Date.now() - 10_000) },
      })
      const drawn = Array.from(
        { length: 4 },
        () => changes[draw() % changes.length] as () => Promise<unknown>,
      )
      await Promise.allSettled(drawn.map((change) => change()))
      const { suspendedAt, suspendedBy, deletesAt, deletionAskedBy } =
        await database.system.workspace.findFirstOrThrow()
      t.equal(suspendedAt === null, suspendedBy === null)
      t.equal(deletesAt === null, deletionAskedBy === null)
    }
    await keepWorkspace(admin(harness, 'cli:ops'))
    await resumeWorkspace(admin(harness, 'cli:ops'))
    await until(async () => {
      await unparkSome(database, () => false)
      return !(await database.system.workspace.findFirstOrThrow()).hasParked
    })
    t.equal(await harness.own.event.count({ where: { parked: true } }), 0)
  },
)

t.test('a rule that the service changes meanwhile has no tick before the resumption', async (t) => {
  const harness = await createQuietHarness(t)
  const rule = {
    ...{ name: 'Rule', description: '', labels: [], group: null, order: null, perKey: null, conditions: [] },
    ...{ trigger: 'SCHEDULE', schedule: { every: '1m' }, actions: [task], isActive: true, mode: 'live' },
  }
  await suspendWorkspace(admin(harness))
  const guard = admin(harness, 'system:guard')
  await changeRules(guard, async (transaction) => {
    await createRules(transaction, guard, [rule])
    return { result: undefined, entry: { action: 'rule.created', subject: 'test' } }
  })
  t.match(await harness.own.rule.findFirst(), { nextRunAt: null })
  await resumeWorkspace(admin(harness))
  t.match(await harness.own.rule.findFirst(), { nextRunAt: Date })
})

t.test('a look at the backlog from before the resumption ends no WAIT of the workspace', async (t) => {
  const harness = await createQuietHarness(t)
  const { database, workspaceId } = harness
  await suspendWorkspace(admin(harness))
  await harness.own.event.create({
    data: { ...harness.newRow(), parked: true, acceptedAt: new Date(Date.now() - 5_000) },
  })
  // The longer it takes, the longer it serves.
  const run: typeof database.run = async (...statement) => {
    const rows = await database.run<never>(...statement)
    await setTimeout(500)
    return rows
  }
  const timeOuts = new TimeOuts({ run })
  const wait = { workspaceId, eventType: 'LEAD_CREATED', until: Date.now() - 3_000 }
  t.equal(await timeOuts.isOver({ ...wait, workspaceId: newId() }), true, 'that of another one ends')
  await resumeWorkspace(admin(harness))
  t.equal(await timeOuts.isOver(wait), false, 'the parked event may end it')
})

t.test('a job that comes while the workspace is suspended counts as no crash of its event', async (t) => {
  const harness = await createQuietHarness(t)
  const { database, own } = harness
  const event = harness.newRow()
  await own.event.create({ data: { ...event, crashes: 4 } })
  await suspendWorkspace(admin(harness))
  t.equal(await noteCrash(database, event.id), 'done', 'it is not run')
  t.match(await own.event.findFirst(), { crashes: 4, quarantined: false, doneAt: null })
  await resumeWorkspace(admin(harness))
  t.equal(await noteCrash(database, event.id), 'quarantined')
})

t.test('workers that unpark at once share the rows: none is written twice', async (t) => {
  const harness = await createQuietHarness(t)
  const { database, workspaceId } = harness
  const count = 6_000
  await database.system.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data, parked)
    SELECT gen_random_uuid(), ${workspaceId}::uuid, 'LEAD_CREATED', '{}', true FROM generate_series(1, ${count}::int)`
  await database.system.workspace.updateMany({ data: { hasParked: true } })
  const sums = await Promise.all([1, 2, 3].map(() => unparkSome(database, () => false)))
  t.equal(
    sums.reduce((sum, one) => sum + one),
    count,
    `${sums}`,
  )
  await until(async () => {
    await unparkSome(database, () => false)
    return !(await database.system.workspace.findFirstOrThrow()).hasParked
  })
  t.equal(await harness.own.event.count({ where: { parked: true } }), 0)
})
