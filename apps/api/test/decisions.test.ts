import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import { recordDecision } from '@automation/ledger'
import t from 'tap'
import { type Answer, rules, startApi, type Workspace } from './fixtures/api.js'
import { askDecision as ask, decisionUntil as until } from './fixtures/ask-decision.js'

const api = await startApi(t)
const path = '/api/decisions'
const statusAndBody = ({ status, body }: Answer) => ({ status, body })

const decide = (workspace: Workspace, id: string, body: object, role = 'operator') =>
  workspace.callAs(role as 'operator')('POST', `${path}/${id}`, { body })

async function decisionOf({ database }: Workspace, id: string) {
  return (await database.execution.findUniqueOrThrow({ where: { id } })).decision
}

t.test('the first decision counts, and is in the list and in the audit log', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, ruleId } = await ask(workspace)
  const open = { id, ruleId, ruleVersion: 1, status: 'open', options: ['approve', 'reject'], ask: [], until }
  const list = async (query = '') =>
    (await workspace.callAs('viewer')<{ decisions: object[] }>('GET', `${path}${query}`)).body.decisions
  matchLists(t, await list(), [{ ...open, roles: null, choice: null, by: null, decidedAt: null }])
  matchLists(t, await list(`?executionId=${id}`), [open])
  matchLists(t, await list(`?executionId=${newId()}`), [])
  const others = await (await api.makeWorkspace()).call<{ decisions: object[] }>(
    'GET',
    `${path}?executionId=${id}`,
  )
  t.strictSame(others.body.decisions, [], 'not those of others')
  const answer = await decide(workspace, id.toUpperCase(), { choice: 'approve', reason: 'Fair' })
  const made = { status: 'decided', choice: 'approve', reason: 'Fair', by: /^user:/, decidedAt: String }
  t.match(statusAndBody(answer), { status: 200, body: { ...open, ...made } })
  t.strictSame(statusAndBody(await decide(workspace, id, { choice: 'reject' })), {
    status: 409,
    body: { error: 'It was decided before: approve' },
  })
  matchLists(t, await list('?status=decided'), [{ id, ...made }])
  matchLists(t, await list('?status=open'), [])
  t.match(await workspace.database.execution.findUniqueOrThrow({ where: { id } }), {
    decision: { choice: 'approve', reason: 'Fair', by: /^user:/, at: String },
  })
  t.equal(await workspace.database.event.count({ where: { type: 'DECISION' } }), 0, 'it is no event')
  matchLists(t, await workspace.database.auditEntry.findMany({ where: { action: 'execution.decided' } }), [
    { subject: id, details: { choice: 'approve', reason: 'Fair' } },
  ])
})

t.test('what a decision ends is due at once, with a job that says so', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await ask(workspace)
  const { inbox } = api.app
  const { resume } = inbox
  t.teardown(() => {
    inbox.resume = resume
  })
  const resumed: Parameters<typeof resume>[0][] = []
  inbox.resume = (execution) => resumed.push(execution)
  const before = await workspace.database.execution.findUniqueOrThrow({ where: { id } })
  t.ok(Number(before.dueAt) > Date.now())
  await decide(workspace, id, { choice: 'approve' })
  await decide(workspace, id, { choice: 'approve' })
  const { dueAt, eventId, status } = await workspace.database.execution.findUniqueOrThrow({ where: { id } })
  t.equal(status, 'waiting')
  matchLists(t, resumed, [{ executionId: id, eventId, workspaceId: workspace.id, dueAt }])
  t.ok(Number(dueAt) < Number(before.dueAt))
  const early = await ask(workspace, {}, { results: [], waitKey: null, waitType: null })
  t.equal((await decide(workspace, early.id, { choice: 'approve' })).status, 200)
  t.equal(resumed.length, 1, 'nothing wakes what waits for another thing')
})

