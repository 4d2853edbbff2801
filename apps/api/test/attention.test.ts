import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import { countsOf, type ExecutionStatus } from '@automation/ledger'
import { pauseRules } from '@automation/rules'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Api, ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

interface Item {
  id: string
  name: string
  failureCount: number
  explanation: string
  lastError: string
  lastFailureAt: string
  reason: string
  since: string
  failuresInARow: number
}

const api = await startApi(t)
const statuses: ExecutionStatus[] = ['succeeded', 'failed', 'cancelled', 'running', 'waiting', 'retrying']
const open: ExecutionStatus[] = ['running', 'waiting', 'retrying']
const ago = (days: number) => new Date(Date.now() - days * 86_400_000)

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<Rule> {
  const { status, body } = await call<Rule>('POST', rules, { body: ruleBody(fields) })
  if (status !== 201) throw new Error(`The rule was not created: ${status} ${JSON.stringify(body)}`)
  return body
}

/** A run in each state, as the worker would leave it. */
async function makeRuns(workspace: Workspace, ruleId: string): Promise<Record<ExecutionStatus, string>> {
  const ids = Object.fromEntries(statuses.map((status) => [status, newId()])) as Record<
    ExecutionStatus,
    string
  >
  await workspace.database.execution.createMany({
    data: statuses.map((status) => ({
      id: ids[status],
      workspaceId: workspace.id,
      eventId: newId(),
      eventType: 'LEAD_CREATED',
      handlerId: ruleId,
      ruleVersion: 1,
      status,
      results: [{ action: 'CREATE_TASK', status: 'success' }],
      startedAt: ago(1),
      ...(open.includes(status)
        ? { dueAt: ago(-1), lease: status === 'running' ? newId() : null }
        : { finishedAt: ago(1) }),
    })),
  })
  return ids
}

const readEvaluations = ({ database }: Workspace, ruleId: string) =>
  database.execution.findMany({ where: { handlerId: ruleId }, orderBy: { id: 'asc' } })
const readCounters = ({ database }: Workspace, ruleId: string) =>
  database.ruleCounters.findUnique({ where: { ruleId } })
const setCounters = ({ database }: Workspace, ruleId: string, data: object) =>
  database.ruleCounters.update({ where: { ruleId }, data })
const setBound = ({ database }: Workspace, autoPauseAfter: number | null) =>
  database.workspace.updateMany({ data: { autoPauseAfter } })
const pause = async (workspace: Workspace, ruleId: string, { app }: Api = api) =>
  (await pauseRules(app.database, workspace.id, [ruleId])).includes(ruleId)
const toggle = ({ call }: Workspace, ruleId: string) => call('PATCH', `${rules}/${ruleId}/toggle`)
const readLog = ({ database }: Workspace, action: string) =>
  database.auditEntry.findMany({
    where: { action },
    orderBy: { id: 'asc' },
    select: { actor: true, subject: true, details: true },
  })
const attention = async ({ callAs }: Workspace) =>
  (await callAs('viewer')<{ rules: Item[] }>('GET', `${rules}/attention`)).body.rules
const namesOf = (items: Item[]) => items.map(({ name }) => name)
const rulesVersionOf = async ({ database }: Workspace) =>
  (await database.workspace.findFirst({ select: { rulesVersion: true } }))?.rulesVersion

