import t from 'tap'
import type { Outcome } from '../storm/deliver.js'
import type { PlannedEvent } from '../storm/planned-event.js'
import { excuseEvents } from './lost.js'

const gone = 'e-gone'
const names = new Set(['event-1'])

function sent(...outcomes: [kind: Outcome['kind'], id: string | undefined][]) {
  return {
    event: { name: 'event-1' } as PlannedEvent,
    outcomes: outcomes.map(
      ([kind, id], at): Outcome => ({ kind, id, status: kind === 'ok' ? 202 : 503, at }),
    ),
  }
}

function excuse(...outcomes: Parameters<typeof sent>) {
  const record = sent(...outcomes)
  const count = excuseEvents({ load: { sent: [record] }, once: { sent: [] } }, new Set([gone]), names)
  return { count, kinds: record.outcomes.map(({ kind, id }) => `${kind} ${id}`) }
}

t.test(
  'the acknowledgement of an event that is gone counts no more, nor does one that its key was taken',
  async (t) => {
    t.strictSame(excuse(['ok', gone], ['ok', undefined]), {
      count: 1,
      kinds: ['unknown undefined', 'unknown undefined'],
    })
  },
)

t.test('an event that was accepted again is not lost, and its acknowledgement stays', async (t) => {
  t.strictSame(excuse(['ok', gone], ['unknown', undefined], ['ok', 'e-new'], ['ok', undefined]), {
    count: 0,
    kinds: ['unknown undefined', 'unknown undefined', 'ok e-new', 'ok undefined'],
  })
})

t.test('an acknowledgement of anything that is not named stays', async (t) => {
  t.strictSame(excuse(['ok', 'e-other']), { count: 0, kinds: ['ok e-other'] })
  const once = {
    sent: [
      { name: 'event-1', isAcknowledged: true },
      { name: 'event-2', isAcknowledged: true },
    ],
  }
  t.equal(excuseEvents({ load: { sent: [] }, once }, new Set([gone]), names), 1)
  t.strictSame(
    once.sent.map(({ isAcknowledged }) => isAcknowledged),
    [false, true],
  )
})