t.test('an execution says whether it waits for a decision, an event or a time', async (t) => {
  const workspace = await api.makeWorkspace()
  const wait = { action: 'WAIT', status: 'scheduled', until }
  const results = [
    [{ ...wait, waitsFor: { eventType: 'DECISION', match: {} } }],
    [{ ...wait, waitsFor: { eventType: 'DEAL_WON', match: { id: 1 } } }],
    [{ action: 'CREATE_TASK', status: 'success' }, wait],
    [{ action: 'SEND_WEBHOOK', status: 'scheduled', until }],
    [],
  ]
  const ids: string[] = []
  for (const result of results)
    ids.push((await ask(workspace, {}, { results: result, dueAt: new Date(until) })).id)
  const wanted = ['decision', 'event', 'until', null, null]
  const { call } = workspace
  const list = (await call<{ executions: { id: string; waitsFor: string }[] }>('GET', '/api/executions')).body
  const listed = new Map(list.executions.map(({ id, waitsFor }) => [id, waitsFor]))
  t.strictSame(
    ids.map((id) => listed.get(id)),
    wanted,
  )
  for (const [index, id] of ids.entries())
    t.match((await call('GET', `/api/executions/${id}`)).body, { waitsFor: wanted[index], dueAt: until })
})

t.test('only the named roles, or those above them, decide', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await ask(workspace, { roles: ['editor'] })
  t.equal((await decide(workspace, id, { choice: 'approve' }, 'viewer')).status, 403)
  t.equal((await decide(workspace, id, { choice: 'approve' }, 'operator')).status, 403)
  t.equal((await decide(workspace, id, { choice: 'approve' }, 'admin')).status, 200)
})

t.test('what is no option, or has no reason where one is asked, is 422', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await ask(workspace, { ask: ['reason'] })
  t.strictSame(statusAndBody(await decide(workspace, id, { choice: 'expired', reason: 'x' })), {
    status: 422,
    body: { errors: [{ field: 'choice', message: 'Must be one of approve, reject' }] },
  })
  t.strictSame(statusAndBody(await decide(workspace, id, { choice: 'approve' })), {
    status: 422,
    body: { errors: [{ field: 'reason', message: 'Required' }] },
  })
  t.equal(await decisionOf(workspace, id), null)
})

t.test('after its time, or after its execution, nobody decides', async (t) => {
  const workspace = await api.makeWorkspace()
  const scheduled = { action: 'WAIT', status: 'scheduled', waitsFor: { eventType: 'DECISION', match: {} } }
  const late = await ask(workspace, {}, { results: [{ ...scheduled, until: '2026-01-01T00:00:00.000Z' }] })
  t.strictSame(statusAndBody(await decide(workspace, late.id, { choice: 'approve' })), {
    status: 409,
    body: { error: 'The time to decide is over' },
  })
  const over = await ask(workspace)
  await workspace.callAs('operator')('POST', `/api/executions/${over.id}/cancel`)
  t.strictSame(statusAndBody(await decide(workspace, over.id, { choice: 'approve' })), {
    status: 409,
    body: { error: 'The decision is no longer needed: its execution has ended' },
  })
  const { body } = await workspace.call<{ decisions: object[] }>('GET', path)
  matchLists(t, body.decisions, [
    { id: over.id, status: 'closed', choice: null },
    { id: late.id, status: 'expired', choice: 'expired' },
  ])
  t.equal((await workspace.call('GET', `${path}?status=x`)).status, 400)
  const other = await api.makeWorkspace()
  t.equal((await decide(other, over.id, { choice: 'approve' })).status, 404)
})

t.test('a decision whose time ends after it was read, and before it is recorded, is not made', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await ask(workspace)
  const made = { choice: 'approve', by: 'user:ada' }
  const record = (until: Date) =>
    workspace.database.$transaction((transaction) =>
      recordDecision(transaction, workspace.id, { id, until }, made),
    )
  t.equal(await record(new Date(Date.now() - 1)), undefined)
  t.equal(await decisionOf(workspace, id), null)
  t.match(await record(new Date(until)), { decision: made })
  t.match(await decisionOf(workspace, id), made)
})

t.test(
  'nobody decides where nothing will read it: the WAIT is passed, or a cancellation is asked for',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const scheduled = {
      action: 'WAIT',
      status: 'scheduled',
      until,
      waitsFor: { eventType: 'DECISION', match: {} },
    }
    const passed = [
      { results: [{ action: 'WAIT', status: 'skipped', reason: 'Its `when` does not hold' }] },
      { results: [{ action: 'WAIT', status: 'failed', error: 'No time' }] },
      { results: [scheduled], cancelRequested: true },
    ]
    for (const fields of passed) {
      const { id } = await ask(workspace, {}, { ...fields, status: 'running', dueAt: new Date() })
      t.match(statusAndBody(await decide(workspace, id, { choice: 'approve' })), {
        status: 409,
        body: { error: 'The decision is no longer needed: its execution has ended' },
      })
    }
    const early = await ask(
      workspace,
      {},
      { results: [], status: 'running', dueAt: new Date(), waitType: null, waitKey: null },
    )
    t.equal((await decide(workspace, early.id, { choice: 'approve' })).status, 200)
    t.match(await decisionOf(workspace, early.id), { choice: 'approve' })
    const { body } = await workspace.call<{ decisions: object[] }>('GET', `${path}?status=closed`)
    t.equal(body.decisions.length, passed.length)
  },
)

