import t from 'tap'
import type { ActionOf } from '../src/effects/effect.js'
import { emitEvent } from '../src/emit-event.js'
import type { Run } from '../src/run.js'
import { context } from './fixtures/outbound.js'

const mebibyte = 1_048_576

function startRun(depth = 0): Run {
  return { event: { ...context.event, depth }, emitted: [], results: [] } as never
}

function emit(run: Run, data?: object) {
  return emitEvent(run, { config: { eventType: 'DEAL_WON', data } } as ActionOf<'EMIT_EVENT'>)
}

/** Data of so many bytes as JSON. */
function dataOf(bytes: number, character = 'x') {
  return { text: character.repeat((bytes - '{"text":""}'.length) / Buffer.byteLength(character)) }
}

t.test('the tenth event of a chain is emitted, the eleventh is not, and the rule is shown', async (t) => {
  const [ninth, tenth] = [startRun(9), startRun(10)]
  t.match(emit(ninth), { status: 'success' })
  t.match(ninth.emitted, [{ depth: 10, type: 'DEAL_WON', data: ninth.event.data, ruleId: null }])
  t.equal(ninth.emitted.length, 1)
  t.equal(ninth.attention, undefined)
  t.match(emit(tenth), { status: 'failed', error: /^10 events have caused one another/, isFinal: true })
  t.strictSame(tenth.emitted, [])
  t.equal(tenth.attention, 'event_loop')
})

t.test('an event has a mebibyte at most, in bytes of its JSON', async (t) => {
  const run = startRun()
  for (const data of [dataOf(mebibyte), dataOf(mebibyte - 1, 'é')]) {
    t.ok(Buffer.byteLength(JSON.stringify(data)) <= mebibyte)
    t.match(emit(run, data), { status: 'success' })
  }
  for (const data of [dataOf(mebibyte + 1), dataOf(mebibyte + 1, 'é')])
    t.strictSame(emit(run, data), {
      status: 'failed',
      error: 'The event would be larger than 1 MiB',
      isFinal: true,
    })
  t.equal(run.emitted.length, 2)
})

t.test('sixteen mebibytes are emitted for one event, and not a byte more', async (t) => {
  const run = startRun()
  const other = { ...startRun(), event: run.event }
  const data = dataOf(mebibyte)
  for (let times = 0; times < 16; times++) t.match(emit(times % 2 ? run : other, data), { status: 'success' })
  const tooMuch = 'The rules of one event would emit more than 16 MiB'
  t.strictSame(emit(run, {}), { status: 'failed', error: tooMuch, isFinal: true })
  t.equal(run.emitted.length + other.emitted.length, 16)
  t.match(emit(startRun(), data), { status: 'success' }, 'another event has its own share')
})
