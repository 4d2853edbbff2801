import { setTimeout } from 'node:timers/promises'
import type { ActionResult } from '@automation/engine'
import t from 'tap'
import { type House, openHouse } from './fixtures/house.js'

const emitItself = {
  type: 'EMIT_EVENT',
  config: { eventType: 'LEAD_CREATED', data: {} },
  continueOnError: true,
}

async function untilQuiet(house: House): Promise<void> {
  while ((await house.own.event.count({ where: { doneAt: null } })) > 0) await setTimeout(50)
}

async function readErrors(house: House): Promise<string[]> {
  const executions = await house.own.execution.findMany({ select: { results: true } })
  const results = executions.flatMap((execution) => execution.results as unknown as ActionResult[])
  return [...new Set(results.flatMap(({ error }) => error ?? []))]
}

t.test('a rule that emits its own type twenty times causes no more events than one event may', async (t) => {
  const house = await openHouse(t, { EVENT_DESCENDANTS: '100' })
  const ruleId = await house.createRule(Array(20).fill(emitItself))
  house.startWorker()
  const event = house.newEvent()
  await house.inbox.accept(event)
  await house.untilDone(event.id)
  await untilQuiet(house)
  const emitted = await house.own.event.findMany({ where: { causedBy: { not: null } } })
  t.equal(emitted.length, 100)
  t.ok(emitted.every(({ rootId }) => rootId === event.id))
  t.match(await readErrors(house), [/EVENT_DESCENDANTS/])
  const counters = await house.own.ruleCounters.findUniqueOrThrow({ where: { ruleId } })
  t.equal(counters.attentionReason, 'event_budget')

  const other = house.newEvent()
  await house.inbox.accept(other)
  await house.untilDone(other.id)
  await untilQuiet(house)
  t.equal(
    await house.own.event.count({ where: { rootId: other.id } }),
    100,
    'another event has its own share',
  )
})

t.test('another worker counts what is stored', async (t) => {
  const house = await openHouse(t, { EVENT_DESCENDANTS: '10' })
  await house.createRule([emitItself])
  const root = house.newRow()
  await house.own.event.create({ data: { ...root, doneAt: new Date() } })
  const [cause] = await Promise.all([house.createRule([])])
  const rows = Array.from({ length: 10 }, () => ({ ...house.newRow(), rootId: root.id, depth: 1 }))
  const execution = {
    id: rows[0]?.id ?? '',
    workspaceId: house.workspaceId,
    eventId: root.id,
    eventType: 'LEAD_CREATED',
    ruleId: cause ?? '',
    ruleVersion: 1,
    status: 'succeeded' as const,
    results: [],
    startedAt: new Date(),
    lostLeases: [],
  }
  await house.own.execution.create({ data: execution })
  for (const row of rows) await house.own.event.create({ data: { ...row, causedBy: execution.id } })
  house.startWorker()
  house.startSweeper()
  await untilQuiet(house)
  t.equal(await house.own.event.count({ where: { rootId: root.id } }), 10)
  t.match(await readErrors(house), [/EVENT_DESCENDANTS/])
})

t.test('the rules of a workspace emit so many events a minute, whatever the number of events', async (t) => {
  const house = await openHouse(t, { EMITTED_PER_MINUTE: '30' })
  await house.createRule(Array(10).fill({ ...emitItself, config: { eventType: 'DEAL_WON', data: {} } }))
  house.startWorker()
  const events = Array.from({ length: 5 }, () => house.newEvent())
  await Promise.all(events.map((event) => house.inbox.accept(event)))
  await untilQuiet(house)
  t.equal(await house.own.event.count({ where: { type: 'DEAL_WON' } }), 30)
  t.match(await readErrors(house), [/EMITTED_PER_MINUTE/])
})

t.test('what a rule emitted ends with it, and an emission by hand does not', async (t) => {
  const house = await openHouse(t)
  const follower = await house.createRule([{ type: 'CREATE_TASK', config: { title: 'Task' } }], 'DEAL_WON')
  const emitter = await house.createRule([{ ...emitItself, config: { eventType: 'DEAL_WON', data: {} } }])
  await house.own.rule.update({ where: { id: emitter }, data: { isActive: false } })
  const causes = ['by its event', 'by hand'].map((how) => {
    const event = house.newRow()
    return { how, event, executionId: how === 'by hand' ? event.id : house.newRow().id }
  })
  for (const { event, executionId } of causes) {
    await house.own.event.create({ data: { ...event, doneAt: new Date() } })
    await house.own.execution.create({
      data: {
        id: executionId,
        workspaceId: house.workspaceId,
        eventId: event.id,
        eventType: 'LEAD_CREATED',
        ruleId: emitter,
        ruleVersion: 1,
        status: 'succeeded',
        results: [],
        startedAt: new Date(),
        lostLeases: [],
      },
    })
    const emitted = { ...house.newRow(), type: 'DEAL_WON', rootId: event.id, causedBy: executionId, depth: 1 }
    await house.own.event.create({ data: emitted })
  }
  house.startWorker()
  house.startSweeper()
  await untilQuiet(house)
  const executions = await house.own.execution.findMany({ where: { ruleId: follower } })
  t.equal(executions.length, 1)
  const considered = await house.own.event.findMany({ where: { type: 'DEAL_WON' }, orderBy: { id: 'asc' } })
  t.same(
    considered.map(({ ruleSetId }) => ruleSetId === null),
    [true, false],
  )
})
