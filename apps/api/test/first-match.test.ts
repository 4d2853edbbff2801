import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules as rulesPath, startApi, type Workspace } from './fixtures/api.js'
import { openSession } from './fixtures/embed.js'
import { startWorker } from './fixtures/worker.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())

interface RuleResult {
  ruleId: string
  success: boolean
  status: string
  conditionsPassed: boolean
  executionId: string | null
  outranked?: { by: string }
}
interface Outcome {
  id: string
  triggered: number
  matched: number
  results: RuleResult[]
}

const of = (team: string) => [{ field: 'team', operator: 'equals', value: team }]

async function create({ call }: Workspace, name: string, fields: Record<string, unknown> = {}) {
  const body = ruleBody({ name, group: 'routing', ...fields })
  const response = await call<Rule>('POST', rulesPath, { body })
  if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
  return response.body
}

/** The pool is created first, and comes last. */
async function makeRouting(workspace: Workspace) {
  const pool = await create(workspace, 'Pool', { order: 30 })
  const north = await create(workspace, 'North', { order: 10, conditions: of('north') })
  const both = await create(workspace, 'Both', {
    order: 20,
    conditions: [{ field: 'team', operator: 'in', value: ['north', 'south'] }],
  })
  return { pool, north, both }
}

async function post({ call }: Workspace, data: object, type = 'LEAD_CREATED'): Promise<Outcome> {
  const { status, body } = await call<Outcome>('POST', '/api/events', { body: { type, data } })
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

function outrankedResult(rule: Rule, by: Rule) {
  return {
    ruleId: rule.id,
    success: true,
    status: 'outranked',
    conditionsPassed: true,
    executionId: null,
    outranked: { by: by.id },
  }
}

t.test('of the rules of a group only the first that matches runs', async (t) => {
  const workspace = await api.makeWorkspace()
  const { pool, north, both } = await makeRouting(workspace)
  const alone = await create(workspace, 'Alone', { group: null })
  const outcome = await post(workspace, { team: 'north' })
  t.match(outcome, { triggered: 4, matched: 4 })
  t.match(outcome.results, [
    outrankedResult(pool, north),
    { ruleId: north.id, status: 'succeeded', executionId: String },
    outrankedResult(both, north),
    { ruleId: alone.id, status: 'succeeded', executionId: String },
  ])
  t.strictSame(outcome.results[0], outrankedResult(pool, north), 'it has no other fields')

  const { body: stored } = await workspace.call<Outcome>('GET', `/api/events/${outcome.id}`)
  t.same(stored.results, outcome.results, 'what is stored of it is the same')
  const { body: history } = await workspace.call<{ executions: { ruleId: string }[] }>(
    'GET',
    `/api/executions?eventId=${outcome.id}`,
  )
  t.same(history.executions.map(({ ruleId }) => ruleId).sort(), [north.id, alone.id].sort())

  t.match((await post(workspace, { team: 'south' })).results, [
    outrankedResult(pool, both),
    { status: 'not_matched' },
    { status: 'succeeded' },
    {},
  ])
  t.match((await post(workspace, {})).results, [{ status: 'succeeded' }, { status: 'not_matched' }, {}, {}])
  const counts = async (rule: Rule) => {
    const { body } = await workspace.call<Rule>('GET', `${rulesPath}/${rule.id}`)
    return body.executionCount
  }
  t.same([await counts(pool), await counts(north), await counts(both), await counts(alone)], [1, 1, 1, 3])
})

t.test('why says which rule of the group ran', async (t) => {
  const workspace = await api.makeWorkspace()
  const { pool, north, both } = await makeRouting(workspace)
  const { id } = await post(workspace, { team: 'south' })
  const later = await create(workspace, 'Later', { order: 1 })
  await workspace.call('PUT', `${rulesPath}/${both.id}`, { body: { order: 90, conditions: [] } })
  const { body } = await workspace.call('GET', `/api/events/${id}/why`)
  t.match(body, {
    rules: [
      {
        ruleId: pool.id,
        verdict: 'outranked',
        outranked: { by: both.id },
        executionId: null,
        trace: { conditionsPassed: true },
      },
      { ruleId: both.id, verdict: 'matched', outranked: null, executionId: String, version: 1 },
      { ruleId: north.id, verdict: 'not_matched', outranked: null, change: [{ field: 'team' }] },
    ],
  })
  const { body: one } = await workspace.call('GET', `/api/events/${id}/why?ruleId=${pool.id}`)
  t.match(one, { rules: [{ ruleId: pool.id, verdict: 'outranked', outranked: { by: both.id } }] })
  const { body: none } = await workspace.call('GET', `/api/events/${id}/why?ruleId=${later.id}`)
  t.match(none, { rules: [{ verdict: 'created_later', outranked: null }] })
})

t.test(
  'groups of two triggers, inactive rules and shadows are not asked; of equal orders the oldest is first',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call } = workspace
    const off = await create(workspace, 'Off', { order: 1, isActive: false })
    const shadow = await create(workspace, 'Shadow', { order: 1, mode: 'shadow' })
    const other = await create(workspace, 'Other trigger', { order: 1, trigger: 'LEAD_UPDATED' })
    const first = await create(workspace, 'First', { order: 5 })
    const second = await create(workspace, 'Second', { order: 5 })
    const { results } = await post(workspace, {})
    t.match(results, [{ ruleId: first.id, status: 'succeeded' }, outrankedResult(second, first)])
    t.match((await post(workspace, {}, 'LEAD_UPDATED')).results, [{ ruleId: other.id, status: 'succeeded' }])
    await call('DELETE', `${rulesPath}/${first.id}`)
    t.match((await post(workspace, {})).results, [{ ruleId: second.id, status: 'succeeded' }])
    await call('POST', `${rulesPath}/${off.id}/activate`)
    t.match((await post(workspace, {})).results, [
      { ruleId: off.id, status: 'succeeded' },
      outrankedResult(second, off),
    ])
    t.not(shadow.id, undefined)
  },
)

