import { defaultWorkLimits } from '@automation/engine'
import {
  blameRules,
  loadEvents,
  loadIsolated,
  maxCrashes,
  noteCrash,
  noteRule,
  passRules,
} from '@automation/ledger'
import t, { type Test } from 'tap'
import { Causation } from '../src/executions/causation.js'
import { rehearse } from '../src/running/rehearse.js'
import { createHarness, type Harness, log } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const workLimits = defaultWorkLimits
const longAgo = new Date(Date.now() - 60_000)

/** A harness with events that are isolated: each has run once since a worker ended. */
async function createIsolated(t: Test, count: number): Promise<{ harness: Harness; events: string[] }> {
  const harness = await createHarness(t)
  const rows = Array.from({ length: count }, () => ({ ...harness.newRow(), crashes: 1 }))
  await harness.own.event.createMany({ data: rows })
  return { harness, events: rows.map(({ id }) => id) }
}

function readCharges({ own }: Harness) {
  return own.ruleCrash.findMany({
    orderBy: [{ ruleId: 'asc' }, { eventId: 'asc' }],
    select: { ruleId: true, eventId: true, crashes: true, isUnderWay: true },
  })
}

/** A worker runs the rule for an isolated event and ends, and the event is delivered again. */
async function endWorker({ database }: Harness, ruleId: string, eventId: string) {
  await noteRule(database, ruleId, eventId)
  return noteCrash(database, eventId)
}

async function rehearseEvent({ database }: Harness, eventId: string): Promise<void> {
  const event = await loadIsolated(database, eventId)
  if (event === undefined) throw new Error('The event is done')
  await rehearse(event, {
    database,
    causation: new Causation(database),
    workLimits,
    log,
  })
}

t.test('an event that has ended a worker is loaded alone, with all other events as before', async (t) => {
  const { harness, events } = await createIsolated(t, 1)
  const innocent = harness.newRow()
  await harness.own.event.create({ data: innocent })
  const [isolated, loaded] = await loadEvents(harness.database, [...events, innocent.id])
  t.equal(isolated, 'isolate')
  t.match(loaded, { id: innocent.id, data: {} })
  t.match(await loadIsolated(harness.database, events[0] ?? ''), { id: events[0], data: {} })
})

t.test('an event is rehearsed where a worker has ended in isolation, and not before', async (t) => {
  const harness = await createHarness(t)
  const [first, second] = [harness.newRow(), harness.newRow()]
  await harness.own.event.createMany({ data: [first, second] })
  t.equal(await noteCrash(harness.database, first.id), 'run')
  t.equal(
    await noteCrash(harness.database, second.id),
    'rehearse',
    'another event of its workspace was begun',
  )
  t.equal(await noteCrash(harness.database, first.id), 'rehearse', 'it was begun before')
})

t.test('a crash with a rule is charged to the rule, and not to its event', async (t) => {
  const { harness, events } = await createIsolated(t, 1)
  const [eventId = ''] = events
  const ruleId = await harness.createRule([task])
  t.equal(await endWorker(harness, ruleId, eventId), 'rehearse')
  t.strictSame(await readCharges(harness), [{ ruleId, eventId, crashes: 1, isUnderWay: false }])
  t.match(await harness.own.event.findUnique({ where: { id: eventId } }), { crashes: 1, quarantined: false })
})

t.test('a rule that passes for the same event is not charged any more', async (t) => {
  const { harness, events } = await createIsolated(t, 2)
  const [eventId = '', other = ''] = events
  const [ruleId, next] = [await harness.createRule([task]), await harness.createRule([task])]
  await endWorker(harness, ruleId, other)
  await endWorker(harness, ruleId, eventId)
  await noteRule(harness.database, ruleId, eventId)
  await noteRule(harness.database, next, eventId)
  const chargeOfOther = { ruleId, eventId: other, crashes: 1, isUnderWay: false }
  const underWay = { ruleId: next, eventId, crashes: 0, isUnderWay: true }
  t.strictSame(await readCharges(harness), [chargeOfOther, underWay])
  await passRules(harness.database, eventId)
  t.strictSame(await readCharges(harness), [chargeOfOther])
})

t.test('an event that ends workers with several rules is quarantined, and one rule is charged', async (t) => {
  const { harness, events } = await createIsolated(t, 1)
  const [eventId = ''] = events
  const [first, second] = [await harness.createRule([task]), await harness.createRule([task])]
  t.equal(await endWorker(harness, first, eventId), 'rehearse')
  for (let crashes = 2; crashes < maxCrashes; crashes++)
    t.equal(await endWorker(harness, second, eventId), 'rehearse')
  t.equal(await endWorker(harness, second, eventId), 'quarantined')
  t.strictSame(await readCharges(harness), [{ ruleId: first, eventId, crashes: 1, isUnderWay: false }])
})

t.test(
  'a rule that has ended two workers is paused before the next event, which runs without it',
  async (t) => {
    const { harness, events } = await createIsolated(t, 3)
    const [charged = '', abandoned = '', next = ''] = events
    const [poison, innocent] = [await harness.createRule([task]), await harness.createRule([task])]
    await endWorker(harness, poison, charged)
    await rehearseEvent(harness, next)
    t.equal((await harness.own.rule.findUniqueOrThrow({ where: { id: poison } })).isActive, true, 'after one')

    // The second worker has ended, and its event was not delivered again.
    await noteRule(harness.database, poison, abandoned)
    t.strictSame(await blameRules(harness.database, harness.workspaceId), [], 'it may run the rule still')
    await harness.own.ruleCrash.updateMany({ where: { eventId: abandoned }, data: { notedAt: longAgo } })
    await rehearseEvent(harness, next)
    const rules = await harness.own.rule.findMany({ select: { id: true, isActive: true } })
    t.strictSame(
      new Map(rules.map(({ id, isActive }) => [id, isActive])),
      new Map([
        [poison, false],
        [innocent, true],
      ]),
    )
    const counters = await harness.own.ruleCounters.findUniqueOrThrow({ where: { ruleId: poison } })
    t.match(counters, { attentionReason: 'worker_crashes', lastError: /Two workers crashed/ })
    t.match(await harness.own.auditEntry.findMany({ where: { action: 'rule.paused' } }), [
      { subject: poison },
    ])
    t.strictSame(
      (await readCharges(harness)).map(({ ruleId, eventId }) => [ruleId, eventId]),
      [
        [poison, charged],
        [poison, abandoned],
      ],
      'nothing is left of the rehearsals',
    )
  },
)

t.test('a rehearsal stores nothing and takes back what it counted', async (t) => {
  const { harness, events } = await createIsolated(t, 1)
  const [eventId = ''] = events
  const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: {} } }
  await harness.createRule([task, emit, { type: 'WAIT', config: { duration: '1s' } }])
  const event = await loadIsolated(harness.database, eventId)
  if (event === undefined) throw new Error('The event is done')
  const causation = new Causation(harness.database, { descendants: 1, perMinute: 1 })
  await rehearse(event, {
    database: harness.database,
    causation,
    workLimits,
    log,
  })
  t.equal(causation.countEmissions(event, 1), undefined)
  t.strictSame(
    await Promise.all([harness.own.task.count(), harness.own.execution.count(), harness.own.event.count()]),
    [0, 0, 1],
  )
  t.strictSame(await readCharges(harness), [])
})
