import { setTimeout } from 'node:timers/promises'
import { executionIdOf, newId } from '@automation/database'
import { openMetrics } from '@automation/process/telemetry'
import t, { type Test } from 'tap'
import { HeavyWork, Postponed } from '../src/running/heavy-work.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { createHarness, type Harness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

const heavyUnits = 5_000_000
const work = async () => 'done'

/** Begins work that runs until `end` is called. */
async function holdLine(heavy: HeavyWork, job: object) {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let running = Promise.resolve()
  await new Promise<void>((begin) => {
    running = heavy.run('a', job, () => {
      begin()
      return ended
    })
  })
  return {
    async end() {
      end()
      await running
    },
  }
}

function createWork(unitsPerSecond?: number) {
  const clock = { now: 1_000_000 }
  return { clock, heavy: new HeavyWork(unitsPerSecond, 12, () => clock.now) }
}

t.test('light events are not counted, however many there are', async (t) => {
  const { heavy } = createWork()
  for (let n = 0; n < 10_000; n++) {
    heavy.check('flood', {})
    heavy.charge({ workspaceId: 'flood' }, 4_000, 90)
  }
  t.equal(heavy.isExceeded('flood'), false)
})

t.test('many events of moderate cost are as heavy as a few large ones', async (t) => {
  const { heavy } = createWork()
  for (let n = 0; n < 100; n++) heavy.charge({ workspaceId: 'a' }, 50_000, 1)
  t.equal(heavy.isExceeded('a'), true)
})

t.test('the jobs of many heavy workspaces leave slots to others', async (t) => {
  const { heavy } = createWork()
  const line = []
  for (const workspaceId of ['a', 'b', 'c', 'd']) heavy.charge({ workspaceId }, heavyUnits, 0)
  for (const workspaceId of ['a', 'b', 'c']) line.push(heavy.run(workspaceId, {}, work))
  t.throws(() => heavy.check('d', {}), { message: /take turns/ }, 'three of twelve jobs wait')
  t.same(await Promise.all(line), ['done', 'done', 'done'])
  t.equal(await heavy.run('d', {}, work), 'done')
})

t.test(
  'beyond its allowance one job of a workspace waits in the line, and others are postponed',
  async (t) => {
    const { clock, heavy } = createWork()
    const [first, second] = [{}, {}]
    heavy.check('a', first)
    heavy.charge({ workspaceId: 'a' }, heavyUnits, 0)
    const line = await holdLine(heavy, first)
    const inLine = heavy.run('a', first, work)
    await t.rejects(heavy.run('a', second, work), { message: /take turns/ })
    t.throws(() => heavy.check('a', second), { message: /take turns/ })
    t.doesNotThrow(() => heavy.check('a', first))
    t.equal(await heavy.run('b', second, work), 'done', 'another workspace is not delayed')
    clock.now += 10_000
    t.equal(await heavy.run('a', second, work), 'done', 'the allowance comes back with time')
    await line.end()
    t.equal(await inLine, 'done')
  },
)

t.test('an event that turns out to be heavy is charged before its cost is known', async (t) => {
  const { heavy } = createWork()
  const [first, second, third] = [{ workspaceId: 'a' }, { workspaceId: 'a' }, { workspaceId: 'a' }]
  heavy.depositRows(first, 30)
  heavy.depositRows(first, 30)
  heavy.depositRows(second, 30)
  t.equal(await heavy.run('a', {}, work), 'done')
  heavy.depositRows(third, 30)
  const line = await holdLine(heavy, {})
  t.throws(() => heavy.check('a', {}), { message: /take turns/ })
  await line.end()
  for (const event of [first, second, third]) heavy.charge(event, 300_000, 0)
  const job = {}
  const [one, other] = [heavy.run('a', job, work), heavy.run('a', {}, work)]
  t.same(await Promise.all([one, other]), ['done', 'done'], 'what it did not cost is given back')
})

