import { setImmediate } from 'node:timers/promises'
import { type Database, newId } from '@automation/database'
import { openMetrics } from '@automation/process/telemetry'
import t from 'tap'
import { createAdmission } from '../src/admission.js'
import { countRows } from '../src/executions/cost.js'
import { type Execution, end, suspend } from '../src/executions/execution.js'
import { Recorder } from '../src/executions/recorder.js'
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

/** A recorder whose commits of emitted events end one by one, when the test ends them. `commits` has the number of items of each commit. */
function openRecorder(others: object = {}) {
  const heavy: (() => void)[] = []
  const commits: number[] = []
  const database = {
    async run(name: string, _text: string, values: string[]) {
      const rows = JSON.parse(values[0] ?? '') as { id: string }[]
      const ids = rows.map(({ id }) => id)
      commits.push(ids.length)
      const emitted = name === 'finish_successes' ? [] : (JSON.parse(values[2] ?? '') as object[])
      if (emitted.length > 0) await new Promise<void>((resolve) => heavy.push(resolve))
      return name === 'record_steps' ? ids.map((id) => ({ what: 'recorded', id })) : []
    },
    ...others,
  } as never as Database
  const queue = { addCaused: async () => {}, addDue: async () => {} }
  const metrics = createWorkerMetrics(openMetrics())
  return {
    heavy,
    commits,
    recorder: new Recorder({
      commits: createAdmission(1).commits,
      database,
      queue,
      metrics,
      followUp: () => {},
      log,
    }),
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate()
}

t.test('a commit has at most 1,000 rows', async (t) => {
  const { recorder, commits } = openRecorder()
  // Each counts as 300 rows: itself, and 299 kilobytes.
  const steps = Array.from({ length: 6 }, () => newStep(0, 299_000, { ...context.event, id: newId() }))
  const outcomes = steps.map(({ execution }) => newOutcome(execution))
  await Promise.all(steps.map((step) => recorder.recordStep(step)))
  t.strictSame(commits.splice(0), [3, 3], 'of steps')
  for (const { execution } of steps) execution.effectBytes = 299_000
  await Promise.all(outcomes.map((outcome) => recorder.finishEvent(outcome)))
  t.strictSame(commits, [3, 3], 'of outcomes')
})

t.test('a failure counts as an event for each subscription that a workspace may have', async (t) => {
  const { execution } = newStep(0, 0)
  t.equal(countRows([execution]), 1)
  end(execution.record, 'failed', 'It failed')
  t.equal(countRows([execution]), 21)
  const addressee = { kind: 'subscription', id: newId() } as const
  t.equal(
    countRows([{ ...execution, event: { ...execution.event, addressee } }]),
    1,
    'but that of a delivery',
  )
})

const quiet = () => newStep(0, 0, { ...context.event, createdBy: 'quiet' })

t.test('a step does not wait behind a heavy one of another owner', async (t) => {
  const { recorder, heavy } = openRecorder()
  const order: string[] = []
  const note = (name: string) => () => {
    order.push(name)
  }
  const step = newStep(1, 2_000_000)
  const ends = [recorder.recordStep(step).then(note('heavy'))]
  await recorder.recordStep(quiet()).then(note('light'))
  heavy[0]?.()
  await Promise.all(ends)
  t.same(order, ['light', 'heavy'])
  t.equal(step.execution.effectBytes, 0, 'what was recorded does not count for the next step')
})

t.test('the outcomes and steps of one owner have one commit at a time', async (t) => {
  const { recorder, heavy } = openRecorder()
  const step = recorder.recordStep(newStep(1, 2_000_000))
  await until(() => heavy.length === 1)
  const finished = recorder.finishEvent(newOutcome(newStep(1, 2_000_000).execution))
  await recorder.recordStep(quiet())
  t.equal(heavy.length, 1)
  heavy[0]?.()
  await step
  await until(() => heavy.length === 2)
  heavy[1]?.()
  t.same(await finished, [])
})

t.test('a step of another owner does not wait behind a burst', async (t) => {
  const { recorder, heavy } = openRecorder()
  // A commit has 200 of them.
  const burst = Array.from({ length: 300 }, () => recorder.recordStep(newStep(1, 0)))
  await until(() => heavy.length === 1)
  await recorder.recordStep(quiet())
  heavy[0]?.()
  await until(() => heavy.length === 2)
  await recorder.recordStep(quiet())
  heavy[1]?.()
  t.strictSame(new Set(await Promise.all(burst)), new Set([true]))
})

t.test('a commit has at most 1,000 keys of events and rows', async (t) => {
  const counts: number[] = []
  const run = async (name: string, _text: string, values: string[]) => {
    if (name === 'note_event_keys') counts.push(JSON.parse(values[0] ?? '').length)
    return []
  }
  const database = { run, transact: (work: (statements: object) => Promise<unknown>) => work({ run }) }
  const { recorder } = openRecorder(database)
  const outcomes = Array.from({ length: 60 }, () => {
    const { execution } = newStep(0, 0, { ...context.event, id: newId() })
    return { ...newOutcome(execution), waitKeys: Array.from({ length: 50 }, newId) }
  })
  await Promise.all(outcomes.map((outcome) => recorder.finishEvent(outcome)))
  t.strictSame(counts, [19 * 50, 19 * 50, 19 * 50, 3 * 50])
})
