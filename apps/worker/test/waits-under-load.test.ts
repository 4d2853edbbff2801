import { setTimeout } from 'node:timers/promises'
import { type Database, executionIdOf, newId } from '@automation/database'
import { narrowToExecution } from '@automation/history'
import { matchLists } from '@automation/launcher/match-lists'
import {
  createHistoryRemoval,
  findEndingEvents,
  nothingSeen,
  reopenExecutions,
  TimeOuts,
} from '@automation/ledger'
import t from 'tap'
import { removeGently } from '../src/retention/remove-gently.js'
import { createHarness, type Harness } from './fixtures/harness.js'

const task = (title: string, more: object = {}) => ({ type: 'CREATE_TASK', config: { title }, ...more })
const awaitPayment = (config: object = {}) => ({
  type: 'WAIT',
  config: {
    duration: '1d',
    for: { eventType: 'DEAL_WON', match: { 'deal.id': '{{id}}' }, then: 'go_on', ...config },
  },
})

async function accept(harness: Harness, type: string, data: object) {
  const event = { ...harness.newEvent(type), data }
  await harness.inbox.accept(event)
  return event
}

async function begin(harness: Harness, actions: object[]) {
  const ruleId = await harness.createRule(actions)
  const event = await accept(harness, 'LEAD_CREATED', { id: 7 })
  return { ruleId, event, id: executionIdOf(event, ruleId) }
}

/** Waits until an execution has looked at the events before it: it is woken for that as soon as it waits. */
async function untilAwaiting({ own }: Harness, id: string): Promise<void> {
  for (;;) {
    const row = await own.execution.findUnique({ where: { id } })
    if (row?.status === 'waiting' && Number(row.waitSeen ?? -1) >= 0) return
    await setTimeout(20)
  }
}

/** Stores so many more events that are like this one. */
async function repeatEvent({ database }: Harness, id: string, count: number, spreadMs = 0): Promise<void> {
  await database.run(
    'repeat_test_event',
    `INSERT INTO events
     SELECT (jsonb_populate_record(events, jsonb_build_object(
       'id', overlay(id::text PLACING lpad(to_hex(n), 4, '0') FROM 20 FOR 4),
       'accepted_at', accepted_at + n * $3::float8 * interval '1 millisecond'))).*
     FROM events, generate_series(1, $2::int) AS n WHERE id = $1::uuid`,
    [id, count, spreadMs],
  )
}

/** Holds the row of an execution as a cancellation does, which is rolled back in the end. */
async function lockAndRollBack(database: Database, id: string, during: () => Promise<unknown>) {
  const rolledBack = database.transact(async (statements) => {
    await statements.run('lock_test_row', 'SELECT id FROM executions WHERE id = $1 FOR UPDATE', [id])
    await during()
    throw new Error('Rolled back')
  })
  await rolledBack.catch((error: Error) => {
    if (error.message !== 'Rolled back') throw error
  })
}

t.test('an event that comes during a cancellation which is rolled back ends the WAIT', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const { id } = await begin(harness, [awaitPayment()])
  await untilAwaiting(harness, id)
  await lockAndRollBack(harness.database, id, async () => {
    const { id: eventId } = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
    await harness.untilDone(eventId)
    t.match(await harness.own.eventKey.findMany(), [{ isWaking: true }])
  })
  harness.startSweeper()
  await harness.untilStatus(id, 'succeeded')
  while ((await harness.own.eventKey.count({ where: { isWaking: true } })) > 0) await setTimeout(50)
})

t.test('a sweep leaves a key whose WAIT is locked to the next one', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const { id } = await begin(harness, [awaitPayment()])
  await untilAwaiting(harness, id)
  await lockAndRollBack(harness.database, id, async () => {
    const { id: eventId } = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
    await harness.untilDone(eventId)
    harness.startSweeper()
    await setTimeout(1_000)
    t.match(await harness.own.eventKey.findMany(), [{ isWaking: true }])
  })
  await harness.untilStatus(id, 'succeeded')
})

