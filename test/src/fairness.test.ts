import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { type Answer, inParallel, startRunningProduct, type Tenant, until } from './fixtures/product.js'

const floodSize = 5_000
const quietCount = 20
const path = '/api/automation-rules/trigger/LEAD_CREATED'

const running = await startRunningProduct()
const { product, database } = running
t.teardown(() => running.stop())
const quiet: Tenant[] = []
while (quiet.length < quietCount) quiet.push(await openTenant())

t.test('while a flood of one workspace waits, what others post is done before half of it', async (t) => {
  const flooding = await flood()
  const answers = postQuiet()
  // All jobs wait, so the queue decides which one is first.
  await until(async () => (await countUndone(quiet)) === quietCount)
  product.workers[0]?.kill('SIGCONT')
  await checkOrder(t, flooding, await Promise.all(answers))
})

t.test('so it is when Redis was wiped, and the sweeper puts the flood back', async (t) => {
  const redis = new Redis(product.redisUrl)
  t.teardown(() => redis.disconnect())
  const flooding = await flood()
  await redis.flushall()
  product.workers[0]?.kill('SIGCONT')
  await until(async () => (await countUndone([flooding])) < floodSize)
  await checkOrder(t, flooding, await Promise.all(postQuiet()))
})

async function openTenant(): Promise<Tenant> {
  const tenant = await running.addWorkspace()
  await tenant.call('POST', '/api/automation-rules', {
    name: 'Task',
    trigger: 'LEAD_CREATED',
    actions: [{ type: 'CREATE_TASK', config: { title: '{{name}}' } }],
  })
  return tenant
}

/** It is accepted while the worker stands still. */
async function flood(): Promise<Tenant> {
  const flooding = await openTenant()
  product.workers[0]?.kill('SIGSTOP')
  await inParallel(floodSize, 64, async () => {
    await flooding.call('POST', path, { data: { name: 'flood' } }, { prefer: 'respond-async' })
  })
  return flooding
}

function postQuiet(): Promise<Answer>[] {
  return quiet.map(({ call }) => call('POST', path, { data: { name: 'quiet' } }, { prefer: 'wait=10' }))
}

async function checkOrder(t: Test, flooding: Tenant, answers: Answer[]): Promise<void> {
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]), 'each of them was answered')
  await until(async () => (await countUndone([flooding])) === 0)
  const before = await countDoneBefore(flooding, await lastDone(quiet))
  t.ok(before < floodSize / 2, `${before} of ${floodSize} were done before the last of them`)
}

function countUndone(tenants: Tenant[]): Promise<number> {
  return database.system.event.count({ where: { workspaceId: { in: idsOf(tenants) }, doneAt: null } })
}

async function lastDone(tenants: Tenant[]): Promise<Date> {
  const { _max } = await database.system.event.aggregate({
    where: { workspaceId: { in: idsOf(tenants) } },
    _max: { doneAt: true },
  })
  return _max.doneAt as Date
}

function countDoneBefore({ workspaceId }: Tenant, doneAt: Date): Promise<number> {
  return database.system.event.count({ where: { workspaceId, doneAt: { lt: doneAt } } })
}

function idsOf(tenants: Tenant[]): string[] {
  return tenants.map(({ workspaceId }) => workspaceId)
}
