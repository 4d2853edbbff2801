import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi, task } from './fixtures/api.js'
import { storeEvent, storeExecution } from './fixtures/history.js'
import { startWorker } from './fixtures/worker.js'

// What was run is looked up, retried and replayed, by a real worker.
const directory = t.testdir({ mail: {} })
const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })
await startWorker(t, api.config, directory)

interface Outcome {
  triggered: number
  results: { ruleId: string; success: boolean; status: string; executionId: string | null; error?: string }[]
}
interface Execution {
  status: string
  ruleVersion: number
  results: { action: string; status: string; attempts?: object[] }[]
  [field: string]: unknown
}

/** Fails where the data holds no title: a task needs one. */
const fallible = { type: 'CREATE_TASK', config: { title: '{{title}}' } }

/** A workspace, and short words for what is done in it. */
async function makeOwnWorkspace() {
  const workspace = await api.makeWorkspace()
  const { call, database } = workspace
  return {
    ...workspace,
    create: async (fields: object = {}) =>
      (await call<Rule>('POST', rules, { body: ruleBody({ ...fields }) })).body,
    trigger: (data: object = {}) =>
      call<Outcome>('POST', `${rules}/trigger/LEAD_CREATED`, { body: { data } }),
    replay: (id: string) => call<Outcome>('POST', `/api/events/${id}/replay`),
    retry: (id: unknown, body: object = {}) => call('POST', `/api/executions/${id}/retry`, { body }),
    read: async <Body = Execution>(kind: string, id: unknown) =>
      (await call<Body>('GET', `/api/${kind}/${id}`)).body,
    titles: async () => (await database.task.findMany({ orderBy: { id: 'asc' } })).map(({ title }) => title),
    counters: (ruleId: string) => database.ruleCounters.findUnique({ where: { ruleId } }),
  }
}
type OwnWorkspace = Awaited<ReturnType<typeof makeOwnWorkspace>>

async function untilFinished(workspace: OwnWorkspace, id: unknown): Promise<Execution> {
  for (;;) {
    const execution = await workspace.read('executions', id)
    if (!['running', 'waiting', 'retrying', 'pending'].includes(execution.status)) return execution
    await delay(20)
  }
}

const idIn = (location: unknown) => String(location).split('/').at(-1) ?? ''

t.test('a replay has the same response as a trigger, and runs the current rules', async (t) => {
  const workspace = await makeOwnWorkspace()
  const old = await workspace.create({ actions: [{ ...task, config: { title: 'Old {{name}}' } }] })
  const first = await workspace.trigger({ name: 'Ada' })
  const eventId = idIn(first.headers['content-location'])
  await workspace.call('PUT', `${rules}/${old.id}`, {
    body: { actions: [{ ...task, config: { title: 'New {{name}}' } }] },
  })
  const added = await workspace.create({ conditions: [{ field: 'name', operator: 'equals', value: 'Bob' }] })
  const answer = await workspace.replay(eventId)
  t.equal(answer.status, 200)
  matchLists(t, answer.body, {
    triggered: 2,
    results: [
      { ruleId: old.id, success: true, status: 'succeeded' },
      { ruleId: added.id, success: true, status: 'not_matched', executionId: null },
    ],
  })
  const replayId = idIn(answer.headers['content-location'])
  t.match(await workspace.read('events', replayId), {
    status: 'done',
    replayOf: eventId,
    data: { name: 'Ada' },
    ...answer.body,
  })
  t.match(await workspace.read('events', eventId), { replayOf: null, triggered: 1 })
  t.strictSame(await workspace.titles(), ['Old Ada', 'New Ada'])
  t.match(await workspace.counters(old.id), { successCount: 2 })
})

t.test('a replay of an execution by hand runs the same rule only, active or not', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create({ isActive: false })
  await workspace.create()
  const first = await workspace.call('POST', `${rules}/${rule.id}/execute`, {
    body: { data: { name: 'Ada' } },
  })
  const answer = await workspace.replay(idIn(first.headers['content-location']))
  t.equal(answer.status, 200)
  matchLists(t, answer.body, { triggered: 1, results: [{ ruleId: rule.id, success: true }] })
  t.equal(answer.body.results[0]?.executionId, idIn(answer.headers['content-location']), 'the two are one')
  t.strictSame(await workspace.titles(), ['Call Ada', 'Call Ada'])
})

t.test('a retry with the repaired rule performs the unfinished actions only', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create({ actions: [task, fallible, task] })
  const failed = await workspace.trigger({ name: 'Ada' })
  matchLists(t, failed.body.results, [{ success: false, status: 'failed' }])
  const id = failed.body.results[0]?.executionId
  t.match(await workspace.counters(rule.id), { successCount: 0, failureCount: 1, consecutiveFailures: 1 })

  t.equal((await workspace.retry(id)).status, 202)
  t.match(
    await untilFinished(workspace, id),
    { status: 'failed', ruleVersion: 1 },
    'the same definition fails again',
  )
  t.match(await workspace.counters(rule.id), { successCount: 0, failureCount: 1, consecutiveFailures: 1 })

  const mended = { ...task, config: { title: '{{title | default: "Untitled"}}' } }
  await workspace.call('PUT', `${rules}/${rule.id}`, { body: { actions: [task, mended, task] } })
  t.equal((await workspace.retry(id, { version: 'latest' })).status, 202)
  t.match(await untilFinished(workspace, id), {
    status: 'succeeded',
    ruleVersion: 2,
    error: null,
    actionsExecuted: 3,
    dueAt: null,
  })
  t.strictSame((await workspace.titles()).sort(), ['Call Ada', 'Call Ada', 'Untitled'])
  t.match(await workspace.counters(rule.id), { successCount: 1, failureCount: 0, consecutiveFailures: 0 })
})