t.test('events that do not match cost the execution nothing, however many there are', async (t) => {
  const limits = { workLimits: { rule: 2_000, event: 5_000 } }
  const harness = await createHarness(t, {}, limits)
  harness.startWorker()
  const conditions = [{ some: 'list', that: [{ field: '.', operator: 'equals', value: 1 }] }]
  const when = { field: 'id', operator: 'equals', value: 7 }
  const { id } = await begin(harness, [awaitPayment({ conditions }), task('x', { when })])
  await harness.untilStatus(id, 'waiting')
  const list = Array(200).fill(0)
  const events = Array.from({ length: 20 }, () => accept(harness, 'DEAL_WON', { deal: { id: 7 }, list }))
  for (const { id: eventId } of await Promise.all(events)) await harness.untilDone(eventId)
  const ending = await accept(harness, 'DEAL_WON', { deal: { id: 7 }, list: [1] })
  const done = await harness.untilStatus(id, 'succeeded', 'failed')
  matchLists(t, done.results as object[], [{ endedBy: { eventId: ending.id } }, { status: 'success' }])
})

t.test(
  'a look holds a page of events, whose size is bounded, and shows all in the order of commits',
  async (t) => {
    const harness = await createHarness(t)
    const key = newId()
    const after = { acceptedAt: Date.now() - 1_000, id: newId() }
    const ids: string[] = []
    for (let n = 0; n < 45; n++) {
      const noise = Array.from({ length: n < 12 ? 20_000 : 1 }, () => Math.random())
      const event = { ...harness.newRow(), data: { noise } }
      const { acceptedAt } = await harness.own.event.create({ data: event as never })
      const { workspaceId } = harness
      await harness.own.eventKey.create({ data: { workspaceId, key, eventId: event.id, acceptedAt } })
      ids.push(event.id)
    }
    const pages: number[] = []
    const shown: string[] = []
    const run: Database['run'] = async (...of) => {
      const rows = await harness.database.run<object>(...of)
      pages.push(JSON.stringify(rows).length)
      return rows as never
    }
    const wait = { key, eventType: 'DEAL_WON', seen: '0', after, until: Date.now() + 60_000 }
    const looking = { workspaceId: harness.workspaceId, ruleId: newId(), ruleVersion: 1, wait }
    const look = await findEndingEvents({ run }, looking, async ({ id }) => shown.push(id) > 0)
    t.strictSame(shown, ids)
    t.match(look, { hasMore: false, isCut: false })
    t.ok(Math.max(...pages) < 3_000_000, `${Math.max(...pages)} characters`)
    const first = await findEndingEvents(
      { run },
      { ...looking, wait: { ...wait, seen: nothingSeen } },
      async () => false,
    )
    t.match(first, { hasMore: true })
    const rest: string[] = []
    const seen = { ...looking, wait: { ...wait, seen: first.seen } }
    await findEndingEvents({ run }, seen, async ({ id }) => rest.push(id) > 0)
    t.strictSame(rest, ids.slice(1), 'the next look begins behind the last one')
  },
)

t.test(
  'a backlog of another workspace, or of another type, does not delay the end of the time',
  async (t) => {
    const harness = await createHarness(t)
    const other = await createHarness(t)
    const { id } = await accept(other, 'DEAL_WON', { deal: { id: 7 } })
    await repeatEvent(other, id, 20_001)
    await setTimeout(1_500)
    const timeOuts = new TimeOuts(harness.database)
    const until = Date.now() - 250
    t.equal(await timeOuts.isOver({ workspaceId: harness.workspaceId, eventType: 'DEAL_WON', until }), true)
    t.equal(await timeOuts.isOver({ workspaceId: other.workspaceId, eventType: 'DEAL_LOST', until }), true)
    t.equal(await timeOuts.isOver({ workspaceId: other.workspaceId, eventType: 'DEAL_WON', until }), false)
    await other.own.event.deleteMany()
  },
)