t.test('what an event has cost so far is not taken back while it begins its executions', async (t) => {
  const { clock, heavy } = createWork()
  const event = { workspaceId: 'a' }
  heavy.depositEvaluation(event, 20_000_000)
  heavy.depositRows(event, 30)
  t.equal(heavy.isExceeded('a'), true)
  clock.now += 3_000
  t.equal(heavy.isExceeded('a'), true, 'twenty million are more than three seconds of the allowance')
})

t.test('a heavy event gives way between its slices, where others have events', async (t) => {
  const { clock, heavy } = createWork()
  const event = { workspaceId: 'a' }
  const giveWay = () =>
    Promise.race([heavy.giveWay(event, 400).then(() => 'at once'), setTimeout(200, 'rests')])
  heavy.check('a', {})
  clock.now += 10_000
  t.equal(await giveWay(), 'at once', 'nobody else has events')
  heavy.check('b', {})
  t.equal(await giveWay(), 'rests')
  clock.now += 10_000
  heavy.check('b', {})
  t.equal(await giveWay(), 'rests', 'the only other workspace has had events all the time')
  clock.now += 10_000
  t.equal(await giveWay(), 'at once')
})

t.test('the slices of several heavy events are one after another, each with its rest', async (t) => {
  const { clock, heavy } = createWork()
  heavy.check('quiet', {})
  heavy.check('a', {})
  clock.now += 1
  const startedAt = performance.now()
  const rests = ['a', 'a', 'b'].map(async (workspaceId) => {
    await heavy.takeTurn({ workspaceId }, 40)
    return performance.now() - startedAt
  })
  const [first = 0, second = 0, third = 0] = await Promise.all(rests)
  t.ok(first >= 39)
  t.ok(second >= 119, 'after the slice and the rest of the first')
  t.ok(third >= 199)
})

t.test(
  'the next events of a workspace wait while one of them is evaluated in slices, or begins to write thousands of rows',
  async (t) => {
    for (const deposit of [
      (heavy: HeavyWork, event: { workspaceId: string }) => heavy.depositEvaluation(event, 500_000),
      (heavy: HeavyWork, event: { workspaceId: string }) => heavy.depositRows(event, 8_400),
    ]) {
      const { heavy } = createWork()
      const event = { workspaceId: 'a' }
      deposit(heavy, event)
      t.equal(heavy.isExceeded('a'), true)
      heavy.charge(event, 500_000, 30)
      t.equal(heavy.isExceeded('a'), false, 'what it did not cost is given back')
    }
  },
)

t.test('postponed jobs come back one after another', async (t) => {
  const { heavy } = createWork()
  const first = {}
  heavy.charge({ workspaceId: 'a' }, heavyUnits, 0)
  const line = await holdLine(heavy, first)
  const delays: number[] = []
  for (let n = 0; n < 100_000; n++)
    try {
      heavy.check('a', {})
    } catch (error) {
      delays.push((error as Postponed).delayMs)
    }
  t.equal(delays[0], 625)
  t.equal(delays[1], 750)
  t.equal(Math.max(...delays), 10_000)
  await line.end()
  heavy.charge({ workspaceId: 'a' }, heavyUnits, 0)
  const next = await holdLine(heavy, first)
  t.throws(() => heavy.check('a', {}), new Postponed(625), 'they do not wait for a line that is empty')
  await next.end()
})

t.test('a worker that closes postpones what is in the line', async (t) => {
  const { heavy } = createWork()
  heavy.charge({ workspaceId: 'a' }, heavyUnits, 0)
  const job = {}
  const line = await holdLine(heavy, job)
  const refused = t.rejects(heavy.run('a', job, work), new Postponed(0))
  heavy.stop()
  await line.end()
  await refused
})

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
/** An automaton builds a new state of this pattern at each of these letters. */
const pattern = '(?i)a[ab]{400}[cd]'
const text = Array.from({ length: 4_000 }, (_, n) => 'ab'[((n * n * 31 + (n >> 3) * 17) % 7) % 2]).join('')
/** The work of the pattern and the text is less than these. */
const workLimits = { rule: 2_000_000, event: 6_000_000 }