t.test('waiting work is cancelled when its rule is switched off or deleted, and no other work', async (t) => {
  const workspace = await api.makeWorkspace()
  const other = await api.makeWorkspace()
  const ways: [
    method: 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body: object | undefined,
    error: string,
    action: string,
  ][] = [
    ['PATCH', '/toggle', undefined, 'The rule was switched off', 'rule.deactivated'],
    ['PUT', '', { isActive: false, name: 'Other' }, 'The rule was switched off', 'rule.updated'],
    ['DELETE', '', undefined, 'The rule was deleted', 'rule.deleted'],
  ]
  for (const [method, path, body, error, action] of ways) {
    const [rule, neighbour] = [await create(workspace), await create(workspace)]
    const ids = await makeRuns(workspace, rule.id)
    await makeRuns(workspace, neighbour.id)
    // Rows that name this rule in another workspace are none of its own.
    await makeRuns(other, rule.id)
    const before = await readEvaluations(workspace, rule.id)
    const untouched = [await readEvaluations(workspace, neighbour.id), await readEvaluations(other, rule.id)]
    const start = Date.now()
    const answer = await workspace.call(method, `${rules}/${rule.id}${path}`, { body })
    t.equal(answer.status, method === 'DELETE' ? 204 : 200)
    if (method === 'PATCH') t.strictSame(answer.body, { id: rule.id, isActive: false })

    const after = await readEvaluations(workspace, rule.id)
    for (const [index, run] of after.entries()) {
      const was = before[index]
      if (run.id !== ids.waiting && run.id !== ids.retrying) {
        t.strictSame(run, was, `${method}: ${was?.status} stays as it is`)
        continue
      }
      const { finishedAt } = run
      t.strictSame(run, { ...was, status: 'cancelled', error, finishedAt, dueAt: null, lease: null })
      t.ok(Math.abs((finishedAt?.getTime() ?? 0) - start) < 60_000)
    }
    t.strictSame(
      [await readEvaluations(workspace, neighbour.id), await readEvaluations(other, rule.id)],
      untouched,
    )
    matchLists(t, await readLog(workspace, action), [{ subject: rule.id, details: { cancelled: 2 } }])
    if (method !== 'DELETE')
      t.match(await readCounters(workspace, rule.id), {
        successCount: 0,
        failureCount: 0,
        consecutiveFailures: 0,
      })
  }
})

t.test('a change that does not switch a rule off cancels nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { isActive: false })
  await makeRuns(workspace, rule.id)
  const before = await readEvaluations(workspace, rule.id)
  for (const body of [{ isActive: false }, { name: 'Other' }, { isActive: true }, { isActive: true }])
    t.equal((await workspace.call('PUT', `${rules}/${rule.id}`, { body })).status, 200)
  t.equal((await workspace.call('POST', `${rules}/${rule.id}/versions/1/restore`)).status, 200)
  t.equal((await workspace.call('POST', `${rules}/${rule.id}/clone`)).status, 201)
  const refused = { headers: { 'if-match': '"9"' } }
  t.equal((await workspace.call('PATCH', `${rules}/${rule.id}/toggle`, refused)).status, 412)
  t.strictSame(await readEvaluations(workspace, rule.id), before)
})

t.test('an execution that a worker is claiming is left to the worker, without a wait', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  const { waiting, retrying } = await makeRuns(workspace, rule.id)
  await workspace.database.$transaction(async (transaction) => {
    await transaction.execution.update({ where: { id: waiting }, data: { status: 'running' } })
    t.equal((await toggle(workspace, rule.id)).status, 200)
  })
  const runs = await readEvaluations(workspace, rule.id)
  t.equal(runs.find(({ id }) => id === waiting)?.status, 'running')
  t.equal(runs.find(({ id }) => id === retrying)?.status, 'cancelled')
  matchLists(t, await readLog(workspace, 'rule.deactivated'), [{ details: { cancelled: 1 } }])
})

t.test('a rule is paused after as many failures in a row as its workspace allows', async (t) => {
  const workspace = await api.makeWorkspace()
  await setBound(workspace, 5)
  const rule = await create(workspace)
  const { waiting, retrying } = await makeRuns(workspace, rule.id)
  const failing = {
    failureCount: 9,
    consecutiveFailures: 5,
    lastError: 'Nobody there',
    lastFailureAt: ago(0),
  }
  await setCounters(workspace, rule.id, failing)
  const counted = await rulesVersionOf(workspace)

  const second = await startApi(t)
  const asked = await Promise.all(
    Array.from({ length: 6 }, (_, index) => pause(workspace, rule.id, index % 2 ? api : second)),
  )
  t.strictSame(asked.filter(Boolean), [true], 'once, however many workers ask for it')
  t.match((await workspace.call('GET', `${rules}/${rule.id}`)).body, { isActive: false, version: 1 })
  t.equal(await rulesVersionOf(workspace), (counted ?? 0) + 1, 'the rules version changes once')
  const cancelled = (await readEvaluations(workspace, rule.id)).filter(
    ({ error }) => error === 'The rule was paused',
  )
  t.strictSame(
    cancelled.map(({ id, status, dueAt }) => ({ id, status, dueAt })),
    [waiting, retrying].map((id) => ({ id, status: 'cancelled', dueAt: null })),
  )
  t.strictSame(await readLog(workspace, 'rule.paused'), [
    {
      actor: 'system:auto-pause',
      subject: rule.id,
      details: { failures: 5, lastError: 'Nobody there', cancelled: 2 },
    },
  ])
  const counters = await readCounters(workspace, rule.id)
  t.match(counters, { ...failing, attentionReason: 'auto_paused', attentionAt: Date })
  t.strictSame(await attention(workspace), [
    {
      id: rule.id,
      name: rule.name,
      failureCount: 9,
      lastError: 'Nobody there',
      lastFailureAt: failing.lastFailureAt.toISOString(),
      reason: 'auto_paused',
      explanation: 'The rule was switched off, because it failed too many times in a row',
      since: counters?.attentionAt?.toISOString(),
      failuresInARow: 5,
    },
  ])
})