t.test(
  'of more than a thousand events that were done before the rule existed the last one is found',
  async (t) => {
    const harness = await createHarness(t)
    const event = await accept(harness, 'LEAD_CREATED', { id: 7 })
    const early = { ...harness.newEvent('DEAL_WON'), data: { deal: { id: 8 } } }
    await harness.inbox.accept(early)
    const done = { doneAt: new Date(), rulesVersion: 4 }
    await harness.own.event.update({ where: { id: early.id }, data: done })
    await repeatEvent(harness, early.id, 1_100)
    await setTimeout(50)
    const ending = { ...harness.newEvent('DEAL_WON'), data: { deal: { id: 7 } } }
    await harness.inbox.accept(ending)
    await harness.own.event.update({ where: { id: ending.id }, data: done })
    const ruleId = await harness.createRule([awaitPayment()])
    const state = { workspaceId: harness.workspaceId, ruleId, rulesVersion: 5, version: 1, isActive: true }
    await harness.own.ruleState.create({ data: state })
    harness.startWorker()
    const execution = await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded')
    matchLists(t, execution.results as object[], [{ endedBy: { eventId: ending.id } }])
  },
)

t.test('a cancelled WAIT that is retried waits anew, also for an event that came meanwhile', async (t) => {
  const harness = await createHarness(t)
  const { own, workspaceId } = harness
  harness.startWorker()
  const { id, ruleId } = await begin(harness, [awaitPayment(), task('x')])
  await untilAwaiting(harness, id)
  await own.rule.update({ where: { id: ruleId }, data: { isActive: false } })
  const data = { status: 'cancelled', error: 'Switched off', finishedAt: new Date(), dueAt: null } as const
  await own.execution.update({ where: { id }, data })
  const ending = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
  await harness.untilDone(ending.id)
  await own.rule.update({ where: { id: ruleId }, data: { isActive: true } })
  const [reopened] = await own.$transaction((transaction) =>
    reopenExecutions(transaction, narrowToExecution(workspaceId, id), 'same', 1),
  )
  t.equal(reopened?.id, id)
  harness.startSweeper()
  const done = await harness.untilStatus(id, 'succeeded', 'failed')
  matchLists(t, done.results as object[], [{ endedBy: { eventId: ending.id } }, { status: 'success' }])
})

t.test('of one key 10,000 executions may wait: a further one fails and says so', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  const first = await begin(harness, [awaitPayment()])
  await untilAwaiting(harness, first.id)
  await harness.database.run(
    'repeat_test_execution',
    `INSERT INTO executions SELECT (jsonb_populate_record(executions, jsonb_build_object('id', gen_random_uuid()))).*
     FROM executions, generate_series(2, 9999) WHERE id = $1::uuid`,
    [first.id],
  )
  const rule = await harness.createRule([awaitPayment(), task('x')], 'LEAD_UPDATED')
  const post = async () => executionIdOf(await accept(harness, 'LEAD_UPDATED', { id: 7 }), rule)
  const last = await post()
  await untilAwaiting(harness, last)
  harness.startSweeper()
  const refused = await harness.untilStatus(await post(), 'failed')
  t.match(refused.results, [
    { status: 'failed', error: /^10,000 executions wait for an event/ },
    { status: 'skipped' },
  ])
  const { own } = harness
  t.match(await own.execution.findUnique({ where: { id: last } }), { status: 'waiting' })
})

t.test('the keys of an event are removed with it', async (t) => {
  const harness = await createHarness(t)
  harness.startWorker()
  await harness.createRule([awaitPayment()])
  const event = await accept(harness, 'DEAL_WON', { deal: { id: 7 } })
  await harness.untilDone(event.id)
  t.equal(await harness.own.eventKey.count(), 1)
  const history = createHistoryRemoval(Date.now() + 40 * 86_400_000, 30)
  await removeGently(harness.database, { history }, new AbortController().signal)
  t.equal(await harness.own.eventKey.count(), 0)
})
