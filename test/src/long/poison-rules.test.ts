import type { Action, Condition, EventType } from '@automation/client'
import t, { type Test } from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'
import { type Supervisor, superviseWorkers } from '../fixtures/supervisor.js'

const running = await startRunningProduct({ workers: 0 })
const { product, client } = running
const own = running.database.forWorkspace(running.workspaceId)
t.teardown(() => running.stop())

const poison = 'deadly'
const innocents = 20
const task: Action = { type: 'CREATE_TASK', config: { title: '{{name}}' } }
const never: Action = { type: 'CREATE_TASK', config: { title: 'never' } }

t.test('an event that ends its worker while it is loaded is quarantined, and no other one', async (t) => {
  await addRule('LEAD_CREATED', task)
  const names = nameEvents('loaded', innocents)
  await postAll('LEAD_CREATED', [...names.slice(0, 10), poison, ...names.slice(10)])
  const workers = supervise('loading')
  await untilAllDone()
  await workers.stop()

  await checkTasks(t, names)
  const quarantined = await own.event.findMany({ where: { quarantined: true } })
  t.match(quarantined, [{ data: { name: poison }, crashes: 5 }])
  t.equal(workers.deaths(), 5)
})

const waysToDie = [
  ['evaluation', 'LEAD_UPDATED', { field: 'name', operator: 'contains', value: poison }],
  ['compiling', 'DEAL_WON', { field: poison, operator: 'exists' }],
] as const

for (const [place, type, condition] of waysToDie)
  t.test(`a rule that ends its worker at ${place} is paused after two deaths in isolation`, async (t) => {
    const poisonRule = await addRule(type, never, [condition])
    await addRule(type, task)
    const names = nameEvents(place, innocents)
    await postAll(type, names)
    const workers = supervise(place)
    await untilAllDone()
    await workers.stop()

    await checkTasks(t, names)
    t.equal(await own.event.count({ where: { type, quarantined: true } }), 0)
    // The first death isolates the events, the second one shows that one of them ends workers: two are charged to the rule.
    t.equal(workers.deaths(), 4)
    const { _sum: charged } = await own.ruleCrash.aggregate({ _sum: { crashes: true } })
    t.ok((charged.crashes ?? 0) <= 2, 'no more than two deaths are charged')
    t.equal((await client.rules.get(poisonRule)).isActive, false)
    const attention = await client.rules.attention().all()
    t.match(
      attention.filter(({ id }) => id === poisonRule),
      [{ reason: 'worker_crashes', lastError: /Two workers crashed/ }],
    )
    t.equal(await own.auditEntry.count({ where: { action: 'rule.paused', subject: poisonRule } }), 1)

    await client.rules.toggle(poisonRule)
    t.equal(await own.ruleCrash.count({ where: { ruleId: poisonRule } }), 0, 'switched on, it begins anew')
    await client.rules.delete(poisonRule)
  })

for (const place of ['loading', 'compiling'])
  t.test(
    `an execution that ends its worker at ${place} after a pause fails after five workers`,
    async (t) => {
      const condition: Condition = { field: poison, operator: 'exists' }
      // Long enough for the healthy worker to be gone before it is over.
      const pause: Action = { type: 'WAIT', config: { duration: '8s' } }
      const ruleId = await addRule('LEAD_DELETED', [pause, never], [condition])
      const healthy = await product.startWorker()
      await client.trigger('LEAD_DELETED', { [poison]: poison }, { async: true })
      const execution = { where: { handlerId: ruleId } }
      await until(async () => (await own.execution.findFirst(execution))?.status === 'waiting')
      await healthy.stop()

      const workers = supervise(place, endLeases)
      await until(
        async () => (await own.execution.findFirst(execution))?.finishedAt != null || workers.deaths() > 7,
      )
      await workers.stop()
      t.match(await own.execution.findFirst(execution), {
        status: 'failed',
        error: 'Gave up after 5 workers crashed on this execution',
        interruptions: 5,
      })
      t.equal(workers.deaths(), 5)
      const attention = await client.rules.attention().all()
      t.match(
        attention.find(({ id }) => id === ruleId),
        { reason: 'unknown_outcome' },
      )
      t.equal(await own.task.count({ where: { title: 'never' } }), 0)
      await client.rules.delete(ruleId)
    },
  )

/** Leases of workers that have ended expire at once. */
async function endLeases(): Promise<void> {
  await own.execution.updateMany({ where: { lease: { not: null } }, data: { dueAt: new Date() } })
}

/** One at a time, so that deaths are counted exactly. */
function supervise(place: string, onDeath?: () => Promise<void>): Supervisor {
  const preload = new URL('../fixtures/kill-at-work.js', import.meta.url).href
  const NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`
  return superviseWorkers(product, 1, { POISON: poison, KILL_AT: place, NODE_OPTIONS }, onDeath)
}

function untilAllDone(): Promise<void> {
  return until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
}

/** Each name has one task. */
async function checkTasks(t: Test, names: string[]): Promise<void> {
  const tasks = await own.task.findMany({ where: { title: { in: [...names, poison, 'never'] } } })
  t.strictSame(tasks.map(({ title }) => title).sort(), names.toSorted())
}

function nameEvents(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix} ${index}`)
}

/** In one job: the worker that takes it takes all of them. */
async function postAll(type: EventType, names: string[]): Promise<void> {
  await client.triggerBatch(
    type,
    names.map((name) => ({ data: { name } })),
  )
}

async function addRule(
  trigger: EventType,
  action: Action | Action[],
  conditions: Condition[] = [],
): Promise<string> {
  const actions = [action].flat()
  return (await client.rules.create({ name: trigger, trigger, conditions, actions })).id
}
