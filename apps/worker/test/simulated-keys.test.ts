import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import type { PerKey } from '@automation/engine'
import { prepareRules, simulateEvents } from '@automation/rule-tests'
import t from 'tap'
import { createHarness } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: '{{k}}' } }
const key = '{{k}}'
const limitsIn = (seconds: number): PerKey[] => {
  const [one, two] = [`${seconds}s`, `${2 * seconds}s`]
  return [
    { key, atMost: { runs: 2, per: one } },
    { key, atLeast: { events: 3, within: one } },
    { key, atLeast: { events: 2, within: two }, atMost: { runs: 1, per: one } },
    { atMost: { runs: 3, per: one }, whileRunning: 'queue' },
    { key, atLeast: { events: 2, within: one }, whileRunning: 'skip' },
    { key, atMost: { runs: 1, per: one }, whileRunning: 'replace' },
  ]
}

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
    harness.startWorker()
    const record = async (data: object, type?: string) => {
      const event = { ...harness.newEvent(type), data }
      await harness.inbox.accept(event)
      await harness.untilDone(event.id)
    }
    // A window has some events, however slow the machine is: it decides of some that they are too many, and of others that they are too few.
    const startedAt = performance.now()
    for (let count = 0; count < 5; count++) await record({}, 'DEAL_WON')
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000)
    const rules = []
    for (const perKey of limitsIn(seconds))
      rules.push({ id: await harness.createRule([task], undefined, perKey), perKey })
    await harness.own.event.deleteMany()
    for (let count = 0; count < 60; count++) {
      await record({ k: draw(3) })
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
      const stored = await harness.own.execution.findMany({ where: { handlerId: id, status: 'succeeded' } })
      const ids = new Set(stored.map((execution) => execution.id))
      const granted = rows.flatMap((row, place) =>
        ids.has(executionIdOf({ id: row.id, addressee: null } as never, id)) ? place : [],
      )
      t.strictSame(simulated, granted, JSON.stringify(perKey))
      t.ok(granted.length > 0 && granted.length < rows.length, `${granted.length} of ${rows.length}`)
    }
  },
)
