import { type Database, newId } from '@automation/database'
import t from 'tap'
import type { ActionOf } from '../src/effects/effect.js'
import { Causation } from '../src/executions/causation.js'
import { EffectBudget } from '../src/executions/effect-budget.js'
import { emitEvent } from '../src/executions/emit-event.js'
import type { Execution } from '../src/executions/execution.js'
import { context } from './fixtures/outbound.js'

const mebibyte = 1_048_576

const causation = new Causation({} as Database)

function startExecution(depth = 0, causes = causation): Execution {
  const event = { ...context.event, id: newId(), depth }
  const budget = new EffectBudget(event, causes)
  return { event, budget, emitted: [], effectBytes: 0, record: { results: [] } } as never
}

function emit(execution: Execution, data?: object, size = 0) {
  const config = { eventType: 'DEAL_WON', data }
  return emitEvent(execution, { of: { index: 0 }, config, size } as ActionOf<'EMIT_EVENT'>)
}

/** Data with a given number of bytes as JSON. */
function dataOf(bytes: number, character = 'x') {
  return { text: character.repeat((bytes - '{"text":""}'.length) / Buffer.byteLength(character)) }
}

t.test(
  'the tenth event of a chain is emitted, the eleventh is not, and the rule needs attention',
  async (t) => {
    const [ninth, tenth] = [startExecution(9), startExecution(10)]
    const emitted = emit(ninth)
    t.match(emitted, { status: 'success' })
    t.match(ninth.emitted, [{ depth: 10, type: 'DEAL_WON', data: ninth.event.data, addressee: null }])
    t.equal(ninth.emitted.length, 1)
    t.strictSame(emitted.output, { eventId: ninth.emitted[0]?.id })
    const refused = emit(tenth)
    t.match(refused, {
      status: 'failed',
      error: /^The chain of emitted events is 10 long/,
      isFinal: true,
    })
    t.strictSame(tenth.emitted, [])
    t.strictSame(refused.output, { attention: 'event_loop' })
  },
)

t.test('the data of an emitted event has at most 1 MiB of JSON', async (t) => {
  const execution = startExecution()
  for (const data of [dataOf(mebibyte), dataOf(mebibyte - 1, 'é')]) {
    t.ok(Buffer.byteLength(JSON.stringify(data)) <= mebibyte)
    t.match(emit(execution, data), { status: 'success' })
  }
  for (const data of [dataOf(mebibyte + 1), dataOf(mebibyte + 1, 'é')])
    t.strictSame(emit(execution, data), {
      status: 'failed',
      error: 'The event would be larger than 1 MiB',
      isFinal: true,
    })
  t.equal(execution.emitted.length, 2)
})

t.test('one event emits at most 16 MiB', async (t) => {
  const execution = startExecution()
  const other = { ...startExecution(), event: execution.event, budget: execution.budget }
  const data = dataOf(mebibyte)
  for (let times = 0; times < 16; times++)
    t.match(emit(times % 2 ? execution : other, data), { status: 'success' })
  const tooMuch = 'The rules of one event would emit more than 16 MiB'
  t.strictSame(emit(execution, {}), { status: 'failed', error: tooMuch, isFinal: true })
  t.equal(execution.emitted.length + other.emitted.length, 16)
  t.match(emit(startExecution(), data), { status: 'success' }, 'each event has its own limit')
})

/** Data that counts how many times it was written as JSON. */
function watchData(bytes: number) {
  const watched = {
    written: 0,
    toJSON() {
      watched.written++
      return dataOf(bytes)
    },
  }
  return watched
}

t.test('what a limit refuses is not written as JSON before', async (t) => {
  const limited = startExecution(0, new Causation({} as Database, { descendants: 1, perMinute: 10 }))
  t.match(emit(limited, {}), { status: 'success' })
  const data = watchData(10)
  t.match(emit(limited, data), { status: 'failed', error: /One event may cause/ })
  const full = startExecution()
  for (let times = 0; times < 15; times++) emit(full, dataOf(mebibyte))
  emit(full, dataOf(mebibyte - 1_000))
  t.match(emit(full, data, 2_000), { status: 'failed', error: /16 MiB/ })
  t.equal(data.written, 0)
})

