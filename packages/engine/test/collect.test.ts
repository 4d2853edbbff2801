import t from 'tap'
import { findRuleFaults } from '../src/faults/faults.js'
import { collectedAlone, maxCollectedBytes } from '../src/per-key/batch-data.js'
import { type Batch, compileCollect } from '../src/per-key/collect.js'
import { compilePerKey } from '../src/per-key/compile-key.js'
import { decide } from '../src/per-key/decide.js'
import type { PerKey } from '../src/per-key/per-key.js'
import { findPerKeyFaults } from '../src/per-key/per-key-faults.js'

const minute = 60_000
const iso = (at: number) => new Date(at).toISOString()

/** Events that are recorded in this order. @returns the batch of each, by the moment of the event that opened it, and the ends of the batches */
function collect(collect: NonNullable<PerKey['collect']>, times: number[]) {
  const perKey = compilePerKey({ key: '{{k}}', collect })
  const batches: Batch[] = []
  const places = times.map((at, n) => {
    const event = { at, eventId: String(n), executionId: `run ${n}` }
    const { kind, batch, suppression } = decide(
      perKey,
      'x',
      { granted: [], counted: [], queue: [], batches },
      event,
    )
    if (kind === 'wait') batches.push(batch as Batch)
    else
      t.strictSame(suppression, { reason: 'collected', key: 'x', executionId: batch?.openedBy.executionId })
    batches.sort((one, other) => one.endsAt - other.endsAt)
    return batch?.openedBy.at
  })
  return { places, ends: batches.map(({ endsAt }) => endsAt) }
}

t.test('a batch has the events before its end, which is so long after the first', async (t) => {
  const { places, ends } = collect({ for: '10m' }, [0, 5, 10 * minute - 1, 10 * minute, 11 * minute])
  t.strictSame(places, [0, 0, 0, 10 * minute, 10 * minute])
  t.strictSame(ends, [10 * minute, 20 * minute])
})

t.test('an event that is recorded late is in the batch of its time, while that has not begun', async (t) => {
  t.strictSame(collect({ for: '10m' }, [0, 10 * minute, 5, 12 * minute]).places, [
    0,
    10 * minute,
    0,
    10 * minute,
  ])
})

t.test('a batch ends early when it is quiet, and with as many events as it may have', async (t) => {
  const quiet = collect({ for: '10m', quiet: '2m' }, [0, minute, 2 * minute, 4 * minute, 13 * minute])
  t.strictSame(quiet, {
    places: [0, 0, 0, 4 * minute, 13 * minute],
    ends: [4 * minute, 6 * minute, 15 * minute],
  })
  t.strictSame(collect({ for: '10m', quiet: '9m' }, [0, 8 * minute]).ends, [10 * minute], 'for is the latest')
  const late = collect({ for: '10m', quiet: '2m' }, [0, 1.5 * minute, minute])
  t.strictSame(late.ends, [3.5 * minute], 'an event that is recorded late does not end it earlier')
  t.strictSame(collect({ for: '10m', max: 2 }, [0, 7, 8]), { places: [0, 0, 8], ends: [7, 8 + 10 * minute] })
  t.strictSame(collect({ for: '10m', max: 1 }, [3, 4]), { places: [3, 4], ends: [3, 4] })
})

t.test('a batch with at ends at the next such time of the clock', async (t) => {
  const { lastEnd } = compileCollect({ at: { cron: '0 8 * * *', timezone: 'Europe/Berlin' } })
  t.equal(iso(lastEnd(Date.parse('2026-03-28T06:59:59.999Z'))), '2026-03-28T07:00:00.000Z')
  t.equal(iso(lastEnd(Date.parse('2026-03-28T07:00:00Z'))), '2026-03-29T06:00:00.000Z', 'strictly after it')
})