t.test('a retried call keeps its earlier attempts', async (t) => {
  const workspace = await makeOwnWorkspace()
  // Nothing may be called there.
  const call = { type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/' } }
  await workspace.create({ actions: [call] })
  const { body } = await workspace.trigger()
  const id = body.results[0]?.executionId
  t.equal((await workspace.read('executions', id)).results[0]?.attempts?.length, 1)
  await workspace.retry(id)
  const { status, results } = await untilFinished(workspace, id)
  t.equal(status, 'failed')
  t.equal(results[0]?.attempts?.length, 2)
})

t.test(
  'an execution that was cancelled with its rule is retried when the rule is active again',
  async (t) => {
    const workspace = await makeOwnWorkspace()
    const rule = await workspace.create({
      actions: [task, { type: 'WAIT', config: { duration: '1h' } }, task],
    })
    const { body, headers } = await workspace.trigger({ name: 'Ada' })
    matchLists(t, body.results, [{ success: true, status: 'waiting' }])
    const event = idIn(headers['content-location'])
    t.match(await workspace.read('events', event), { status: 'running' })
    const id = body.results[0]?.executionId
    const toggle = () => workspace.call('PATCH', `${rules}/${rule.id}/toggle`)
    await toggle()
    t.match(await workspace.read('executions', id), { status: 'cancelled', success: false })
    matchLists(t, await workspace.read('events', event), {
      status: 'done',
      results: [{ status: 'cancelled' }],
    })
    t.match(await workspace.retry(id), { status: 409 })
    await toggle()
    t.match(await workspace.retry(id), { status: 202 })
    for (let status = ''; status !== 'waiting'; await delay(20))
      status = (await workspace.read('executions', id)).status
    matchLists(t, await workspace.read('executions', id), {
      results: [{ status: 'success' }, { status: 'scheduled' }],
    })
    t.match(await workspace.read('events', event), { status: 'running' })
    t.strictSame(await workspace.titles(), ['Call Ada'])
    t.match(await workspace.counters(rule.id), { successCount: 0, failureCount: 0 })
  },
)

t.test('two bulk replays at once replay each event twice', async (t) => {
  const workspace = await makeOwnWorkspace()
  const stored: string[] = []
  while (stored.length < 100) stored.push((await storeEvent(workspace)).id)
  const body = { filter: {}, dryRun: false }
  await Promise.all([1, 2].map(() => workspace.call('POST', '/api/events/replay', { body })))
  const replays = await workspace.database.event.findMany({
    where: { replayOf: { not: null } },
  })
  t.strictSame(replays.map(({ replayOf }) => replayOf).sort(), [...stored, ...stored].sort())
})

t.test('bulk retries and replays keep the counters equal to the rows', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create({ actions: [task, fallible] })
  for (let index = 0; index < 20; index++)
    await workspace.trigger(index % 2 === 0 ? {} : { title: `Title ${index}` })
  t.match(await workspace.counters(rule.id), { successCount: 10, failureCount: 10 })
  const bulk = (path: string) => workspace.call('POST', path, { body: { filter: {}, dryRun: false } })
  t.match((await bulk('/api/executions/retry')).body, { matched: 10, retried: 10 })
  t.match((await bulk('/api/events/replay')).body, { matched: 20, replayed: 20, nextCursor: null })
  const count = (status: 'succeeded' | 'failed') => workspace.database.execution.count({ where: { status } })
  while ((await count('succeeded')) + (await count('failed')) < 40) await delay(50)
  t.strictSame([await count('succeeded'), await count('failed')], [20, 20])
  t.match(await workspace.counters(rule.id), { successCount: 20, failureCount: 20 })
  t.equal((await workspace.titles()).length, 60, 'the first task of a run that is retried is not made twice')
  const { body } = await workspace.call<{ executions: object[] }>(
    'GET',
    '/api/executions?status=failed&error=title',
  )
  t.equal(body.executions.length, 20)
})

t.test('the executions of an event are found when it is done and no worker has one of them', async (t) => {
  const workspace = await makeOwnWorkspace()
  const ruleIds = [newId(), newId()]
  const [first = '', second = ''] = ruleIds
  const find = ({ id }: { id: string }) => api.app.findOutcome({ id, workspaceId: workspace.id })
  t.equal(await find(await storeEvent(workspace, { ruleId: newId(), doneAt: null })), undefined)
  const event = await storeEvent(workspace, { ruleIds })
  const dueAt = new Date(Date.now() + 3_600_000)
  const { id } = await storeExecution(workspace, event, second, { status: 'running', dueAt })
  t.strictSame(await find(event), { evaluations: undefined, isQuarantined: false })
  const evaluations = (status: string, error: string | null) => [
    { ruleId: first, executionId: null, status: 'not_matched', error: null, results: [] },
    { ruleId: second, executionId: id, status, error, results: [] },
  ]
  for (const [status, error] of [
    ['waiting', null],
    ['retrying', 'HTTP 503'],
    ['cancelled', 'The rule was switched off'],
    ['failed', 'HTTP 503'],
    ['succeeded', null],
  ] as const) {
    await workspace.database.execution.update({ where: { id }, data: { status, error } })
    t.strictSame(await find(event), { evaluations: evaluations(status, error), isQuarantined: false })
  }
})