t.test(
  'a rule is not paused below the limit, without a limit, or if it is inactive or unknown',
  async (t) => {
    const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
    const rule = await create(workspace)
    const inactive = await create(workspace, { isActive: false })
    await setCounters(workspace, rule.id, { consecutiveFailures: 4, lastFailureAt: ago(0) })
    await setCounters(workspace, inactive.id, { consecutiveFailures: 99 })
    await setBound(other, 3)
    const before = await rulesVersionOf(workspace)
    const cases: [bound: number | null, workspace: Workspace, ruleId: string][] = [
      [null, workspace, rule.id],
      [5, workspace, rule.id],
      [3, workspace, inactive.id],
      [3, workspace, newId()],
      [3, other, rule.id],
    ]
    for (const [bound, where, ruleId] of cases) {
      await setBound(workspace, bound)
      t.equal(await pause(where, ruleId), false)
    }
    t.match((await workspace.call('GET', `${rules}/${rule.id}`)).body, { isActive: true })
    t.equal(await rulesVersionOf(workspace), before)
    t.strictSame([...(await readLog(workspace, 'rule.paused')), ...(await readLog(other, 'rule.paused'))], [])
    t.match(await readCounters(workspace, rule.id), { attentionReason: null, attentionAt: null })
    await setBound(workspace, 4)
    t.equal(await pause(workspace, rule.id), true, 'the bound is that of the moment')
  },
)

t.test('a paused rule that is switched on again starts to count from zero', async (t) => {
  const workspace = await api.makeWorkspace()
  await setBound(workspace, 3)
  const ways = [
    (id: string) => toggle(workspace, id),
    (id: string) => workspace.call('PUT', `${rules}/${id}`, { body: { isActive: true } }),
  ]
  for (const switchOn of ways) {
    const { id } = await create(workspace)
    await setCounters(workspace, id, { failureCount: 7, consecutiveFailures: 7, lastFailureAt: ago(9) })
    t.equal(await pause(workspace, id), true)
    t.equal((await attention(workspace)).length, 1)
    t.equal((await switchOn(id)).status, 200)
    t.match(await readCounters(workspace, id), {
      attentionReason: null,
      attentionAt: null,
      consecutiveFailures: 0,
      failureCount: 7,
    })
    t.strictSame(await attention(workspace), [])
    await setCounters(workspace, id, { consecutiveFailures: 1 })
    t.equal(await pause(workspace, id), false, 'its next failure does not pause it')
  }
})

t.test('a changed definition ends the need for attention, and other changes do not', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace)
  await workspace.call('PUT', `${rules}/${rule.id}`, { body: { name: 'Second' } })
  const paused = { attentionReason: 'auto_paused', attentionAt: ago(30), consecutiveFailures: 2 }
  const put = (body: object) => workspace.call('PUT', `${rules}/${rule.id}`, { body })
  const changes: [change: () => Promise<unknown>, isCleared: boolean][] = [
    [() => put({}), false],
    [() => put({ name: 'Second', isActive: true }), false],
    [() => put({ isActive: false }), false],
    [() => workspace.call('POST', `${rules}/${rule.id}/clone`), false],
    [() => put({ name: 'Third' }), true],
    [() => workspace.call('POST', `${rules}/${rule.id}/versions/1/restore`), true],
  ]
  for (const [change, isCleared] of changes) {
    await setCounters(workspace, rule.id, paused)
    await change()
    const counters = await readCounters(workspace, rule.id)
    t.match(counters, isCleared ? { attentionReason: null, attentionAt: null } : paused)
    t.equal(counters?.consecutiveFailures, 2n, 'it still has to show that it works')
    t.equal((await attention(workspace)).length, isCleared ? 0 : 1)
  }
})