async function createHeavyRule(harness: Harness): Promise<void> {
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

t.test('heavy events of one workspace do not hold the events of another', async (t) => {
  const harness = await createHarness(t, {}, { workLimits, workspaceWork: 1_000_000 })
  await createHeavyRule(harness)
  const quietId = await createQuiet(harness)
  const metrics = createWorkerMetrics(openMetrics())
  harness.startWorker(metrics)
  const heavy = Array.from({ length: 110 }, () => ({ ...harness.newEvent(), data: { text } }))
  await Promise.all(heavy.map((event) => harness.inbox.accept(event)))
  const countUndone = () => harness.own.event.count({ where: { doneAt: null } })
  while ((await countUndone()) > 105) await setTimeout(20)
  const quiet = { ...harness.newEvent(), workspaceId: quietId }
  await harness.inbox.accept(quiet)
  const { event } = harness.database.forWorkspace(quietId)
  while ((await event.findUniqueOrThrow({ where: { id: quiet.id } })).doneAt === null) await setTimeout(5)
  t.ok((await countUndone()) > 55, 'it is done before most of them')
  await harness.own.event.updateMany({ where: { doneAt: null }, data: { data: {} } })
  while ((await countUndone()) > 0) await setTimeout(50)
  t.equal(await harness.own.execution.count(), 110, 'each is done once')
  const [postponed] = (await metrics.jobsPostponed.get()).values
  t.ok((postponed?.value ?? 0) > 0)
})

t.test('conditions behind a WAIT do not hold the events of another workspace', async (t) => {
  const harness = await createHarness(t, {}, { workLimits, workspaceWork: 1_000_000 })
  const when = { field: 'text', operator: 'not_matches', value: pattern }
  for (let n = 0; n < 60; n++)
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
  while ((await countOpen()) > 58) await setTimeout(20)
  const quiet = { ...harness.newEvent(), workspaceId: quietId }
  await harness.inbox.accept(quiet)
  const { event } = harness.database.forWorkspace(quietId)
  while ((await event.findUniqueOrThrow({ where: { id: quiet.id } })).doneAt === null) await setTimeout(5)
  t.ok((await countOpen()) > 30, 'it is done before most of them')
  while ((await countOpen()) > 0) await setTimeout(50)
  const ended = await harness.own.execution.groupBy({ by: ['status'], _count: true })
  t.same(
    ended.map(({ _count }) => _count),
    [60],
  )
})

/** Switches a rule off while its target is called, by a worker whose workspace has used up its allowance. */
async function callHeavily(t: Test, actions: (url: string) => object[]) {
  const harness = await createHarness(t, {}, { workLimits, workspaceWork: 100_000 })
  const target = await openTarget(t, async (_request, response) => {
    await harness.own.rule.updateMany({ data: { isActive: false } })
    response.end()
  })
  const ruleId = await harness.createRule(actions(target.url))
  const conditions = [{ field: 'text', operator: 'not_matches', value: pattern }]
  await harness.own.rule.update({ where: { id: ruleId }, data: { conditions } })
  const jobs: string[] = []
  const addDue = harness.queue.addDue.bind(harness.queue)
  harness.queue.addDue = (due) => {
    jobs.push(due.executionId)
    return addDue(due)
  }
  harness.startWorker()
  const event = { ...harness.newEvent(), data: { text } }
  await harness.inbox.accept(event)
  const execution = await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded', 'cancelled')
  return { execution, jobs }
}

t.test('an execution ends with its last call, even if its workspace has to take turns', async (t) => {
  const { execution, jobs } = await callHeavily(t, (url) => [{ type: 'SEND_WEBHOOK', config: { url } }])
  t.match(execution, { status: 'succeeded' })
  t.strictSame(jobs, [])
})

t.test('what follows a call waits for the turn of its workspace, and then for the rule', async (t) => {
  const { execution, jobs } = await callHeavily(t, (url) => [
    { type: 'SEND_WEBHOOK', config: { url } },
    { ...task, when: { field: 'text', operator: 'not_matches', value: pattern } },
  ])
  t.match(execution, { status: 'cancelled', results: [{ status: 'success' }] })
  t.strictSame(jobs, [execution.id])
})