t.test('a page of a status that only results tell reads few of them, and goes on', async (t) => {
  const workspace = await api.makeWorkspace()
  const scheduled = { action: 'WAIT', status: 'scheduled', waitsFor: { eventType: 'DECISION', match: {} } }
  const late = await ask(workspace, {}, { results: [{ ...scheduled, until: '2026-01-01T00:00:00.000Z' }] })
  const ended = await ask(workspace, {}, { status: 'failed', dueAt: null, finishedAt: new Date() })
  await workspace.database.$executeRaw`
    INSERT INTO executions
    SELECT (jsonb_populate_record(executions, jsonb_build_object('id', overlay(gen_random_uuid()::text PLACING 'ffffffff-ffff-7fff' FROM 1)))).*
    FROM executions CROSS JOIN generate_series(1, 300) AS n WHERE id = ${ended.id}::uuid`
  type Page = { decisions: object[]; nextCursor: string | null }
  const { body: first } = await workspace.call<Page>('GET', `${path}?status=expired`)
  t.match(first, { decisions: { length: 0 }, nextCursor: String })
  const { body: second } = await workspace.call<Page>(
    'GET',
    `${path}?status=expired&cursor=${first.nextCursor}`,
  )
  matchLists(t, second.decisions, [{ id: late.id }])
  t.equal(second.nextCursor, null)
})

t.test('a dry run says what would follow each choice, as far as there is room', async (t) => {
  const workspace = await api.makeWorkspace()
  const on = (value: string) => ({ when: { field: 'decision.choice', operator: 'equals', value } })
  const rule = (options: string[], title: string) => ({
    name: 'Ask',
    trigger: 'DEAL_CREATED',
    actions: [
      { type: 'WAIT', config: { decision: { options, within: '24h' } } },
      { type: 'CREATE_TASK', config: { title }, ...on('approve') },
      { type: 'CREATE_TASK', config: { title: `No: ${title}` }, ...on('reject') },
    ],
  })
  const dryRun = async (body: object, data: object) => {
    const { body: made } = await workspace.call<{ id: string }>('POST', rules, { body })
    const { id } = made
    return workspace.call<{ results: object[]; branches?: object[]; branchesLeftOut?: number }>(
      'POST',
      `${rules}/${id}/execute`,
      { body: { data, dryRun: true } },
    )
  }
  const { body } = await dryRun(rule(['approve', 'reject'], 'An offer for {{name}}'), { name: 'Ada' })
  const simulated = (title: string) => ({ status: 'simulated', config: { title } })
  t.match(body.results, [{ action: 'WAIT' }, { status: 'skipped' }, { status: 'skipped' }])
  t.match(body.branches, [
    { choice: 'approve', results: [simulated('An offer for Ada'), { status: 'skipped' }] },
    { choice: 'reject', results: [{ status: 'skipped' }, simulated('No: An offer for Ada')] },
    { choice: 'expired', results: [{ status: 'skipped' }, { status: 'skipped' }] },
  ])
  t.notOk('branchesLeftOut' in body)
  const sends = (url: string) => ({ type: 'SEND_WEBHOOK', config: { url, body: '{{text}}' } })
  const options = Array.from({ length: 10 }, (_, index) => `option-${index}`)
  const asking = rule(options, 'x')
  const actions = [
    asking.actions[0],
    sends('https://api.example.com/one'),
    sends('https://api.example.com/two'),
  ]
  const large = await dryRun({ ...asking, actions }, { text: 'x'.repeat(240_000) })
  t.equal(large.status, 200, 'what has no room is left out')
  t.equal((large.body.branches?.length ?? 0) + (large.body.branchesLeftOut ?? 0), 11)
  t.ok(large.body.branches?.length, 'some have room')
  t.ok(large.body.branchesLeftOut)
})