t.test('a rule that is executed by hand asks no group', async (t) => {
  const workspace = await api.makeWorkspace()
  const { pool } = await makeRouting(workspace)
  const { body } = await workspace.call('POST', `${rulesPath}/${pool.id}/execute`, {
    body: { data: { team: 'north' } },
  })
  t.match(body, { success: true, conditionsPassed: true, actionsExecuted: 1 })
})

t.test('a dry run of an event shows who would run, and who would not', async (t) => {
  const workspace = await api.makeWorkspace()
  const { pool, north, both } = await makeRouting(workspace)
  const { body } = await workspace.call<Outcome>('POST', `${rulesPath}/trigger/LEAD_CREATED?explain=true`, {
    body: { data: { team: 'north' }, dryRun: true },
  })
  t.match(body, { triggered: 3, matched: 3 })
  t.match(body.results, [
    { ...outrankedResult(pool, north), results: { length: 0 }, trace: { conditionsPassed: true } },
    { ruleId: north.id, status: 'simulated', results: [{ action: 'CREATE_TASK' }] },
    { ...outrankedResult(both, north), results: { length: 0 } },
  ])
})

t.test('group and order belong to the definition of a rule', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const rule = await create(workspace, 'Rule', { order: 10 })
  t.match(rule, { group: 'routing', order: 10, version: 1 })
  const path = `${rulesPath}/${rule.id}`
  t.match((await call('PUT', path, { body: { order: 10 } })).body, { version: 1 })
  t.match((await call('PATCH', path, { body: { order: 20 } })).body, {
    group: 'routing',
    order: 20,
    version: 2,
  })
  const stale = { body: { order: 30 }, headers: { 'if-match': '"1"' } }
  t.equal((await call('PUT', path, stale)).status, 412)
  t.match((await call('PUT', path, { body: { group: null } })).body, { group: null, order: null, version: 3 })
  t.match((await call('POST', `${path}/versions/2/restore`)).body, {
    group: 'routing',
    order: 20,
    version: 4,
  })
  t.match((await call('GET', `${path}/versions`)).body, {
    versions: [{ order: 20 }, { group: null, order: null }, { order: 20 }, { group: 'routing', order: 10 }],
  })
  t.match((await call('POST', `${path}/clone`)).body, { group: 'routing', order: 20, isActive: false })
  const { actions } = ruleBody()
  const draft = { name: 'Rule', trigger: 'LEAD_CREATED', group: 'other', order: 0, actions }
  t.match((await call('PUT', `${path}/draft`, { body: draft })).body, { group: 'other', order: 0 })
  t.match((await call('POST', `${path}/draft/promote`)).body, { group: 'other', order: 0, version: 5 })
  t.match((await call('GET', rulesPath)).body, {
    rules: [{ group: 'routing' }, { group: 'other', order: 0 }],
  })
  t.match((await call('GET', `${rulesPath}/summaries`)).body, { rules: [{ order: 20 }, { order: 0 }] })
})

