import { setTimeout as delay } from 'node:timers/promises'
import { prepareRules, simulateEvents } from '@automation/check'
import { executionIdOf } from '@automation/database'
import type { PerKey } from '@automation/engine'
import t from 'tap'
import { createHarness } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: '{{k}}' } }
const key = '{{k}}'
const limits: PerKey[] = [
  { key, atMost: { runs: 2, per: '1s' } },
  { key, atLeast: { events: 3, within: '1s' } },
  { key, atLeast: { events: 2, within: '2s' }, atMost: { runs: 1, per: '1s' } },
  { atMost: { runs: 3, per: '1s' }, whileRunning: 'queue' },
  { key, atLeast: { events: 2, within: '1s' }, whileRunning: 'skip' },
  { key, atMost: { runs: 1, per: '1s' }, whileRunning: 'replace' },
]

/** Draws from a seed: xorshift. */
function createDraw(seed: number) {
  let state = seed | 1
  return (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

t.test(
  'tests of rules grant what workers grant, for events that are recorded one after another',
  async (t) => {
    const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000)
    t.comment(`seed ${seed}`)
    const draw = createDraw(seed)
    const harness = await createHarness(t)
    const rules = []
    for (const perKey of limits)
      rules.push({ id: await harness.createRule([task], undefined, perKey), perKey })
    harness.startWorker()
    for (let count = 0; count < 60; count++) {
      const event = { ...harness.newEvent(), data: { k: draw(3) } }
      await harness.inbox.accept(event)
      await harness.untilDone(event.id)
      await delay(draw(4) === 0 ? draw(900) : draw(60))
    }
    const rows = await harness.own.event.findMany({ orderBy: [{ acceptedAt: 'asc' }, { id: 'asc' }] })
    const events = rows.map(({ type, data, acceptedAt }) => ({
      type,
      data: data as object,
      at: acceptedAt.getTime(),
    }))
    const prepared = prepareRules(
      rules.map(({ id, perKey }) => ({
        name: id,
        trigger: rows[0]?.type as string,
        perKey,
        conditions: [],
        actions: [task] as never,
      })),
    )
    const { executions } = simulateEvents(prepared, events)
    for (const [index, { id, perKey }] of rules.entries()) {
      const simulated = executions.flatMap(({ rule, event }) =>
        rule === index ? events.indexOf(event as never) : [],
      )
      const stored = await harness.own.execution.findMany({ where: { ruleId: id, status: 'succeeded' } })
      const ids = new Set(stored.map((execution) => execution.id))
      const granted = rows.flatMap((row, place) =>
        ids.has(executionIdOf({ id: row.id, addressee: null } as never, id)) ? place : [],
      )
      t.strictSame(simulated, granted, JSON.stringify(perKey))
      t.ok(granted.length > 0 && granted.length < rows.length, `${granted.length} of ${rows.length}`)
    }
  },
)
