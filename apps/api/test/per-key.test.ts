import { setTimeout as delay } from 'node:timers/promises'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules as rulesPath, startApi, type Workspace } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())

const weekly = { key: '{{lead.id}}', atMost: { runs: 1, per: '7d' } }

async function create({ call }: Workspace, perKey: object): Promise<Rule> {
  const { status, body } = await call<Rule>('POST', rulesPath, { body: ruleBody({ perKey, conditions: [] }) })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

interface Outcome {
  id: string
  triggered: number
  matched: number
  results: { status: string; success: boolean; executionId: string; suppressed?: { executionId: string } }[]
}

async function post({ call }: Workspace, id: unknown): Promise<Outcome> {
  const body = { type: 'LEAD_CREATED', data: { lead: { id }, name: 'Ada' } }
  const { status, body: outcome } = await call<Outcome>('POST', '/api/events', { body })
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(outcome)}`)
  return outcome
}

t.test('a suppressed execution says why: in the response, its own page, lists and why', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, weekly)
  const [first, second] = [await post(workspace, 1), await post(workspace, 1)]
  t.match(first.results, [{ status: 'succeeded', success: true }])
  t.notOk('suppressed' in (first.results[0] as object))
  const by = first.results[0]?.executionId as string
  const suppressed = { reason: 'at_most', key: '1', until: /Z$/, executionId: by }
  t.match(second, {
    triggered: 1,
    matched: 1,
    results: [{ ruleId: rule.id, status: 'suppressed', success: true, conditionsPassed: true, suppressed }],
  })
  const executionId = second.results[0]?.executionId as string
  const { body: shown } = await workspace.call<object>('GET', `/api/executions/${executionId}`)
  t.match(shown, {
    status: 'suppressed',
    success: true,
    suppressed,
    results: { length: 0 },
    dueAt: null,
    error: null,
  })
  const { body: list } = await workspace.call<{ executions: object[] }>(
    'GET',
    '/api/executions?status=suppressed',
  )
  t.match(list.executions, [{ id: executionId, suppressed }])
  const { body: listed } = await workspace.call<{ events: object[] }>('GET', '/api/events')
  t.match(listed.events, [
    { id: second.id, triggered: 1, matched: 1, suppressed: 1 },
    { id: first.id, triggered: 1, matched: 1, suppressed: 0 },
  ])
  const { body: why } = await workspace.call<{ rules: object[] }>('GET', `/api/events/${second.id}/why`)
  t.match(why.rules, [{ verdict: 'suppressed', executionId, suppressed, decisive: { length: 0 } }])
  const { body: counted } = await workspace.call<Rule>('GET', `${rulesPath}/${rule.id}`)
  t.match(counted, { executionCount: 1, successCount: 1, failureCount: 0, perKey: weekly })
  const { status } = await workspace.call('POST', `/api/executions/${executionId}/retry`)
  t.equal(status, 409)
})

t.test('the reconciliation counts suppressed executions and is in balance', async (t) => {
  const workspace = await api.makeWorkspace()
  await create(workspace, weekly)
  for (const id of [1, 1, 2]) await post(workspace, id)
  const { body } = await workspace.call<object>('GET', '/api/developer/v1/ledger')
  t.match(body, { imbalance: 0, executions: { begun: 3, succeeded: 2, suppressed: 1 } })
})

t.test('perKey is part of the definition: versions, clones, drafts and updates have it', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const rule = await create(workspace, weekly)
  const path = `${rulesPath}/${rule.id}`
  const daily = { ...weekly, atMost: { runs: 1, per: '1d' } }
  const { body: changed, headers } = await call<Rule>('PATCH', path, { body: { perKey: daily } })
  t.match(changed, { version: 2, perKey: daily })
  t.equal(headers.etag, '"2"')
  t.match((await call<Rule>('PATCH', path, { body: { perKey: daily } })).body, { version: 2 })
  t.match((await call<object>('GET', `${path}/versions`)).body, {
    versions: [
      { version: 2, perKey: daily },
      { version: 1, perKey: weekly },
    ],
  })
  t.match((await call<Rule>('POST', `${path}/clone`)).body, { perKey: daily })
  t.match((await call<object>('GET', rulesPath)).body, { rules: [{ perKey: daily }, { perKey: daily }] })
  const { actions, name, trigger } = rule
  const draft = { actions, name, trigger, perKey: { whileRunning: 'skip' } }
  t.match((await call<object>('PUT', `${path}/draft`, { body: draft })).body, { perKey: draft.perKey })
  t.match((await call<Rule>('POST', `${path}/draft/promote`)).body, { version: 3, perKey: draft.perKey })
  t.match((await call<Rule>('PATCH', path, { body: { perKey: null } })).body, { version: 4, perKey: null })
  t.match((await call<Rule>('POST', `${path}/versions/1/restore`)).body, { version: 5, perKey: weekly })
})

t.test('a faulty perKey is refused with all of its faults', async (t) => {
  const { call } = await api.makeWorkspace()
  const cases: [object, object[]][] = [
    [{}, [{ field: 'perKey', message: /^Must have at least one of/ }]],
    [{ atMost: { runs: 0, per: '7d' } }, [{ field: 'perKey.atMost.runs' }]],
    [
      { atMost: { runs: 101, per: '367d' } },
      [{ field: 'perKey.atMost.runs' }, { field: 'perKey.atMost.per' }],
    ],
    [{ atLeast: { events: 1, within: '7d' } }, [{ field: 'perKey.atLeast.events' }]],
    [{ whileRunning: 'stop' }, [{ field: 'perKey.whileRunning' }]],
    [{ whileRunning: 'skip', key: 'x'.repeat(257) }, [{ field: 'perKey.key' }]],
    [{ whileRunning: 'skip', other: 1 }, [{ field: 'perKey.other' }]],
    [{ whileRunning: 'skip', key: '{{credentials.CHAT}}' }, [{ field: 'perKey.key' }]],
  ]
  for (const [perKey, errors] of cases) {
    const { status, body } = await call<{ errors: object[] }>('POST', rulesPath, {
      body: ruleBody({ perKey }),
    })
    t.equal(status, 422)
    t.match(body.errors.slice(0, errors.length), errors, JSON.stringify(perKey))
  }
  for (const perKey of [7, 'x', []])
    t.match(await call('POST', rulesPath, { body: ruleBody({ perKey }) }), {
      status: 422,
      body: { errors: [{ field: 'perKey' }] },
    })
})

t.test('a dry run shows the key and reads no state', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, weekly)
  await post(workspace, 1)
  const data = { lead: { id: 1 }, name: 'Ada' }
  const body = { data, dryRun: true }
  const perKey = { key: '1', limits: 'not_evaluated' }
  const one = await workspace.call<object>('POST', `${rulesPath}/${rule.id}/execute`, { body })
  t.match(one.body, { conditionsPassed: true, perKey, results: [{ status: 'simulated' }] })
  const all = await workspace.call<object>('POST', `${rulesPath}/trigger/LEAD_CREATED`, { body })
  t.match(all.body, { results: [{ status: 'simulated', perKey }] })
  const empty = await workspace.call<object>('POST', `${rulesPath}/${rule.id}/execute`, {
    body: { data: { name: 'Ada' }, dryRun: true },
  })
  t.match(empty.body, { perKey: { key: '', warnings: [/missing/, /is empty/] } })
})

t.test('while an execution of its key has not ended, another one cannot be retried', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call, database } = workspace
  const wait = { type: 'WAIT', config: { duration: '30d' } }
  const body = ruleBody({ perKey: { whileRunning: 'skip' }, conditions: [], actions: [wait] })
  const { body: rule } = await call<Rule>('POST', rulesPath, { body })
  const first = (await post(workspace, 1)).results[0]?.executionId as string
  await call('PATCH', `${rulesPath}/${rule.id}`, { body: { isActive: false } })
  await call('PATCH', `${rulesPath}/${rule.id}`, { body: { isActive: true } })
  const second = (await post(workspace, 1)).results[0]?.executionId as string
  t.match(await call('GET', `/api/executions/${second}`), { body: { status: 'waiting' } })
  const refused = await call<object>('POST', `/api/executions/${first}/retry`)
  t.equal(refused.status, 409)
  t.match(refused.body, { error: /^Another execution of its key has not ended/ })
  const bulk = await call<object>('POST', '/api/executions/retry', {
    body: { filter: { ruleId: rule.id }, dryRun: false },
  })
  t.match(bulk.body, { matched: 0, retried: 0 })
  await database.execution.update({
    where: { id: second },
    data: { status: 'failed', dueAt: null, finishedAt: new Date() },
  })
  t.equal((await call('POST', `/api/executions/${first}/retry`)).status, 202)
  t.equal((await call('POST', `/api/executions/${second}/retry`)).status, 409)
})

t.test('an execution that holds no key is not retried with a version that excludes others', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call, database } = workspace
  const wait = { type: 'WAIT', config: { duration: '30d' } }
  const { body: rule } = await call<Rule>('POST', rulesPath, {
    body: ruleBody({ conditions: [], actions: [wait] }),
  })
  const id = (await post(workspace, 1)).results[0]?.executionId as string
  await database.execution.update({
    where: { id },
    data: { status: 'failed', dueAt: null, finishedAt: new Date() },
  })
  await call('PATCH', `${rulesPath}/${rule.id}`, { body: { perKey: { whileRunning: 'skip' } } })
  const retry = (version: string) =>
    call<object>('POST', `/api/executions/${id}/retry`, { body: { version } })
  t.match(await retry('latest'), {
    status: 409,
    body: { error: /^The latest version of its rule has perKey\.whileRunning/ },
  })
  const bulk = { filter: { ruleId: rule.id }, dryRun: false, version: 'latest' }
  t.match((await call('POST', '/api/executions/retry', { body: bulk })).body, { matched: 0, retried: 0 })
  t.match(await retry('same'), { status: 202 })
})

t.test('an execution that waits for its key says so, and a retry waits before later events', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call, database } = workspace
  const wait = { type: 'WAIT', config: { duration: '30d' } }
  const perKey = { key: '{{lead.id}}', whileRunning: 'queue' }
  const body = ruleBody({ perKey, conditions: [], actions: [wait] })
  const { body: rule } = await call<Rule>('POST', rulesPath, { body })
  const ids: string[] = []
  for (let count = 0; count < 4; count++)
    ids.push((await post(workspace, 1)).results[0]?.executionId as string)
  const [first, second, third, fourth] = ids as [string, string, string, string]
  const read = async (id: string) =>
    (await call<{ waitsFor: string | null }>('GET', `/api/executions/${id}`)).body
  t.match(await read(first), { status: 'waiting', waitsFor: 'until', dueAt: /Z$/ })
  for (const id of [second, third, fourth])
    t.match(await read(id), { status: 'waiting', waitsFor: 'key', dueAt: null, results: { length: 0 } })
  const { body: list } = await call<{ executions: object[] }>('GET', '/api/executions?status=waiting')
  t.match(list.executions, [{ waitsFor: 'key', dueAt: null }, {}, {}, { waitsFor: 'until' }])

  const end = (id: string) =>
    database.execution.update({
      where: { id },
      data: { status: 'failed', error: 'x', dueAt: null, finishedAt: new Date() },
    })
  for (const id of [first, second]) await end(id)
  // A sweep finds that the holder is over.
  while ((await read(third)).waitsFor !== 'until') await delay(50)
  const filter = { ruleId: rule.id, status: ['failed'] }
  t.match(await call('POST', '/api/executions/retry', { body: { filter, dryRun: false } }), {
    status: 202,
    body: { matched: 2, retried: 2 },
  })
  const places = async () =>
    (await database.keyClaim.findMany({ orderBy: { eventId: 'asc' } })).map(({ place }) => place)
  t.strictSame((await places()).slice(0, 2), ['queued', 'queued'])
  for (const id of [first, second])
    t.match(await read(id), { status: 'retrying', waitsFor: 'key', dueAt: null })

  for (const id of ids) await end(id)
  t.equal((await call('POST', `/api/executions/${third}/retry`)).status, 202)
  // A worker may have taken it already: then it waits for its 30 days again.
  t.notMatch(await read(third), { waitsFor: 'key' })
  t.equal((await call('POST', `/api/executions/${second}/retry`)).status, 202)
  t.match(await read(second), { status: 'retrying', waitsFor: 'key', dueAt: null })
})

const collecting = { key: '{{lead.id}}', collect: { for: '1h', max: 2 } }
const digest = [
  {
    type: 'CREATE_TASK',
    config: { title: '{{collected.count}} of {{lead.id}}: {{collected.events[1].name}}' },
    when: { field: 'collected.count', operator: 'greater_than', value: 1 },
  },
]

t.test('a batch says which events it has, also while it waits, and its explanation reads them', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const body = ruleBody({ perKey: collecting, conditions: [], actions: digest })
  t.match(await call('POST', rulesPath, { body }), { status: 201, body: { perKey: collecting } })
  const first = await post(workspace, 1)
  const { executionId: id } = first.results[0] as { executionId: string }
  t.match(first.results, [{ status: 'waiting', success: true }])
  const open = await call<{ dueAt: string }>('GET', `/api/executions/${id}`)
  t.match(open.body, { status: 'waiting', waitsFor: null, batch: { eventIds: [first.id] } })
  t.equal((open.body as never as { batch: { endsAt: string } }).batch.endsAt, open.body.dueAt)
  const second = await post(workspace, 1)
  const suppressed = { reason: 'collected', key: '1', executionId: id }
  t.match(second.results, [{ status: 'suppressed', suppressed }])
  while ((await call<{ status: string }>('GET', `/api/executions/${id}`)).body.status !== 'succeeded')
    await delay(20)
  const ended = await call<object>('GET', `/api/executions/${id}?explain=true`)
  t.match(ended.body, {
    status: 'succeeded',
    batch: { eventIds: [first.id, second.id] },
    trace: { actions: [{ when: { verdict: true }, config: { title: '2 of 1: Ada' } }] },
  })
  const { body: why } = await call<{ rules: object[] }>('GET', `/api/events/${second.id}/why`)
  t.match(why.rules, [{ verdict: 'suppressed', suppressed }])
})

t.test('a rule that is switched off cancels its open batches', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const body = ruleBody({ perKey: collecting, conditions: [], actions: digest })
  const { body: rule } = await call<Rule>('POST', rulesPath, { body })
  const { results } = await post(workspace, 1)
  await call('PATCH', `${rulesPath}/${rule.id}/toggle`)
  const { body: shown } = await call<object>('GET', `/api/executions/${results[0]?.executionId}`)
  t.match(shown, { status: 'cancelled', error: 'The rule was switched off', batch: { eventIds: [/./] } })
})

t.test(
  'what is collected is refused if conditions read it, and read in a dry run by one event',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call } = workspace
    const conditions = [{ field: 'collected.count', operator: 'greater_than', value: 1 }]
    const refused = await call('POST', rulesPath, { body: ruleBody({ perKey: collecting, conditions }) })
    t.match(refused, { status: 422, body: { errors: [{ field: 'conditions[0].field' }] } })
    const actions = [
      { type: 'CREATE_TASK', config: { title: '{{collected.count}} {{collected.events | size}}' } },
    ]
    const body = ruleBody({ perKey: collecting, conditions: [], actions })
    const { body: rule } = await call<Rule>('POST', rulesPath, { body })
    const dry = { data: { lead: { id: 1 }, name: 'Ada' }, dryRun: true }
    const { body: shown } = await call<object>('POST', `${rulesPath}/${rule.id}/execute`, { body: dry })
    t.match(shown, { results: [{ config: { title: '1 1' } }], perKey: { key: '1' } })
  },
)

t.test('a batch is not retried with a version that does not collect', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { key: '{{lead.id}}', collect: { for: '1h' } })
  const id = (await post(workspace, 1)).results[0]?.executionId as string
  await workspace.call('PATCH', `${rulesPath}/${rule.id}`, { body: { isActive: false } })
  await workspace.call('PATCH', `${rulesPath}/${rule.id}`, { body: { isActive: true, perKey: null } })
  const retry = (version: string) =>
    workspace.call('POST', `/api/executions/${id}/retry`, { body: { version } })
  t.match(await retry('latest'), { status: 409, body: { error: /does not collect/ } })
  t.match(await retry('same'), { status: 202 })
})
