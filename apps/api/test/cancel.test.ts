import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { type Answer, startApi, type Workspace } from './fixtures/api.js'
import { countAll, storeEvent, storeExecution, storeRule } from './fixtures/history.js'

const api = await startApi(t)
const path = '/api/executions'
const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const at = (text: string) => new Date(text)
const notCancellable = (status: string) => ({
  status: 409,
  body: {
    error: `Only an execution that is running, waiting or retrying can be cancelled: this one is ${status}`,
  },
})

async function store(workspace: Workspace, status: string, fields: object = {}) {
  const { id: ruleId } = await storeRule(workspace)
  const event = await storeEvent(workspace)
  return storeExecution(workspace, event, ruleId, { status: status as 'waiting', ...fields })
}

function cancel(workspace: Workspace, id: string) {
  return workspace.callAs('operator')('POST', `${path}/${id}/cancel`)
}

t.test('an execution that waits or retries is cancelled at once, and is not counted', async (t) => {
  for (const status of ['waiting', 'retrying']) {
    const workspace = await api.makeWorkspace()
    const { id, handlerId: ruleId } = await store(workspace, status)
    await countAll(workspace)
    const answer = await cancel(workspace, id.toUpperCase())
    t.strictSame(statusAndBody(answer), { status: 200, body: { id, status: 'cancelled' } })
    t.match((await workspace.call('GET', `${path}/${id}`)).body, {
      status: 'cancelled',
      success: false,
      error: 'It was cancelled',
      cancelRequested: true,
      dueAt: null,
      finishedAt: String,
    })
    t.match(await workspace.database.ruleCounters.findUnique({ where: { ruleId } }), { failureCount: 0 })
    matchLists(t, await workspace.database.auditEntry.findMany(), [
      { action: 'execution.cancelled', subject: id },
    ])
    t.strictSame(statusAndBody(await cancel(workspace, id)), notCancellable('cancelled'))
    t.equal(await workspace.database.auditEntry.count(), 1)
  }
})

t.test('while a worker holds it the response is 202, also when it is asked again', async (t) => {
  const workspace = await api.makeWorkspace()
  const lease = newId()
  const { id } = await store(workspace, 'running', { lease })
  for (const _ of [1, 2])
    t.strictSame(statusAndBody(await cancel(workspace, id)), { status: 202, body: { id, status: 'running' } })
  t.match(await workspace.database.execution.findUnique({ where: { id } }), {
    status: 'running',
    lease,
    dueAt: Date,
    cancelRequested: true,
  })
  t.match((await workspace.call('GET', `${path}/${id}`)).body, { status: 'running', cancelRequested: true })
  t.equal(await workspace.database.auditEntry.count(), 1, 'it was cancelled once')
  const released = await store(workspace, 'running', { lease: null })
  t.equal((await cancel(workspace, released.id)).status, 200, 'no worker holds this one')
})

t.test('an execution that has ended, or has not begun, cannot be cancelled', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const status of ['succeeded', 'failed', 'cancelled']) {
    const { id } = await store(workspace, status)
    t.strictSame(statusAndBody(await cancel(workspace, id)), notCancellable(status))
  }
  const pending = await storeEvent(workspace, { ruleId: newId(), doneAt: null })
  t.strictSame(statusAndBody(await cancel(workspace, pending.id)), notCancellable('pending'))
  const other = await api.makeWorkspace()
  const { id } = await store(workspace, 'waiting')
  for (const [own, unknown] of [[other, id] as const, ...[newId(), 'x'].map((x) => [workspace, x] as const)])
    t.equal((await cancel(own, unknown)).status, 404)
  t.match(await workspace.database.execution.findUnique({ where: { id } }), { status: 'waiting' })
})

t.test(
  'what somebody cancelled is not retried, alone or in bulk; what a switched-off rule cancelled is',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { id } = await store(workspace, 'waiting')
    const byRule = await store(workspace, 'cancelled')
    await cancel(workspace, id)
    t.strictSame(statusAndBody(await workspace.call('POST', `${path}/${id}/retry`)), {
      status: 409,
      body: { error: 'This execution was cancelled, so it cannot be retried: replay its event' },
    })
    const retry = { filter: { status: ['cancelled'] }, dryRun: false }
    t.match((await workspace.call('POST', `${path}/retry`, { body: retry })).body, { matched: 1, retried: 1 })
    t.match(await workspace.database.execution.findUnique({ where: { id: byRule.id } }), {
      status: 'retrying',
    })
    t.match(await workspace.database.execution.findUnique({ where: { id } }), { status: 'cancelled' })
  },
)

t.test(
  'many executions that wait are counted first, and cancelled by a filter, the oldest first',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const [rule, other] = [await storeRule(workspace), await storeRule(workspace)]
    const rows = [
      [rule.id, '2026-01-01', 'waiting'],
      [rule.id, '2026-01-02', 'retrying'],
      [rule.id, '2026-01-03', 'waiting'],
      [rule.id, '2026-01-03', 'running'],
      [rule.id, '2026-01-03', 'failed'],
      [other.id, '2026-01-03', 'waiting'],
    ] as const
    const ids: string[] = []
    for (const [ruleId, day, status] of rows) {
      const event = await storeEvent(workspace, { acceptedAt: at(day) })
      ids.push((await storeExecution(workspace, event, ruleId, { status })).id)
    }
    const ask = async (body: object) =>
      statusAndBody(await workspace.callAs('operator')('POST', `${path}/cancel`, { body }))
    const filters: [filter: object, matched: number][] = [
      [{}, 4],
      [{ ruleId: rule.id }, 3],
      [{ status: ['retrying'] }, 1],
      [{ from: '2026-01-02' }, 3],
      [{ eventType: 'DEAL_WON' }, 0],
    ]
    for (const [filter, matched] of filters)
      t.strictSame(
        await ask({ filter }),
        { status: 200, body: { matched, dryRun: true } },
        JSON.stringify(filter),
      )
    t.equal(
      await workspace.database.execution.count({ where: { status: 'cancelled' } }),
      0,
      'nothing changed',
    )
    t.equal((await ask({ filter: { status: ['running'] } })).status, 422)

    const filter = { ruleId: rule.id, to: '2026-01-02T12:00:00Z' }
    t.strictSame(await ask({ filter, dryRun: false }), { status: 202, body: { matched: 2, cancelled: 2 } })
    const cancelled = await workspace.database.execution.findMany({ where: { status: 'cancelled' } })
    t.strictSame(cancelled.map(({ id }) => id).toSorted(), ids.slice(0, 2).toSorted())
    t.strictSame(await ask({ filter, dryRun: false }), { status: 202, body: { matched: 0, cancelled: 0 } })
    matchLists(t, await workspace.database.auditEntry.findMany(), [
      { action: 'execution.cancelled', subject: workspace.id, details: { matched: 2, cancelled: 2 } },
    ])
  },
)