t.test('attention explains which threshold the failures of a rule have reached', async (t) => {
  const workspace = await api.makeWorkspace()
  const cases: [counters: object, explanation: string | undefined][] = [
    [{ failureCount: 2, consecutiveFailures: 2 }, undefined],
    [
      { failureCount: 4, successCount: 96, consecutiveFailures: 4 },
      'The last 4 executions failed (a rule needs attention after 3 in a row)',
    ],
    [{ failureCount: 2, successCount: 2, consecutiveFailures: 1 }, undefined],
    [
      { failureCount: 3, successCount: 3, consecutiveFailures: 1 },
      '3 of 6 executions failed (a rule needs attention if half of at least 5 fail)',
    ],
  ]
  for (const [counters, explanation] of cases) {
    const { id } = await create(workspace, { name: JSON.stringify(counters) })
    await setCounters(workspace, id, { ...counters, lastFailureAt: ago(1) })
    const item = (await attention(workspace)).find((one) => one.id === id)
    t.equal(item?.explanation, explanation, JSON.stringify(counters))
  }
})

t.test(
  'attention says since when a rule fails: the first failure in a row, and not the latest',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const failing = { failureCount: 4, successCount: 2, failingSince: ago(2), lastFailureAt: ago(1) }
    const inARow = await create(workspace)
    await setCounters(workspace, inARow.id, { ...failing, consecutiveFailures: 4 })
    const often = await create(workspace)
    await setCounters(workspace, often.id, { ...failing, consecutiveFailures: 0 })
    const items = new Map((await attention(workspace)).map((item) => [item.id, item]))
    t.match(items.get(inARow.id), { since: failing.failingSince.toISOString(), failuresInARow: 4 })
    t.match(items.get(often.id), { since: failing.lastFailureAt.toISOString(), failuresInARow: 0 })
  },
)

t.test('attention lists reason and time, latest first, and health counts the rules', async (t) => {
  const workspace = await api.makeWorkspace()
  const make = async (name: string, counters: object) => {
    const { id } = await create(workspace, { name })
    await setCounters(workspace, id, counters)
    return id
  }
  const failing = { failureCount: 3, consecutiveFailures: 3, lastError: 'No' }
  await make('well', { successCount: 9, lastSuccessAt: ago(0) })
  await make('unknown', { attentionReason: 'unknown_outcome', attentionAt: ago(6.9) })
  await make('unknown, long ago', { attentionReason: 'unknown_outcome', attentionAt: ago(7.1) })
  await make('loop', { attentionReason: 'event_loop', attentionAt: ago(2), successCount: 5 })
  await make('loop, long ago', { attentionReason: 'event_loop', attentionAt: ago(8) })
  await make('paused, long ago', { attentionReason: 'auto_paused', attentionAt: ago(400) })
  await make('fails', { ...failing, lastFailureAt: ago(1) })
  await make('fails, long ago', { ...failing, lastFailureAt: ago(8) })
  const both = { ...failing, lastFailureAt: ago(0.5), attentionReason: 'event_loop' }
  await make('fails and loops', { ...both, attentionAt: ago(3) })
  await make('fails, looped long ago', { ...both, attentionAt: ago(30) })

  const items = await attention(workspace)
  t.strictSame(
    items.map(({ name, reason }) => [name, reason]),
    [
      ['fails, looped long ago', 'failures'],
      ['fails', 'failures'],
      ['loop', 'event_loop'],
      ['fails and loops', 'event_loop'],
      ['unknown', 'unknown_outcome'],
      ['paused, long ago', 'auto_paused'],
    ],
  )
  t.match((await workspace.call('GET', `${rules}/health`)).body, { rulesNeedingAttention: items.length })
  for (const item of items) {
    const counters = await readCounters(workspace, item.id)
    const since = item.reason === 'failures' ? counters?.lastFailureAt : counters?.attentionAt
    t.strictSame(item, {
      id: item.id,
      name: item.name,
      failureCount: countsOf(counters).failureCount,
      lastError: item.lastError,
      lastFailureAt: (counters?.lastFailureAt ?? since)?.toISOString(),
      reason: item.reason,
      explanation: item.explanation,
      since: since?.toISOString(),
      failuresInARow: countsOf(counters).consecutiveFailures,
    })
    t.match(item.explanation, /^[A-Z].{20,}/, `${item.name}: the explanation is a sentence`)
    if (counters?.lastError) t.equal(item.lastError, 'No')
    else t.match(item.lastError, /^[A-Z].{20,}/, `${item.name}: the error is a sentence`)
  }
  t.strictSame(await attention(await api.makeWorkspace()), [], 'another workspace’s rules are not listed')
  const last = items.at(-1)
  t.equal((await workspace.call('DELETE', `${rules}/${last?.id}`)).status, 204)
  t.notOk(namesOf(await attention(workspace)).includes(last?.name ?? ''))
})

