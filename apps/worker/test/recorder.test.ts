import { type Database, newId } from '@automation/database'
import { openMetrics } from '@automation/telemetry'
import t from 'tap'
import { type Execution, suspend } from '../src/running/execution.js'
import { Recorder } from '../src/running/recorder.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { log } from './fixtures/harness.js'
import { context } from './fixtures/outbound.js'

function newStep(emitted: number, bytes: number) {
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
    event: context.event,
    tasks: [],
    emitted: Array.from({ length: emitted }, () => ({ id: newId(), data: {} })),
    effectBytes: bytes,
  } as never as Execution
  suspend(execution.record, 'running', new Date())
  return { execution, lease: newId() }
}

t.test('a light step does not wait behind a heavy one', async (t) => {
  let endHeavy = () => {}
  const database = {
    async run(_name: string, _text: string, values: string[]) {
      const ids = (JSON.parse(values[0] ?? '') as { id: string }[]).map(({ id }) => id)
      const events = JSON.parse(values[2] ?? '') as object[]
      if (events.length > 0)
        await new Promise<void>((resolve) => {
          endHeavy = resolve
        })
      return ids.map((id) => ({ what: 'recorded', id }))
    },
  } as never as Database
  const queue = { addCaused: async () => {}, addDue: async () => {} }
  const metrics = createWorkerMetrics(openMetrics())
  const recorder = new Recorder({ database, queue, metrics, followUp: () => {}, log })
  const order: string[] = []
  const note = (name: string) => () => {
    order.push(name)
  }
  const heavy = newStep(1, 2_000_000)
  const ends = [recorder.recordStep(heavy).then(note('heavy'))]
  await recorder.recordStep(newStep(0, 0)).then(note('light'))
  endHeavy()
  await Promise.all(ends)
  t.same(order, ['light', 'heavy'])
  t.equal(heavy.execution.effectBytes, 0, 'what was recorded does not count for the next step')
})
