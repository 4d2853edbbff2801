import { setTimeout } from 'node:timers/promises'
import { type Database, newId } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'
import t from 'tap'
import { Causation, defaultEmissionLimits } from '../src/executions/causation.js'
import { createHarness, type Harness } from './fixtures/harness.js'

const emitItself = {
  type: 'EMIT_EVENT',
  config: { eventType: 'LEAD_CREATED', data: {} },
  continueOnError: true,
}

async function untilQuiet(harness: Harness): Promise<void> {
  while ((await harness.own.event.count({ where: { doneAt: null } })) > 0) await setTimeout(50)
}

async function readErrors(harness: Harness): Promise<string[]> {
  const executions = await harness.own.execution.findMany({ select: { results: true } })
  const results = executions.flatMap((execution) => execution.results as unknown as ActionResult[])
  return [...new Set(results.flatMap(({ error }) => error ?? []))]
}

t.test('a rule that emits its own type twenty times causes no more events than one event may', async (t) => {
  const harness = await createHarness(t, {}, { emissions: { ...defaultEmissionLimits, descendants: 100 } })
  const ruleId = await harness.createRule(Array(20).fill(emitItself))
  harness.startWorker()
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  await harness.untilDone(event.id)
  await untilQuiet(harness)
  const emitted = await harness.own.event.findMany({ where: { causedBy: { not: null } } })
  t.equal(emitted.length, 100)
  t.ok(emitted.every(({ rootId }) => rootId === event.id))
  t.match(await readErrors(harness), [/One event may cause/])
  const counters = await harness.own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })
  t.equal(counters.attentionReason, 'event_budget')

  const other = harness.newEvent()
  await harness.inbox.accept(other)
  await harness.untilDone(other.id)
  await untilQuiet(harness)
  t.equal(
    await harness.own.event.count({ where: { rootId: other.id } }),
    100,
    'another event has its own share',
  )
})

t.test('another worker counts what is stored', async (t) => {
  const harness = await createHarness(t, {}, { emissions: { ...defaultEmissionLimits, descendants: 10 } })
  await harness.createRule([emitItself])
  const root = harness.newRow()
  await harness.own.event.create({ data: { ...root, doneAt: new Date() } })
  const [cause] = await Promise.all([harness.createRule([])])
  const rows = Array.from({ length: 10 }, () => ({ ...harness.newRow(), rootId: root.id, depth: 1 }))
  const execution = {
    id: rows[0]?.id ?? '',
    workspaceId: harness.workspaceId,
    eventId: root.id,
    eventType: 'LEAD_CREATED',
    handlerId: cause ?? '',
    ruleVersion: 1,
    status: 'succeeded' as const,
    results: [],
    startedAt: new Date(),
    lostLeases: [],
  }
  await harness.own.execution.create({ data: execution })
  for (const row of rows) await harness.own.event.create({ data: { ...row, causedBy: execution.id } })
  harness.startWorker()
  harness.startSweeper()
  await untilQuiet(harness)
  t.equal(await harness.own.event.count({ where: { rootId: root.id } }), 10)
  t.match(await readErrors(harness), [/One event may cause/])
})

t.test('a tree is counted once a second, and all of its events know the count', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const counted: unknown[] = []
  const run = async (_name: string, _sql: string, [ids, roots]: [string[], (string | null)[]]) => {
    await setTimeout(5)
    counted.push(...roots.filter((root) => root !== null))
    return ids.map((id, index) => ({ id, descendants: roots[index] && 10, isCauseOff: false }))
  }
  const causation = new Causation({ run } as unknown as Database, { descendants: 10, perMinute: 1_000 })
  const refusals = await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      const event = { id: `${n}`, workspaceId: 'a', rootId: 'root' } as LoadedEvent
      await causation.countStored(event)
      return causation.countEmissions(event, 1)
    }),
  )
  t.strictSame(counted, ['root'])
  t.match(refusals, Array(300).fill(/One event may cause/))
  now += 1_000
  await causation.countStored({ id: '300', workspaceId: 'a', rootId: 'root' } as LoadedEvent)
  t.strictSame(counted, ['root', 'root'], 'other workers may have emitted meanwhile')
})

