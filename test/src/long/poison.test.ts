import { setTimeout as delay } from 'node:timers/promises'
import type { Action, EventType } from '@automation/client'
import { executionIdOf } from '@automation/database'
import t, { type Test } from 'tap'
import { inParallel, startRunningProduct, until } from '../fixtures/product.js'
import { superviseWorkers } from '../fixtures/supervisor.js'

const innocents = 20
/** Of steady traffic (ms). */
const pauseMs = 50

const running = await startRunningProduct({ workers: 0 })
const { product, client } = running
const own = running.database.forWorkspace(running.workspaceId)
t.teardown(() => running.stop())

const poisoning = {
  POISON: 'poison',
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${new URL('../fixtures/kill-at-poison.js', import.meta.url).href}`,
}
const task: Action = { type: 'CREATE_TASK', config: { title: '{{name}}' } }

await addRule('LEAD_CREATED', [task])
const slowRule = await addRule('LEAD_UPDATED', [{ type: 'WAIT', config: { duration: '1s' } }, task])

t.test('two events that kill their workers are quarantined after five crashes each, no others', async (t) => {
  const names = Array.from({ length: innocents }, (_, index) => `together ${index}`)
  const poisons = ['poison 1', 'poison 2']
  // They are all there when the first worker comes, so it takes them up together.
  const together = [...names.slice(0, innocents / 2), ...poisons, ...names.slice(innocents / 2)]
  const ids = new Map<string, string>()
  for (const name of together) ids.set(name, await post('LEAD_CREATED', name))
  const begin = performance.now()
  const workers = superviseWorkers(product, 2, poisoning)
  const traffic = keepPosting('later')
  const quarantine = { quarantined: true, id: { in: poisons.map((name) => ids.get(name) ?? '') } }
  await until(async () => (await own.event.count({ where: quarantine })) === poisons.length)
  const seconds = (performance.now() - begin) / 1_000
  names.push(...(await traffic.stop()))
  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  await workers.stop()

  await checkTasks(t, names)
  const events = await own.event.findMany({ where: { type: 'LEAD_CREATED' } })
  const given = events
    .filter(({ quarantined }) => quarantined)
    .map(({ data }) => (data as { name: string }).name)
  t.strictSame(
    given.filter((name) => !name.startsWith('poison')),
    [],
    'no innocent event was given up',
  )
  for (const name of poisons) {
    const event = await client.events.get(ids.get(name) ?? '')
    t.match(event, { status: 'quarantined', crashes: 5, triggered: 0 }, name)
  }
  t.ok(workers.deaths() <= 5 * poisons.length, `${workers.deaths()} workers ended`)
  const worst = Math.max(...events.filter(({ quarantined }) => !quarantined).map(({ crashes }) => crashes))
  const line = `${poisons.length} poisonous among ${names.length}: ${seconds.toFixed(1)} s to quarantine, ${workers.deaths()} deaths`
  t.comment(`${line}, at most ${worst} counted against an innocent one`)
})

t.test('an execution that kills its worker fails after five workers', async (t) => {
  const names = ['poison', ...Array.from({ length: innocents }, (_, index) => `patient ${index}`)]
  const ids = new Map<string, string>()
  await inParallel(names.length, 8, async (index) => {
    const name = names[index] ?? ''
    ids.set(name, executionIdOf({ id: await post('LEAD_UPDATED', name), addressee: null }, slowRule))
  })
  const workers = superviseWorkers(product, 2, poisoning, endLeases)
  const poisoned = { id: ids.get('poison') ?? '' }
  await until(async () => (await own.execution.findUnique({ where: poisoned }))?.finishedAt != null)
  await until(async () => (await own.execution.count({ where: { finishedAt: null } })) === 0)
  await workers.stop()

  const { status, error, interruptions } = await own.execution.findUniqueOrThrow({ where: poisoned })
  t.strictSame(
    { status, error, interruptions },
    { status: 'failed', error: 'Gave up after 5 workers crashed on this execution', interruptions: 5 },
  )
  t.equal(workers.deaths(), 5)
  const others = await own.execution.findMany({ where: { handlerId: slowRule, id: { not: poisoned.id } } })
  t.ok(
    others.every((execution) => execution.status === 'succeeded'),
    'the others have succeeded',
  )
  t.equal(others.length, innocents)
  await checkTasks(t, names.slice(1))
  const attention = await client.rules.attention().all()
  t.strictSame(
    attention.map(({ id }) => id),
    [slowRule],
    'somebody is told to look at it',
  )
})

/** Each name has one task, and no poison has. */
async function checkTasks(t: Test, names: string[]): Promise<void> {
  const tasks = await own.task.findMany({ select: { title: true } })
  const titles = tasks.map(({ title }) => title)
  t.strictSame(
    titles.filter((title) => names.includes(title)).sort(),
    names.toSorted(),
    'each innocent event made its task, once',
  )
  t.notOk(titles.some((title) => title.startsWith('poison')))
}

function keepPosting(prefix: string): { stop(): Promise<string[]> } {
  const names: string[] = []
  let isStopped = false
  const posting = (async () => {
    while (!isStopped) {
      const name = `${prefix} ${names.length}`
      await post('LEAD_CREATED', name)
      names.push(name)
      await delay(pauseMs)
    }
  })()
  return {
    async stop() {
      isStopped = true
      await posting
      return names
    },
  }
}

async function post(type: EventType, name: string): Promise<string> {
  return (await client.trigger(type, { name }, { async: true })).id
}

async function addRule(trigger: EventType, actions: Action[]): Promise<string> {
  return (await client.rules.create({ name: trigger, trigger, actions })).id
}

/** As if time had passed: what the dead worker had is due. */
async function endLeases(): Promise<void> {
  await own.execution.updateMany({ where: { lease: { not: null } }, data: { dueAt: new Date() } })
}