t.test('a rule whose latest execution failed within a day is listed last, until it succeeds', async (t) => {
  const workspace = await api.makeWorkspace()
  const make = async (name: string, counters: object, fields: object = {}) => {
    const { id } = await create(workspace, { name, ...fields })
    await setCounters(workspace, id, counters)
    return id
  }
  const [failedAt, tie] = [ago(0.9), ago(0.2)]
  const once = { failureCount: 1, successCount: 98, consecutiveFailures: 1, lastError: 'Nobody there' }
  const fresh = await make('once', { ...once, lastFailureAt: failedAt, lastSuccessAt: ago(0.91) })
  await make('newer', { ...once, failureCount: 2, consecutiveFailures: 2, lastFailureAt: ago(0.1) })
  await make('in the same ms', { ...once, lastFailureAt: tie, lastSuccessAt: tie })
  await make('loop', { attentionReason: 'event_loop', attentionAt: ago(6) })
  await make('fails', { ...once, failureCount: 3, consecutiveFailures: 3, lastFailureAt: ago(0.95) })
  await make('a day ago', { ...once, lastFailureAt: ago(1.01) })
  await make('succeeded since', { ...once, lastFailureAt: ago(0.2), lastSuccessAt: ago(0.1) })
  await make('ended well', { ...once, consecutiveFailures: 0, lastFailureAt: tie, lastSuccessAt: tie })
  await make('inactive', { ...once, lastFailureAt: ago(0.1) }, { isActive: false })
  const [switched, edited] = [
    await make('switched', { ...once, lastFailureAt: ago(0.3) }),
    await make('edited', { ...once, lastFailureAt: ago(0.4) }),
  ]
  await toggle(workspace, switched)
  t.notOk(namesOf(await attention(workspace)).includes('switched'), 'an inactive rule is not listed')
  await toggle(workspace, switched)
  await workspace.call('PUT', `${rules}/${edited}`, { body: { description: 'mended' } })

  const items = await attention(workspace)
  t.strictSame(
    items.map(({ name, reason }) => [name, reason]),
    [
      ['fails', 'failures'],
      ['loop', 'event_loop'],
      ['newer', 'recent_failure'],
      ['in the same ms', 'recent_failure'],
      ['switched', 'recent_failure'],
      ['edited', 'recent_failure'],
      ['once', 'recent_failure'],
    ],
    'only a success, or somebody who acknowledges it, takes a failure off',
  )
  t.strictSame(items.at(-1), {
    id: fresh,
    name: 'once',
    failureCount: 1,
    lastError: 'Nobody there',
    lastFailureAt: failedAt.toISOString(),
    reason: 'recent_failure',
    explanation: 'The latest execution failed, within the last 24 hours',
    since: failedAt.toISOString(),
    failuresInARow: 1,
  })
  t.match((await workspace.call('GET', `${rules}/health`)).body, { rulesNeedingAttention: items.length })
  const { id } = await workspace.database.execution.create({
    data: {
      ...{ id: newId(), workspaceId: workspace.id, eventId: newId(), eventType: 'LEAD_CREATED' },
      ...{ handlerId: fresh, ruleVersion: 1, status: 'failed', results: [], error: 'Nobody there' },
      ...{ startedAt: failedAt, finishedAt: failedAt },
    },
  })
  const acknowledgement = `/api/executions/${id}/acknowledgement`
  t.equal((await workspace.call('PUT', acknowledgement)).status, 200)
  t.notOk(namesOf(await attention(workspace)).includes('once'), 'somebody has seen it')
  t.match((await workspace.call('GET', `${rules}/health`)).body, { rulesNeedingAttention: items.length - 1 })
  t.equal((await workspace.call('DELETE', acknowledgement)).status, 204)
  t.ok(namesOf(await attention(workspace)).includes('once'))
  await setCounters(workspace, fresh, { lastSuccessAt: ago(0), consecutiveFailures: 0 })
  t.notOk(namesOf(await attention(workspace)).includes('once'), 'it succeeded')
})