t.test('a place in a group is refused where it is none', async (t) => {
  const { call, ...workspace } = await api.makeWorkspace()
  const refuse = async (fields: object, ...errors: { field: string; message: string }[]) => {
    const body = ruleBody({ ...fields })
    const response = await call('POST', rulesPath, { body })
    t.match(response, { status: 422, body: { errors } }, JSON.stringify(fields))
    t.match(await call('POST', `${rulesPath}/validate`, { body }), { status: 422, body: { errors } })
  }
  await refuse({ group: 'a' }, { field: 'order', message: 'Required with a group' })
  await refuse({ order: 1 }, { field: 'order', message: 'Must be omitted without a group' })
  await refuse({ group: '', order: 1 }, { field: 'group', message: 'Must have at least 1 character' })
  await refuse(
    { group: 'a'.repeat(65), order: 1 },
    { field: 'group', message: 'Must have at most 64 characters' },
  )
  await refuse({ group: 'a/b', order: 1 }, { field: 'group', message: String as never })
  await refuse({ group: 'a', order: -1 }, { field: 'order', message: 'Must be at least 0' })
  await refuse({ group: 'a', order: 1.5 }, { field: 'order', message: 'Must be an integer' })
  await refuse(
    { group: 1, order: '2' },
    { field: 'group', message: String as never },
    { field: 'order', message: String as never },
  )

  const rule = await create({ call, ...workspace }, 'Rule', { group: null })
  const path = `${rulesPath}/${rule.id}`
  const update = async (body: object) => (await call('PUT', path, { body })).status
  t.equal(await update({ group: 'a' }), 422)
  t.equal(await update({ order: 1 }), 422)
  t.equal(await update({ group: 'a', order: 1 }), 200)
  t.equal(await update({ group: 'b' }), 200, 'it keeps its order')
  t.equal(await update({ order: null }), 422)
  t.equal(await update({ group: null, order: 1 }), 422)
  t.equal(await update({ group: null, order: null }), 200)
})

interface Group {
  name: string
  rules: { id: string; order: number; version: number }[]
}

t.test('the rules of a group are put into an order by one call', async (t) => {
  const workspace = await api.makeWorkspace()
  const { callAs, database } = workspace
  const { pool, north, both } = await makeRouting(workspace)
  const updated = await create(workspace, 'Other trigger', { order: 40, trigger: 'LEAD_UPDATED' })
  const path = `${rulesPath}/groups/routing`
  const read = await callAs('viewer')<Group>('GET', path)
  t.match(read.body, {
    name: 'routing',
    rules: [
      { id: north.id, order: 10 },
      { id: both.id, order: 20 },
      { id: pool.id, order: 30, isActive: true, mode: 'live' },
      { id: updated.id, order: 40, trigger: 'LEAD_UPDATED' },
    ],
  })
  const ruleIds = [both, north, pool, updated].map(({ id }) => id)
  const put = (body: object, etag?: string, role: 'editor' | 'operator' = 'editor') =>
    callAs(role)<Group>('PUT', path, { body, headers: etag === undefined ? {} : { 'if-match': etag } })
  t.equal((await put({ ruleIds }, undefined, 'operator')).status, 403)
  const changed = await put({ ruleIds }, String(read.headers.etag))
  t.match(changed.body, {
    rules: [
      { id: both.id, order: 10, version: 2 },
      { id: north.id, order: 20, version: 2 },
      { id: pool.id, order: 30, version: 1 },
      { id: updated.id, order: 40, version: 1 },
    ],
  })
  t.match(await put({ ruleIds }, String(read.headers.etag)), {
    status: 412,
    body: { error: /changed since/ },
  })
  const again = await put({ ruleIds }, String(changed.headers.etag))
  t.strictSame(again.body, changed.body, 'the same order makes no version')
  t.equal(again.headers.etag, changed.headers.etag)
  t.match((await post(workspace, { team: 'north' })).results[2], { ruleId: both.id, status: 'succeeded' })
  const entries = await database.auditEntry.findMany({
    where: { action: 'rule.updated' },
    select: { subject: true, details: true },
  })
  t.same(entries.map(({ subject }) => subject).sort(), [both.id, north.id].sort())
  t.match(entries, [{ details: { changed: ['order'], version: 2 } }, {}])
})

t.test('an order that is not that of the whole group is refused', async (t) => {
  const workspace = await api.makeWorkspace()
  const foreign = await create(await api.makeWorkspace(), 'Foreign', { order: 1 })
  const { pool, north, both } = await makeRouting(workspace)
  const put = (ruleIds: unknown, name = 'routing') =>
    workspace.call('PUT', `${rulesPath}/groups/${name}`, { body: { ruleIds } })
  const missing = {
    field: 'ruleIds',
    message: 'Must have the id of each rule of the group: 1 of 3 are missing',
  }
  t.match(await put([pool.id, north.id]), { status: 422, body: { errors: [missing] } })
  t.match(await put([pool.id, north.id, foreign.id]), {
    status: 422,
    body: { errors: [{ field: 'ruleIds[2]', message: 'Must be the id of a rule of the group' }, missing] },
  })
  t.match(await put([pool.id, north.id, both.id, both.id]), {
    status: 422,
    body: { errors: [{ field: 'ruleIds' }] },
  })
  t.equal((await put([])).status, 422)
  t.equal((await put('all')).status, 422)
  t.equal((await put([pool.id], 'nothing')).status, 404)
  for (const none of ['nothing', '%00', '-', 'x'.repeat(65)])
    t.match(
      [
        await workspace.call('GET', `${rulesPath}/groups/${none}`),
        await workspace.call('PUT', `${rulesPath}/groups/${none}`, { body: { ruleIds: [pool.id] } }),
      ],
      [{ status: 404 }, { status: 404 }],
    )
  t.equal((await put([pool.id, north.id, both.id].map((id) => id.toUpperCase()))).status, 200)
})