t.test('what was written counts for the limit of 16 MiB, also where it was refused', async (t) => {
  const execution = startExecution()
  const data = Array.from({ length: 20 }, () => watchData(mebibyte + 1_024))
  for (const tooLarge of data) t.match(emit(execution, tooLarge), { status: 'failed' })
  t.equal(data.filter(({ written }) => written > 0).length, 16)
  t.equal(execution.effectBytes, 0)
})

t.test('what an execution emits shares a job, as far as a worker may load it together', async (t) => {
  const execution = startExecution()
  for (const bytes of [100, mebibyte - 200, 100, 200, 100]) emit(execution, dataOf(bytes))
  const [first, second, third, fourth, fifth] = execution.emitted
  t.strictSame(
    execution.emitted.map(({ jobId }) => jobId),
    [first, first, first, fourth, fifth].map((event) => event?.id),
  )
  t.ok(second && third)

  // What was recorded before has its job already.
  Object.assign(execution, { emitted: [], effectBytes: 0 })
  emit(execution, dataOf(100))
  t.equal(execution.emitted[0]?.jobId, execution.emitted[0]?.id)
})

function emitEach(execution: Execution, data: object[], size = 0) {
  const events = data.map((one, index) => ({ index, data: one }))
  const config = { eventType: 'DEAL_WON', forEach: 'items' }
  return emitEvent(execution, { of: { index: 2 }, config, size, events } as never)
}

t.test(
  'the events of a list are emitted together, and the result has their number and their range',
  async (t) => {
    const execution = startExecution()
    const result = emitEach(execution, [{ a: 1 }, { a: 2 }, { a: 3 }])
    t.match(execution.emitted, [
      { data: { a: 1 }, actionIndex: 2, depth: 1, type: 'DEAL_WON' },
      { data: { a: 2 } },
      { data: { a: 3 } },
    ])
    const [first, , last] = execution.emitted
    t.strictSame(result, {
      status: 'success',
      output: { events: 3, firstEventId: first?.id, lastEventId: last?.id },
    })
    const ids = execution.emitted.map(({ id }) => id)
    t.strictSame(ids.toSorted(), ids, 'the range has all of them')
    t.equal(new Set(execution.emitted.map(({ jobId }) => jobId)).size, 1)
    const long = startExecution()
    emitEach(
      long,
      Array.from({ length: 120 }, () => ({})),
    )
    const jobIds = long.emitted.map(({ jobId }) => jobId)
    t.strictSame(
      [0, 99, 100, 119].map((n) => jobIds[n]),
      [0, 0, 100, 100].map((n) => long.emitted[n]?.id),
    )
    t.equal(new Set(jobIds).size, 2, 'a job has no more than 100 events')
    t.strictSame(emitEach(startExecution(), []), { status: 'success', output: { events: 0 } })
  },
)

t.test(
  'of a list that is more than a limit allows, no event is emitted, and nothing is counted',
  async (t) => {
    const few = (limits: { descendants: number; perMinute: number }) =>
      startExecution(0, new Causation({} as Database, limits))
    const items = (length: number) => Array.from({ length }, () => ({}))
    const tree = few({ descendants: 10, perMinute: 100 })
    t.match(emitEach(tree, items(8)), { status: 'success' })
    t.match(emitEach(tree, items(3)), {
      status: 'failed',
      error: 'One event may cause 10 others, directly or not: none of these 3 was emitted',
      isFinal: true,
      output: { attention: 'event_budget' },
    })
    t.equal(tree.emitted.length, 8)
    t.match(emitEach(tree, items(2)), { status: 'success' }, 'those that were refused do not count')
    const minute = few({ descendants: 100, perMinute: 5 })
    t.match(emitEach(minute, items(6)), {
      status: 'failed',
      error: 'The rules of a workspace may emit 5 events a minute: none of these 6 was emitted',
    })
    t.strictSame(minute.emitted, [])
    t.match(emitEach(startExecution(10), items(2)), { status: 'failed', error: /chain of emitted events/ })

    const large = startExecution()
    t.match(emitEach(large, [{}, dataOf(mebibyte + 1), {}]), {
      status: 'failed',
      error: 'Event 2 of 3 would be larger than 1 MiB',
    })
    t.match(emitEach(large, Array(16).fill(dataOf(mebibyte))), { error: /more than 16 MiB/ })
    t.strictSame([large.emitted, large.effectBytes], [[], 0])
  },
)