t.test('an execution that is continued or retried counts what is stored', async (t) => {
  const harness = await createHarness(t, {}, { emissions: { ...defaultEmissionLimits, descendants: 10 } })
  const ruleId = await harness.createRule([emitItself])
  const root = harness.newRow()
  const done = { doneAt: new Date() }
  await harness.own.event.create({ data: { ...root, ...done } })
  for (let n = 0; n < 10; n++)
    await harness.own.event.create({ data: { ...harness.newRow(), rootId: root.id, depth: 1, ...done } })
  const execution = {
    id: harness.newRow().id,
    workspaceId: harness.workspaceId,
    eventId: root.id,
    eventType: 'LEAD_CREATED',
    handlerId: ruleId,
    ruleVersion: 1,
    status: 'waiting' as const,
    results: [],
    startedAt: new Date(),
    dueAt: new Date(),
    lostLeases: [],
  }
  await harness.own.execution.create({ data: execution })
  harness.startWorker()
  harness.startSweeper()
  while ((await harness.own.execution.count({ where: { finishedAt: null } })) > 0) await setTimeout(50)
  t.equal(await harness.own.event.count({ where: { rootId: root.id } }), 10)
  t.match(await readErrors(harness), [/One event may cause/])
})

t.test(
  'the rules of a workspace emit a limited number of events a minute, over all of its events',
  async (t) => {
    const harness = await createHarness(t, {}, { emissions: { ...defaultEmissionLimits, perMinute: 30 } })
    const ruleId = await harness.createRule(
      Array(10).fill({ ...emitItself, config: { eventType: 'DEAL_WON', data: {} } }),
    )
    harness.startWorker()
    const events = Array.from({ length: 5 }, () => harness.newEvent())
    await Promise.all(events.map((event) => harness.inbox.accept(event)))
    await untilQuiet(harness)
    t.equal(await harness.own.event.count({ where: { type: 'DEAL_WON' } }), 30)
    t.match(await readErrors(harness), [/events a minute/])
    const counters = await harness.own.ruleCounters.findMany({
      select: { ruleId: true, attentionReason: true },
    })
    t.strictSame(counters, [{ ruleId, attentionReason: 'event_budget' }])
  },
)

t.test('what a rule emitted ends with it, and an emission by hand does not', async (t) => {
  const harness = await createHarness(t)
  const follower = await harness.createRule([{ type: 'CREATE_TASK', config: { title: 'Task' } }], 'DEAL_WON')
  const emitter = await harness.createRule([{ ...emitItself, config: { eventType: 'DEAL_WON', data: {} } }])
  await harness.own.rule.update({ where: { id: emitter }, data: { isActive: false } })
  const causes = ['by its event', 'by hand'].map((how) => {
    const event = harness.newRow()
    return { how, event, executionId: how === 'by hand' ? event.id : harness.newRow().id }
  })
  for (const { event, executionId } of causes) {
    await harness.own.event.create({ data: { ...event, doneAt: new Date() } })
    await harness.own.execution.create({
      data: {
        id: executionId,
        workspaceId: harness.workspaceId,
        eventId: event.id,
        eventType: 'LEAD_CREATED',
        handlerId: emitter,
        ruleVersion: 1,
        status: 'succeeded',
        results: [],
        startedAt: new Date(),
        lostLeases: [],
      },
    })
    const emitted = {
      ...harness.newRow(),
      type: 'DEAL_WON',
      rootId: event.id,
      causedBy: executionId,
      depth: 1,
    }
    await harness.own.event.create({ data: emitted })
  }
  harness.startWorker()
  harness.startSweeper()
  await untilQuiet(harness)
  const executions = await harness.own.execution.findMany({ where: { handlerId: follower } })
  t.equal(executions.length, 1)
  const considered = await harness.own.event.findMany({ where: { type: 'DEAL_WON' }, orderBy: { id: 'asc' } })
  t.same(
    considered.map(({ ruleSetId }) => ruleSetId === null),
    [true, false],
  )
})

t.test('a refund takes back no more than was counted', async (t) => {
  const causation = new Causation({} as Database, { descendants: 2, perMinute: 2 })
  const event = { id: newId(), rootId: null, workspaceId: newId() } as LoadedEvent
  causation.refund(event, 5)
  const refusals = Array.from({ length: 3 }, () => causation.countEmissions(event, 1))
  t.match(refusals, [undefined, undefined, /One event may cause/])
})