interface Comparison {
  report: {
    considered: number
    active: { matched: number; outranked: number } | null
    draft: { matched: number; outranked: number } | null
    moves: { ruleId: string; gained: number; lost: number }[]
  }
}

t.test(
  'a backtest has what moves between the rules of a group, in their versions of each time',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { pool, north, both } = await makeRouting(workspace)
    const backtest = async (body: object) => {
      const headers = { prefer: 'wait=20' }
      const answer = await workspace.call<Comparison>('POST', `${rulesPath}/backtests`, { body, headers })
      t.equal(answer.status, 200)
      return answer.body.report
    }
    for (const team of ['north', 'south', 'east']) await post(workspace, { team })
    // From now on it wants the east, too, and is the first.
    await workspace.call('PUT', `${rulesPath}/${both.id}`, { body: { conditions: of('east'), order: 1 } })
    for (const team of ['north', 'south', 'east']) await post(workspace, { team })
    t.match(await backtest({ ruleId: pool.id }), {
      active: { matched: 2, outranked: 4 },
      notes: [/in the versions of each event/],
    })
    const { body: history } = await workspace.call<{ executions: object[] }>(
      'GET',
      `/api/executions?ruleId=${pool.id}`,
    )
    t.equal(history.executions.length, 2, 'as it was')

    const definition = { trigger: 'LEAD_CREATED', conditions: [], actions: ruleBody().actions }
    t.match(await backtest({ ruleId: north.id, definition }), {
      active: { matched: 2, outranked: 0 },
      draft: { matched: 5, outranked: 1 },
      moves: [
        { ruleId: pool.id, name: 'Pool', gained: 0, lost: 2 },
        { ruleId: both.id, gained: 0, lost: 1 },
      ],
    })
    t.match(await backtest({ ruleId: north.id, definition: { ...definition, group: null, order: null } }), {
      draft: { matched: 6, outranked: 0 },
      moves: [
        { ruleId: pool.id, gained: 1, lost: 0 },
        { ruleId: both.id, gained: 1, lost: 0 },
      ],
    })
    const ofNorth = await openSession(api, workspace, { rule: north.id })
    const headers = { prefer: 'wait=20' }
    const body = { ruleId: north.id, definition: { ...definition, group: 'routing', order: north.order } }
    const seen = await ofNorth.call<Comparison & { id: string }>('POST', `${rulesPath}/backtests`, {
      body,
      headers,
    })
    t.match(seen, { status: 200, body: { report: { draft: { matched: 5, outranked: 1 } } } })
    const again = await ofNorth.call<Comparison>('GET', `${rulesPath}/backtests/${seen.body.id}`)
    for (const { report } of [seen.body, again.body])
      t.strictSame(report.moves, [], 'a session of one rule reads nothing of the others')
    const refused = await workspace.call('POST', `${rulesPath}/backtests`, {
      body: { definition: { ...definition, group: 'routing' } },
    })
    t.match(refused, { status: 422, body: { errors: [{ field: 'definition.order' }] } })
  },
)

t.test(
  'a shadow says for which events it would have run among the active rules, and outranks none',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const shadow = await create(workspace, 'Shadow', { order: 15, mode: 'shadow' })
    const { pool, north, both } = await makeRouting(workspace)
    for (const team of ['north', 'south', 'east'])
      t.ok((await post(workspace, { team })).results.every(({ ruleId }) => ruleId !== shadow.id))
    const { body } = await workspace.call('GET', `${rulesPath}/${shadow.id}/difference`, {
      headers: { prefer: 'wait=20' },
    })
    t.match(body, {
      difference: {
        draft: { matched: 2, outranked: 1 },
        moves: [
          { ruleId: pool.id, gained: 0, lost: 1 },
          { ruleId: both.id, gained: 0, lost: 1 },
        ],
      },
    })
    t.not(north.id, shadow.id)
    const ofShadow = await openSession(api, workspace, { rule: shadow.id })
    const seen = await ofShadow.call<{ difference: { moves: object[] } }>(
      'GET',
      `${rulesPath}/${shadow.id}/difference`,
    )
    t.strictSame(seen.body.difference.moves, [])
  },
)
