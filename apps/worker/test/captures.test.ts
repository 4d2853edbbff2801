import { newId } from '@automation/database'
import { narrowToExecution } from '@automation/history'
import { matchLists } from '@automation/launcher/match-lists'
import { reopenExecutions } from '@automation/ledger'
import t from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'
import { leaveExecution } from './fixtures/leave-execution.js'
import { openTarget } from './fixtures/target.js'

const soon = { attempts: 3, backoff: 'constant', delayMs: 50 }
const task = (title: string, more: object = {}) => ({ type: 'CREATE_TASK', config: { title }, ...more })
const when = (field: string, value: unknown) => ({ when: { field, operator: 'equals', value } })

function createTicket(url: string, more: object = {}) {
  return {
    name: 'ticket',
    type: 'SEND_WEBHOOK',
    config: { url, capture: { id: 'body.id', etag: 'headers.etag' } },
    continueOnError: true,
    ...more,
  }
}

/** Responds with these, one after another, and then with the last. */
function openTickets(t: Parameters<typeof openTarget>[0], answers: [status: number, body: string][]) {
  return openTarget(t, (_request, response) => {
    const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) as [number, string]
    response.writeHead(status, { 'content-type': 'application/json', etag: 'W/1' }).end(body)
  })
}

async function titlesOf({ own }: Harness) {
  return (await own.task.findMany({ orderBy: { id: 'asc' } })).map(({ title }) => title)
}

const actionsFor = (url: string, more: object = {}) => [
  createTicket(url, more),
  task('Ticket {{captured.id}} ({{captured.etag}})', when('actions.ticket.outcome', 'success')),
  task(
    'No ticket: {{actions.ticket.outcome}} {{actions.ticket.status}}',
    when('actions.ticket.outcome', 'failed'),
  ),
]

t.test('what a response had is stored with the result of its call, and later actions read it', async (t) => {
  const harness = await createHarness(t)
  const target = await openTickets(t, [[201, '{"id":8202522731445525542,"other":"thrown away"}']])
  const ruleId = await harness.createRule([
    ...actionsFor(target.url),
    { type: 'WAIT', config: { duration: '1s' } },
    task('Later {{captured.id}}'),
  ])
  harness.startWorker()
  harness.startSweeper()
  const { results } = await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  matchLists(t, results as object[], [
    { status: 'success', captured: { id: '8202522731445525542', etag: 'W/1' } },
    { status: 'success' },
    { status: 'skipped' },
    { status: 'success' },
    { status: 'success' },
  ])
  t.notMatch(JSON.stringify(results), 'thrown away')
  t.strictSame(await titlesOf(harness), ['Ticket 8202522731445525542 (W/1)', 'Later 8202522731445525542'])
})

t.test('otherwise: a failure that is handled is still a failure', async (t) => {
  const harness = await createHarness(t)
  const target = await openTickets(t, [[409, '{"id":"T-1"}']])
  const ruleId = await harness.createRule([...actionsFor(target.url), task('Of a failure: {{captured.id}}')])
  harness.startWorker()
  const execution = await harness.untilStatus(await harness.trigger(ruleId), 'failed')
  t.equal(execution.error, 'HTTP 409')
  t.strictSame(await titlesOf(harness), ['No ticket: failed 409', 'Of a failure: T-1'])
})

t.test('attempts that are repeated leave no values', async (t) => {
  const harness = await createHarness(t)
  const stored: unknown[] = []
  const answers: [number, string][] = [
    [503, '{"id":1}'],
    [503, '{"id":2}'],
    [201, '{}'],
  ]
  const target = await openTarget(t, async (_request, response) => {
    const [execution] = await harness.own.execution.findMany()
    stored.push(execution?.results)
    const [status, body] = answers.shift() as [number, string]
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  const ruleId = await harness.createRule(actionsFor(target.url, { retry: soon }))
  harness.startWorker()
  harness.startSweeper()
  const { results } = await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  t.notMatch(JSON.stringify(stored), '"captured"')
  matchLists(t, results as object[], [
    {
      captured: { id: undefined },
      warnings: ['capture.id: the response has no body.id', 'capture.etag: the response has no headers.etag'],
    },
    { status: 'success', warnings: ['captured.id is missing', 'captured.etag is missing'] },
    { status: 'skipped' },
  ])
})

t.test('a retry takes the new values, and evaluates again what depended on the failure', async (t) => {
  const harness = await createHarness(t)
  const target = await openTickets(t, [
    [500, '{"id":"old"}'],
    [201, '{"id":"new"}'],
  ])
  const ruleId = await harness.createRule(actionsFor(target.url))
  harness.startWorker()
  harness.startSweeper()
  const id = await harness.trigger(ruleId)
  await harness.untilStatus(id, 'failed')
  t.strictSame(await titlesOf(harness), ['No ticket: failed 500'])
  await harness.own.$transaction((transaction) =>
    reopenExecutions(transaction, narrowToExecution(harness.workspaceId, id), 'same', 1),
  )
  const { results } = await harness.untilStatus(id, 'succeeded', 'failed')
  matchLists(t, results as object[], [
    { status: 'success', captured: { id: 'new' } },
    { status: 'success' },
    { status: 'success' },
  ])
  t.strictSame(await titlesOf(harness), ['No ticket: failed 500', 'Ticket new (W/1)'])
})

t.test('a call whose outcome is unknown leaves no values', async (t) => {
  const harness = await createHarness(t)
  const target = await openTickets(t, [[201, '{"id":"never"}']])
  const actions = [
    createTicket(target.url, { onUncertain: 'stop' }),
    task('{{actions.ticket.outcome}} {{captured.id}}{{actions.ticket.status}}'),
  ]
  const ruleId = await harness.createRule(actions)
  const id = await leaveExecution(harness, ruleId, { interruptions: 1, lostLeases: [newId()] })
  harness.startWorker()
  harness.startSweeper()
  const execution = await harness.untilStatus(id, 'failed')
  matchLists(t, execution.results as object[], [
    { status: 'unknown', captured: undefined },
    { status: 'success', warnings: ['captured.id is missing'] },
  ])
  t.strictSame(await titlesOf(harness), ['unknown '])
  t.equal(target.calls.length, 0)
})
