import { setImmediate } from 'node:timers/promises'
import { type Database, newId } from '@automation/database'
import { openMetrics } from '@automation/process/telemetry'
import t from 'tap'
import { type Execution, end, suspend } from '../src/running/execution.js'
import { Recorder } from '../src/running/recorder.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { log } from './fixtures/harness.js'
import { context } from './fixtures/outbound.js'

function newStep(emitted: number, bytes: number, event = context.event) {
  const execution = {
    record: {
      id: newId(),
      results: [],
      status: 'running',
      startedAt: new Date(),
      error: null,
      dueAt: null,
      lease: newId(),
    },
    event,
    tasks: [],
    emitted: Array.from({ length: emitted }, () => ({ id: newId(), data: {}, jobId: newId() })),
    effectBytes: bytes,
  } as never as Execution
  suspend(execution.record, 'running', new Date())
  return { execution, lease: newId() }
}

function newOutcome(execution: Execution) {
  return { event: execution.event, ruleSetId: null, rulesVersion: 1, executions: [execution] }
}

/**
 * A recorder whose commits of emitted events end one by one, when the test ends them. `commits` has the number of items of each commit.
 *
 * @param subscribed how many subscriptions get an event for each failure
 */
function openRecorder(subscribed = { count: 0 }) {
  const heavy: (() => void)[] = []
  const commits: number[] = []
  const database = {
    async run(name: string, _text: string, values: string[]) {
      const rows = JSON.parse(values[0] ?? '') as { id: string; status?: string }[]
      const ids = rows.map(({ id }) => id)
      commits.push(ids.length)
      const emitted = name === 'finish_successes' ? [] : (JSON.parse(values[2] ?? '') as object[])
      if (emitted.length > 0) await new Promise<void>((resolve) => heavy.push(resolve))
      const { workspaceId } = context.event
      const failures = rows.filter(({ status }) => status === 'failed')
      const deliveries = failures.flatMap(() =>
        Array.from({ length: subscribed.count }, () => {
          return { what: 'delivery', id: newId(), workspaceId, subjectId: newId() }
        }),
      )
      const recorded = name === 'record_steps' ? ids.map((id) => ({ what: 'recorded', id })) : []
      return [...recorded, ...deliveries]
    },
  } as never as Database
  const queue = { addCaused: async () => {}, addDue: async () => {} }
  const metrics = createWorkerMetrics(openMetrics())
  return { heavy, commits, recorder: new Recorder({ database, queue, metrics, followUp: () => {}, log }) }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate()
}

t.test('a commit has at most 5,000 rows', async (t) => {
  const { recorder, commits } = openRecorder()
  // Each counts as 900 rows: itself, and 899 kilobytes.
  const steps = Array.from({ length: 6 }, () => newStep(0, 899_000, { ...context.event, id: newId() }))
  const outcomes = steps.map(({ execution }) => newOutcome(execution))
  await Promise.all(steps.map((step) => recorder.recordStep(step)))
  t.strictSame(commits.splice(0), [5, 1], 'of steps')
  for (const { execution } of steps) execution.effectBytes = 899_000
  await Promise.all(outcomes.map((outcome) => recorder.finishEvent(outcome)))
  t.strictSame(commits, [5, 1], 'of outcomes')
})

/** An event with 40 rules, all of which fail. */
function newFailures() {
  const event = { ...context.event, id: newId() }
  const executions = Array.from({ length: 40 }, () => newStep(0, 0, event).execution)
  for (const { record } of executions) end(record, 'failed', 'It failed')
  return { event, ruleSetId: null, rulesVersion: 1, executions }
}

t.test('events that a commit inserts for subscriptions because rules fail are rows of it', async (t) => {
  const subscribed = { count: 20 }
  const { recorder, commits } = openRecorder(subscribed)
  const recordMany = async () => {
    await Promise.all(Array.from({ length: 10 }, () => recorder.finishEvent(newFailures())))
    return commits.splice(0)
  }
  // Each event has 840 rows: 40 executions, and 20 events for each.
  t.strictSame(await recordMany(), [200, 200], 'nobody knows yet how many are subscribed')
  t.strictSame(await recordMany(), [200, 200])
  subscribed.count = 9
  await recordMany()
  // With nine, it has 400.
  t.strictSame(await recordMany(), [400])
  subscribed.count = 0
  await recordMany()
  t.strictSame(await recordMany(), [400])
})

t.test('a light step does not wait behind a heavy one', async (t) => {
  const { recorder, heavy } = openRecorder()
  const order: string[] = []
  const note = (name: string) => () => {
    order.push(name)
  }
  const step = newStep(1, 2_000_000)
  const ends = [recorder.recordStep(step).then(note('heavy'))]
  await recorder.recordStep(newStep(0, 0)).then(note('light'))
  heavy[0]?.()
  await Promise.all(ends)
  t.same(order, ['light', 'heavy'])
  t.equal(step.execution.effectBytes, 0, 'what was recorded does not count for the next step')
})

t.test('heavy outcomes and heavy steps take one connection together', async (t) => {
  const { recorder, heavy } = openRecorder()
  const step = recorder.recordStep(newStep(1, 2_000_000))
  await until(() => heavy.length === 1)
  const finished = recorder.finishEvent(newOutcome(newStep(1, 2_000_000).execution))
  await recorder.recordStep(newStep(0, 0))
  t.equal(heavy.length, 1)
  heavy[0]?.()
  await step
  await until(() => heavy.length === 2)
  heavy[1]?.()
  t.same(await finished, [])
})

t.test('a step of another owner does not wait behind a burst', async (t) => {
  const { recorder, heavy } = openRecorder()
  const quiet = () => newStep(0, 0, { ...context.event, createdBy: 'quiet' })
  await recorder.recordStep(quiet())
  const burst = Array.from({ length: 100 }, () => recorder.recordStep(newStep(1, 0)))
  // The first of the burst are in the light lane.
  await until(() => heavy.length === 2)
  heavy[0]?.()
  await recorder.recordStep(quiet())
  t.equal(heavy.length, 2, 'the rest of it is under way')
  heavy[1]?.()
  t.strictSame(new Set(await Promise.all(burst)), new Set([true]))
})
