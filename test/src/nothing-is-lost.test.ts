import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { inParallel, type RunningProduct, startRunningProduct, until } from './fixtures/product.js'

const events = 2_000

t.setTimeout(180_000)

const house = await startRunningProduct()
t.teardown(() => house.stop())

t.test('killing the worker with -9 under load loses no event and makes no second task', async (t) => {
  await runLoad(t, house, async () => {
    house.product.workers.at(-1)?.kill('SIGKILL')
    await house.product.startWorker()
  })
})

t.test('FLUSHALL under load loses no event and makes no second task', async (t) => {
  const redis = new Redis(house.product.redisUrl)
  t.teardown(() => redis.disconnect())
  await runLoad(t, house, async () => {
    await redis.flushall()
  })
})

/** Posts events, half of them waiting for their outcome, does the fault twice on the way, and counts. */
async function runLoad(
  t: Test,
  { call, client, database, workspaceId }: RunningProduct,
  fault: () => Promise<void>,
) {
  const rule = await client.rules.create({
    name: t.name,
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'test', operator: 'equals', value: t.name }],
    actions: [{ type: 'CREATE_TASK', config: { title: '{{name}}' } }],
  })
  const own = database.forWorkspace(workspaceId)
  const accepted: string[] = []
  let faults: Promise<void>[] = []

  await inParallel(events, 64, async (index) => {
    if (index === events / 4 || index === events / 2) faults = [...faults, fault()]
    const name = `Lead ${index}`
    const prefer = index % 2 === 0 ? 'respond-async' : 'wait=5'
    const answer = await call(
      'POST',
      '/api/automation-rules/trigger/LEAD_CREATED',
      { data: { name, test: t.name } },
      { prefer },
    )
    if (answer.status === 200 || answer.status === 202) accepted.push(name)
  })
  await Promise.all(faults)
  t.equal(faults.length, 2, 'the fault was done twice')
  t.equal(accepted.length, events, 'every event was accepted')

  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  const tasks = await own.task.findMany({ where: { ruleId: rule.id }, select: { title: true } })
  const titles = tasks.map((task) => task.title)
  t.equal(new Set(titles).size, events, 'every event made its task')
  t.equal(titles.length, events, 'and none made a second one')
  const executions = await own.execution.count({ where: { ruleId: rule.id } })
  const counted = await client.rules.get(rule.id)
  t.equal(executions, events, 'each was one execution')
  t.equal(counted.executionCount, executions, 'and the counters are the rows')
  t.equal(counted.successCount, executions)
  await client.rules.delete(rule.id)
}
