import t from 'tap'
import type { Evidence } from '../storm/storm.js'
import { excuseLost } from './excuse-lost.js'

const lost = { from: 100, to: 200 }

/** One event that is there and was called twice, and one that was acknowledged at this time and is not there. */
function tellStory(at: number) {
  const called = (name: string, count: number) => ({
    ...{ names: new Set([name]), bodies: new Set(['{}']), count, welcome: 1 },
  })
  const executions = [{ id: 'x1', eventId: 'e1', attempts: [1] }]
  const evidence = {
    site: {
      query: async (text: string) => {
        const ofOnce = text.includes("IN ('once')") && !text.includes('NOT IN')
        if (/FROM events /.test(text)) return ofOnce ? [] : [{ id: 'e1', name: 'there' }]
        return /FROM executions /.test(text) && !ofOnce ? executions : []
      },
      ...{ hostile: { id: 'hostile' }, once: { id: 'once' }, switched: { id: 'switched' } },
    },
    load: {
      sent: [
        { event: { name: 'there' }, outcomes: [{ kind: 'ok', id: 'e1', at: 150 }] },
        { event: { name: 'gone' }, outcomes: [{ kind: 'ok', id: 'e2', at }] },
      ],
    },
    edits: {
      acknowledged: [{ kind: 'key', id: 'k1', at }],
      roles: new Map([['w u', [{ isAccepted: true, at }]]]),
    },
    once: { sent: [{ name: 'once-1', isAcknowledged: true, at }] },
    target: {
      calls: new Map([
        ['x1:0', called('there', 2)],
        ['x2:0', called('gone', 1)],
      ]),
    },
    onceTarget: { calls: new Map() },
  }
  return evidence as unknown as Evidence
}

t.test('what was acknowledged in the lost time is not missed, and its calls are forgotten', async (t) => {
  const evidence = tellStory(150)
  t.strictSame(await excuseLost(evidence, lost), { events: 1, calls: 1, again: 1 })
  t.match(evidence.load.sent[1]?.outcomes, [{ kind: 'unknown', id: undefined }])
  t.match(evidence.load.sent[0]?.outcomes, [{ kind: 'ok', id: 'e1' }])
  t.strictSame([...evidence.target.calls.keys()], ['x1:0'])
  t.equal(evidence.target.calls.get('x1:0')?.count, 1)
  t.strictSame(evidence.edits.acknowledged, [])
  t.match(evidence.once.sent, [{ isAcknowledged: false }])
})

for (const at of [99, 201])
  t.test(`what was acknowledged at ${at}, before or after it, is missed`, async (t) => {
    const evidence = tellStory(at)
    t.strictSame(await excuseLost(evidence, lost), { events: 0, calls: 0, again: 1 })
    t.match(evidence.load.sent[1]?.outcomes, [{ kind: 'ok', id: 'e2' }])
    t.equal(evidence.target.calls.size, 2)
    t.equal(evidence.edits.acknowledged.length, 1)
    t.match(evidence.once.sent, [{ isAcknowledged: true }])
  })