t.test('with queue, batches that have not begun count in the queue of their key', async (t) => {
  const event = { at: 1, eventId: 'e', executionId: 'run' }
  const state = { granted: [], counted: [], queue: [], batches: [], collecting: 1_000 }
  const open = { openedBy: event, size: 1, lastAt: 1, endsAt: 5 }
  const batches = { for: '1h', max: 2 }
  const queuing = compilePerKey({ collect: batches, whileRunning: 'queue' })
  t.match(decide(queuing, 'x', state, event), { kind: 'suppressed', suppression: { reason: 'queue_full' } })
  t.match(decide(queuing, 'x', { ...state, queue: Array(1_000).fill(event), collecting: 0 }, event), {
    suppression: { reason: 'queue_full' },
  })
  t.match(decide(queuing, 'x', { ...state, collecting: 999 }, event), { kind: 'wait' })
  t.match(decide(queuing, 'x', { ...state, batches: [open] }, event), {
    suppression: { reason: 'collected' },
  })
  t.match(decide(compilePerKey({ collect: batches }), 'x', state, event), { kind: 'wait' })
})

t.test('an event alone is a batch of one, and too large a one is only counted', async (t) => {
  t.strictSame(collectedAlone({ a: 1 }), { a: 1, collected: { count: 1, events: [{ a: 1 }], omitted: 0 } })
  let written = 0
  const data = { toJSON: () => ++written }
  t.equal(collectedAlone(data), collectedAlone(data))
  t.equal(written, 1, 'however many rules read it')
  const a = 'x'.repeat(maxCollectedBytes)
  t.strictSame(collectedAlone({ a }), { a, collected: { count: 1, events: [], omitted: 1 } })
})

t.test('collect stands with key and queue alone, and with one kind of end', async (t) => {
  const faults = (perKey: object) =>
    findPerKeyFaults({ perKey }).map(({ field, message }) => `${field}: ${message}`)
  t.strictSame(
    faults({ key: '{{k}}', whileRunning: 'queue', collect: { for: '1h', quiet: '1m', max: 3 } }),
    [],
  )
  t.strictSame(
    faults({
      atLeast: { events: 2, within: '1h' },
      atMost: { runs: 1, per: '1h' },
      whileRunning: 'skip',
      collect: { quiet: 'soon' },
    }),
    [
      'perKey.atLeast: Must be omitted with collect: use when with collected.count',
      'perKey.atMost: Must be omitted with collect',
      'perKey.whileRunning: Must be queue with collect, or omitted',
      'perKey.collect: Must have for or at, and not both',
      'perKey.collect.quiet: Must be a duration such as 30m, 24h or 7d, at most 366 days',
    ],
  )
  const at = { cron: '0 25 * * *', timezone: 'Berlin' }
  t.match(faults({ collect: { at } }), [
    /perKey\.collect\.at\.cron: Must have a valid hour/,
    'perKey.collect.at.timezone: Must be an IANA time zone such as Europe/Berlin',
  ])
  t.match(faults({ collect: { for: '1h', at: { cron: '0 8 * * *', timezone: 'UTC' } } }), [
    /perKey\.collect: Must have for or at/,
  ])
})

t.test('actions read what is collected, and conditions and keys do not', async (t) => {
  const task = (title: string) => [{ type: 'CREATE_TASK', config: { title } }]
  const faults = (title: string, perKey: unknown, conditions: unknown[] = []) =>
    findRuleFaults({ conditions, actions: task(title), perKey }).map(({ message }) => message)
  const perKey = { collect: { for: '1h' } }
  t.strictSame(faults('{{collected.count}} {{collected.events[0].id}} {{collected.omitted}}', perKey), [])
  t.match(faults('{{collected.total}}', perKey), [/must read collected\.count, collected\.events/i])
  t.match(faults('{{collected}}', perKey), [/must read collected\.count, collected\.events/i])
  t.strictSame(faults('{{collected.total}}', null), [], 'a field of the event in any other rule')
  const conditions = [{ field: 'collected.count', operator: 'greater_than', value: 1 }]
  t.match(faults('x', perKey, conditions), [/before its actions/])
  t.match(findPerKeyFaults({ perKey: { key: '{{collected.count}}', ...perKey } }), [{ field: 'perKey.key' }])
})