t.test('an admin sets the number of failures after which a rule is paused, or none', async (t) => {
  const workspace = await api.makeWorkspace()
  const path = `/api/developer/v1/workspaces/${workspace.id}`
  const patch = (autoPauseAfter: unknown, role: 'admin' | 'editor' = 'admin') =>
    workspace.callAs(role)<{ errors: object[] }>('PATCH', path, { body: { autoPauseAfter } })
  t.match((await workspace.callAs('viewer')('GET', path)).body, { autoPauseAfter: null })
  for (const bound of [3, 1_000, 1_000, null, 20]) {
    t.match(await patch(bound), { status: 200, body: { autoPauseAfter: bound, name: 'Tests' } })
    t.match((await workspace.callAs('viewer')('GET', path)).body, { autoPauseAfter: bound })
  }
  const renamed = await workspace.call('PATCH', path, { body: { name: 'Renamed' } })
  t.match(renamed.body, { autoPauseAfter: 20, name: 'Renamed' }, 'what is not sent stays')
  for (const bound of [2, 1_001, 0, -1, 3.5, '5', true, [], {}]) {
    const { status, body } = await patch(bound)
    matchLists(
      t,
      { status, body },
      { status: 422, body: { errors: [{ field: 'autoPauseAfter', message: String }] } },
    )
    t.equal(body.errors.length, 1, `one fault: ${JSON.stringify(bound)}`)
  }
  t.equal((await patch(5, 'editor')).status, 403)
  matchLists(t, (await workspace.call('GET', '/api/developer/v1/workspaces')).body, {
    data: [{ autoPauseAfter: 20 }],
  })
  const log = await readLog(workspace, 'workspace.updated')
  t.strictSame(
    log.map(({ details }) => details),
    [
      { autoPauseAfter: 3 },
      { autoPauseAfter: 1_000 },
      { autoPauseAfter: null },
      { autoPauseAfter: 20 },
      { name: 'Renamed' },
    ],
  )
})

t.test('a rule whose guard has tripped needs attention until somebody changes or activates it', async (t) => {
  const workspace = await api.makeWorkspace()
  const trip = async ({ id: ruleId }: Rule) => {
    const guard = {
      version: 2,
      previousVersion: 1,
      maxRunsPerHour: 9,
      endsAt: new Date(),
      tripReason: 'runs',
    }
    const state = { trippedAt: ago(1), restoredVersion: 3 }
    await workspace.database.rule.update({ where: { id: ruleId }, data: { version: 3 } })
    await workspace.database.ruleGuard.create({
      data: { ruleId, workspaceId: workspace.id, ...guard, ...state },
    })
  }
  const attention = async () =>
    (await workspace.call<{ rules: Item[] }>('GET', `${rules}/attention`)).body.rules
  const [edited, activated, paused] = [
    await create(workspace),
    await create(workspace),
    await create(workspace),
  ]
  for (const rule of [edited, activated, paused]) await trip(rule)
  await setCounters(workspace, paused.id, { attentionReason: 'auto_paused', attentionAt: ago(2) })
  const reasons = (await attention()).map(({ id, reason }) => [id, reason]).sort()
  t.strictSame(
    reasons,
    [
      [edited.id, 'guard_tripped'],
      [activated.id, 'guard_tripped'],
      [paused.id, 'auto_paused'],
    ].sort(),
  )
  t.match(
    (await attention()).find(({ id }) => id === edited.id),
    { explanation: /exceeded a limit of its guard/, lastError: String },
  )
  await workspace.call('PUT', `${rules}/${edited.id}`, { body: { name: 'Edited' } })
  await workspace.call('PATCH', `${rules}/${activated.id}/toggle`)
  t.equal((await attention()).length, 2, 'to switch it off does not suffice')
  await workspace.call('PATCH', `${rules}/${activated.id}/toggle`)
  t.strictSame(
    (await attention()).map(({ id }) => id),
    [paused.id],
  )
})
