import { executionIdOf } from '@automation/database'
import t from 'tap'
import {
  findCounterFaults,
  findFaults,
  findStrayCalls,
  namesOfCalls,
  readEffects,
} from '../fixtures/effects.js'
import { until } from '../fixtures/product.js'
import { startProductWithTargets } from '../fixtures/product-with-targets.js'

/** Half as long again as a lease lasts. */
const heldMs = 12_000

let release = () => {}
const released = new Promise<void>((resolve) => {
  release = resolve
})
const running = await startProductWithTargets({
  // The repeat of a call is refused, which shows whose result was recorded.
  isFine: ({ time }) => (time === 1 ? released.then(() => true) : false),
})
const { product, targets, call } = running
const own = running.database.forWorkspace(running.workspaceId)
t.teardown(() => running.stop())

t.test(
  'a worker that sleeps for longer than its lease has lost its run, and records nothing of it',
  async (t) => {
    const overtaken = await startRun('overtaken')
    await until(async () => targets.calls.length === 1)
    const [sleeper] = product.workers
    sleeper?.kill('SIGSTOP')
    await product.startWorker()
    const slow = await startRun('slow')
    await untilHeldFor(heldMs, slow.executionId)
    await until(async () => (await find(overtaken.executionId))?.status === 'failed')
    release()
    // It finishes what it has in hand.
    await sleeper?.stop()
    const effects = await readEffects(running)

    const { executionId } = overtaken
    t.strictSame(namesOfCalls(effects, { name: 'overtaken' }), ['call', 'call'], 'its call was repeated')
    const ended = await find(executionId)
    t.equal(ended?.status, 'failed')
    t.strictSame(
      (ended?.results as { status: string }[] | undefined)?.map(({ status }) => status),
      ['failed', 'skipped', 'skipped'],
    )
    t.equal(ended?.interruptions, 0, 'its worker was alive')
    t.notOk(
      effects.tasks.some((task) => task.executionId === executionId),
      'and its task is not there',
    )
    t.notOk(
      effects.events.some(({ causedBy }) => causedBy === executionId),
      'nor its event',
    )
    t.strictSame(
      namesOfCalls(effects, { name: 'slow' }),
      ['call'],
      'who is awake keeps its runs, however long a call takes',
    )
    t.strictSame(findFaults(effects, slow), [])
    t.strictSame(findStrayCalls(effects), [], 'every call came under the key of its execution and action')
    t.strictSame(findCounterFaults(effects), [], 'and each run was counted once')
  },
)

async function startRun(name: string) {
  const actions = [
    { type: 'SEND_WEBHOOK', config: { url: `${targets.url}/${name}/call`, timeoutMs: 30_000 } },
    { type: 'CREATE_TASK', config: { title: 'Task' } },
    { type: 'EMIT_EVENT', config: { eventType: 'TAG_ADDED' } },
  ]
  const conditions = [{ field: 'name', operator: 'equals', value: name }]
  const { body: rule } = await call('POST', '/api/automation-rules', {
    name,
    trigger: 'LEAD_CREATED',
    conditions,
    actions,
  })
  const path = '/api/automation-rules/trigger/LEAD_CREATED'
  const { body: event } = await call('POST', path, { data: { name } }, { prefer: 'respond-async' })
  return { executionId: executionIdOf({ id: event.id, addressee: null }, rule.id), actions }
}

function find(id: string) {
  return own.execution.findUnique({ where: { id } })
}

/** Waits until a run's lease has been renewed for so long; or the run has ended, which it should not. */
async function untilHeldFor(ms: number, id: string): Promise<void> {
  let begin: Date | undefined
  await until(async () => {
    const run = await find(id)
    begin ??= run?.dueAt ?? undefined
    return run?.finishedAt != null || Number(run?.dueAt) > Number(begin) + ms
  })
}
