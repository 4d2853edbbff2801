import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { type Answer, inParallel, startRunningProduct, type Tenant, until } from '../fixtures/product.js'

const floodSize = 5_000
/** Of one user, each with as many jobs as a workspace may have in front. */
const workspaceCount = 10
const burstSize = 200
const quietCount = 20
const task = { type: 'CREATE_TASK', config: { title: '{{name}}' } }
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

t.test('a user gets no more room in front of others with ten workspaces', async (t) => {
  const bursting = await openTenantsOf('user:bursting')
  product.workers[0]?.kill('SIGSTOP')
  await burst(bursting)
  const answers = postQuiet()
  await until(async () => (await countUndone(quiet)) === quietCount)
  product.workers[0]?.kill('SIGCONT')
  checkAnswers(t, await Promise.all(answers))
  await until(async () => (await countUndone(bursting)) === 0)
  const last = await lastDone(quiet)
  checkHalf(t, await countDone(bursting, last), burstSize * workspaceCount)
})

t.test('what others post is done before half of the pauses that have ended together', async (t) => {
  const pausing = await openTenantsOf('user:pausing', [{ type: 'WAIT', config: { duration: '5s' } }, task])
  await burst(pausing)
  await until(async () => (await countUndone(pausing)) === 0)
  product.workers[0]?.kill('SIGSTOP')
  const countFinished = (before = new Date()) =>
    database.system.execution.count({ where: { ...of(pausing), finishedAt: { lt: before } } })
  const finished = await countFinished()
  await delay(5_000)
  product.workers[0]?.kill('SIGCONT')
  while ((await countFinished()) === finished) await delay(5)
  checkAnswers(t, await Promise.all(postQuiet()))
  const last = await lastDone(quiet)
  await until(async () => (await countFinished()) === burstSize * workspaceCount)
  checkHalf(t, (await countFinished(last)) - finished, burstSize * workspaceCount - finished)
})

async function openTenant(actions: object[] = [task]): Promise<Tenant> {
  const tenant = await running.addWorkspace()
  await tenant.call('POST', '/api/automation-rules', { name: 'Rule', trigger: 'LEAD_CREATED', actions })
  return tenant
}

async function openTenantsOf(createdBy: string, actions?: object[]): Promise<Tenant[]> {
  const tenants = await Promise.all(Array.from({ length: workspaceCount }, () => openTenant(actions)))
  await database.system.workspace.updateMany({ where: { id: { in: idsOf(tenants) } }, data: { createdBy } })
  // The API knows the creator of a workspace for a second.
  await delay(1_100)
  return tenants
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

/** In batches: the longer it takes, the more of it may be in front. */
async function burst(tenants: Tenant[]): Promise<void> {
  const events = Array.from({ length: 50 }, () => ({ data: { name: 'flood' } }))
  const posts = Array.from({ length: burstSize / 50 }, () => tenants).flat()
  await Promise.all(posts.map(({ call }) => call('POST', `${path}/batch`, { events })))
}

function postQuiet(): Promise<Answer>[] {
  return quiet.map(({ call }) => call('POST', path, { data: { name: 'quiet' } }, { prefer: 'wait=10' }))
}

async function checkOrder(t: Test, flooding: Tenant, answers: Answer[]): Promise<void> {
  checkAnswers(t, answers)
  await until(async () => (await countUndone([flooding])) === 0)
  const last = await lastDone(quiet)
  checkHalf(t, await countDone([flooding], last), floodSize)
}

function checkAnswers(t: Test, answers: Answer[]): void {
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]), 'each of them was answered')
}

function checkHalf(t: Test, before: number, all: number): void {
  t.ok(before < all / 2, `${before} of ${all} were done before the last of them`)
}

function countUndone(tenants: Tenant[]): Promise<number> {
  return database.system.event.count({ where: { ...of(tenants), doneAt: null } })
}

async function lastDone(tenants: Tenant[]): Promise<Date> {
  const { _max } = await database.system.event.aggregate({
    where: of(tenants),
    _max: { doneAt: true },
  })
  return _max.doneAt as Date
}

function countDone(tenants: Tenant[], before: Date): Promise<number> {
  return database.system.event.count({ where: { ...of(tenants), doneAt: { lt: before } } })
}

function of(tenants: Tenant[]) {
  return { workspaceId: { in: idsOf(tenants) } }
}

function idsOf(tenants: Tenant[]): string[] {
  return tenants.map(({ workspaceId }) => workspaceId)
}
